#!/usr/bin/env python3
"""symbols.py LIBRARY LIST: the symbols that a shared library shows are those of the list; --write makes it anew."""
import pathlib
import subprocess
import sys


def main() -> int:
    library, listed = sys.argv[1:3]
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    # Weak ones are functions of headers: whoever uses them has them, and which of them end here is the compiler's choice.
    symbols = [line.split(" ", 2) for line in lines.splitlines() if line]
    shown = sorted({name for _, kind, name in symbols if kind != "W"})
    # What constructors and destructors are called twice for is one name.
    if "--write" in sys.argv:
        pathlib.Path(listed).write_text("\n".join(shown) + "\n")
        return 0
    expected = pathlib.Path(listed).read_text().splitlines()
    gone = sorted(set(expected) - set(shown))
    new = sorted(set(shown) - set(expected))
    for name in gone:
        print("gone, which breaks programs that use it:", name)
    for name in new:
        print("new, add it with --write when it is meant:", name)
    return 1 if gone or new else 0


if __name__ == "__main__":
    sys.exit(main())
