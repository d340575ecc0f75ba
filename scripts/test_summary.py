#!/usr/bin/env python3
"""The end of a test run: how many tests passed and failed, and what did not run and why.

usage: test_summary.py JUNIT.xml (as ctest --output-junit writes it)
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter


def reason(case):
    """What a skipped test said: its last words that are no frame of a test runner."""
    text = case.findtext("system-out") or ""
    found = re.findall(r"^skipped: (?:[^:\n]*: )?(.+)$", text, re.MULTILINE)  # our scripts
    if not found:
        found = re.findall(r": Skipped\n(.+)", text)  # GoogleTest
    if not found:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("[")]
        found = lines[-1:]
    return re.sub(r"(/[\w.+-]+)+/", "…/", found[-1]) if found else "no reason was given"


def main():
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    skipped = [case for case in cases if case.find("skipped") is not None]
    failed = [case for case in cases if case.find("failure") is not None or case.get("status") == "fail"]
    for why, count in Counter(map(reason, skipped)).most_common():
        print(f"did not run: {count} test{'s' if count > 1 else ''}: {why}")
    if not skipped:
        print("did not run: nothing")
    print(f"{len(cases) - len(skipped) - len(failed)} passed, {len(failed)} failed, {len(skipped)} skipped")


if __name__ == "__main__":
    main()
