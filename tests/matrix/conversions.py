#!/usr/bin/env python3
"""Every conversion that `formats --matrix` names, on every example: it works, and what comes out has the totals and counts
of what went in, or a difference that the conversion has said. Every other pair of formats is refused.

usage: conversions.py FATHOM [DATA]

With DATA instead of the examples whatever is recognised below that folder: some of every format, all with FATHOM_ALL_DATA=1.
"""
import collections
import concurrent.futures
import csv
import importlib.util
import io
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("matrix", HERE / "run.py")
matrix = importlib.util.module_from_spec(spec)
spec.loader.exec_module(matrix)

program = sys.argv[1]
failures = []
WHOLE_NUMBERS = ("pprof", "folded", "callgrind", "speedscope")  # times in nanoseconds
NANOSECONDS = {"sec": 1e9, "s": 1e9, "usec": 1e3}
WITHOUT_UNIT = {"time": 1e9, "cpu_time": 1e9}
ENDING = {"folded": ".folded", "cube3": ".cube", "otf2": "", "paraver": ".prv", "dumpi": ".meta"}


COMPARED = ("chrome", "perfetto", "speedscope", "otf2", "paraver")


def table(*arguments):
    status, out, stderr = matrix.run(program, [*arguments, "--csv", "--quiet"])
    if status != 0:
        failures.append(f"{arguments}: {stderr}")
        return []
    return list(csv.DictReader(io.StringIO(out.decode())))


def described(place):
    """Totals of metrics and counts of contexts and locations of a profile, or of the profile of a trace."""
    totals = {}
    for row in table("table", place, "--total", "--inclusive"):
        value = row["value"]
        if ";" not in value:
            totals[row["metric"]] = float(value)
    return {"totals": totals, "contexts": count(place, "contexts"), "locations": count(place, "locations")}


def count(place, what):
    status, out, stderr = matrix.run(program, ["info", place, "--json", "--quiet"])
    if status != 0:
        failures.append(f"info of {place}: {stderr}")
        return None
    return json.loads(out).get(what)


def noted(stderr, pattern):
    found = re.search(pattern, stderr)
    return int(found.group(1).replace(",", "")) if found else 0


def compare(where, before, after, to, stderr):
    left_out = " ".join(re.findall(r"left out[^\n]*|no place for[^\n]*", stderr))
    rounded = sum(int(n.replace(",", "")) for n in re.findall(r"([\d,]+) values are rounded", stderr))
    counted = said(stderr, "is left out: minima and maxima would be added up in a database")
    counted += said(stderr, "is left out: it is evaluated per cell")
    counted += sum(int(n.replace(",", "")) for n in re.findall(r"and ([\d,]+) more \(", left_out))
    # Unsigned counters whose parts are more than the whole, costs below zero, and what does not fit.
    changed = re.search(r"exclusive values below zero|a cost is negative|does not fit into 64 bits", stderr)
    without = noted(stderr, r"([\d,]+) locations that are no threads; they are left out")
    for metric, value in before["totals"].items():
        if without:
            continue
        if to == "folded" and metric == "samples" and metric in left_out:
            continue  # the one metric of folded stacks is called so, whichever it was
        name = "samples" if to == "folded" and metric not in left_out else metric
        if to == "callgrind":
            name = re.sub(r"[\s:=]", "_", metric)
        seen = after["totals"].get(name)
        if seen is None:
            counted -= metric not in left_out
            if value != 0 and metric not in left_out and counted < 0 and not changed:
                failures.append(f"{where}: {metric} is gone without a word")
            continue
        unit = before["units"].get(metric)
        scale = NANOSECONDS.get(unit, WITHOUT_UNIT.get(metric, 1) if not unit else 1) if to in WHOLE_NUMBERS else 1
        if seen == value:
            scale = 1  # whole numbers stay in their unit
        # Each of the values that are said to be rounded is less than half of one off; sums of doubles are.
        if not changed and abs(seen - value * scale) > rounded * 0.5 + abs(value * scale) * 1e-12:
            failures.append(f"{where}: total of {metric} is {seen}, it was {value * scale}")
    # Counts: what is not written was said.
    empty = said(stderr, "a context without any value is not written")
    lines = said(stderr, "a loop or line is written as part of its function")
    lines += said(stderr, "in lines, loops or source places only: they are one stack of functions")
    functions = noted(stderr, r"call paths become ([\d,]+) functions")
    wanted = functions or (before["contexts"] - empty - lines if to in WHOLE_NUMBERS else before["contexts"])
    if before["contexts"] is not None and to != "dot" and after["contexts"] != wanted:
        failures.append(f"{where}: {after['contexts']} contexts, expected {wanted}")
    summed = "knows no locations" in stderr
    idle = said(stderr, "a location without any value is not written")
    wanted = before["locations"] - idle - without
    if after["locations"] != 1 if summed else after["locations"] != wanted and not (wanted == 0 and after["locations"] == 1):
        failures.append(f"{where}: {after['locations']} locations, there were {before['locations']}")


def event_counts(place, converted=False):
    """By kind, and of states by channel; those of a converted Paraver trace are made from other events, and not counted."""
    made = lambda row: converted and place.endswith(".prv") and row["kind"] == "state" and row["name"] == "state"
    rows = table("events", place)
    counts = collections.Counter("paraver state" if made(row) else row["kind"] for row in rows)
    counts.update((row["kind"], row["name"]) for row in rows if row["kind"] in ("state", "counter"))
    counts.update(("set", row["name"]) for row in rows if row["kind"] == "state" and row["detail"] != "value=")
    return counts


def compare_channels(where, before, after):
    """Channels are metrics in OTF2, or regions: a value begins or ends one, or it ends one and begins the next."""
    regions = [key[1] for key in before if key[0] == "state" and not after["counter", key[1]]]
    kept = before["counter"] + before["state"] - sum(before["state", name] for name in regions)
    nested = before["enter"] + before["leave"] + sum(before["state", name] for name in regions)
    flat = before["enter"] + sum(before["set", name] for name in regions)
    if after["counter"] != kept or after["enter"] + after["leave"] != nested and after["enter"] != flat:
        failures.append(f"{where}: {after['counter']} values, {after['enter']} enters and {after['leave']} leaves, "
                        f"expected {kept} values and {nested} enters and leaves or {flat} enters")


def compare_events(where, source, before, after, to, stderr):
    """What a trace has of every kind of event, before and after: the same, or as many less as the conversion says."""
    counts = lambda *kinds: (sum(before[k] for k in kinds), sum(after[k] for k in kinds))
    points = ("send", "recv", "collective", "marker", "counter")
    dropped = noted(stderr, r"([\d,]+) messages, collectives, counters and markers have no place")
    ends = noted(stderr, r"([\d,]+) ends of requests and operations are not written")
    timeless = noted(stderr, r"([\d,]+) events without a time are left out")
    if timeless and to != "otf2" and to != "paraver":
        less = sum(before[k] - after[k] for k in before if isinstance(k, str) and k != "state" and k != "sample")
        if less > timeless + ends + dropped:
            failures.append(f"{where}: {less} events less, {timeless + ends + dropped} are said to be lost")
        return
    expectations = [(("complete",), ends)]
    if to == "speedscope":
        expectations.append((points, dropped))
    elif to == "otf2":
        expectations += [((kind,), 0) for kind in points[:-1] + ("sample",)]
        compare_channels(where, before, after)
    elif to == "paraver":
        single = said(stderr, "a send or receive that has no other end in the trace is left out")
        both = said(stderr, "messages without the times of both ends are left out")
        expectations.append((("send", "recv"), single + 2 * both))
        expectations += [((kind,), 0) for kind in points[2:]]
    else:
        expectations += [((kind,), 0) for kind in points]
    if to == "paraver" and source != "paraver":
        # Values of types that last until the next one: regions, channels and samples.
        undefined = said(stderr, "an event of something that is not defined is left out")
        expectations.append((("enter", "leave", "state", "sample"), undefined))
    elif to != "otf2" and not before["state"] and not before["sample"]:  # which are slices elsewhere
        stray = noted(stderr, r"([\d,]+) leaves of regions that are not open")
        closed = noted(stderr, r"([\d,]+) regions without an end are closed")
        closed += noted(stderr, r"([\d,]+) regions that are left open are closed")
        expectations += [(("enter",), 0), (("leave",), stray - closed)]
    for kinds, less in expectations:
        was, has = counts(*kinds)
        if has != was - less:
            failures.append(f"{where}: {has} events {'/'.join(kinds)}, there were {was} and {less} are said to be lost")


def tables_of(place, names=("metric", "region", "context", "location", "value", "event", "message", "parameter", "point",
                            "measurement"), options=()):
    """Every table of a dataset, row by row."""
    out = {}
    for name in names:
        status, text, _ = matrix.run(program, ["convert", place, "-", "--to", "csv", "--table", name, "--quiet",
                                               *options])
        # Where a record stands in its file is not what it says.
        out[name] = [{key: cell for key, cell in row.items() if key != "record"}
                     for row in csv.DictReader(io.StringIO(text.decode()))] if status == 0 else []
    return out


def by_path(tables):
    """Tables of an experiment with the paths of call paths instead of their numbers, in order."""
    paths = {row["id"]: row["path"] for row in tables["context"]}
    named = lambda row: {key: paths.get(cell, cell) if key in ("id", "parent", "context") else cell for key, cell in row.items()}
    return {name: sorted(map(named, rows), key=str) if name in ("context", "measurement", "value") else rows
            for name, rows in tables.items()}


def compare_rewritten(where, place, target):
    """From its native records a dataset is written again without any loss: every table is the same, cell by cell."""
    before, after = tables_of(place), tables_of(target)
    if before["measurement"]:
        before, after = by_path(before), by_path(after)  # the order of call paths in a file is nobody's
    for name, rows in before.items():
        if rows != after[name]:
            failures.append(f"{where}: table {name} is another one after rewriting")


def compare_experiments(where, place, target, stderr):
    """Parameters, points and every measurement, up to how numbers are printed."""
    names = ("parameter", "point", "context", "metric", "measurement")
    before, after = tables_of(place, names), tables_of(target, names, ["--allow-incomplete"])
    for name in ("parameter", "point", "context", "metric"):
        if len(before[name]) != len(after[name]):
            failures.append(f"{where}: {len(after[name])} rows of {name}, there were {len(before[name])}")
    was, has = before["measurement"], after["measurement"]
    if len(was) != len(has):
        failures.append(f"{where}: {len(has)} measurements, there were {len(was)}")
    means = "the mean is written to" in stderr
    for column in ("mean",) if means else ("mean", "median", "minimum", "maximum"):
        sums = [sum(float(row[column]) for row in one) for one in (was, has)]
        if abs(sums[0] - sums[1]) > 1e-9 * abs(sums[0]):
            failures.append(f"{where}: the sum of all values '{column}' is {sums[1]}, it was {sums[0]}")


def said(stderr, text):
    """How often a note says something; notes of one time have no number."""
    found = re.search(re.escape(text) + r"(?: \(([\d,]+) times\))?", stderr)
    return 0 if not found else int((found.group(1) or "1").replace(",", ""))


def units(place):
    status, out, _ = matrix.run(program, ["convert", place, "-", "--to", "csv", "--table", "metric", "--quiet"])
    return {} if status != 0 else {row["name"]: row["unit"] for row in csv.DictReader(io.StringIO(out.decode()))}


def recognised(path):
    """What `info` says of a path, or None where it is no dataset; either way the program ends in good order."""
    status, out, stderr = matrix.run(program, ["info", str(path), "--json", "--quiet"])
    if status not in (0, 1, 2):
        failures.append(f"info of {path} ends with {status}: {stderr}")
    return json.loads(out) if status in (0, 1) and out else None


def datasets_below(folder):
    """(format, path) of every dataset; a folder that is one is not looked into, but for runs."""
    found = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folders = [folder]
        while folders:
            inside = sorted(path for one in folders for path in one.iterdir())
            folders = []
            for path, known in zip(inside, pool.map(recognised, inside)):
                if known:
                    found.append((known["format"], str(path)))
                if path.is_dir() and (not known or known["format"] == "runs"):
                    folders.append(path)
    return sorted(found)


def some_of(found, most=3):
    """At most so many of every format, spread over all that there are."""
    by_format = collections.defaultdict(list)
    for source, place in found:
        by_format[source].append((source, place))
    return [all_of[len(all_of) * i // most] for all_of in by_format.values() for i in range(most)
            if i == 0 or len(all_of) * i // most != len(all_of) * (i - 1) // most]


class Conversions:
    def __init__(self):
        self.claimed = {(row["from"], row["to"]): row for row in table("formats", "--matrix")}
        self.writable = [row["name"] for row in table("formats") if row["writes"]]
        self.done = collections.Counter()

    def check(self, source, place, folder):
        """Converts a dataset to everything that is written; `folder` takes what comes out."""
        before = events = None
        levels = count(place, "levels")
        for number, to in enumerate(self.writable):
            self.done["pairs"] += 1
            target = str(folder / f"c{number}") + ENDING.get(to, "")
            status, _, stderr = matrix.run(program, ["convert", place, target, "--to", to])
            row = self.claimed.get((source, to))
            where = f"{source} ({place}) to {to}"
            if row is None:
                if status != 2:
                    failures.append(f"{where}: is not in the matrix, and ends with {status}")
                continue
            if status == 2 and (row["level"] not in levels or "a text dump holds one rank" in stderr):
                continue  # a dataset without what its format may have, or with more than one file can hold
            if status == 2 and re.search("needs at least one location|a profile without metrics", stderr):
                continue  # nothing in it
            if status == 2 and matrix.run(program, ["check", place])[0] != 0:
                continue  # damaged
            if status != 0:
                failures.append(f"{where}: is in the matrix, and ends with {status}: {stderr}")
                continue
            if row["state"] == "same":
                if "cannot be read and are left out" not in stderr:
                    compare_rewritten(where, place, target)
                    self.done["rewritten"] += 1
                continue
            if row["level"] == "experiment":
                compare_experiments(where, place, target, stderr)
                self.done["experiments"] += 1
                continue
            if row["level"] == "trace" and "trace" in levels and to in COMPARED:
                if to == "speedscope" and "profile" in levels:
                    if "the trace beside the profile is left out" not in stderr:
                        failures.append(f"{where}: the trace is gone without a word")
                    continue
                events = events or event_counts(place)
                compare_events(where, source, events, event_counts(target, source != "paraver"), to, stderr)
                timed = source == "dumpi" and any(row["metric"] == "cpu_time" for row in table("table", place, "--total"))
                if timed and not re.search("CPU times? of", stderr):
                    failures.append(f"{where}: CPU times are gone without a word")
                self.done["traces"] += 1
            if row["level"] != "profile" or to == "dot":
                continue
            if before is None:
                reduced = place
                if row["state"] == "reduced" or row["level"] not in levels:
                    reduced = str(folder / "reduced.cubex")
                    matrix.run(program, ["convert", place, reduced])
                if matrix.run(program, ["table", reduced, "--total", "--inclusive"])[0] == 2:
                    break  # damaged, or with formulas that do not end: nothing to compare with
                before = described(reduced)
                before["units"] = units(reduced)
            if to in WHOLE_NUMBERS and not any(before["totals"].values()):
                continue  # stacks without a value are no stacks
            compare(where, before, described(target), to, stderr)


def main():
    conversions = Conversions()
    with tempfile.TemporaryDirectory() as temporary:
        if len(sys.argv) > 2:
            data = Path(sys.argv[2])
            if not (data / "FATHOM-DATA").exists():
                print(f"skipped: no data at {data}")
                return 77
            datasets = datasets_below(data)
            if not os.environ.get("FATHOM_ALL_DATA"):
                datasets = some_of(datasets)
        else:
            made = matrix.make_datasets(program, Path(temporary))
            datasets = [(source, place) for source, place in made.items() if source != "runs of traces"]

        def check(dataset):
            folder = Path(tempfile.mkdtemp(dir=temporary))
            conversions.check(*dataset, folder)
            shutil.rmtree(folder)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(check, datasets))
    done = conversions.done
    summary = (f"{done['pairs']} pairs of {len(datasets)} datasets; compared: events of {done['traces']} traces, "
               f"{done['rewritten']} rewritten datasets, {done['experiments']} experiments")
    if done["traces"] < 20 or done["rewritten"] < 15 or done["experiments"] < 12:
        failures.append(f"too few are compared: {summary}")
    print("\n".join(failures) if failures else summary)
    return 1 if failures else 0


sys.exit(main())
