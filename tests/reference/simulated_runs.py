#!/usr/bin/env python3
"""Programs drawn at random with a problem planted in each: what fathom says must be what the simulator knows.

Usage: simulated_runs.py FATHOM FIRST_SEED COUNT [FAMILY]. Checks wait states to the nanosecond (but for corrected clocks), kind,
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

from simulated_mpi import IDS, WORLD, Simulation

FAMILIES = {}


def family(function):
    FAMILIES[function.__name__] = function
    return function


def noisy(rank, ns, noise):
    return ns * (1 + rank.random.gauss(0, noise))


def halo(rank, neighbours, size):
    for n in neighbours:
        yield rank.irecv(n)
    for n in neighbours:
        yield rank.isend(n, size)
    yield rank.waitall()


def grid_neighbours(number, size, wide):
    """Of a periodic grid, `wide` ranks in a row."""
    row, column = divmod(number, wide)
    rows = size // wide
    found = [row * wide + (column + 1) % wide, row * wide + (column - 1) % wide,
             (row + 1) % rows * wide + column, (row - 1) % rows * wide + column]
    return sorted({n for n in found if n != number})


def draw_size(r):
    wide = r.choice([2, 3, 4, 5])
    return wide * r.choice([2, 3, 4, 5, 6]), wide


def waited(sim, *kinds):
    return sum(ns for (kind, *_), ns in sim.wait_states().items() if not kinds or kind in kinds)


def stencil(r, steps, work, size, finish="MPI_Allreduce"):
    """A program of steps: `work(rank, step)` ns of computation, an exchange with neighbours, now and then a collective."""
    count, wide = draw_size(r)
    every = r.choice([1, 1, 2, 5])

    def program(rank):
        for step in range(steps):
            yield rank.compute(work(rank, step, count))
            yield from halo(rank, grid_neighbours(rank.number, count, wide), size)
            if finish and step % every == every - 1:
                yield rank.collective(finish)
        yield rank.collective("MPI_Finalize")

    return count, program


@family
def healthy(r):
    noise = r.choice([0.0005, 0.001, 0.002, 0.003])
    base = r.randint(2_000_000, 6_000_000)
    count, program = stencil(r, r.randint(20, 60), lambda k, s, n: noisy(k, base, noise), r.choice([512, 8192, 200_000]),
                             r.choice(["MPI_Allreduce", "MPI_Barrier"]))
    return count, program, None


@family
def healthy_uneven_steps(r):
    """Steps differ from each other, ranks do not."""
    base = r.randint(2_000_000, 6_000_000)
    lengths = [base * r.uniform(0.5, 1.5) for _ in range(60)]
    count, program = stencil(r, 60, lambda k, s, n: noisy(k, lengths[s], 0.001), 4096)
    return count, program, None


@family
def imbalance(r):
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.2, 1.9)
    slow = {}

    def work(rank, step, count):
        slow.setdefault("rank", random.Random(base).randrange(count))
        return noisy(rank, base, 0.002) * (factor if rank.number == slow["rank"] else 1)

    count, program = stencil(r, r.randint(20, 50), work, r.choice([512, 8192, 100_000]), r.choice(["MPI_Allreduce", "MPI_Barrier"]))
    return count, program, lambda sim: (["load_imbalance"], [slow["rank"]], waited(sim))


@family
def imbalance_of_several(r):
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.3, 1.8)
    every = r.choice([3, 4, 5])

    def work(rank, step, count):
        return noisy(rank, base, 0.001) * (factor if rank.number % every == 0 else 1)

    count, program = stencil(r, r.randint(20, 40), work, 4096)
    return count, program, lambda sim: (["load_imbalance"], list(range(0, count, every)), waited(sim))


@family
def alternating(r):
    base = r.randint(1_000_000, 3_000_000)
    count = r.randint(6, 24)
    steps = count * r.choice([2, 3])
    extra = r.uniform(0.5, 1.2)

    def program(rank):
        for step in range(steps):
            yield rank.compute(noisy(rank, base, 0.001) * (1 + (extra if step % count == rank.number else 0)))
            yield rank.collective("MPI_Allreduce")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["alternating_imbalance"], None, waited(sim))


@family
def late_sender(r):
    groups = r.randint(2, 6)
    wide = r.choice([2, 3, 4])
    count = groups * wide
    base = r.randint(1_000_000, 3_000_000)

    def program(rank):
        first = rank.number // wide * wide
        for _ in range(r_steps):
            yield rank.compute(noisy(rank, base, 0.001))
            if rank.number == first:
                yield rank.compute(noisy(rank, base, 0.001))
                for n in range(1, wide):
                    yield rank.send(first + n, 1024)
            else:
                yield rank.recv(first)
                yield rank.compute(noisy(rank, base, 0.001))
            yield rank.collective("MPI_Barrier")
        yield rank.collective("MPI_Finalize")

    r_steps = r.randint(20, 50)
    return count, program, lambda sim: (["late_sender"], list(range(0, count, wide)), waited(sim))


@family
def late_receiver(r):
    pairs = r.randint(2, 8)
    base = r.randint(1_000_000, 3_000_000)
    steps = r.randint(20, 50)

    def program(rank):
        for _ in range(steps):
            yield rank.compute(noisy(rank, base, 0.001))
            if rank.number % 2 == 0:
                yield rank.send(rank.number + 1, 1_000_000)
                yield rank.compute(noisy(rank, base, 0.001))
            else:
                yield rank.compute(noisy(rank, base, 0.001))
                yield rank.recv(rank.number - 1)
            yield rank.collective("MPI_Barrier")
        yield rank.collective("MPI_Finalize")

    return 2 * pairs, program, lambda sim: (["late_receiver"], list(range(1, 2 * pairs, 2)), waited(sim))


@family
def pipeline(r):
    count = r.randint(8, 20)
    base = r.randint(500_000, 2_000_000)
    steps = r.randint(15, 40)

    def program(rank):
        for _ in range(steps):
            if rank.number > 0:
                yield rank.recv(rank.number - 1)
            yield rank.compute(noisy(rank, base, 0.002))
            if rank.number + 1 < count:
                yield rank.send(rank.number + 1, 4096)
            yield rank.collective("MPI_Allreduce")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["serialisation"], None, waited(sim))


@family
def late_broadcast(r):
    count = r.randint(6, 20)
    root = r.randrange(count)
    base = r.randint(1_000_000, 3_000_000)
    steps = r.randint(20, 40)
    extra = r.uniform(0.3, 0.8)

    def program(rank):
        for _ in range(steps):
            if rank.number == root:
                yield rank.compute(noisy(rank, base * extra, 0.001))
                yield rank.collective("MPI_Bcast", root=root, size=4096)
                yield rank.compute(noisy(rank, base * (1 - extra), 0.001))
            else:
                yield rank.collective("MPI_Bcast", root=root, size=4096)
                yield rank.compute(noisy(rank, base, 0.001))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["late_broadcast"], [root], waited(sim))


@family
def early_reduce(r):
    count = r.randint(6, 20)
    root = r.randrange(count)
    base = r.randint(1_000_000, 3_000_000)

    def program(rank):
        for _ in range(40):
            yield rank.compute(noisy(rank, base * (0.2 if rank.number == root else 1), 0.001))
            yield rank.collective("MPI_Reduce", root=root)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["early_reduce"], None, waited(sim, "early_reduce"))


@family
def scan(r):
    count = r.randint(6, 16)
    base = r.randint(1_000_000, 3_000_000)

    def program(rank):
        for _ in range(40):
            if rank.number == 0:
                yield rank.compute(noisy(rank, base, 0.001))
                yield rank.collective("MPI_Scan")
            else:
                yield rank.collective("MPI_Scan")
                yield rank.compute(noisy(rank, base, 0.001))
            yield rank.collective("MPI_Barrier")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["early_scan"], [0], None)


@family
def io_broadcast(r):
    count = r.randint(6, 20)
    base = r.randint(1_000_000, 3_000_000)
    io_ns = r.randint(8_000_000, 20_000_000)

    def program(rank):
        for step in range(40):
            yield rank.compute(noisy(rank, base, 0.001))
            if step % 8 == 0:
                if rank.number == 0:
                    yield rank.io("MPI_File_read_at", io_ns)
                yield rank.collective("MPI_Bcast", root=0, size=4096)
            yield rank.collective("MPI_Allreduce")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["io_serialisation"], [0], waited(sim, "late_broadcast"))


@family
def slow_step(r):
    base = r.randint(2_000_000, 4_000_000)
    steps = r.randint(40, 60)
    bad = r.randint(10, steps - 10)
    delay = base * r.uniform(8, 14)
    slow = {}

    def work(rank, step, count):
        slow.setdefault("rank", random.Random(base).randrange(count))
        slow["count"] = count
        return noisy(rank, base, 0.001) + (delay if step == bad and rank.number == slow["rank"] else 0)

    count, program = stencil(r, steps, work, 4096)
    return count, program, lambda sim: (["slow_iteration"], [slow["rank"]], count * delay)


@family
def split_rows(r):
    rows, wide = r.randint(2, 5), r.randint(3, 6)
    count = rows * wide
    base = r.randint(2_000_000, 5_000_000)
    slow = r.randrange(count)
    factor = r.uniform(1.3, 1.7)

    def program(rank):
        row = rank.number // wide
        members = tuple(range(row * wide, row * wide + wide))
        yield rank.collective("MPI_Comm_split", colour=row, extra=4)
        for _ in range(40):
            yield rank.compute(noisy(rank, base, 0.001) * (factor if rank.number == slow else 1))
            yield rank.collective("MPI_Allreduce", comm=(4, members))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["load_imbalance"], [slow], waited(sim))


@family
def propagation(r):
    count = r.randint(6, 16)
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)
    steps = r.randint(30, 50)
    factor = r.uniform(1.25, 1.6)

    def program(rank):
        for _ in range(steps):
            yield rank.compute(noisy(rank, base, 0.001) * (factor if rank.number == slow else 1))
            yield rank.send((rank.number + 1) % count, 2048)
            yield rank.recv((rank.number - 1) % count)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["load_imbalance"], [slow], waited(sim))


@family
def collective_io(r):
    count = r.randint(6, 16)
    base = r.randint(2_000_000, 4_000_000)
    late = r.randrange(count)

    def program(rank):
        yield rank.collective("MPI_File_open")
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001))
            yield rank.compute(base * 0.4 if rank.number == late else 0)
            yield rank.collective("MPI_File_write_at_all", size=65536)
            yield rank.compute(0 if rank.number == late else base * 0.4)
        yield rank.collective("MPI_File_close")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["wait_io"], [late], waited(sim))


@family
def windows_posted_late(r):
    """Origins put into the window of rank 0, which posts it late."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)
    others = list(range(1, count))

    def program(rank):
        yield rank.collective("MPI_Win_create", extra=1)
        yield rank.window("MPI_Comm_group")
        partners = others if rank.number == 0 else [0]
        yield rank.window("MPI_Group_incl", ranks=partners, group=4)
        for _ in range(30):
            facts = {"ranks": partners, "group": 4, "window": 1}
            if rank.number == 0:
                yield rank.compute(noisy(rank, base, 0.001))
                yield rank.window("MPI_Win_post", **facts)
                yield rank.compute(noisy(rank, base / 10, 0.001))
                yield rank.window("MPI_Win_wait", **facts)
            else:
                yield rank.compute(noisy(rank, base * (0.6 if rank.number != count - 1 else 1.05), 0.001))
                yield rank.window("MPI_Win_start", **facts)
                yield rank.window("MPI_Win_complete", **facts)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["late_post"], [0], waited(sim, "late_post"))


@family
def tiny_messages(r):
    count = r.randint(4, 12)
    base = r.randint(100_000, 200_000)
    many = r.randint(40, 80)

    def program(rank):
        for _ in range(20):
            yield rank.compute(noisy(rank, base, 0.001))
            for _ in range(many):
                yield rank.irecv((rank.number - 1) % count)
                yield rank.isend((rank.number + 1) % count, 8)
            yield rank.waitall()
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["tiny_messages"], None, None)


@family
def sparse_alltoall(r):
    count = r.randint(8, 20)
    base = r.randint(100_000, 200_000)

    def program(rank):
        counts = [1024 if (n - rank.number) % count in (1, 2) else 0 for n in range(count)]
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001))
            yield rank.collective("MPI_Alltoallv", counts=counts)
        yield rank.collective("MPI_Finalize")

    share = (count - 2) / count
    return count, program, lambda sim: (["sparse_alltoall"], None, share * 30 * count * 1200 * count)


@family
def two_problems(r):
    """Files that one rank reads while others wait, and less of an imbalance."""
    count = r.randint(8, 18)
    base = r.randint(1_000_000, 2_000_000)
    slow = r.randrange(1, count)
    io_ns = int(base * r.uniform(8, 12))

    def program(rank):
        for step in range(40):
            yield rank.compute(noisy(rank, base, 0.001) * (1.15 if rank.number == slow else 1))
            yield rank.collective("MPI_Allreduce")
            if step % 8 == 0:
                if rank.number == 0:
                    yield rank.io("MPI_File_read_at", io_ns)
                yield rank.collective("MPI_Bcast", root=0, size=4096)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["io_serialisation"], [0], waited(sim, "late_broadcast"), ["load_imbalance"])


@family
def sweep(r):
    """Both ways along a chain, as a transport code does."""
    count = r.randint(8, 16)
    base = r.randint(500_000, 1_000_000)

    def program(rank):
        for _ in range(20):
            for way in (1, -1):
                first, last = (0, count - 1) if way == 1 else (count - 1, 0)
                if rank.number != first:
                    yield rank.recv(rank.number - way, tag=7 + way)
                yield rank.compute(noisy(rank, base, 0.002))
                if rank.number != last:
                    yield rank.send(rank.number + way, 4096, tag=7 + way)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["serialisation"], None, waited(sim))


@family
def phase_change(r):
    base = r.randint(1_000_000, 3_000_000)
    slow = {}
    steps = r.randint(30, 50)

    def work(rank, step, count):
        slow.setdefault("rank", random.Random(base).randrange(count))
        return noisy(rank, base, 0.001) * (1.6 if rank.number == slow["rank"] and step >= steps // 2 else 1)

    count, program = stencil(r, steps, work, 4096)
    return count, program, lambda sim: (["load_imbalance"], [slow["rank"]], waited(sim))


@family
def healthy_many_ranks(r):
    base = r.randint(2_000_000, 4_000_000)
    count = r.choice([48, 64, 96])

    def program(rank):
        for step in range(30):
            yield rank.compute(noisy(rank, base, 0.003))
            yield from halo(rank, grid_neighbours(rank.number, count, 8), 2048)
            if step % 5 == 4:
                yield rank.collective("MPI_Allreduce")
        yield rank.collective("MPI_Finalize")

    return count, program, None


@family
def healthy_half_in_parts(r):
    """Two halves that do different things of the same length, with a collective in between now and then."""
    count = 2 * r.randint(3, 8)
    base = r.randint(2_000_000, 4_000_000)

    def program(rank):
        half = rank.number * 2 // count
        members = tuple(range(half * count // 2, (half + 1) * count // 2))
        yield rank.collective("MPI_Comm_split", colour=half, extra=4)
        for step in range(40):
            if half == 0:
                yield rank.compute(noisy(rank, base, 0.001))
                yield rank.collective("MPI_Allreduce", comm=(4, members))
            else:
                for _ in range(2):
                    yield rank.compute(noisy(rank, base / 2, 0.001))
                    yield rank.collective("MPI_Barrier", comm=(4, members))
            if step % 10 == 9:
                yield rank.collective("MPI_Allreduce")
        yield rank.collective("MPI_Finalize")

    return count, program, None


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
        if modifier == "missing" and truth and culprits and name != "propagation":
            missing = (r.choice([n for n in range(count) if n not in culprits and n != 0]),)
        meta = sim.write(scratch, "run", IDS, clocks, 4 if clocks else 10**9, missing, cut)
        label = f"seed {seed} {name} {count} ranks{' skewed' if clocks else ''}{f' without {missing}' if missing else ''}{' killed' if cut else ''}"
        done = subprocess.run([fathom, "report", str(meta), "--json"], capture_output=True, text=True)
        if done.returncode != 0:
            return [f"{label}: {done.stderr}"]
        report = json.loads(done.stdout)
        rows = subprocess.run([fathom, "waits", str(meta), "--csv", "--quiet", "--by", "kind", "--by", "rank", "--by", "culprit",
                               "--by", "call"], capture_output=True, text=True, check=True).stdout
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


def main():
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
