"""OTF2: event records of all locations by kind, and what each becomes at the level of traces."""
import collections
import struct

FILES = ["otf2/**/*.otf2"]
MADE = [("ring", ".otf2", "")]
WITHOUT_LENGTH = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}
KINDS = {12: "enter", 66: "enter", 13: "leave", 67: "leave", 14: "send", 15: "send", 18: "recv", 19: "recv",
         16: "complete", 78: "complete", 23: "collective", 68: "sample"}
ENDS = {21, 49, 50, 52, 86}  # markers that are the end of a request or an operation as well
BEGINS = {17, 22, 75}  # their ends refer to them
METRIC = 31


def compact(data, at):
    """Where a compact integer ends."""
    return at + 1 + (data[at] if data[at] != 255 else 0)


def records(data, chunk_size):
    """(type, first byte behind its length)"""
    for begin in range(0, len(data), chunk_size):
        at, end = begin, min(begin + chunk_size, len(data))
        order = "<" if data[at + 1] == 0x42 else ">"
        at += 18
        while at < end and data[at] not in (0, 2):
            kind = data[at]
            at += 1
            if kind == 5:
                at += 8
                continue
            if kind in WITHOUT_LENGTH:
                yield kind, at
                at = compact(data, at)
                continue
            size, at = data[at], at + 1
            if size == 255:
                size, at = struct.unpack_from(order + "Q", data, at)[0], at + 8
            if at + size > end:
                raise ValueError("a record is cut")
            if kind != 6:
                yield kind, at
            at += size


def found(anchor):
    head = anchor.read_bytes()
    if head[2:7] != b"OTF2\0":
        return None
    chunk_size = struct.unpack_from("<Q" if head[1] == 0x42 else ">Q", head, 12)[0]
    out = collections.Counter()
    for path in sorted((anchor.parent / anchor.stem).glob("*.evt")):
        data = path.read_bytes()
        for kind, at in records(data, chunk_size):
            out["events"] += 1
            if kind in KINDS:
                out["events " + KINDS[kind]] += 1
            elif kind == METRIC:
                out["events counter"] += data[compact(data, at)]  # a value per member
            elif kind not in BEGINS:
                out["events marker"] += 1
                if kind in ENDS:
                    out["events complete"] += 1
    return dict(out)
