"""A simulator of MPI programs that writes DUMPI traces and knows for every call what it waited for.

A program is a function that is given a Rank and yields operations; times follow from a simple machine (overhead per call,
latency, bandwidth, eager and rendezvous messages) and from nothing else. Nothing of this is shared with the program under
test."""
import math
import struct
from collections import defaultdict
from pathlib import Path

WORLD = 2
BYTE = 5
OVERHEAD, LATENCY, BYTES_PER_NS, EAGER = 400, 2000, 8, 65536
SIZES = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 16, 6, 8, 32]
NXN = {"MPI_Barrier": "wait_barrier", "MPI_Allreduce": "wait_nxn", "MPI_Alltoallv": "wait_nxn", "MPI_Comm_split": "wait_nxn",
       "MPI_Finalize": "wait_finalize", "MPI_Win_create": "wait_fence", "MPI_Win_fence": "wait_fence",
       "MPI_File_write_at_all": "wait_io", "MPI_File_open": "wait_io", "MPI_File_close": "wait_io"}


class Rank:
    """What a program sees of itself, and the operations that it may yield."""

    def __init__(self, number, size, random):
        self.number, self.size, self.random = number, size, random
        self.next_request = 2

    @staticmethod
    def compute(ns):
        return ("compute", int(ns))

    @staticmethod
    def send(to, size, tag=7):
        return ("send", to, int(size), tag)

    @staticmethod
    def recv(source, tag=7):
        return ("recv", source, tag)

    @staticmethod
    def isend(to, size, tag=7):
        return ("isend", to, int(size), tag)

    @staticmethod
    def irecv(source, tag=7):
        return ("irecv", source, tag)

    @staticmethod
    def waitall():
        return ("waitall",)

    @staticmethod
    def wait():
        """For the first of the operations that are under way."""
        return ("wait",)

    @staticmethod
    def sendrecv(to, source, size, tag=7):
        return ("sendrecv", to, source, int(size), tag)

    @staticmethod
    def collective(name, comm=WORLD, root=-1, size=8, counts=None, colour=0, extra=None):
        return ("collective", name, comm, root, size, counts, colour, extra)

    @staticmethod
    def io(name, ns):
        return ("io", name, int(ns))

    @staticmethod
    def window(name, **arguments):
        return ("window", name, arguments)


class Call:
    __slots__ = ("name", "enter", "leave", "arguments", "kind", "until", "culprit")

    def __init__(self, name, enter, leave, arguments=b""):
        self.name, self.enter, self.leave, self.arguments = name, enter, leave, arguments
        self.kind = self.culprit = None
        self.until = 0

    def waited(self):
        return max(0, min(self.until, self.leave) - self.enter) if self.kind else 0

    def wait(self, kind, until, culprit):
        if self.kind is None or until > self.until:
            self.kind, self.until, self.culprit = kind, until, culprit


def statuses(*entries):
    return struct.pack(">i", len(entries)) + b"".join(struct.pack(">iibbi", size, source, 0, 0, tag)
                                                      for size, source, tag in entries)


class Simulation:
    def __init__(self, size, program, random, latency=LATENCY):
        self.size, self.latency = size, latency
        self.ranks = [Rank(r, size, random) for r in range(size)]
        self.calls = [[] for _ in range(size)]
        self.now = [0] * size
        self.messages = defaultdict(list)  # by sender, receiver and tag
        self.taken = defaultdict(int)
        self.pending = [[] for _ in range(size)]
        self.instances = defaultdict(lambda: defaultdict(dict))  # by communicator, number, rank
        self.numbers = [defaultdict(int) for _ in range(size)]
        self.state = [None] * size  # of an operation under way
        self.lock_rounds = defaultdict(lambda: {"come": {}, "left": {}})  # by target and round: entries and exits by rank
        self.posts = defaultdict(list)
        self.completes = defaultdict(list)
        self.met = defaultdict(int)
        programs = [program(rank) for rank in self.ranks]
        current = [None] * size
        for r in range(size):
            self.call(r, "MPI_Init", 0, struct.pack(">i", 1) + struct.pack(">i", 3) + b"app")
            self.call(r, "MPI_Comm_rank", 100, struct.pack(">hi", WORLD, r))
        alive = set(range(size))
        while alive:
            moved = False
            for r in sorted(alive):
                while True:
                    if current[r] is None:
                        current[r] = next(programs[r], None)
                        if current[r] is None:
                            alive.discard(r)
                            moved = True
                            break
                    if not self.step(r, current[r]):
                        break
                    current[r] = None
                    moved = True
            if not moved:
                raise RuntimeError("the program is stuck: " + str({r: current[r] for r in alive}))
        self.runtime = max(self.now)

    def call(self, r, name, ns, arguments=b""):
        call = Call(name, self.now[r], self.now[r] + ns, arguments)
        self.calls[r].append(call)
        self.now[r] += ns
        return call

    def transfer(self, size):
        return self.latency + size // BYTES_PER_NS

    def step(self, r, op):
        return getattr(self, "do_" + op[0])(r, *op[1:])

    def do_compute(self, r, ns):
        self.now[r] += ns
        return True

    def do_io(self, r, name, ns):
        self.call(r, name, ns, struct.pack(">hqih", 1, 0, 8, BYTE) + statuses((8, -1, -1)))
        return True

    def post_message(self, r, to, size, tag):
        message = {"from": r, "to": to, "bytes": size, "sent": self.now[r], "posted": None, "tag": tag}
        self.messages[r, to, tag].append(message)
        return message

    def ready_at(self, message):
        """When the message is there; None = its sender or a rendezvous partner has not come."""
        if message["bytes"] < EAGER:
            return message["sent"] + self.transfer(message["bytes"])
        if message["posted"] is None:
            return None
        return max(message["sent"], message["posted"]) + self.transfer(message["bytes"])

    def do_send(self, r, to, size, tag):
        if self.state[r] is None:
            self.state[r] = self.post_message(r, to, size, tag)
        message = self.state[r]
        exit_at = self.now[r] + OVERHEAD
        if size >= EAGER:
            if message["posted"] is None:
                return False
            exit_at = max(exit_at, self.ready_at(message))
        call = self.call(r, "MPI_Send", exit_at - self.now[r], struct.pack(">ihiih", size, BYTE, to, tag, WORLD))
        if size >= EAGER:
            call.wait("late_receiver", message["posted"], to)
        self.state[r] = None
        return True

    def match(self, r, source, tag):
        """The next message of a channel, once it was sent."""
        channel = (source, r, tag)
        if len(self.messages[channel]) <= self.taken[channel]:
            return None
        self.taken[channel] += 1
        return self.messages[channel][self.taken[channel] - 1]

    def do_recv(self, r, source, tag):
        message = self.match(r, source, tag)
        if message is None:
            return False
        message["posted"] = self.now[r]
        exit_at = max(self.now[r] + OVERHEAD, self.ready_at(message))
        call = self.call(r, "MPI_Recv", exit_at - self.now[r], struct.pack(">ihiih", message["bytes"], BYTE, source, tag, WORLD)
                         + statuses((message["bytes"], source, tag)))
        call.wait("late_sender", message["sent"], source)
        return True

    def do_sendrecv(self, r, to, source, size, tag):
        """Below the rendezvous limit: what is sent goes at once."""
        if self.state[r] is None:
            self.state[r] = self.post_message(r, to, size, tag)
        message = self.match(r, source, tag)
        if message is None:
            return False
        self.state[r] = None
        message["posted"] = self.now[r]
        exit_at = max(self.now[r] + OVERHEAD, self.ready_at(message))
        half = struct.pack(">ihii", size, BYTE, to, tag) + struct.pack(">ihii", message["bytes"], BYTE, source, tag)
        call = self.call(r, "MPI_Sendrecv", exit_at - self.now[r],
                         half + struct.pack(">h", WORLD) + statuses((message["bytes"], source, tag)))
        call.wait("late_sender", message["sent"], source)
        return True

    def new_request(self, r):
        self.ranks[r].next_request += 1
        return self.ranks[r].next_request

    def do_isend(self, r, to, size, tag):
        message = self.post_message(r, to, size, tag)
        request = self.new_request(r)
        self.call(r, "MPI_Isend", OVERHEAD, struct.pack(">ihiihi", size, BYTE, to, tag, WORLD, request))
        self.pending[r].append(("send", request, message))
        return True

    def do_irecv(self, r, source, tag):
        request = self.new_request(r)
        call = self.call(r, "MPI_Irecv", OVERHEAD, struct.pack(">ihiihi", 8, BYTE, source, tag, WORLD, request))
        self.pending[r].append(("recv", request, {"source": source, "tag": tag, "posted": call.enter, "message": None}))
        return True

    def do_wait(self, r):
        rest = self.pending[r][1:]
        self.pending[r] = self.pending[r][:1]
        done = self.do_waitall(r)
        self.pending[r] += rest
        return done

    def do_waitall(self, r):
        # Receives find their messages in the order in which they were posted.
        for kind, _, what in self.pending[r]:
            if kind == "recv" and what["message"] is None:
                what["message"] = self.match(r, what["source"], what["tag"])
                if what["message"] is not None:
                    what["message"]["posted"] = what["posted"]
        ready = []
        for kind, _, what in self.pending[r]:
            if kind == "recv":
                if what["message"] is None or self.ready_at(what["message"]) is None:
                    return False
                ready.append(self.ready_at(what["message"]))
            elif what["bytes"] >= EAGER:
                if self.ready_at(what) is None:
                    return False
                ready.append(self.ready_at(what))
        exit_at = max([self.now[r] + OVERHEAD] + ready)
        entries = [(w["message"]["bytes"], w["source"], w["tag"]) if k == "recv" else (0, -1, -1) for k, _, w in self.pending[r]]
        requests = [request for _, request, _ in self.pending[r]]
        call = self.call(r, "MPI_Waitall", exit_at - self.now[r],
                         struct.pack(f">ii{len(requests)}i", len(requests), len(requests), *requests) + statuses(*entries))
        for kind, _, what in sorted(self.pending[r], key=lambda p: p[2]["message"]["from"] if p[0] == "recv" else 0):
            if kind == "recv":
                call.wait("late_sender", what["message"]["sent"], what["source"])
            elif what["bytes"] >= EAGER and what["posted"] < call.leave:
                call.wait("late_receiver", what["posted"], what["to"])
        self.pending[r] = []
        return True

    def do_collective(self, r, name, comm, root, size, counts, colour, extra):
        # A communicator that was made is (its id, its members); all members have the same id for it.
        key, (comm, members) = comm, comm if isinstance(comm, tuple) else (comm, list(range(self.size)))
        members = list(members)
        number = self.numbers[r][key]
        entries = self.instances[key][number]
        entries.setdefault(r, self.now[r])
        local = members.index(r)
        if name == "MPI_Bcast":
            needed = [members[root]]
        elif name == "MPI_Reduce":
            needed = members if members[root] == r else [r]
        elif name == "MPI_Scan":
            needed = members[:local] + [r]
        else:
            needed = members
        if any(m not in entries for m in needed):
            return False
        steps = max(1, math.ceil(math.log2(max(2, len(members)))))
        cost = steps * (self.transfer(size) + OVERHEAD)
        if name == "MPI_Alltoallv":
            cost = 1200 * len(members)
        last = max(needed, key=lambda m: (entries[m], -m))
        waits = not (name == "MPI_Bcast" and members[root] == r) and not (name == "MPI_Reduce" and members[root] != r)
        exit_at = max(self.now[r], entries[last]) + (cost if waits else OVERHEAD)
        call = self.call(r, name, exit_at - self.now[r], self.collective_arguments(r, name, comm, root, size, counts, colour, extra))
        if waits and last != r:
            kind = {"MPI_Bcast": "late_broadcast", "MPI_Reduce": "early_reduce", "MPI_Scan": "early_scan"}.get(name) or NXN[name]
            call.wait(kind, entries[last], last)
        self.numbers[r][key] += 1
        return True

    def collective_arguments(self, r, name, comm, root, size, counts, colour, extra):
        if name == "MPI_Barrier":
            return struct.pack(">h", comm)
        if name == "MPI_Bcast":
            return struct.pack(">ihih", size, BYTE, root, comm)
        if name == "MPI_Reduce":
            return struct.pack(">ihBih", size, BYTE, 3, root, comm)
        if name in ("MPI_Allreduce", "MPI_Scan"):
            return struct.pack(">ihBh", size, BYTE, 3, comm)
        if name == "MPI_Alltoallv":
            n = len(counts)
            array = struct.pack(f">i{n}i", n, *counts)
            zero = struct.pack(f">i{n}i", n, *([0] * n))
            return struct.pack(">i", n) + array + zero + struct.pack(">h", BYTE) + array + zero + struct.pack(">hh", BYTE, comm)
        if name == "MPI_Comm_split":
            return struct.pack(">hiih", comm, colour, r, extra)
        if name == "MPI_Win_create":
            return struct.pack(">iihhh", 1024, 1, 1, comm, extra)
        if name == "MPI_Win_fence":
            return struct.pack(">Bh", 255, extra)
        if name == "MPI_File_open":
            return struct.pack(">hi", comm, 4) + b"file" + struct.pack(">Bhh", 4, 1, 1)
        if name == "MPI_File_close":
            return struct.pack(">h", 1)
        if name == "MPI_File_write_at_all":
            return struct.pack(">hqih", 1, 0, size, BYTE) + statuses((size, -1, -1))
        return b""

    def do_window(self, r, name, arguments):
        """Locks and the post-start-complete-wait of window `window`, on the world."""
        a = arguments
        entry = self.now[r]
        if name == "MPI_Win_post":
            for origin in a["ranks"]:
                self.posts[origin, r].append((entry, r))
            self.call(r, name, OVERHEAD, struct.pack(">hBh", a["group"], 0, a["window"]))
        elif name == "MPI_Win_start" and a.get("blocks"):
            if any(len(self.posts[r, t]) <= self.met[r, t] for t in a["ranks"]):
                return False
            until, culprit = max(self.posts[r, t][self.met[r, t]] for t in a["ranks"])
            call = self.call(r, name, max(entry, until) + OVERHEAD - entry, struct.pack(">hBh", a["group"], 0, a["window"]))
            call.wait("late_post", until, culprit)
        elif name == "MPI_Win_start":
            self.call(r, name, OVERHEAD, struct.pack(">hBh", a["group"], 0, a["window"]))
        elif name in ("MPI_Comm_group", "MPI_Group_incl"):
            ranks = a.get("ranks", [])
            array = struct.pack(f">ii{len(ranks)}i", len(ranks), len(ranks), *ranks)
            self.call(r, name, 100, struct.pack(">hh", WORLD, 3) if name == "MPI_Comm_group"
                      else struct.pack(">h", 3) + array + struct.pack(">h", a["group"]))
        elif name == "MPI_Win_complete":
            if not self.state[r]:
                self.state[r] = True
                for target in a["ranks"]:
                    self.completes[r, target].append((entry, r))
            if any(len(self.posts[r, t]) <= self.met[r, t] for t in a["ranks"]):
                return False
            until, culprit = max(self.posts[r, t][self.met[r, t]] for t in a["ranks"])
            for target in a["ranks"]:
                self.met[r, target] += 1
            call = self.call(r, name, max(entry, until) + OVERHEAD - entry, struct.pack(">h", a["window"]))
            call.wait("late_post", until, culprit)
            self.state[r] = None
        elif name == "MPI_Win_wait":
            done = self.met["wait", r]
            if any(len(self.completes[o, r]) <= done for o in a["ranks"]):
                return False
            until, culprit = max(self.completes[o, r][done] for o in a["ranks"])
            self.met["wait", r] += 1
            call = self.call(r, name, max(entry, until) + self.latency - entry, struct.pack(">h", a["window"]))
            call.wait("early_wait", until, culprit)
        elif name == "MPI_Win_lock":
            # All `sharers` lock the window of `target` once in a round; who comes first has it first.
            round_ = self.lock_rounds[a["target"], self.met["lock", r]]
            round_["come"].setdefault(r, entry)
            if len(round_["come"]) < a["sharers"]:
                return False
            order = sorted(round_["come"], key=lambda other: (round_["come"][other], other))
            before = order[order.index(r) - 1] if order[0] != r else None
            if before is not None and before not in round_["left"]:
                return False
            until = round_["left"][before] if before is not None else entry
            call = self.call(r, name, max(entry, until) + OVERHEAD - entry, struct.pack(">BiBh", 2, a["target"], 0, a["window"]))
            if before is not None:
                call.wait("lock_contention", until, before)
        elif name == "MPI_Win_unlock":
            call = self.call(r, name, OVERHEAD, struct.pack(">ih", a["target"], a["window"]))
            self.lock_rounds[a["target"], self.met["lock", r]]["left"][r] = call.leave
            self.met["lock", r] += 1
        else:
            raise ValueError(name)
        return True

    def wait_states(self):
        sums = defaultdict(int)
        for r, calls in enumerate(self.calls):
            for call in calls:
                if call.waited() > 0:
                    sums[call.kind, r, call.culprit, call.name] += call.waited()
        return sums

    def useful(self):
        return [self.runtime - sum(c.leave - c.enter for c in calls) for calls in self.calls]

    def write(self, folder, name, ids, clocks=None, ranks_per_node=10**9, missing=(), cut=None):
        """Writes the trace; `clocks`: (offset, drift) of each node, `cut`: bytes of the stream that are left, by rank."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.meta").write_text(
            f"hostname=node0000\nnumprocs={self.size}\nusername=user\nstartime=1789000000\nfileprefix={name}\n"
            "version=13\nsubversion=0\nsubsubversion=0\n")
        for r, calls in enumerate(self.calls):
            if r in missing:
                continue
            node = r // ranks_per_node
            offset, drift = clocks[node] if clocks else (0, 0.0)

            def clock(t):
                return 5_000_000_000 + t + offset + round(t * drift)

            out = bytearray(b"\xff\xaa\xddDUMPI")
            out += struct.pack(">ii", 0, 0)
            called = [0] * 291
            for call in calls:
                begin, end = clock(call.enter), clock(call.leave)
                times = struct.pack(">HIHI", begin // 10**9, begin % 10**9, end // 10**9, end % 10**9)
                out += struct.pack(">HBH", ids[call.name], 0x4F, 0) + struct.pack(">HIHI", 0, 0, 0, 0) + times + call.arguments
                called[ids[call.name]] += 1
                called[290] += 1
            if cut is not None:
                (folder / f"{name}-{r:04}.bin").write_bytes(out[:int(len(out) * cut[r])])
                continue
            out += struct.pack(">H", 293)
            header = len(out)
            host = f"node{node:04}".encode()
            out += bytes([13, 0, 0]) + struct.pack(">Q", 1789000000) + struct.pack(">H", len(host)) + host
            out += struct.pack(">H", 4) + b"user" + struct.pack(">ii", 0, 0)
            footer = len(out)
            out += struct.pack(">Q", 0xF007FEE7) + struct.pack(">291I", *called) + struct.pack(">291I", *([0] * 291))
            counters = len(out)
            out += struct.pack(">i", 0)
            sizes = len(out)
            out += struct.pack(f">i{len(SIZES)}i", len(SIZES), *SIZES)
            addresses = len(out)
            out += struct.pack(">i", 0)
            out += b"\xff\xaa\xddDUMPI" + struct.pack(">7Q", sizes, addresses, counters, header, 8, footer, 0)
            (folder / f"{name}-{r:04}.bin").write_bytes(out)
        return folder / f"{name}.meta"


def call_ids(names):
    """Numbers of the calls that are written, from a list `MPI_X=N`."""
    return dict((k, int(v)) for k, v in (pair.split("=") for pair in names.split()))


IDS = call_ids("MPI_Send=0 MPI_Recv=1 MPI_Isend=8 MPI_Irecv=12 MPI_Waitall=18 MPI_Sendrecv=33 MPI_Barrier=52 MPI_Bcast=53 MPI_Alltoallv=61 "
               "MPI_Reduce=62 MPI_Allreduce=65 MPI_Scan=67 MPI_Comm_rank=82 MPI_Comm_split=86 MPI_Init=124 MPI_Finalize=125 "
               "MPI_Win_complete=144 MPI_Win_create=145 MPI_Win_fence=146 MPI_Win_post=150 MPI_Win_start=151 MPI_Win_wait=154 "
               "MPI_Comm_group=72 MPI_Group_incl=76 MPI_Win_lock=149 MPI_Win_unlock=153 "
               "MPI_File_open=230 MPI_File_close=231 MPI_File_read_at=242 MPI_File_write_at_all=245")
