#!/usr/bin/env python3
"""Writes examples/ovni: an ovni trace (version 3) of a small run on two hosts, two processes of two threads each.

Every thread executes tasks of nOS-V; in each of them it computes, sends to or receives from the other process with MPI, and
marks its phase. One thread is moved to another CPU by its neighbour, and the kernel takes a CPU away once.
"""
import json
import struct
from pathlib import Path

ROOT = Path(__file__).parent / "ovni"


class Stream:
    def __init__(self):
        self.bytes = b"ovni" + struct.pack("<I", 1)
        self.clock = 0

    def event(self, mcv, after, payload=b""):
        self.clock += after
        size = len(payload) - 1 if payload else 0
        self.bytes += struct.pack("<B3sQ", size, mcv.encode(), self.clock) + payload
        return self

    def jumbo(self, mcv, after, data):
        self.clock += after
        self.bytes += struct.pack("<B3sQI", 0x13, mcv.encode(), self.clock, len(data)) + data
        return self


def make_thread(host, rank, number):
    stream = Stream()
    # The clock of the second host is 2 ms behind.
    stream.clock = 5_000_000_000 + 1000 * number - (2_000_000 if rank == 1 else 0)
    stream.event("OHx", 0, struct.pack("<iiQ", number, -1, 0))
    if number == 0:
        stream.event("MUi", 100).event("MUI", 80_000)
        for kind, label in ((1, "compute"), (2, "exchange")):
            stream.jumbo("VYc", 50, struct.pack("<I", kind) + label.encode() + b"\0")
    else:
        stream.event("OHp", 200).event("OHr", 150_000)
    for step in range(5):
        for kind in (1, 2):
            task = 1 + 100 * number + 2 * step + kind
            stream.event("VU[", 300).event("VTc", 100, struct.pack("<II", task, kind)).event("VU]", 150)
            stream.event("VTx", 400, struct.pack("<II", task, 0))
            stream.event("OM=", 10, struct.pack("<qi", kind, 0))
            if kind == 1:
                stream.event("VAs", 40_000 + 3_000 * rank).event("VAS", 500)
            else:
                call = "S" if rank == 0 else "R"
                stream.event(f"M{call}[", 700).event(f"M{call}]", 9_000)
            if step == 2 and kind == 1 and number == 0:
                stream.event("KCO", 2_000).event("KCI", 6_000)
            stream.event("VTe", 25_000, struct.pack("<II", task, 0))
    if number == 0:
        stream.event("OAr", 1_000, struct.pack("<ii", 2, 1000 * (rank + 1) + 1))
        stream.event("MUf", 400).event("MUF", 60_000)
    stream.event("OHe", 500)

    pid = 1000 * (rank + 1)
    metadata = {"version": 3, "ovni": {
        "lib": {"version": "1.14.0", "commit": "unknown"}, "part": "thread", "tid": pid + number, "pid": pid,
        "loom": f"{host}.0", "app_id": 1,
        "require": {"ovni": "1.1.0", "nosv": "2.7.0", "mpi": "1.0.0", "kernel": "1.0.0"},
        "rank": rank, "nranks": 2, "loom_cpus": [{"index": i, "phyid": i} for i in range(3)],
        "mark": {"0": {"title": "phase", "chan_type": "single", "labels": {"1": "compute", "2": "exchange"}}},
        "finished": 1}, "nosv": {"can_breakdown": True}}
    folder = ROOT / f"loom.{host}.0" / f"proc.{pid}" / f"thread.{pid + number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stream.obs").write_bytes(stream.bytes)
    (folder / "stream.json").write_text(json.dumps(metadata, indent=4))


for rank, host in enumerate(("alpha", "beta")):
    for number in range(2):
        make_thread(host, rank, number)
with (ROOT / "clock-offsets.txt").open("w") as table:
    print("%-10s %-20s %-20s %-20s %-20s" % ("rank", "hostname", "offset_median", "offset_mean", "offset_std"), file=table)
    for rank, host in enumerate(("alpha", "beta")):
        print("%-10d %-20s %-20d %-20f %-20f" % (rank, host, 2_000_000 * rank, 2_000_000.0 * rank, 0), file=table)
