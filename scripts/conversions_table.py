#!/usr/bin/env python3
"""conversions_table.py FATHOM [--write]: checks (or writes) docs/conversions.md against the program's own list."""
import csv
import io
import pathlib
import subprocess
import sys

BEGIN = "<!-- written by scripts/conversions_table.py -->\n"
MARK = {"same": "=", "works": "x", "reduced": "r"}


def pages(rows):
    """A grid of what goes where, and what each written format loses."""
    froms = list(dict.fromkeys(row["from"] for row in rows))
    tos = list(dict.fromkeys(row["to"] for row in rows))
    cells = {(row["from"], row["to"]): MARK[row["state"]] for row in rows}
    lines = ["| from \\ to | " + " | ".join(tos) + " |", "|---" * (len(tos) + 1) + "|"]
    for name in froms:
        lines.append(f"| `{name}` | " + " | ".join(cells.get((name, to), "") for to in tos) + " |")
    lines += ["", "| written format | what it has no place for |", "|---|---|"]
    for to in tos:
        loses = next((row["loses"] for row in rows if row["to"] == to and row["state"] != "same"), "")
        lines.append(f"| `{to}` | {loses or '–'} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    page = pathlib.Path(__file__).resolve().parent.parent / "docs" / "conversions.md"
    text = subprocess.run([sys.argv[1], "formats", "--matrix", "--csv"], check=True, capture_output=True, text=True).stdout
    old = page.read_text()
    wanted = old[: old.index(BEGIN) + len(BEGIN)] + pages(list(csv.DictReader(io.StringIO(text))))
    if "--write" in sys.argv:
        page.write_text(wanted)
    elif old != wanted:
        print("docs/conversions.md is out of date; run scripts/conversions_table.py build/fathom --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
