#!/usr/bin/env python3
"""Wait states as metrics of the reduced profile: their sums per rank are those of `fathom waits`, all delay costs together
are all waiting, and the critical path is as long as the run.

Usage: wait_metrics.py FATHOM FOLDER"""
import csv
import io
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

METRICS = {"late_sender": ["mpi_latesender"], "late_receiver": ["mpi_latereceiver"], "wait_barrier": ["mpi_barrier_wait"],
           "wait_nxn": ["mpi_wait_nxn"], "wait_finalize": ["mpi_finalize_wait"], "wait_init": ["mpi_init_wait"],
           "late_broadcast": ["mpi_latebroadcast"], "early_reduce": ["mpi_earlyreduce"], "early_scan": ["mpi_earlyscan"],
           "wait_io": ["mpi_io_wait"]}


def main():
    fathom, folder = sys.argv[1], Path(sys.argv[2])
    metas = sorted(folder.glob("*.meta"))
    if not metas:
        sys.exit(77)

    def run(*arguments):
        return subprocess.run([fathom, *map(str, arguments)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def rows(*arguments):
        return list(csv.DictReader(io.StringIO(run(*arguments, "--csv").decode())))

    with tempfile.TemporaryDirectory() as scratch:
        cube = Path(scratch) / "waits.cubex"
        run("reduce", metas[0], cube, "--waits")
        found = defaultdict(float)
        for row in rows("table", metas[0], "--waits", "--metric", "*"):
            found[row["metric"], row["location"]] += float(row["value"])
        written = defaultdict(float)
        for row in rows("table", cube, "--metric", "*"):
            written[row["metric"]] += float(row["value"])
    expected = defaultdict(float)
    total = 0.0
    for row in rows("waits", metas[0], "--by", "kind", "--by", "rank"):
        seconds = float(row["waited_s"])
        expected[METRICS[row["kind"]][0], row["location"]] += seconds
        total += seconds
    names = {name for name, _ in expected}
    ranks = {rank for _, rank in found}
    wrong = [f"{name} of {rank}: {found[name, rank]} instead of {expected[name, rank]}"
             for name in names for rank in ranks if abs(found[name, rank] - expected[name, rank]) > 1e-8]

    def summed(name):
        return sum(value for (metric, _), value in found.items() if metric == name)

    wrong += [f"{name} is {value} in the Cube file, not {summed(name)}" for name, value in written.items()
              if abs(value - summed(name)) > 1e-8 + 1e-9 * abs(value)]

    report = json.loads(run("report", metas[0], "--json"))
    # Corrected clocks do not run at the rate at which times are recorded.
    for name, wanted in (("delay", total), ("critical_path", report["runtime_s"])):
        if abs(summed(name) - wanted) > 2e-5 * wanted + 1e-8:
            wrong.append(f"{name} sums to {summed(name)}, expected {wanted}")
    print("\n".join(wrong) or f"{total:.6f} s of waiting in {len(names)} metrics")
    sys.exit(1 if wrong else 0)


main()
