#!/usr/bin/env python3
"""Every kind of finding that `fathom report --kinds` lists is explained in docs/findings.md and has its text in a golden case.

Usage: kinds.py FATHOM PROJECT"""
import json
import re
import subprocess
import sys
from pathlib import Path


def main():
    fathom, project = sys.argv[1], Path(sys.argv[2])
    listed = json.loads(subprocess.run([fathom, "report", "--kinds", "--json"], capture_output=True, check=True).stdout)
    kinds = {row["kind"] for row in listed["kinds"]}
    documented = set(re.findall(r"`([a-z_]+)`", (project / "docs" / "findings.md").read_text()))
    told = set()
    for expected in (project / "tests" / "golden").glob("**/expected.txt"):
        for line in expected.read_text(errors="replace").splitlines():
            if found := re.match(r"(?:\d+\.|##) ([a-z ]+) \((?:note|warning|problem), ", line):
                told.add(found[1].replace(" ", "_"))
    wrong = [f"{kind} is not explained in docs/findings.md" for kind in sorted(kinds - documented)]
    wrong += [f"{kind} has no golden case" for kind in sorted(kinds - told)]
    wrong += [f"{kind} is in a golden case and not in the list" for kind in sorted(told - kinds)]
    print("\n".join(wrong) or f"{len(kinds)} kinds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
