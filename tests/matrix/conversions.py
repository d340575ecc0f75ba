#!/usr/bin/env python3
"""Every conversion that `formats --matrix` names, on every example: it works, and what comes out has the totals and counts
of what went in, or a difference that the conversion has said. Every other pair of formats is refused.
"""
import collections
import csv
import importlib.util
import io
import json
import re
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
    for metric, value in before["totals"].items():
        if to == "folded" and metric == "samples" and metric in left_out:
            continue  # the one metric of folded stacks is called so, whichever it was
        name = "samples" if to == "folded" and metric not in left_out else metric
        if to == "callgrind":
            name = re.sub(r"[\s:=]", "_", metric)
        seen = after["totals"].get(name)
        if seen is None:
            counted -= metric not in left_out
            if value != 0 and metric not in left_out and counted < 0:
                failures.append(f"{where}: {metric} is gone without a word")
            continue
        unit = before["units"].get(metric)
        scale = NANOSECONDS.get(unit, WITHOUT_UNIT.get(metric, 1) if not unit else 1) if to in WHOLE_NUMBERS else 1
        # Each of the values that are said to be rounded is less than half of one off; sums of doubles are.
        if abs(seen - value * scale) > rounded * 0.5 + abs(value * scale) * 1e-12:
            failures.append(f"{where}: total of {metric} is {seen}, it was {value * scale}")
    # Counts: what is not written was said.
    empty = said(stderr, "a context without any value is not written")
    lines = said(stderr, "a loop or line is written as part of its function")
    functions = noted(stderr, r"call paths become ([\d,]+) functions")
    wanted = functions or (before["contexts"] - empty - lines if to in WHOLE_NUMBERS else before["contexts"])
    if before["contexts"] is not None and to != "dot" and after["contexts"] != wanted:
        failures.append(f"{where}: {after['contexts']} contexts, expected {wanted}")
    summed = "knows no locations" in stderr
    idle = said(stderr, "a location without any value is not written")
    if after["locations"] != (1 if summed else before["locations"] - idle):
        failures.append(f"{where}: {after['locations']} locations, there were {before['locations']}")


def event_counts(place, converted=False):
    """By kind; the states of a converted Paraver trace are made from other events, and not counted with them."""
    made = lambda row: converted and place.endswith(".prv") and row["kind"] == "state" and row["name"] == "state"
    return collections.Counter("paraver state" if made(row) else row["kind"] for row in table("events", place))


def compare_events(where, source, before, after, to, stderr):
    """What a trace has of every kind of event, before and after: the same, or as many less as the conversion says."""
    counts = lambda *kinds: (sum(before[k] for k in kinds), sum(after[k] for k in kinds))
    points = ("send", "recv", "collective", "marker", "counter")
    dropped = noted(stderr, r"([\d,]+) messages, collectives, counters and markers have no place")
    ends = noted(stderr, r"([\d,]+) ends of requests and operations are not written")
    expectations = [(("complete",), ends)]
    if to == "speedscope":
        expectations.append((points, dropped))
    elif to == "otf2":
        # Channels become metrics; some formats have their regions as channels, which are regions again.
        expectations += [((kind,), 0) for kind in points[:-1] + ("sample",)]
        expectations.append((("enter", "leave", "state", "counter"), 0))
    elif to == "paraver":
        expectations.append((("send", "recv"), said(stderr, "a send or receive that has no other end in the trace is left out")))
        expectations += [((kind,), 0) for kind in points[2:]]
    else:
        expectations += [((kind,), 0) for kind in points]
    if to == "paraver" and source != "paraver":
        # Values of types that last until the next one: regions, channels and samples.
        expectations.append((("enter", "leave", "state", "sample"), 0))
    elif not before["state"] and not before["sample"]:  # which are slices elsewhere
        expectations += [(("enter",), 0), (("leave",), 0)]
    for kinds, less in expectations:
        was, has = counts(*kinds)
        if has != was - less:
            failures.append(f"{where}: {has} events {'/'.join(kinds)}, there were {was} and {less} are said to be lost")


def tables_of(place, names=("metric", "region", "context", "location", "value", "event", "message", "parameter", "point",
                            "measurement")):
    """Every table of a dataset, row by row."""
    out = {}
    for name in names:
        status, text, _ = matrix.run(program, ["convert", place, "-", "--to", "csv", "--table", name, "--quiet"])
        # Where a record stands in its file is not what it says.
        out[name] = [{key: cell for key, cell in row.items() if key != "record"}
                     for row in csv.DictReader(io.StringIO(text.decode()))] if status == 0 else []
    return out


def compare_rewritten(where, place, target):
    """From its native records a dataset is written again without any loss: every table is the same, cell by cell."""
    before, after = tables_of(place), tables_of(target)
    for name, rows in before.items():
        if rows != after[name]:
            failures.append(f"{where}: table {name} is another one after rewriting")


def compare_experiments(where, place, target, stderr):
    """Parameters, points and every measurement, up to how numbers are printed."""
    before, after = (tables_of(one, ("parameter", "point", "context", "metric", "measurement")) for one in (place, target))
    for name in ("parameter", "point", "context", "metric"):
        if len(before[name]) != len(after[name]):
            failures.append(f"{where}: {len(after[name])} rows of {name}, there were {len(before[name])}")
    was, has = before["measurement"], after["measurement"]
    if len(was) != len(has):
        failures.append(f"{where}: {len(has)} measurements, there were {len(was)}")
    means = "the values of repetitions are not known; the mean is written" in stderr
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


def main():
    claimed = {(row["from"], row["to"]): row for row in table("formats", "--matrix")}
    writable = [row["name"] for row in table("formats") if row["writes"]]
    tried = 0
    compared = rewritten = measured = 0
    traced = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        places = matrix.make_datasets(program, folder)
        for source, place in places.items():
            if source == "runs of traces":
                continue
            before = None
            levels = count(place, "levels")
            for to in writable:
                tried += 1
                target = str(folder / f"c{tried}") + ENDING.get(to, "")
                status, _, stderr = matrix.run(program, ["convert", place, target, "--to", to])
                row = claimed.get((source, to))
                where = f"{source} to {to}"
                if row is None:
                    if status != 2:
                        failures.append(f"{where}: is not in the matrix, and ends with {status}")
                    continue
                if status == 2 and (row["level"] not in levels or "a text dump holds one rank" in stderr):
                    continue  # a dataset without what its format may have, or with more than one file can hold
                if status != 0:
                    failures.append(f"{where}: is in the matrix, and ends with {status}: {stderr}")
                    continue
                if row["state"] == "same":
                    compare_rewritten(where, place, target)
                    rewritten += 1
                    continue
                if row["level"] == "experiment":
                    compare_experiments(where, place, target, stderr)
                    measured += 1
                    continue
                if row["level"] == "trace" and "trace" in levels and to in COMPARED:
                    if source not in traced:
                        traced[source] = event_counts(place)
                    compare_events(where, source, traced[source], event_counts(target, source != "paraver"), to, stderr)
                    compared += 1
                if row["level"] != "profile" or row["state"] == "same" or to == "dot":
                    continue
                if before is None:
                    reduced = place
                    if row["state"] == "reduced" or row["level"] not in levels:
                        reduced = str(folder / f"{source}.cubex")
                        matrix.run(program, ["convert", place, reduced])
                    before = described(reduced)
                    before["units"] = units(reduced)
                compare(where, before, described(target), to, stderr)
    if compared < 20 or rewritten < 15 or measured < 12:
        failures.append(f"compared: events of {compared} traces, {rewritten} rewritten datasets, {measured} experiments")
    print("\n".join(failures) if failures else f"{tried} pairs as the matrix says; compared: events of {compared} traces, "
          f"{rewritten} rewritten datasets, {measured} experiments")
    return 1 if failures else 0


sys.exit(main())
