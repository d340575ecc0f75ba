#!/usr/bin/env python3
"""Writes ring.meta and ring-0000.bin to ring-0003.bin, a small DUMPI trace, into the current folder (examples/ring).

Four ranks pass a token around three times: each posts a receive from its left neighbour, sends to its right one on a
duplicated communicator, waits for both, and all of them sum a number up. An annotation marks every round.
"""
import struct

RANKS, ROUNDS, COUNT = 4, 3, 256
MAGIC = b"\xff\xaa\xddDUMPI"
INIT, COMM_RANK, COMM_SIZE, COMM_DUP, ISEND, IRECV, WAITALL, ALLREDUCE, FINALIZE = 124, 82, 81, 84, 8, 12, 18, 65, 125
ENTER, EXIT, END_OF_STREAM, TOTAL = 291, 292, 293, 290
WORLD, DOUBLE, SUM = 2, 14, 3
LABELS = {4096 + n: f"ANNOTATION: round {n}" for n in range(ROUNDS)}
SIZES = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20]


def text16(text):
    return struct.pack(">H", len(text)) + text.encode()


class Rank:
    def __init__(self, rank):
        self.now = 1_000 * rank  # ns since the clock's bias
        self.stream = bytearray(MAGIC + struct.pack(">ii", 0, 5_000))
        self.called = [0] * (TOTAL + 1)

    def call(self, number, duration, arguments):
        """A record with thread, CPU and wall times, and statuses where the call has some."""
        self.stream += struct.pack(">HBH", number, 0x4F, 0)
        for clock in range(2):  # CPU, then wall
            for moment in (self.now, self.now + duration):
                self.stream += struct.pack(">HI", moment // 10**9, moment % 10**9)
        self.stream += arguments
        self.now += duration + 2_000
        if number < TOTAL:
            self.called[number] += 1
            self.called[TOTAL] += 1

    def finish(self):
        self.stream += struct.pack(">H", END_OF_STREAM)
        offsets = {}

        def section(name, content):
            offsets[name] = len(self.stream)
            self.stream += content

        header = bytes([13, 0, 0]) + struct.pack(">Q", 1_700_000_000) + text16("node") + text16("user")
        section("header", header + struct.pack(">ii", 0, 0))
        counts = self.called + [0] * (TOTAL + 1)
        section("footer", struct.pack(">Q", 0xF007FEE7) + struct.pack(f">{len(counts)}I", *counts))
        section("keyvals", struct.pack(">i", 0))
        section("counters", struct.pack(">i", 0))
        section("sizes", struct.pack(f">i{len(SIZES)}i", len(SIZES), *SIZES))
        labels = b"".join(struct.pack(">Q", key) + text16(label) for key, label in LABELS.items())
        section("addresses", struct.pack(">i", len(LABELS)) + labels)
        index = [offsets[name] for name in ("sizes", "addresses", "counters", "header")]
        self.stream += MAGIC + struct.pack(">7Q", *index, 8, offsets["footer"], 0)
        return bytes(self.stream)


def record(rank):
    left, right = (rank - 1) % RANKS, (rank + 1) % RANKS
    trace = Rank(rank)
    trace.call(INIT, 0, struct.pack(">ii", 1, 6) + b"./ring")
    trace.call(COMM_RANK, 300, struct.pack(">hi", WORLD, rank))
    trace.call(COMM_SIZE, 200, struct.pack(">hi", WORLD, RANKS))
    trace.call(COMM_DUP, 40_000, struct.pack(">hh", WORLD, 4))
    for turn in range(ROUNDS):
        trace.call(ENTER, 0, struct.pack(">q", 4096 + turn))
        trace.call(EXIT, 0, struct.pack(">q", 4096 + turn))
        trace.call(IRECV, 900, struct.pack(">ihiihi", COUNT, DOUBLE, left, turn, 4, 2))
        trace.call(ISEND, 1_200, struct.pack(">ihiihi", COUNT, DOUBLE, right, turn, 4, 3))
        statuses = struct.pack(">iibbi", 8 * COUNT, left, 0, 0, turn) + struct.pack(">iibbi", 0, 0, 0, 0, 0)
        trace.call(WAITALL, 15_000, struct.pack(">iiii", 2, 2, 2, 3) + struct.pack(">i", 2) + statuses)
        trace.call(ALLREDUCE, 22_000, struct.pack(">ihBh", 1, DOUBLE, SUM, WORLD))
        trace.now += 100_000  # computation
    trace.call(FINALIZE, 50_000, b"")
    return trace.finish()


for number in range(RANKS):
    with open(f"ring-{number:04}.bin", "wb") as file:
        file.write(record(number))
with open("ring.meta", "w") as file:
    file.write(f"hostname=node\nnumprocs={RANKS}\nusername=user\nstartime=1700000000\nfileprefix=ring\n"
               "version=13\nsubversion=0\nsubsubversion=0\n")
