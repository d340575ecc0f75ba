#!/usr/bin/env python3
"""Wait states by a second way: a small decoder of DUMPI files and the definitions of docs/findings.md, in plain Python.

Usage: wait_states.py FATHOM FOLDER. Compares (kind, rank, culprit, call) sums with `fathom waits`; runs with skewed
clocks or cut streams are left to the planted truth. Nothing of this is shared with the program under test."""
import csv
import io
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SIZES = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1]
NAMES = {0: "MPI_Send", 1: "MPI_Recv", 8: "MPI_Isend", 12: "MPI_Irecv", 13: "MPI_Wait", 18: "MPI_Waitall",
         33: "MPI_Sendrecv", 52: "MPI_Barrier", 53: "MPI_Bcast", 61: "MPI_Alltoallv", 62: "MPI_Reduce",
         65: "MPI_Allreduce", 67: "MPI_Scan", 81: "MPI_Comm_size", 82: "MPI_Comm_rank", 86: "MPI_Comm_split",
         124: "MPI_Init", 125: "MPI_Finalize", 230: "MPI_File_open", 231: "MPI_File_close", 242: "MPI_File_read_at"}
# i = i32, h = i16 handle, b = u8, q = i64, a = array of i32, s = text, S = statuses
LAYOUT = {0: "ihiih", 1: "ihiihS", 8: "ihiihi", 12: "ihiihi", 13: "iS", 18: "iaS", 33: "ihiiihiihS", 52: "h", 53: "ihih",
          61: "iaahaahh", 62: "ihbih", 65: "ihbh", 67: "ihbh", 81: "hi", 82: "hi", 86: "hiih", 125: "",
          230: "hsbhh", 231: "h", 242: "hqihS", 291: "q", 292: "q"}
WORLD = 2
NXN = {61, 65, 86, 125, 52}


class Call:
    __slots__ = ("id", "enter", "leave", "args", "receives", "sends", "until", "culprit", "kind")

    def __init__(self, identity, enter, leave, args):
        self.id, self.enter, self.leave, self.args = identity, enter, leave, args
        self.receives, self.sends = [], []
        self.until = self.culprit = self.kind = None


def read(path):
    data = path.read_bytes()
    bias = struct.unpack_from(">i", data, 12)[0]
    at, calls = 16, []
    while True:
        identity = struct.unpack_from(">H", data, at)[0]
        if identity == 293:
            return calls
        mask = data[at + 2]
        at += 3
        at += 2 if mask & 0x40 else 0
        at += 12 if mask & 0x04 else 0
        s0, n0, s1, n1 = struct.unpack_from(">HIHI", data, at)
        at += 12
        if mask & 0x80:
            at += 1 + 16 * data[at]
        if identity == 124:
            argc = struct.unpack_from(">i", data, at)[0]
            at += 4
            for _ in range(argc):
                at += 4 + struct.unpack_from(">i", data, at)[0]
            layout = ""
        else:
            layout = LAYOUT[identity]
        args = []
        for kind in layout:
            if kind == "a":
                count = struct.unpack_from(">i", data, at)[0]
                args.append(list(struct.unpack_from(f">{count}i", data, at + 4)))
                at += 4 + 4 * count
            elif kind == "s":
                at += 4 + struct.unpack_from(">i", data, at)[0]
                args.append(None)
            elif kind == "S":
                statuses = []
                if mask & 3:
                    count = struct.unpack_from(">i", data, at)[0]
                    at += 4
                    for _ in range(count):
                        statuses.append(struct.unpack_from(">iibbi", data, at))
                        at += 14
                args.append(statuses)
            else:
                form = {"i": ">i", "h": ">h", "b": ">B", "q": ">q"}[kind]
                args.append(struct.unpack_from(form, data, at)[0])
                at += struct.calcsize(form)
        if identity < 290:
            second = 1_000_000_000
            calls.append(Call(identity, (s0 + bias) * second + n0, (s1 + bias) * second + n1, args))


def collect(runs, size):
    """Messages with their ends, and the collectives of every communicator."""
    sends, receives, members = defaultdict(list), defaultdict(list), {}
    ranks = sorted(runs)
    splits = defaultdict(dict)
    for rank in ranks:
        for number, call in enumerate(c for c in runs[rank] if c.id == 86):
            splits[number][rank] = call
    comms = {rank: {WORLD: ("world", list(range(size)))} for rank in ranks}
    for number in sorted(splits):  # all splits of these runs are of the world
        by_colour = defaultdict(list)
        for rank, call in splits[number].items():
            by_colour[call.args[1]].append((call.args[2], rank))
        for colour, group in by_colour.items():
            for _, rank in group:
                comms[rank][splits[number][rank].args[3]] = ((number, colour), [r for _, r in sorted(group)])
    instances = defaultdict(lambda: defaultdict(list))
    for rank in ranks:
        pending = defaultdict(list)

        def peer(comm, local):
            return comms[rank][comm][1][local] if 0 <= local < len(comms[rank][comm][1]) else None

        def post_send(call, count, dtype, dest, tag, comm):
            message = {"bytes": count * SIZES[dtype], "from": rank, "issue": call, "done": None, "match": None}
            if peer(comm, dest) is not None:
                sends[(rank, peer(comm, dest), comms[rank][comm][0], tag)].append(message)
            return message

        def receive(call, posted, source, tag, comm, status, anybody):
            source = status[1] if status is not None and source < 0 else source
            tag = status[4] if status is not None and tag < 0 else tag
            message = {"posted": posted.enter, "poster": posted, "call": call, "match": None, "any": anybody, "to": rank}
            if peer(comm, source) is not None:
                receives[(peer(comm, source), rank, comms[rank][comm][0], tag)].append((posted.enter, message))
                call.receives.append(message)

        for call in runs[rank]:
            a = call.args
            if call.id == 0:
                message = post_send(call, *a[:5])
                message["done"] = call
                call.sends.append(message)
            elif call.id == 1:
                receive(call, call, a[2], a[3], a[4], a[5][0] if a[5] else None, a[2] < 0)
            elif call.id == 8:
                pending[a[5]].append(("send", post_send(call, *a[:5])))
            elif call.id == 12:
                pending[a[5]].append(("receive", (call, a)))
            elif call.id in (13, 18):
                requests = [a[0]] if call.id == 13 else a[1]
                statuses = a[1] if call.id == 13 else a[2]
                for n, request in enumerate(requests):
                    if not pending[request]:
                        continue
                    kind, what = pending[request].pop(0)
                    if kind == "send":
                        what["done"] = call
                        call.sends.append(what)
                    else:
                        poster, b = what
                        receive(call, poster, b[2], b[3], b[4], statuses[n] if n < len(statuses) else None, b[2] < 0)
            elif call.id == 33:
                message = post_send(call, a[0], a[1], a[2], a[3], a[8])
                message["done"] = call
                call.sends.append(message)
                receive(call, call, a[6], a[7], a[8], a[9][0] if a[9] else None, a[6] < 0)
            elif call.id in (52, 53, 61, 62, 65, 67, 86, 125):
                place = {52: 0, 53: 3, 61: 7, 62: 4, 65: 3, 67: 3, 86: 0}.get(call.id)
                comm = WORLD if place is None else a[place]
                name, group = comms[rank].get(comm, (None, []))
                members[name] = group
                instances[name][rank].append(call)
    for key, posted in receives.items():
        for send, (_, message) in zip(sends[key], sorted(posted, key=lambda p: p[0])):
            send["match"], message["match"] = message, send
    return sends, instances, members


def consider(call, until, kind, culprit):
    if call.until is None or until > call.until:
        call.until, call.kind, call.culprit = until, kind, culprit


def waits(runs, size):
    sends, instances, members = collect(runs, size)
    limit = 1024
    for messages in sends.values():
        for m in messages:
            if m["match"] and m["done"] and m["done"].leave < m["match"]["posted"]:
                limit = max(limit, m["bytes"])
    for rank, calls in runs.items():
        for call in calls:
            for m in sorted((m for m in call.receives if m["match"]), key=lambda m: m["match"]["from"]):
                consider(call, m["match"]["issue"].enter, "late_sender", m["match"]["from"])
            for m in call.sends:
                if m["match"] and m["bytes"] > limit and m["match"]["posted"] < call.leave:
                    consider(call, m["match"]["posted"], "late_receiver", m["match"]["to"])
    for name, by_rank in instances.items():
        for k in range(max(len(c) for c in by_rank.values())):
            there = [(rank, by_rank[rank][k]) for rank in members[name] if len(by_rank.get(rank, [])) > k]
            for n, (rank, call) in enumerate(there):
                if call.id in NXN:
                    others, kind = there, {52: "wait_barrier", 125: "wait_finalize"}.get(call.id, "wait_nxn")
                elif call.id == 53:
                    root = members[name][call.args[2]]
                    others, kind = [t for t in there if t[0] == root and rank != root], "late_broadcast"
                elif call.id == 62:
                    others, kind = there if members[name][call.args[3]] == rank else [], "early_reduce"
                else:
                    others, kind = there[:n], "early_scan"
                if others:
                    last = max(others, key=lambda t: (t[1].enter, -t[0]))
                    if last[0] != rank:
                        consider(call, last[1].enter, kind, last[0])
    sums = defaultdict(int)
    for rank, calls in runs.items():
        for call in calls:
            if call.until is not None and min(call.until, call.leave) > call.enter:
                sums[(call.kind, rank, call.culprit, NAMES[call.id])] += min(call.until, call.leave) - call.enter
    return sums


def main():
    fathom, folder = sys.argv[1], Path(sys.argv[2])
    if not (folder / "truth.json").exists() or "skewed" in folder.name or "killed" in folder.name:
        print("skipped")
        return 77
    runs = {int(path.stem.rsplit("-", 1)[1]): read(path) for path in sorted(folder.glob("*.bin"))}
    meta = next(folder.glob("*.meta"))
    size = int(dict(line.split("=", 1) for line in meta.read_text().split())["numprocs"])
    expected = {key: ns for key, ns in waits(runs, size).items() if ns > 0}
    command = [fathom, "waits", str(meta), "--csv", "--quiet"]
    run = subprocess.run(command + ["--by", "kind", "--by", "rank", "--by", "culprit", "--by", "call"],
                         capture_output=True, text=True, check=True)
    found = {}
    for row in csv.DictReader(io.StringIO(run.stdout)):
        key = (row["kind"], int(row["location"]), int(row["culprit"]), row["call"])
        found[key] = round(float(row["waited_s"]) * 1e9)
    wrong = [f"{key}: {found.get(key, 0)} ns, expected {expected.get(key, 0)} ns"
             for key in sorted(set(found) | set(expected)) if found.get(key, 0) != expected.get(key, 0)]
    print("\n".join(wrong[:20]) or f"ok: {len(found)} sums are equal")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
