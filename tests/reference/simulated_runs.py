#!/usr/bin/env python3
"""Programs drawn at random with a problem planted in each: what fathom says must be what the simulator knows.

Usage: simulated_runs.py FATHOM FIRST_SEED COUNT [FAMILY], or simulated_runs.py --write FOLDER FAMILY SEED [REPETITION [FACTOR]], which writes the trace
run.meta alone, or simulated_runs.py --study FOLDER, which writes a program at five scales, or simulated_runs.py --clocks FATHOM,
which looks at runs whose clocks contradict each other. Checks wait states to the nanosecond (but for corrected clocks), kind,
culprit and lost time of the first finding, that healthy runs have none, efficiencies and the length of the critical path."""
import csv
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict

from simulated_mpi import IDS, Simulation
from simulated_programs import FAMILIES, noisy

def impossible(report):
    """What cannot be in any run."""
    shares = {key: value for key, value in report["efficiencies"].items() if isinstance(value, float) and not key.endswith("_s")}
    shares.update({f["kind"]: f["severity"] for f in report["findings"]})
    shares.update({kind: state["share"] for kind, state in report["wait_states"].items()})
    wrong = [f"{key} is {value}" for key, value in shares.items() if not 0 <= value <= 1]
    waits = sum(state["s"] for kind, state in report["wait_states"].items() if kind not in ("late_sender_wrong_order", "no_overlap"))
    costs = sum(cost["short_s"] + cost["long_s"] for cost in report["delay_costs"])
    return wrong + ([f"delay costs are {costs}, waits {waits}"] if abs(costs - waits) > 1e-9 + 1e-8 * waits else [])


def check_clocks(fathom, seed):
    """Clocks that contradict each other by seconds and 0.1 %: whatever comes out, shares are shares."""
    r = random.Random(seed)
    name = r.choice(["collective_io", "windows_posted_late", "healthy_ring", "pipeline"])
    count, program, _ = FAMILIES[name](r)
    clocks = [(r.randint(-4 * 10**9, 4 * 10**9), r.uniform(-1e-3, 1e-3)) for _ in range(count)]
    with tempfile.TemporaryDirectory() as scratch:
        meta = Simulation(count, program, random.Random(seed + 1)).write(scratch, "run", IDS, clocks, 1)
        report = json.loads(subprocess.run([fathom, "report", str(meta), "--json"], capture_output=True, text=True, check=True).stdout)
    return [f"seed {seed} {name} {count} ranks: {text}" for text in impossible(report)]


def check(fathom, seed, name):
    r = random.Random(seed)
    name = name or r.choice(sorted(FAMILIES))
    count, program, truth = FAMILIES[name](r)
    sim = Simulation(count, program, random.Random(seed + 1))
    nodes = max(1, count // 4)
    modifier = r.choice(["none", "none", "skewed", "missing", "killed"]) if "window" not in name else "none"
    clocks = cut = None
    missing = ()
    wrong = []
    if modifier == "skewed" and nodes > 1:
        clocks = [(0, 0.0)] + [(r.randint(-3_000_000, 3_000_000), r.uniform(-2e-5, 2e-5)) for _ in range(nodes + 1)]
    with tempfile.TemporaryDirectory() as scratch:
        kinds, culprits, lost, *second = truth(sim) if truth else ([], None, 0)
        if modifier == "killed" and name in ("imbalance", "late_sender", "pipeline", "split_rows", "propagation", "healthy"):
            cut = [r.uniform(0.5, 0.95) for _ in range(count)]
        # Where delays travel along messages, those through the missing rank are not seen.
        if modifier == "missing" and truth and culprits and not second and name not in ("propagation", "ring_of_sendrecv"):
            missing = (r.choice([n for n in range(count) if n not in culprits and n != 0]),)
        meta = sim.write(scratch, "run", IDS, clocks, 4 if clocks else 10**9, missing, cut)
        label = f"seed {seed} {name} {count} ranks{' skewed' if clocks else ''}{f' without {missing}' if missing else ''}{' killed' if cut else ''}"
        done = subprocess.run([fathom, "report", str(meta), "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            return [f"{label}: {done.stderr}"]
        report = json.loads(done.stdout)
        rows = subprocess.run([fathom, "waits", str(meta), "--csv", "--quiet", "--by", "kind", "--by", "rank", "--by", "culprit",
                               "--by", "call"], capture_output=True, text=True, check=True).stdout
    wrong += [f"no {key}" for key in ("efficiencies", "critical_path", "wait_states", "delay_costs", "iterations", "pattern") if key not in report]
    wrong += impossible(report)
    findings = [(f["kind"], f["level"], round(f["severity"], 4), [c["rank"] for c in f["culprits"]][:4]) for f in report["findings"]]
    if not truth:
        loud = [f for f in findings if f[1] != "note"]
        if loud:
            wrong.append(f"a healthy run has {loud}")
    elif not findings or findings[0][0] not in kinds:
        wrong.append(f"expected {kinds} of {culprits}, found {findings}")
    else:
        if culprits and (not findings[0][3] or findings[0][3][0] not in culprits):
            wrong.append(f"culprit {culprits}, found {findings[0]}")
        found = report["findings"][0]["lost_s"] * 1e9
        if lost and not missing and not cut and abs(found - lost) > 0.07 * lost + 0.002 * count * sim.runtime:
            wrong.append(f"{findings[0][0]} costs {lost}, found {found:.0f}; {findings}")
        if second and (len(findings) < 2 or findings[1][0] not in second[0]):
            wrong.append(f"second {second[0]}, found {findings}")
    if not missing and not cut:
        expected = defaultdict(int, sim.wait_states())
        found = defaultdict(int)
        for row in csv.DictReader(io.StringIO(rows)):
            found[row["kind"], int(row["location"]), int(row["culprit"]), row["call"]] = round(float(row["waited_s"]) * 1e9)
        if clocks is None:
            bad = [(k, found[k], expected[k]) for k in set(found) | set(expected) if found[k] != expected[k]]
            if bad:
                wrong.append(f"{len(bad)} sums of waits differ, (found, expected): {bad[:3]}")
        else:
            for kind in {k[0] for k in set(found) | set(expected)}:
                a, b = (sum(v for k, v in sums.items() if k[0] == kind) for sums in (found, expected))
                if abs(a - b) > max(0.01 * b, 0.0005 * count * sim.runtime):
                    wrong.append(f"{kind}: {a} found, {b} expected")
        useful = sim.useful()
        parallel = sum(useful) / count / sim.runtime
        if abs(report["efficiencies"]["parallel"] - parallel) > 0.01:
            wrong.append(f"parallel efficiency {report['efficiencies']['parallel']}, expected {parallel}")
        length = sum(part["s"] for part in report["critical_path"])
        if abs(length * 1e9 - sim.runtime) > 0.01 * sim.runtime:
            wrong.append(f"the critical path has {length} s of {sim.runtime} ns")
    return [f"{label}: {text}" for text in wrong]


def write(folder, name, seed, again=0, slower=1.0):
    """`again`: a repetition with other noise; `slower`: all computation takes that many times as long."""
    count, program, _ = FAMILIES[name](random.Random(seed))

    def changed(rank):
        for operation in program(rank):
            yield ("compute", int(operation[1] * slower)) if operation[0] == "compute" else operation

    Simulation(count, changed, random.Random(1000 * seed + again)).write(folder, "run", IDS)


def study(folder):
    """The same work on more and more ranks, of which the first keeps a part that does not shrink; collectives grow, too."""
    for count in (2, 4, 8, 16, 32):
        def program(rank):
            for _ in range(20):
                yield rank.compute(noisy(rank, 16_000_000 / count + (300_000 if rank.number == 0 else 0), 0.001))
                yield rank.collective("MPI_Allreduce", size=100_000)
            yield rank.collective("MPI_Finalize")

        Simulation(count, program, random.Random(count)).write(f"{folder}/study.p{count}", "run", IDS)


def main():
    if sys.argv[1] == "--study":
        return study(sys.argv[2])
    if sys.argv[1] == "--write":
        return write(sys.argv[2], sys.argv[3], int(sys.argv[4]), *map(float, sys.argv[5:]))
    if sys.argv[1] == "--clocks":
        wrong = [text for seed in range(1, 13) for text in check_clocks(sys.argv[2], seed)]
        print("\n".join(wrong) or "ok")
        sys.exit(1 if wrong else 0)
    fathom, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if shutil.which(fathom) is None:
        sys.exit(f"{fathom} is not there")
    wrong = []
    for seed in range(first, first + count):
        wrong += check(fathom, seed, sys.argv[4] if len(sys.argv) > 4 else None)
    print("\n".join(wrong) or f"{count} runs are as planted")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
