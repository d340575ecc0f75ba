"""Perfetto: track events by type, with the values and flows that they carry along."""
import collections
import zlib

import protobuf
from chrome import ENTERS, LEAVES, MARKERS
from cube import unpacked

FILES = ["perfetto/pftrace/*.pftrace", "perfetto/probes/*.pftrace"]
LEFT_OUT = {"events leave": ["trace.unmatched_end"]}
MADE_UP = {"events leave": ["trace.closed_early"]}
TYPES = {1: "enter", 2: "leave", 3: "marker", 4: "counter", 5: "state"}
FLOWS = (36, 42, 47, 48)
EXTRA_COUNTERS = (12, 46)
OLD_COUNTERS = (2, 8, 17, 20)  # times and instructions of the thread


def packets(trace):
    for number, packet in protobuf.parts(trace):
        if number != 1:
            continue
        fields = protobuf.fields(packet)
        if 50 in fields:
            yield from packets(zlib.decompress(fields[50][0]))
        else:
            yield fields


def many(fields, numbers, size):
    """Entries of repeated fields, packed or not; `size` of those that are not varints."""
    for number in numbers:
        for value in fields.get(number, []):
            if number in (12, 36, 42):
                yield from protobuf.integers([value])
            else:
                yield from range(len(value) // size)


def found(path):
    out = collections.Counter()
    for packet in packets(unpacked(path.read_bytes())):
        if 1 in packet:
            return None  # marks of the kernel's buffer are slices as well
        for event in packet.get(11, []):
            fields = protobuf.fields(event)
            kind = fields.get(9, [0])[0]
            if kind in TYPES:
                out["events " + TYPES[kind]] += 1
            elif 6 in fields:
                phase = chr(protobuf.fields(fields[6][0]).get(2, [0])[0])
                for letters, name in ((ENTERS, "enter"), (LEAVES, "leave"), (MARKERS, "marker")):
                    out["events " + name] += phase in letters
            out["events marker"] += sum(1 for _ in many(fields, FLOWS, 8))
            out["events counter"] += sum(1 for _ in many(fields, EXTRA_COUNTERS, 8)) + sum(one in fields for one in OLD_COUNTERS)
    return dict(out)
