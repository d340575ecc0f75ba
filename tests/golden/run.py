#!/usr/bin/env python3
"""Golden tests: run a command line, compare what it prints with what is expected.

A case is a folder below tests/golden/<area>/:

  cmd               lines starting with '#' are directives or remarks, the rest is one shell command line.
  expected.txt      what stdout must be; .json and .csv are compared by meaning. A case has one of the three, or none
                    when nothing may be printed.

Directives in cmd:
  # status: N            expected exit status (default 0)
  # stderr: REGEX        must be found in stderr (may be repeated). Every line there must be matched by one of them: an
                         unexpected warning fails. Lines that are indented belong to the one before (hints).
  # stderr-any           what else is on stderr does not matter
  # tolerance: X         numbers may differ by this relative amount (default: none in text, 1e-12 in json and csv)
  # unordered            the order of lines, rows or array elements does not matter
  # subset               members of JSON objects that are not in the expected ones are ignored
  # only-lines: REGEX    look at the lines of stdout that match, only
  # terminal: N          stdout is a terminal of N columns; escape characters appear as ␛ in the expected output
  # terminal-stderr: N   stderr is a terminal of N columns (escape characters as ␛, carriage returns as ␍); alone or with the
                         other. Progress bars, which depend on the machine's speed, are taken out before lines are judged
  # progress: REGEX      with terminal-stderr: must be found in a progress bar (may be repeated)
  # source: ...          where the expected output comes from (a remark, but every case has one)

Variables in the command line: $DATA (real files; the case is skipped where they are missing), $EXAMPLES (examples/ of
the project), $CASE (the case's own folder), $TMP (an empty folder). They appear by name in the expected output.
Exit status: 0 passed, 1 failed, 77 skipped. --accept writes what was printed; read it before you commit it.
"""
import argparse
import csv
import difflib
import fcntl
import io
import json
import math
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent
PROJECT = GOLDEN.parent.parent
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")
TIMEOUT = 120
BAR = re.compile("␍␛\\[K([^␍\n]*[█░][^␍\n]*)?")
STYLE = re.compile("␛\\[[0-9;]*[mK]")


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = str(folder.relative_to(GOLDEN))
        self.status, self.stderr, self.tolerance, self.progress = 0, [], None, []
        self.unordered = self.subset = self.stderr_any = False
        self.only_lines = self.terminal = self.error_terminal = None
        lines = []
        for line in (folder / "cmd").read_text().splitlines():
            if not line.startswith("#"):
                lines.append(line)
                continue
            key, _, value = line[1:].strip().partition(":")
            value = value.strip()
            if key == "status":
                self.status = int(value)
            elif key == "stderr":
                self.stderr.append(value)
            elif key == "progress":
                self.progress.append(value)
            elif key == "stderr-any":
                self.stderr_any = True
            elif key == "terminal":
                self.terminal = int(value)
            elif key == "terminal-stderr":
                self.error_terminal = int(value)
            elif key == "tolerance":
                self.tolerance = float(value)
            elif key == "unordered":
                self.unordered = True
            elif key == "subset":
                self.subset = True
            elif key == "only-lines":
                self.only_lines = re.compile(value)
        self.command = "\n".join(lines).strip()
        found = sorted(folder.glob("expected.*"))
        self.expected = found[0] if found else None


def close(a, b, tolerance):
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True
    if math.isinf(a) or math.isinf(b) or math.isnan(a) or math.isnan(b):
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def same_text(expected, actual, tolerance):
    if expected == actual:
        return True
    if tolerance is None:
        return False
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", actual).split():
        return False
    return all(close(float(a), float(b), tolerance) for a, b in zip(NUMBER.findall(expected), NUMBER.findall(actual)))


def same_json(expected, actual, case, tolerance, where="$"):
    """The first difference as text, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in expected:
            if key not in actual:
                return f"{where}.{key} is missing"
            if trouble := same_json(expected[key], actual[key], case, tolerance, f"{where}.{key}"):
                return trouble
        surplus = [key for key in actual if key not in expected]
        return f"{where} has unexpected {surplus}" if surplus and not case.subset else None
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{where} has {len(actual)} elements instead of {len(expected)}"
        if case.unordered:
            expected, actual = (sorted(x, key=lambda v: json.dumps(v, sort_keys=True)) for x in (expected, actual))
        for i, (a, b) in enumerate(zip(expected, actual)):
            if trouble := same_json(a, b, case, tolerance, f"{where}[{i}]"):
                return trouble
        return None
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (expected, actual))
    if numbers and isinstance(expected, int) and isinstance(actual, int):
        return None if expected == actual else f"{where} is {actual} instead of {expected}"
    if numbers and close(float(expected), float(actual), tolerance):
        return None
    return None if type(expected) is type(actual) and expected == actual else f"{where} is {actual!r} instead of {expected!r}"


def same_cell(expected, actual, tolerance):
    if expected == actual:
        return True
    try:
        if re.fullmatch(r"[-+]?\d+", expected) and re.fullmatch(r"[-+]?\d+", actual):
            return False
        return close(float(expected), float(actual), tolerance)
    except ValueError:
        return False


def same_csv(expected, actual, case, tolerance):
    rows, got = (list(csv.reader(io.StringIO(text))) for text in (expected, actual))
    if rows[:1] != got[:1]:
        return f"header is {got[:1]} instead of {rows[:1]}"
    if len(rows) != len(got):
        return f"{len(got)} rows instead of {len(rows)}"
    if case.unordered:
        rows[1:], got[1:] = sorted(rows[1:]), sorted(got[1:])
    for number, (a, b) in enumerate(zip(rows, got), 1):
        if len(a) != len(b) or not all(same_cell(x, y, tolerance) for x, y in zip(a, b)):
            return f"row {number} is {b} instead of {a}"
    return None


def compare(case, actual):
    expected = case.expected.read_text()
    kind = case.expected.suffix
    if kind == ".json":
        try:
            value = json.loads(actual, parse_constant=lambda name: f"not valid JSON: {name}")
        except ValueError as error:
            return f"not valid JSON: {error}\n{actual[:2000]}"
        return same_json(json.loads(expected), value, case, case.tolerance if case.tolerance is not None else 1e-12)
    if kind == ".csv":
        return same_csv(expected, actual, case, case.tolerance if case.tolerance is not None else 1e-12)
    before, after = expected.splitlines(), actual.splitlines()
    if case.unordered:
        before, after = sorted(before), sorted(after)
    if len(before) == len(after) and all(same_text(a, b, case.tolerance) for a, b in zip(before, after)):
        return None
    return "\n".join(difflib.unified_diff(before, after, "expected", "printed", lineterm=""))


class Terminal:
    """A pseudo-terminal of some columns, and all that is printed on it."""

    def __init__(self, columns):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.printed = []
        self.reader = threading.Thread(target=self.read)

    def read(self):
        try:
            while part := os.read(self.ours, 65536):
                self.printed.append(part)
        except OSError:  # how Linux says that the other end is closed
            pass

    def finish(self):
        self.reader.join(TIMEOUT)
        os.close(self.ours)
        text = b"".join(self.printed).replace(b"\r\n", b"\n")
        return text.replace(b"\x1b", "␛".encode()).replace(b"\r", "␍".encode())


def run_on_terminal(case, folder, environment):
    """The same with pseudo-terminals for stdout, stderr or both, as a person sees it."""
    out = Terminal(case.terminal) if case.terminal else None
    err = Terminal(case.error_terminal) if case.error_terminal else None
    child = subprocess.Popen(["sh", "-c", case.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                             stdout=out.theirs if out else subprocess.PIPE, stderr=err.theirs if err else subprocess.PIPE)
    for terminal in (out, err):
        if terminal:
            os.close(terminal.theirs)
            terminal.reader.start()
    plain_out, plain_err = child.communicate(timeout=TIMEOUT)
    printed, errors = out.finish() if out else plain_out, err.finish() if err else plain_err
    return subprocess.CompletedProcess(child.args, child.returncode, printed, errors)


def too_wide(lines, columns):
    """Lines that the terminal would break inside of words or columns; one long word, such as a path, cannot be helped."""
    shown = [STYLE.sub("", line) for line in lines]
    return [f"wider than {columns} columns: {line}" for line in shown if len(line) > columns and " " in line.strip()]


def run(case, fathom, data, accept):
    if "$DATA" in case.command and not data.is_dir():
        print(f"skipped: {case.name}: no data at {data}")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        places = {"DATA": data, "EXAMPLES": PROJECT / "examples", "CASE": case.folder, "TMP": Path(temporary)}
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        environment.update({k: str(v) for k, v in places.items()}, TZ="UTC", LC_ALL="C.UTF-8",
                           PATH=f"{fathom.parent}:{os.environ.get('PATH', '')}")
        if case.terminal or case.error_terminal:
            environment["TERM"] = "xterm-256color"
            result = run_on_terminal(case, temporary, environment)
        else:
            result = subprocess.run(["sh", "-c", case.command], cwd=temporary, env=environment, timeout=TIMEOUT,
                                    stdin=subprocess.DEVNULL, capture_output=True)
    printed, errors = (x.decode("utf-8", "replace") for x in (result.stdout, result.stderr))
    problems = []
    if case.error_terminal:
        bars = BAR.findall(errors)
        problems += [f"no progress bar matches {pattern!r}: {bars[:3]}" for pattern in case.progress
                     if not any(re.search(pattern, bar) for bar in bars)]
        problems += too_wide(bars, case.error_terminal)
        errors = BAR.sub("", errors)
        problems += too_wide(errors.splitlines(), case.error_terminal)
    if case.terminal:
        problems += too_wide(printed.splitlines(), case.terminal)
    for name, place in sorted(places.items(), key=lambda item: -len(str(item[1]))):
        printed, errors = printed.replace(str(place), "$" + name), errors.replace(str(place), "$" + name)
    if case.only_lines:
        printed = "".join(line + "\n" for line in printed.splitlines() if case.only_lines.search(line))
    if result.returncode != case.status:
        problems.append(f"exit status {result.returncode} instead of {case.status}")
    for pattern in case.stderr:
        if not re.search(pattern, errors, re.MULTILINE):
            problems.append(f"stderr does not match {pattern!r}")
    if not case.stderr_any:
        problems += [f"unexpected on stderr: {line}" for line in errors.splitlines()
                     if line and not line.startswith("  ") and not any(re.search(p, line) for p in case.stderr)]
    trouble = compare(case, printed) if case.expected else "stdout is not empty:\n" + printed[:2000] if printed else None
    if accept and trouble:
        kind = case.expected.suffix if case.expected else ".json" if "--json" in case.command else \
            ".csv" if "--csv" in case.command else ".txt"
        (case.folder / f"expected{kind}").write_text(printed)
        print(f"written: {case.name}/expected{kind}")
    elif trouble:
        problems.append(trouble)
    if not problems:
        return 0
    print(f"FAILED: {case.name}\n$ {case.command}")
    print("\n".join(problems))
    if errors:
        print("--- stderr\n" + errors[:4000].rstrip())
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="folders or parts of names; default: all")
    parser.add_argument("--fathom", default=PROJECT / "build" / "fathom", type=Path)
    parser.add_argument("--data", default=PROJECT.parent / "shared" / "data", type=Path)
    parser.add_argument("--accept", action="store_true", help="write what is printed as what is expected")
    parser.add_argument("--exact", action="store_true", help="CASE is the whole name of one case")
    arguments = parser.parse_args()
    cases = [Case(path.parent) for path in sorted(GOLDEN.glob("**/cmd"))]
    if arguments.exact:
        cases = [case for case in cases if case.name in arguments.cases]
    elif arguments.cases:
        cases = [case for case in cases if any(part.rstrip("/") in str(case.folder) for part in arguments.cases)]
    if not cases:
        print("no such case")
        return 1
    outcomes = [run(case, arguments.fathom.resolve(), arguments.data.resolve(), arguments.accept) for case in cases]
    if len(cases) > 1:
        print(f"{outcomes.count(0)} passed, {outcomes.count(77)} skipped, {outcomes.count(1)} failed")
    return 1 if 1 in outcomes else 77 if set(outcomes) == {77} else 0


if __name__ == "__main__":
    sys.exit(main())
