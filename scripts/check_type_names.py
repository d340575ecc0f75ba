#!/usr/bin/env python3
"""Fails when two files define different types of the same name in the same namespace: the linker would not notice."""
import collections
import pathlib
import re
import sys

NAMESPACE = re.compile(r"^namespace\s*([\w:]*)\s*\{$")
NAMESPACE_END = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : .*)? \{")


def types_of(path):
    namespaces = []
    for line in path.read_text().splitlines():
        if match := NAMESPACE.match(line):
            namespaces.append(match.group(1) or "anonymous")
        elif NAMESPACE_END.match(line) and namespaces:
            namespaces.pop()
        elif (match := TYPE.match(line)) and "anonymous" not in namespaces:
            yield "::".join([*namespaces, match.group(1)])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = collections.defaultdict(list)
    # Test, bench and fuzz sources are linked with all of src.
    for folder in ("src", "include", "tests", "bench", "fuzz"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for name in types_of(path):
                files[name].append(str(path.relative_to(root)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    for name, where in twice.items():
        print(f"{name} is defined in {' and in '.join(where)}", file=sys.stderr)
    return 1 if twice else 0


sys.exit(main())
