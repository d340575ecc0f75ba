#!/usr/bin/env python3
"""neighbours.py FATHOM DATA KIND: every file of DATA/elsewhere/KIND against what an independent reader found in it."""
import csv
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

program, data, kind = sys.argv[1], Path(sys.argv[2]) / "elsewhere", sys.argv[3]
failures = []


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def rows(*arguments):
    done = run(*arguments, "--csv", "--quiet")
    if done.returncode != 0:
        failures.append(f"{arguments}: {done.stderr}")
        return []
    return list(csv.DictReader(io.StringIO(done.stdout)))


def expect(place, what, seen, wanted, tolerance=0):
    if isinstance(wanted, float) and tolerance:
        if abs(seen - wanted) <= tolerance * abs(wanted):
            return
    elif seen == wanted:
        return
    failures.append(f"{place}: {what} is {seen}, expected {wanted}")


def number(text):
    return float(text) if "." in text or "e" in text else int(text)


def totals(path):
    return {row["metric"]: number(row["value"]) for row in rows("table", path, "--total", "--inclusive")}


def own_by_leaf(path, metric):
    out = Counter()
    for row in rows("table", path, "--exclusive", "--metric", metric):
        out[row["path"].split("->")[-1]] += number(row["value"])
    return out


def pprof(path, wanted):
    seen = totals(path)
    for (name, _), total in zip(wanted["sample_types"], wanted["totals"]):
        expect(path, f"total of {name}", seen.get(name, 0), total)
    info = json.loads(run("info", path, "--json").stdout)
    expect(path, "samples", info["samples"], wanted["samples"])
    expect(path, "mappings", info["mappings"], wanted["mappings"])
    for (name, _), top in zip(wanted["sample_types"], wanted["flat_top"]):
        own = own_by_leaf(path, name)
        for function, value in top:
            if "->" not in function:
                expect(path, f"flat {name} of {function}", own.get(function, 0), value)


def folded(path, wanted):
    expect(path, "total", totals(path).get("samples"), wanted["total"])
    own = own_by_leaf(path, "samples")
    for function, value in wanted["self_top"]:
        expect(path, f"self of {function}", own.get(function, 0), value)
    found = json.loads(run("check", path, "--json").stdout)["diagnostics"]
    expect(path, "lines refused", sum(one["count"] for one in found if one["id"] == "folded.line"),
           wanted["lines_refused"])


def callgrind(path, wanted):
    seen = totals(path)
    for event, value in zip(wanted["events"], wanted["self_sum"]):
        expect(path, f"sum of {event}", seen.get(event, 0), value)
    info = json.loads(run("info", path, "--json").stdout)
    expect(path, "calls", info["calls"], wanted["calls"])
    for i, event in enumerate(wanted["events"]):
        own = own_by_leaf(path, event)
        for function, values in wanted["self_top"]:
            expect(path, f"{event} of {function}", own.get(function, 0), values[i])


def tau(path, wanted):
    by_thread = Counter()
    for row in rows("table", path, "--exclusive", "--metric", "TIME"):
        by_thread["profile." + row["location"]] += number(row["value"])
    inclusive = {}
    for row in rows("table", path, "--scope", "inclusive", "--metric", "TIME"):
        inclusive["profile." + row["location"], row["path"].split("->")[-1]] = number(row["value"])
    for thread, values in wanted.items():
        # Parameters repeat the time of their function: the top timer has what it is.
        expect(path, f"time of {thread}", by_thread[thread], values["max_inclusive"][0][1][3])
        for name, (calls, subrs, own, total) in values["max_inclusive"]:
            short = name.split("[{")[0].strip().removesuffix(" C").strip()
            expect(path, f"inclusive time of {short} in {thread}", inclusive.get((thread, short)), total)
        for event, (count, largest, smallest, mean, squares) in values["events"].items():
            seen = {row["metric"]: number(row["value"])
                    for row in rows("table", path, "--metric", event + "*", "--location", thread[8:])}
            expect(path, event, [seen[event + end] for end in (" (count)", " (maximum)", " (minimum)", "", " (sum of squares)")],
                   [count, largest, smallest, mean * count, squares])


def caliper(path, wanted):
    sums = Counter()
    for row in rows("table", path):
        sums[row["metric"]] += float(row["value"])
    info = json.loads(run("info", path, "--json").stdout)
    if path.suffix == ".json":
        expect(path, "records", info["records"], wanted["rows"])
        inclusive = [name for name in wanted["sum_by_value_column"] if "inclusive#" in name]
        for name, value in wanted["sum_by_value_column"].items():
            if name != "mpi.rank" and name not in inclusive:
                expect(path, f"sum of {name}", sums[name], float(value), 1e-9)
        return
    expect(path, "records", info["records"], wanted["records"])
    attributes = info.get("attributes", {})
    for key, value in wanted["globals"].items():
        if key in ("cali.channel", "jobsize", "spot.format.version"):
            expect(path, key, attributes.get(key), value)
    for name, attribute in wanted["attributes"].items():
        if attribute.get("as_value") and name not in ("block", "mpi.rank"):
            expect(path, f"sum of {name}", sums[name], float(attribute["sum"]), 1e-9)


def main():
    if not data.is_dir():
        return 77
    files = sorted((data / kind).iterdir())
    for path in files:
        wanted = json.loads((data / "expected" / f"{kind}_{path.name}.json").read_text())
        if "error" in wanted:
            done = run("table", path, "--csv")
            if done.returncode != 2 or "error" not in done.stderr:
                failures.append(f"{path}: is read, though it is not sound")
            continue
        globals()[kind](path, wanted)
    print("\n".join(failures) if failures else f"{len(files)} files as expected")
    return 1 if failures else 0


sys.exit(main())
