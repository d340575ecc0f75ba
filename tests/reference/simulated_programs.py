"""Families of MPI programs, each drawn at random with a problem planted in it; what the simulator knows of it is the truth.

A family gives the number of ranks, the program, and None for a healthy one or a function of the simulation that gives the
kinds of finding that are right, the culprits (None = none in particular), the time lost (None = not known) and, where there
are two problems, the kinds of the second."""
import random

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
            yield rank.compute(noisy(rank, base, 0.001) * (1.3 if rank.number == late else 1))
            yield rank.collective("MPI_File_write_at_all", size=65536)
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
def windows_waited_for(r):
    """Rank 0 exposes its window at once and waits for origins, one of which computes long before it completes."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)
    others = list(range(1, count))
    slow = r.choice(others)

    def program(rank):
        yield rank.collective("MPI_Win_create", extra=1)
        yield rank.window("MPI_Comm_group")
        partners = others if rank.number == 0 else [0]
        yield rank.window("MPI_Group_incl", ranks=partners, group=4)
        for _ in range(30):
            facts = {"ranks": partners, "group": 4, "window": 1}
            if rank.number == 0:
                yield rank.window("MPI_Win_post", **facts)
                yield rank.window("MPI_Win_wait", **facts)
                yield rank.compute(noisy(rank, base * 0.3, 0.001))
            else:
                yield rank.window("MPI_Win_start", **facts)
                yield rank.compute(noisy(rank, base * (0.8 if rank.number == slow else 0.1), 0.001))
                yield rank.window("MPI_Win_complete", **facts)
                yield rank.compute(noisy(rank, base * (0.2 if rank.number == slow else 0.9), 0.001))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["early_wait"], [slow], waited(sim))


@family
def window_fences(r):
    count = r.randint(4, 16)
    base = r.randint(2_000_000, 4_000_000)
    slow = r.randrange(count)

    def program(rank):
        yield rank.collective("MPI_Win_create", extra=1)
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001) * (1.4 if rank.number == slow else 1))
            yield rank.collective("MPI_Win_fence", extra=1)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["wait_fence"], [slow], waited(sim))


@family
def window_locks(r):
    """All ranks change the same place and hold it far too long."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)

    def program(rank):
        yield rank.collective("MPI_Win_create", extra=1)
        for _ in range(20):
            yield rank.compute(noisy(rank, base, 0.01))
            yield rank.window("MPI_Win_lock", target=0, window=1, sharers=count)
            yield rank.compute(noisy(rank, base * 0.2, 0.01))
            yield rank.window("MPI_Win_unlock", target=0, window=1)
            yield rank.collective("MPI_Barrier")
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["lock_contention"], None, waited(sim))


@family
def large_collectives(r):
    """Moving data is what takes the time, nobody waits."""
    count = r.randint(8, 20)
    base = r.randint(1_000_000, 2_000_000)

    def program(rank):
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001))
            yield rank.collective("MPI_Allreduce", size=4_000_000)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["communication"], None, None)


@family
def wrong_order(r):
    """Rank 0 asks first for what comes last, and everybody waits for rank 0."""
    count = r.randint(5, 12)
    base = r.randint(1_000_000, 2_000_000)
    late = r.randrange(1, count)
    order = [late] + [n for n in range(1, count) if n != late]

    def program(rank):
        for _ in range(30):
            if rank.number == 0:
                for n in order:
                    yield rank.recv(n)
                    yield rank.compute(noisy(rank, base / count, 0.001))
            else:
                yield rank.compute(noisy(rank, base * (1 if rank.number == late else 0.5), 0.001))
                yield rank.send(0, 4096)
            yield rank.collective("MPI_Bcast", root=0, size=1024)
            yield rank.compute(noisy(rank, base * (0.5 if rank.number not in (0, late) else 0), 0.001))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["wrong_order"], [0], None)


@family
def busy_master(r):
    """Workers ask rank 0 for every task, and it cannot keep up."""
    count = r.randint(6, 16)
    task = r.randint(1_000_000, 3_000_000)
    service = task / (count - 1) * r.uniform(1.5, 2.5)

    def program(rank):
        for _ in range(30):
            if rank.number == 0:
                for worker in range(1, count):
                    yield rank.recv(worker)
                    yield rank.compute(noisy(rank, service, 0.001))
                    yield rank.send(worker, 256, tag=8)
            else:
                yield rank.send(0, 64)
                yield rank.recv(0, tag=8)
                yield rank.compute(noisy(rank, task, 0.01))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["master_worker"], [0], waited(sim))


@family
def slight_imbalance(r):
    """Little, in noise that is not much less."""
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.08, 1.12)
    slow = r.randrange(4)
    count, program = stencil(r, r.randint(30, 60), lambda k, s, n: noisy(k, base, 0.004) * (factor if k.number == slow else 1),
                             4096, "MPI_Barrier")
    return count, program, lambda sim: (["load_imbalance"], [slow], None)


@family
def two_slow_in_turns(r):
    """One rank has more to do in the first half, another one in the second."""
    base = r.randint(1_000_000, 3_000_000)
    first, second = r.sample(range(4), 2)
    steps = r.randint(30, 50)

    def work(rank, step, count):
        return noisy(rank, base, 0.001) * (1.5 if rank.number == (first if step < steps / 2 else second) else 1)

    count, program = stencil(r, steps, work, 4096)
    return count, program, lambda sim: (["load_imbalance"], [first, second], waited(sim))


@family
def rows_and_columns(r):
    """Collectives along both directions of a grid; one rank is slow."""
    rows, wide = r.randint(2, 4), r.randint(2, 5)
    count = rows * wide
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)

    def program(rank):
        row, column = divmod(rank.number, wide)
        yield rank.collective("MPI_Comm_split", colour=row, extra=4)
        yield rank.collective("MPI_Comm_split", colour=column, extra=5)
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001) * (1.5 if rank.number == slow else 1))
            yield rank.collective("MPI_Allreduce", comm=(4, tuple(range(row * wide, row * wide + wide))))
            yield rank.compute(noisy(rank, base / 4, 0.001))
            yield rank.collective("MPI_Allreduce", comm=(5, tuple(range(column, count, wide))))
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["load_imbalance"], [slow], waited(sim))


@family
def gradient(r):
    """The further behind a rank stands, the more it has to do."""
    base = r.randint(1_000_000, 3_000_000)
    slope = r.uniform(0.3, 0.8)
    count, program = stencil(r, r.randint(20, 40), lambda k, s, n: noisy(k, base, 0.001) * (1 + slope * k.number / (n - 1)), 4096)
    return count, program, lambda sim: (["load_imbalance"], list(range(count - max(2, count // 3), count)), waited(sim))


@family
def slow_node(r):
    """All ranks of one host are slower."""
    base = r.randint(1_000_000, 3_000_000)
    factor = r.uniform(1.2, 1.6)
    count, program = stencil(r, r.randint(20, 40), lambda k, s, n: noisy(k, base, 0.002) * (factor if k.number < 4 else 1), 8192)
    if count <= 4:
        return healthy(r)
    return count, program, lambda sim: (["load_imbalance"], [0, 1, 2, 3], waited(sim))


@family
def imbalance_and_slow_step(r):
    """A step that takes far too long, and less of an imbalance all the time."""
    base = r.randint(2_000_000, 4_000_000)
    steps = r.randint(40, 60)
    bad = r.randint(10, steps - 10)
    delay = base * r.uniform(20, 30)

    def work(rank, step, count):
        return noisy(rank, base, 0.001) * (1.12 if rank.number == 1 else 1) + (delay if step == bad and rank.number == 2 else 0)

    count, program = stencil(r, steps, work, 4096)
    return count, program, lambda sim: (["slow_iteration"], [2], None, ["load_imbalance"])


@family
def imbalance_of_reduce(r):
    """Everybody meets in reductions to a root that also has the most to do."""
    count = r.randint(6, 20)
    base = r.randint(1_000_000, 3_000_000)
    factor = r.uniform(1.3, 1.7)

    def program(rank):
        for _ in range(40):
            yield rank.compute(noisy(rank, base, 0.001) * (factor if rank.number == 0 else 1))
            yield rank.collective("MPI_Allreduce", size=64)
            yield rank.collective("MPI_Bcast", root=0, size=4096)
        yield rank.collective("MPI_Finalize")

    return count, program, lambda sim: (["load_imbalance"], [0], waited(sim))


@family
def healthy_ring(r):
    """No collectives but the last."""
    count = r.randint(4, 24)
    base = r.randint(2_000_000, 5_000_000)

    def program(rank):
        for _ in range(50):
            yield rank.compute(noisy(rank, base, 0.001))
            yield rank.irecv((rank.number - 1) % count)
            yield rank.isend((rank.number + 1) % count, 4096)
            yield rank.waitall()
        yield rank.collective("MPI_Finalize")

    return count, program, None


@family
def healthy_exchange(r):
    """All with all, most parts of it used."""
    count = r.randint(4, 12)
    base = r.randint(3_000_000, 6_000_000)

    def program(rank):
        counts = [256] * count
        for _ in range(30):
            yield rank.compute(noisy(rank, base, 0.001))
            yield rank.collective("MPI_Alltoallv", counts=counts)
        yield rank.collective("MPI_Finalize")

    return count, program, None


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
