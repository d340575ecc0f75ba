"""Families of MPI programs, each drawn at random with a problem planted in it; what the simulator knows of it is the truth.

FAMILIES: by name a function that is given a source of random numbers and gives the number of ranks, the program, and None for
a healthy one or a function of the simulation that gives the kinds of finding that are right, the culprits (None = none in
particular), the time lost (None = not known) and, where there are two problems, the kinds of the second."""
import random

FAMILIES = {}
NOBODY = "nobody"  # is to blame: this one is healthy after all


def waited(sim, *kinds):
    return sum(ns for (kind, *_), ns in sim.wait_states().items() if not kinds or kind in kinds)


def waited_as(kind):
    return lambda sim: waited(sim, kind)


def not_known(_):
    return None


def family(kind=None, lost=waited, second=None):
    """Of functions that draw the number of ranks, the program and, where there are any, the culprits and the time lost; `kind` is
    what is planted, none in a healthy one, `lost(sim)` what it costs where the function does not say."""
    def add(function):
        def draw(r):
            count, program, *facts = function(r)
            culprits, cost = (*facts, None, None)[:2]
            if kind is None or culprits == NOBODY:
                return count, program, None
            return count, program, lambda sim: ([kind], culprits, cost or lost(sim), *([[second]] if second else []))

        FAMILIES[function.__name__] = draw
        return function

    return add


# Parts of programs: lists of operations. Work is drawn when it is its turn, all ranks share one source of noise.

def noisy(rank, ns, noise):
    return ns * (1 + rank.random.gauss(0, noise))


def work(ns, times=1, noise=0.001, plus=0):
    return lambda rank: rank.compute(noisy(rank, ns, noise) * times + plus)


def meet(name="MPI_Allreduce", **arguments):
    return lambda rank: rank.collective(name, **arguments)


def halo(rank, neighbours, size):
    return [*(rank.irecv(n) for n in neighbours), *(rank.isend(n, size) for n in neighbours), rank.waitall()]


def grid_neighbours(number, size, wide):
    """Of a periodic grid, `wide` ranks in a row."""
    row, column = divmod(number, wide)
    rows = size // wide
    found = [row * wide + (column + 1) % wide, row * wide + (column - 1) % wide,
             (row + 1) % rows * wide + column, (row - 1) % rows * wide + column]
    return sorted({n for n in found if n != number})


def steps_of(steps, step, before=lambda rank: [], behind=()):
    """A program: `before`, so many times `step(rank, number)`, `behind` and the end."""
    def program(rank):
        def operations():
            yield from before(rank)
            for number in range(steps):
                yield from step(rank, number)
            yield from behind
            yield meet("MPI_Finalize")

        for operation in operations():
            yield operation(rank) if callable(operation) else operation

    return program


def stencil(r, steps, work_of, size=4096, finish="MPI_Allreduce"):
    """`work_of(rank, step, count)`, an exchange with neighbours, now and then a collective."""
    wide = r.choice([2, 3, 4, 5])
    count = wide * r.choice([2, 3, 4, 5, 6])
    every = r.choice([1, 1, 2, 5])
    return count, steps_of(steps, lambda k, s: [work_of(k, s, count), *halo(k, grid_neighbours(k.number, count, wide), size),
                                                *([meet(finish)] if s % every == every - 1 else [])])


def someone(seed, count):
    return random.Random(seed).randrange(count)


# Healthy ones.

@family()
def healthy(r):
    noise = r.choice([0.0005, 0.001, 0.002, 0.003])
    base = r.randint(2_000_000, 6_000_000)
    return stencil(r, r.randint(20, 60), lambda k, s, n: work(base, noise=noise), r.choice([512, 8192, 200_000]),
                   r.choice(["MPI_Allreduce", "MPI_Barrier"]))


@family()
def healthy_uneven_steps(r):
    """Steps differ from each other, ranks do not."""
    base = r.randint(2_000_000, 6_000_000)
    lengths = [base * r.uniform(0.5, 1.5) for _ in range(60)]
    return stencil(r, 60, lambda k, s, n: work(lengths[s]))


@family()
def healthy_ring(r):
    """No collectives but the last."""
    count = r.randint(4, 24)
    base = r.randint(2_000_000, 5_000_000)
    return count, steps_of(50, lambda k, s: [work(base), k.irecv((k.number - 1) % count), k.isend((k.number + 1) % count, 4096),
                                             k.waitall()])


@family()
def healthy_exchange(r):
    """All with all, most parts of it used."""
    count = r.randint(4, 12)
    base = r.randint(3_000_000, 6_000_000)
    return count, steps_of(30, lambda k, s: [work(base), meet("MPI_Alltoallv", counts=[256] * count)])


@family()
def healthy_many_ranks(r):
    base = r.randint(2_000_000, 4_000_000)
    count = r.choice([48, 64, 96])
    return count, steps_of(30, lambda k, s: [work(base, noise=0.003), *halo(k, grid_neighbours(k.number, count, 8), 2048),
                                             *([meet()] if s % 5 == 4 else [])])


@family()
def healthy_half_in_parts(r):
    """Two halves that do different things of the same length, with a collective in between now and then."""
    count = 2 * r.randint(3, 8)
    base = r.randint(2_000_000, 4_000_000)

    def half_of(rank):
        half = rank.number * 2 // count
        return half, (4, tuple(range(half * count // 2, (half + 1) * count // 2)))

    def step(rank, number):
        half, comm = half_of(rank)
        own = [work(base / 2), meet("MPI_Barrier", comm=comm)] * 2 if half else [work(base), meet(comm=comm)]
        return own + ([meet()] if number % 10 == 9 else [])

    return count, steps_of(40, step, lambda k: [meet("MPI_Comm_split", colour=half_of(k)[0], extra=4)])


# Some compute more than others.

@family("load_imbalance")
def imbalance(r):
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.2, 1.9)
    count, program = stencil(r, r.randint(20, 50),
                             lambda k, s, n: work(base, factor if k.number == someone(base, n) else 1, 0.002),
                             r.choice([512, 8192, 100_000]), r.choice(["MPI_Allreduce", "MPI_Barrier"]))
    return count, program, [someone(base, count)]


@family("load_imbalance")
def imbalance_of_several(r):
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.3, 1.8)
    every = r.choice([3, 4, 5])
    count, program = stencil(r, r.randint(20, 40), lambda k, s, n: work(base, factor if k.number % every == 0 else 1))
    return count, program, list(range(0, count, every))


@family("load_imbalance", not_known)
def slight_imbalance(r):
    """Little, in noise that is not much less."""
    base = r.randint(1_000_000, 4_000_000)
    factor = r.uniform(1.08, 1.12)
    slow = r.randrange(4)
    count, program = stencil(r, r.randint(30, 60), lambda k, s, n: work(base, factor if k.number == slow else 1, 0.004),
                             finish="MPI_Barrier")
    return count, program, [slow]


@family("load_imbalance")
def two_slow_in_turns(r):
    """One rank has more to do in the first half, another one in the second."""
    base = r.randint(1_000_000, 3_000_000)
    first, second = r.sample(range(4), 2)
    steps = r.randint(30, 50)
    count, program = stencil(r, steps,
                             lambda k, s, n: work(base, 1.5 if k.number == (first if s < steps / 2 else second) else 1))
    return count, program, [first, second]


@family("load_imbalance")
def gradient(r):
    """The further behind a rank stands, the more it has to do."""
    base = r.randint(1_000_000, 3_000_000)
    slope = r.uniform(0.3, 0.8)
    count, program = stencil(r, r.randint(20, 40), lambda k, s, n: work(base, 1 + slope * k.number / (n - 1)))
    return count, program, list(range(count - max(2, count // 3), count))


@family("load_imbalance")
def slow_node(r):
    """All ranks of one host are slower."""
    base = r.randint(1_000_000, 3_000_000)
    factor = r.uniform(1.2, 1.6)
    count, program = stencil(r, r.randint(20, 40), lambda k, s, n: work(base, factor if k.number < 4 else 1, 0.002), 8192)
    return (count, program, [0, 1, 2, 3]) if count > 4 else (*healthy(r), NOBODY)


@family("load_imbalance")
def phase_change(r):
    base = r.randint(1_000_000, 3_000_000)
    steps = r.randint(30, 50)
    count, program = stencil(
        r, steps, lambda k, s, n: work(base, 1.6 if k.number == someone(base, n) and s >= steps // 2 else 1))
    return count, program, [someone(base, count)]


@family("load_imbalance")
def split_rows(r):
    rows, wide = r.randint(2, 5), r.randint(3, 6)
    base = r.randint(2_000_000, 5_000_000)
    slow = r.randrange(rows * wide)
    factor = r.uniform(1.3, 1.7)

    def row_of(rank):
        row = rank.number // wide
        return tuple(range(row * wide, row * wide + wide))

    return rows * wide, steps_of(40, lambda k, s: [work(base, factor if k.number == slow else 1), meet(comm=(4, row_of(k)))],
                                 lambda k: [meet("MPI_Comm_split", colour=k.number // wide, extra=4)]), [slow]


@family("load_imbalance")
def rows_and_columns(r):
    """Collectives along both directions of a grid; one rank is slow."""
    rows, wide = r.randint(2, 4), r.randint(2, 5)
    count = rows * wide
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)

    def split(rank):
        row, column = divmod(rank.number, wide)
        return [meet("MPI_Comm_split", colour=row, extra=4), meet("MPI_Comm_split", colour=column, extra=5)]

    def step(rank, _):
        row, column = divmod(rank.number, wide)
        return [work(base, 1.5 if rank.number == slow else 1), meet(comm=(4, tuple(range(row * wide, row * wide + wide)))),
                work(base / 4), meet(comm=(5, tuple(range(column, count, wide))))]

    return count, steps_of(30, step, split), [slow]


@family("load_imbalance")
def propagation(r):
    count = r.randint(6, 16)
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)
    steps = r.randint(30, 50)
    factor = r.uniform(1.25, 1.6)
    return count, steps_of(steps, lambda k, s: [work(base, factor if k.number == slow else 1),
                                                k.send((k.number + 1) % count, 2048), k.recv((k.number - 1) % count)]), [slow]


@family("load_imbalance")
def imbalance_of_reduce(r):
    """Everybody meets in reductions to a root that also has the most to do."""
    count = r.randint(6, 20)
    base = r.randint(1_000_000, 3_000_000)
    factor = r.uniform(1.3, 1.7)
    return count, steps_of(40, lambda k, s: [work(base, factor if k.number == 0 else 1), meet(size=64),
                                             meet("MPI_Bcast", root=0, size=4096)]), [0]


@family("load_imbalance")
def ring_of_sendrecv(r):
    """Delays travel along a ring of calls that send and receive at once."""
    count = r.randint(5, 16)
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)
    factor = r.uniform(1.25, 1.6)
    return count, steps_of(40, lambda k, s: [work(base, factor if k.number == slow else 1),
                                             k.sendrecv((k.number + 1) % count, (k.number - 1) % count, 2048)]), [slow]


@family("load_imbalance")
def halo_one_by_one(r):
    """Messages are waited for one after the other and used when all are there: another order would not help."""
    wide, rows = r.choice([3, 4]), r.choice([3, 4])
    count = wide * rows
    base = r.randint(1_000_000, 3_000_000)
    slow = r.randrange(count)

    def step(rank, _):
        neighbours = grid_neighbours(rank.number, count, wide)
        exchange = halo(rank, neighbours, 2048)[:-1]
        return [work(base, 1.5 if rank.number == slow else 1), *exchange, *[rank.wait()] * len(exchange), meet("MPI_Barrier")]

    return count, steps_of(30, step), [slow]


@family("alternating_imbalance")
def alternating(r):
    base = r.randint(1_000_000, 3_000_000)
    count = r.randint(6, 24)
    steps = count * r.choice([2, 3])
    extra = r.uniform(0.5, 1.2)
    return count, steps_of(steps, lambda k, s: [work(base, 1 + (extra if s % count == k.number else 0)), meet()])


# Steps that are slow.

def delayed(base, bad, late, delay, times=lambda rank: 1):
    return lambda k, s, n: work(base, times(k), plus=delay if s == bad and k.number == late(n) else 0)


@family("slow_iteration")
def slow_step(r):
    base = r.randint(2_000_000, 4_000_000)
    steps = r.randint(40, 60)
    bad = r.randint(10, steps - 10)
    delay = base * r.uniform(8, 14)
    count, program = stencil(r, steps, delayed(base, bad, lambda n: someone(base, n), delay))
    return count, program, [someone(base, count)], count * delay


@family("slow_iteration")
def two_slow_steps(r):
    """Another rank each time."""
    base = r.randint(2_000_000, 4_000_000)
    bad = {r.randint(5, 15): 0, r.randint(20, 30): 1}
    delay = base * r.uniform(8, 14)
    count = r.randint(4, 16)
    return (count, steps_of(40, lambda k, s: [work(base, plus=delay if bad.get(s) == k.number else 0), meet()]), [0, 1],
            2 * count * delay)


@family("slow_iteration", not_known, second="load_imbalance")
def imbalance_and_slow_step(r):
    """A step that takes far too long, and less of an imbalance all the time."""
    base = r.randint(2_000_000, 4_000_000)
    steps = r.randint(40, 60)
    bad = r.randint(10, steps - 10)
    delay = base * r.uniform(20, 30)
    return *stencil(r, steps, delayed(base, bad, lambda n: 2, delay, lambda k: 1.12 if k.number == 1 else 1)), [2]


# Messages.

@family("late_sender")
def late_sender(r):
    groups = r.randint(2, 6)
    wide = r.choice([2, 3, 4])
    base = r.randint(1_000_000, 3_000_000)

    def step(rank, _):
        first = rank.number // wide * wide
        if rank.number == first:
            return [work(base), work(base), *(rank.send(first + n, 1024) for n in range(1, wide)), meet("MPI_Barrier")]
        return [work(base), rank.recv(first), work(base), meet("MPI_Barrier")]

    return groups * wide, steps_of(r.randint(20, 50), step), list(range(0, groups * wide, wide))


@family("late_receiver")
def late_receiver(r):
    pairs = r.randint(2, 8)
    base = r.randint(1_000_000, 3_000_000)

    def step(rank, _):
        if rank.number % 2 == 0:
            return [work(base), rank.send(rank.number + 1, 1_000_000), work(base), meet("MPI_Barrier")]
        return [work(base), work(base), rank.recv(rank.number - 1), meet("MPI_Barrier")]

    return 2 * pairs, steps_of(r.randint(20, 50), step), list(range(1, 2 * pairs, 2))


@family("serialisation")
def pipeline(r):
    count = r.randint(8, 20)
    base = r.randint(500_000, 2_000_000)
    return count, steps_of(r.randint(15, 40), lambda k, s: [*along(k, 1, count, work(base, noise=0.002)), meet()])


@family("serialisation")
def sweep(r):
    """Both ways along a chain, as a transport code does."""
    count = r.randint(8, 16)
    base = r.randint(500_000, 1_000_000)
    one = work(base, noise=0.002)
    return count, steps_of(20, lambda k, s: [*along(k, 1, count, one, 8), *along(k, -1, count, one, 6)])


def along(rank, way, count, one, tag=7):
    """From one end of a chain to the other: what comes from the rank before is worked on and goes to the next."""
    first, last = (0, count - 1) if way == 1 else (count - 1, 0)
    return [*([rank.recv(rank.number - way, tag=tag)] if rank.number != first else []), one,
            *([rank.send(rank.number + way, 4096, tag=tag)] if rank.number != last else [])]


@family("wrong_order", not_known)
def wrong_order(r):
    """Rank 0 asks first for what comes last, and everybody waits for rank 0."""
    count = r.randint(5, 12)
    base = r.randint(1_000_000, 2_000_000)
    late = r.randrange(1, count)
    order = [late] + [n for n in range(1, count) if n != late]

    def step(rank, _):
        if rank.number == 0:
            own = [operation for n in order for operation in (rank.recv(n), work(base / count))]
        else:
            own = [work(base * (1 if rank.number == late else 0.5)), rank.send(0, 4096)]
        return [*own, meet("MPI_Bcast", root=0, size=1024), work(base * (0.5 if rank.number not in (0, late) else 0))]

    return count, steps_of(30, step), [0]


@family("master_worker")
def busy_master(r):
    """Workers ask rank 0 for every task, and it cannot keep up."""
    count = r.randint(6, 16)
    task = r.randint(1_000_000, 3_000_000)
    service = task / (count - 1) * r.uniform(1.5, 2.5)

    def step(rank, _):
        if rank.number > 0:
            return [rank.send(0, 64), rank.recv(0, tag=8), work(task, noise=0.01)]
        return [operation for n in range(1, count) for operation in (rank.recv(n), work(service), rank.send(n, 256, tag=8))]

    return count, steps_of(30, step), [0]


@family("tiny_messages", not_known)
def tiny_messages(r):
    count = r.randint(4, 12)
    base = r.randint(100_000, 200_000)
    many = r.randint(40, 80)

    def step(rank, _):
        one = [rank.irecv((rank.number - 1) % count), rank.isend((rank.number + 1) % count, 8)]
        return [work(base), *one * many, rank.waitall()]

    return count, steps_of(20, step)


# Collectives.

@family("late_broadcast")
def late_broadcast(r):
    count = r.randint(6, 20)
    root = r.randrange(count)
    base = r.randint(1_000_000, 3_000_000)
    steps = r.randint(20, 40)
    extra = r.uniform(0.3, 0.8)
    cast = meet("MPI_Bcast", root=root, size=4096)
    return count, steps_of(steps, lambda k, s: [work(base * extra), cast, work(base * (1 - extra))] if k.number == root
                           else [cast, work(base)]), [root]


@family("early_reduce", waited_as("early_reduce"))
def early_reduce(r):
    count = r.randint(6, 20)
    root = r.randrange(count)
    base = r.randint(1_000_000, 3_000_000)
    return count, steps_of(40, lambda k, s: [work(base * (0.2 if k.number == root else 1)), meet("MPI_Reduce", root=root)])


@family("early_scan", not_known)
def scan(r):
    count = r.randint(6, 16)
    base = r.randint(1_000_000, 3_000_000)
    late, early = [work(base), meet("MPI_Scan"), meet("MPI_Barrier")], [meet("MPI_Scan"), work(base), meet("MPI_Barrier")]
    return count, steps_of(40, lambda k, s: late if k.number == 0 else early), [0]


@family("communication", not_known)
def large_collectives(r):
    """Moving data is what takes the time, nobody waits."""
    count = r.randint(8, 20)
    base = r.randint(1_000_000, 2_000_000)
    return count, steps_of(30, lambda k, s: [work(base), meet(size=4_000_000)])


@family("sparse_alltoall")
def sparse_alltoall(r):
    count = r.randint(8, 20)
    base = r.randint(100_000, 200_000)

    def counts(rank):
        return [1024 if (n - rank.number) % count in (1, 2) else 0 for n in range(count)]

    share = (count - 2) / count
    return (count, steps_of(30, lambda k, s: [work(base), meet("MPI_Alltoallv", counts=counts(k))]), None,
            share * 30 * count * 1200 * count)


# Files.

def read_and_tell(rank, step, io_ns):
    """Every eight steps the first rank reads what all need."""
    if step % 8 != 0:
        return []
    return [*([rank.io("MPI_File_read_at", io_ns)] if rank.number == 0 else []), meet("MPI_Bcast", root=0, size=4096)]


@family("io_serialisation", waited_as("late_broadcast"))
def io_broadcast(r):
    count = r.randint(6, 20)
    base = r.randint(1_000_000, 3_000_000)
    io_ns = r.randint(8_000_000, 20_000_000)
    return count, steps_of(40, lambda k, s: [work(base), *read_and_tell(k, s, io_ns), meet()]), [0]


@family("io_serialisation", waited_as("wait_barrier"))
def few_checkpoints(r):
    """At one distance, but not often enough to be turns of an outer loop; the steps that they make long are no other loss."""
    count = r.randint(6, 16)
    base = r.randint(1_000_000, 3_000_000)
    every = r.choice([10, 12])
    writer = r.randrange(count)
    io_ns = int(base * r.uniform(4, 8))

    def step(rank, number):
        writes = number % every == every - 1 and rank.number == writer
        return [work(base), *([rank.io("MPI_File_read_at", io_ns)] if writes else []), meet("MPI_Barrier")]

    return count, steps_of(3 * every, step), [writer]


@family("io_serialisation", waited_as("late_broadcast"), second="load_imbalance")
def two_problems(r):
    """Files that one rank reads while others wait, and less of an imbalance."""
    count = r.randint(8, 18)
    base = r.randint(1_000_000, 2_000_000)
    slow = r.randrange(1, count)
    io_ns = int(base * r.uniform(8, 12))
    return count, steps_of(40, lambda k, s: [work(base, 1.15 if k.number == slow else 1), meet(),
                                             *read_and_tell(k, s, io_ns)]), [0]


@family("wait_io")
def collective_io(r):
    count = r.randint(6, 16)
    base = r.randint(2_000_000, 4_000_000)
    late = r.randrange(count)
    write = meet("MPI_File_write_at_all", size=65536)
    return count, steps_of(30, lambda k, s: [work(base, 1.3 if k.number == late else 1), write],
                           lambda k: [meet("MPI_File_open")], [meet("MPI_File_close")]), [late]


# Windows.

WINDOW = meet("MPI_Win_create", extra=1)


def exposed(count, steps, target, origin):
    """Rank 0 exposes a window to all others; `target(call)` and `origin(rank, call)` list what they do in a step, where `call`
    makes a call about the window."""
    def partners(rank):
        return {"ranks": list(range(1, count)) if rank.number == 0 else [0], "group": 4}

    def before(rank):
        return [WINDOW, rank.window("MPI_Comm_group"), rank.window("MPI_Group_incl", **partners(rank))]

    def step(rank, _):
        def call(name, **more):
            return rank.window(name, **partners(rank), window=1, **more)

        return target(call) if rank.number == 0 else origin(rank, call)

    return steps_of(steps, step, before)


@family("late_post", waited_as("late_post"))
def windows_posted_late(r):
    """Origins put into the window of rank 0, which posts it late."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)
    return count, exposed(
        count, 30, lambda call: [work(base), call("MPI_Win_post"), work(base / 10), call("MPI_Win_wait")],
        lambda k, call: [work(base * (0.6 if k.number != count - 1 else 1.05)), call("MPI_Win_start"),
                         call("MPI_Win_complete")]), [0]


@family("late_post", waited_as("late_post"))
def starts_that_block(r):
    """Origins wait in the start; clocks of their hosts may disagree by more than what is left of the call then."""
    count = r.randint(8, 14)
    base = r.randint(2_000_000, 4_000_000)
    return count, exposed(
        count, 30, lambda call: [work(base), call("MPI_Win_post"), work(base / 10), call("MPI_Win_wait")],
        lambda k, call: [work(base * 0.6), call("MPI_Win_start", blocks=True), work(base / 10), call("MPI_Win_complete")]), [0]


@family("early_wait")
def windows_waited_for(r):
    """Rank 0 exposes its window at once and waits for origins, one of which computes long before it completes."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)
    slow = r.choice(range(1, count))
    return count, exposed(
        count, 30, lambda call: [call("MPI_Win_post"), call("MPI_Win_wait"), work(base * 0.3)],
        lambda k, call: [call("MPI_Win_start"), work(base * (0.8 if k.number == slow else 0.1)), call("MPI_Win_complete"),
                         work(base * (0.2 if k.number == slow else 0.9))]), [slow]


@family("wait_fence")
def window_fences(r):
    count = r.randint(4, 16)
    base = r.randint(2_000_000, 4_000_000)
    slow = r.randrange(count)
    return count, steps_of(30, lambda k, s: [work(base, 1.4 if k.number == slow else 1), meet("MPI_Win_fence", extra=1)],
                           lambda k: [WINDOW]), [slow]


@family("wait_fence")
def window_fences_in_turns(r):
    """One rank is late in the first half, another one more so in the second: what the first had cost is over by then."""
    count = r.randint(3, 4)
    base = r.randint(1_000_000, 3_000_000)
    first, second = r.sample(range(count), 2)

    def times(rank, step):
        return 1.5 if rank.number == first and step < 15 else 1.6 if rank.number == second and step >= 15 else 1

    return count, steps_of(30, lambda k, s: [work(base, times(k, s)), meet("MPI_Win_fence", extra=1)],
                           lambda k: [WINDOW]), [second]


@family("lock_contention")
def window_locks(r):
    """All ranks change the same place and hold it far too long."""
    count = r.randint(4, 10)
    base = r.randint(2_000_000, 4_000_000)
    return count, steps_of(20, lambda k, s: [work(base, noise=0.01), k.window("MPI_Win_lock", target=0, window=1, sharers=count),
                                             work(base * 0.2, noise=0.01), k.window("MPI_Win_unlock", target=0, window=1),
                                             meet("MPI_Barrier")], lambda k: [WINDOW])
