#!/usr/bin/env python3
"""formats_table.py FATHOM [--write]: checks (or writes) the README's table of formats against the program's own list."""
import pathlib
import subprocess
import sys

BEGIN = "<!-- formats: written by `fathom formats --markdown` -->\n"
END = "<!-- end of formats -->"


def main() -> int:
    readme = pathlib.Path(__file__).resolve().parent.parent / "README.md"
    table = subprocess.run([sys.argv[1], "formats", "--markdown"], check=True, capture_output=True, text=True).stdout
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    tail = rest[rest.index(END):]
    wanted = head + BEGIN + table + tail
    if "--write" in sys.argv:
        readme.write_text(wanted)
    elif text != wanted:
        print("README.md: the table of formats is out of date; run scripts/formats_table.py build/fathom --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
