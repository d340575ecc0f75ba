#!/usr/bin/env python3
"""Nothing lost without a word: what small readers of our own, written from the formats' documents, find in files against
what reaches Fathom's levels plus what its diagnostics say was left out: equal, or the test fails.

usage: loss_report.py FATHOM DATA FORMAT

loss/FORMAT.py has FILES (patterns below the test data; MEMBERS of archives), maybe EXAMPLES and MADE (files of the repository, and such that the
program writes from them), `built(data, temporary)`, which puts datasets together from real files, `found(path)`, which counts the records of a
file (None: it has nothing to compare), and maybe LEFT_OUT and MADE_UP: for a count, the diagnostics that tell how many of its records are missing or
added. What a count is compared with is said by its name, see `Reached`, or by the function that LEVEL has for it, which asks the level.
"""
import collections
import csv
import importlib
import io
import json
import math
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
UNREADABLE = (TypeError, ElementTree.ParseError, struct.error, zlib.error, UnicodeDecodeError, ValueError, LookupError, OSError, EOFError)


class Refused(Exception):
    """The program has said that it does not show this."""


class Reached:
    """What Fathom has of a dataset, asked for when it is needed."""

    def __init__(self, fathom, dataset, family):
        self.fathom, self.dataset, self.own, self.kept = fathom, dataset, family.get("LEVEL", {}), {}
        self.information = self.ask("info", dataset, "--count")

    def run(self, *arguments):
        return subprocess.run([self.fathom, *map(str, arguments)], capture_output=True, timeout=300)

    def ask(self, *arguments):
        """The answer as JSON, or None where the program refuses."""
        done = self.run(*arguments, "--json")
        return json.loads(done.stdout) if done.returncode in (0, 1) and done.stdout else None

    def rows(self, *arguments):
        key = tuple(map(str, arguments))
        if key not in self.kept:
            done = self.run(*arguments, "--quiet")
            if done.returncode != 0:
                raise Refused(done.stderr.decode())
            self.kept[key] = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        return self.kept[key]

    def table(self, name):
        return self.rows("convert", self.dataset, "-", "--to", "csv", "--table", name)

    def count(self, what):
        if what in self.own:
            return self.own[what](self)
        if match := re.fullmatch(r"(exclusive|inclusive|scope \w+) cells of (.*)", what):
            flavour = "--" + match[1] if "scope" not in match[1] else "--" + match[1].replace(" ", "=")
            return sum(1 for row in self.rows("table", self.dataset, flavour, "--csv") if row["metric"] == match[2])
        if match := re.fullmatch(r"(exclusive|inclusive|stored|scope \w+) sum of (.*)", what):
            flavour = [] if match[1] == "stored" else ["--" + match[1].replace(" ", "=")]
            return math.fsum(float(row["value"]) for row in self.rows("table", self.dataset, *flavour, "--csv")
                       if row["metric"] == match[2])
        if match := re.fullmatch(r"total of (.*)", what):
            return sum(float(row["value"]) for row in self.rows("table", self.dataset, "--total", "--inclusive", "--csv")
                       if row["metric"] == match[1])
        if match := re.fullmatch(r"events (\w+)", what):
            return sum(1 for row in self.table("event") if row["kind"] == match[1])
        if what == "contexts of samples":
            return sorted(int(match[1]) for row in self.rows("events", self.dataset, "--csv")
                          if (match := re.match(r"context=(\d+)", row["detail"])))
        if match := re.fullmatch(r"sum of (mean|median|minimum|maximum|deviation)s", what):
            return math.fsum(float(row[match[1]]) for row in self.table("measurement"))
        if what == "level calls per function":
            calls = collections.Counter(row["name"] for row in self.table("event") if row["kind"] == "enter")
            return sorted(n for name, n in calls.items() if name.startswith("MPI_") and name != "MPI_Pcontrol")
        if what == "level events":
            return len(self.table("event"))
        if what in ("message", "model"):
            return len(self.table(what))
        if what == "visits":
            return sum(float(row["mean"]) for row in self.table("measurement") if row["metric"] == "visits")
        if what == "repetitions":
            return sum(int(row["repetitions"]) for row in self.table("measurement"))
        if match := re.fullmatch(r"told (.*)", what):
            return self.told([match[1]])
        if what == "calls per function":
            # Functions of the program and Pcontrol are not counted by the recorder.
            return sorted(int(row["count"]) for row in self.rows("stats", self.dataset, "--csv")
                          if row["call"].startswith("MPI_") and row["call"] != "MPI_Pcontrol")
        return self.information.get(what, 0)

    def told(self, identifiers):
        """How many records the diagnostics of these ids say to be left out."""
        if "diagnostics" not in self.kept:
            check = self.ask("check", self.dataset) or {"diagnostics": []}
            counts = collections.Counter()
            for source in (self.information, check):
                for one in source["diagnostics"]:
                    counts[one["id"]] = max(counts[one["id"]], one["count"])
            self.kept["diagnostics"] = counts
        return sum(self.kept["diagnostics"][one] for one in identifiers)


def without(some, others):
    """Entries of a list that the other does not have as often, the first few."""
    left = collections.Counter(map(repr, some)) - collections.Counter(map(repr, others))
    return ", ".join(list(left.elements())[:10]) or "nothing more of"


def compare(fathom, shown, found, dataset, family):
    """What does not add up, or None where the program refuses the dataset."""
    reached = Reached(fathom, dataset, family)
    if reached.information is None:
        return None
    troubles, refused = [], []
    for what, count in found.items():
        try:
            have = reached.count(what)
        except Refused:
            refused.append(what)
            continue
        if have == 0 and reached.told(["experiment.invalid"]):
            continue  # nothing of it can be used
        missing = reached.told(family.get("LEFT_OUT", {}).get(what, ())) - reached.told(family.get("MADE_UP", {}).get(what, ()))
        if isinstance(count, float) and not isinstance(have, list):
            same = abs(have + missing - count) <= 1e-9 * abs(count)
        else:
            same = have == count if isinstance(have, list) or not missing else have + missing == count
        if not same:
            if isinstance(count, list) and isinstance(have, list):
                count, have = without(count, have), without(have, count)
            troubles.append(f"{shown}: {count} {what} in the file, {have} reached the level, {missing} said to be left out")
    return None if len(refused) == len(found) else troubles


def datasets(data, family, fathom, temporary):
    """(what is shown, what our reader takes, what Fathom takes)"""
    for pattern in family.FILES:
        for path in sorted(data.glob(pattern)):
            shown = path.relative_to(data)
            if path.name.endswith(".tar.gz"):
                folder = Path(tempfile.mkdtemp(dir=temporary))
                with tarfile.open(path) as archive:
                    archive.extractall(folder)
                if hasattr(family, "MEMBERS"):
                    yield from ((shown / one.name, one, one) for one in sorted(folder.glob(family.MEMBERS)))
                    continue
                inside = list(folder.iterdir())
                if len(inside) == 1 and inside[0].is_dir() and not re.match(r"loom(\.|$)", inside[0].name):
                    folder = inside[0]
                yield shown, folder, folder
            else:
                yield shown, path, path.parent if path.name in ("meta.db", "experiment.xml") else path
    for shown, made in family.built(data, Path(temporary)) if hasattr(family, "built") else []:
        yield shown, made, made
    for name in getattr(family, "EXAMPLES", []):
        yield Path("examples", name), EXAMPLES / name, EXAMPLES / name
    for number, (source, ending, name) in enumerate(getattr(family, "MADE", [])):
        made = Path(temporary, f"made{number}{ending}")
        to = Path(sys.argv[3]).name
        done = subprocess.run([fathom, "convert", EXAMPLES / source, made, "--to", to], capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"{source} cannot be written as {to}: {done.stderr.decode()}")
        yield Path("examples", source), made / name if name else made, made


def main():
    fathom, data, name = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    sys.path.insert(0, str(HERE / "loss"))
    family = importlib.import_module(name.replace("-", "_"))
    compared, refused, nothing, troubles = 0, 0, 0, []
    with tempfile.TemporaryDirectory() as temporary:
        for shown, ours, theirs in datasets(data, family, fathom, temporary):
            try:
                found = family.found(ours)
            except UNREADABLE:
                found = None  # no reader of ours gets anything out of it
            if found is None:
                nothing += 1
                continue
            outcome = compare(fathom, shown, found, theirs, vars(family))
            if outcome is None:
                refused += 1
            else:
                compared += 1
                troubles += outcome
    if compared + refused + nothing == 0:
        print(f"skipped: no data at {data}")
        return 77
    print(*troubles, sep="\n")
    print(f"{name}: {compared} files compared, {refused} refused, {nothing} not read by our reader, {len(troubles)} differ")
    return 1 if troubles or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
