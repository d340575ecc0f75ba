#!/usr/bin/env python3
"""diagnostics_table.py [--write]: src/base/diagnostic_ids.inc is the one table of the ids of diagnostics.

Checks that every id in the code is in the table, that every id of the table is in the code, that the table is in order,
and that docs/diagnostics.md says what it says; --write writes that page.
"""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
TABLE = PROJECT / "src" / "base" / "diagnostic_ids.inc"
PAGE = PROJECT / "docs" / "diagnostics.md"
HEAD = """# Diagnostics

What is noticed about data and does not stop the work is a diagnostic: shown on stderr after the result, part of every
JSON object under `"diagnostics"`, listed one by one by `fathom check`, and an error under `--strict`. Its `id` is stable
and says what it is about; `severity` says how much it matters:

| severity | meaning |
|---|---|
| `info` | worth knowing; nothing is wrong |
| `warning` | something is not as it should be; all that can be read is used |
| `data-loss` | something that is or was in the file is missing from the result |

`count` is how often it was met in that file; `file` with `offset` or `line` is where for the first time. A warning that
many files have alike is one line on stderr; JSON has all of them.

`fathom formats --diagnostics` prints this list. It is made from `src/base/diagnostic_ids.inc` by
`scripts/diagnostics_table.py --write`; an id that ends in a dot stands for all that begin with it.

| id | meaning |
|---|---|
"""
# Ends of names that are files, not ids: "profile.db".
FILES = {"db", "xml", "json", "jsonl", "yaml", "txt", "out", "mt", "bin", "meta", "obs", "prv", "cubex", "cube", "lib",
         "conf", "csv", "otf2", "parquet"}


def table():
    rows = re.findall(r'DIAGNOSTIC\("([^"]+)",\s*"((?:[^"\\]|\\.)*)"\)', TABLE.read_text())
    return [(name, meaning.replace('\\"', '"')) for name, meaning in rows]


def ids_in_code(areas):
    found = {}
    literal = re.compile(r'"((?:%s)\.[a-z0-9_]+(?:\.\{\})?\.?)"' % "|".join(sorted(map(re.escape, areas))))
    handed_over = re.compile(r'diagnostics(?:\(\))?\s*(?:\.|->)\s*(?:warn|lost|info|add)\(\s*"([^"]+)"')
    for path in sorted((PROJECT / "src").rglob("*.?pp")):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        for match in list(literal.finditer(text)) + list(handed_over.finditer(text)):
            name = match.group(1)
            if name.rstrip(".").rsplit(".", 1)[-1] in FILES:
                continue
            found.setdefault(name.replace("{}", ""), path.relative_to(PROJECT))
    return found


def main() -> int:
    rows = table()
    known = {name for name, _ in rows}
    wrong = []
    if [name for name, _ in rows] != sorted(known):
        wrong.append(f"{TABLE.name}: not in alphabetical order, or an id is there twice")
    used = ids_in_code({name.split(".")[0] for name in known})
    for name, path in sorted(used.items()):
        if name not in known and not any(k.endswith(".") and name.startswith(k) for k in known):
            wrong.append(f"{path}: '{name}' is not in src/base/{TABLE.name}")
    for name in sorted(known - set(used)):
        wrong.append(f"{TABLE.name}: '{name}' is nowhere in the code")
    page = HEAD + "".join(f"| `{name}` | {meaning} |\n" for name, meaning in rows)
    if "--write" in sys.argv:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        wrong.append("docs/diagnostics.md is out of date; run scripts/diagnostics_table.py --write")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
