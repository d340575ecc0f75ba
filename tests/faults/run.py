#!/usr/bin/env python3
"""run.py FATHOM CASE: what happens when the world around the program fails. Exit status 0 passed, 1 failed, 77 skipped.

No half-written file, no old file lost, no temporary left, and a text that says what went wrong where.
"""
import pathlib
import sys
import tempfile

import places
import reading
import terminal
import writing
from program import Skip

CASES = {case.__name__: case for module in (writing, places, reading, terminal) for case in module.CASES}


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-faults-") as scratch:
        try:
            CASES[sys.argv[2]](pathlib.Path(scratch).resolve())
        except Skip as why:
            print("skipped:", why)
            return 77
        except AssertionError as failure:
            print("failed:", failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
