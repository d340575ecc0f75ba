#!/usr/bin/env python3
"""Checks that includes follow the one direction of the design, that formats do not know each other, and that commands do not
know formats but for those that are a format's own, in a folder of cli/."""
import pathlib
import re
import sys

# A folder may include itself and what stands after it.
ORDER = ["mpi", "cli", "serve", "api", "report", "query", "findings", "tables", "formats", "model", "experiment", "profile", "trace", "defs",
         "io", "base"]
# Folders of the same rank, which may not include each other.
PEERS = [{"serve", "api"}, {"cli", "api"}, {"report", "query"}]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def main() -> int:
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    wrong = []
    for file in sorted(p for p in src.rglob("*") if p.suffix in (".hpp", ".cpp")):
        parts = file.relative_to(src).parts
        if len(parts) < 2:
            continue  # main.cpp
        for target in INCLUDE.findall(file.read_text()):
            to = target.split("/")
            if to[0] == "fathom" and ORDER.index(parts[0]) <= ORDER.index("formats"):
                continue  # the public API, from where it is implemented or used
            if to[0] not in ORDER or parts[0] not in ORDER:
                wrong.append(f"{file}: includes '{target}': write it from src/ on, in a folder of the design")
                continue
            upward = ORDER.index(to[0]) < ORDER.index(parts[0])
            peers = to[0] != parts[0] and any({to[0], parts[0]} <= p for p in PEERS)
            if upward or peers:
                wrong.append(f"{file}: includes '{target}': {parts[0]} may not know {to[0]}")
            in_format = parts[0] == "formats" and len(parts) > 2
            if in_format and to[0] == "formats" and len(to) > 2 and to[1] != parts[1]:
                wrong.append(f"{file}: includes '{target}': formats do not include each other")
            command = parts[0] == "cli" and len(parts) == 2
            if command and to[0] == "formats" and len(to) > 2:
                wrong.append(f"{file}: includes '{target}': only commands in a folder of their own, cli/NAME/, know a format")
    print("\n".join(wrong) or "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
