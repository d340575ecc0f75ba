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
TIME = 5
EMPTY = 20  # bytes of a file of definitions without any
CLOCK, STRING, REGION = 5, 10, 15  # of definitions
MAPPING, OF_REGIONS = 5, 3  # of those of a location


def compact(data, at):
    """Where a compact integer ends."""
    return at + 1 + (data[at] if data[at] != 255 else 0)


def compact_value(data, at, order):
    size = data[at]
    return -1 if size == 255 else int.from_bytes(data[at + 1:at + 1 + size], "little" if order == "<" else "big")


def definitions(data, chunk_size):
    """Names of regions, and ticks per second with the first of them."""
    strings, regions, clock = {}, {}, (1000000000, 0)
    for begin in range(0, len(data), chunk_size):
        at, end = begin + 18, min(begin + chunk_size, len(data))
        order = "<" if data[begin + 1] == 0x42 else ">"
        while at < end and data[at] not in (0, 2):
            kind, size, at = data[at], data[at + 1], at + 2
            if size == 255:
                size, at = struct.unpack_from(order + "Q", data, at)[0], at + 8
            if kind == STRING:
                text = compact(data, at)
                strings[compact_value(data, at, order)] = data[text:data.index(b"\0", text)].decode(errors="replace")
            elif kind == REGION:
                regions[compact_value(data, at, order)] = compact_value(data, compact(data, at), order)
            elif kind == CLOCK:
                clock = compact_value(data, at, order), compact_value(data, compact(data, at), order)
            at += size
    return {one: strings.get(name) for one, name in regions.items()}, clock


def mapped(path, chunk_size):
    """Regions of a location by their numbers in its events."""
    out = {}
    data = path.read_bytes() if path.exists() else b""
    for kind, at, order in records(data, chunk_size, times=True, marks=()):
        if kind != MAPPING or data[at] != OF_REGIONS:
            continue
        count, at = compact_value(data, at + 1, order), compact(data, at + 1)
        sparse, at = data[at], at + 1
        numbers = []
        for _ in range(count * (1 + sparse)):
            numbers.append(compact_value(data, at, order))
            at = compact(data, at)
        out |= dict(zip(numbers[::2], numbers[1::2]) if sparse else enumerate(numbers))
    return out


def visits(data, chunk_size, regions, clock):
    """Enters and leaves with their names and times."""
    time = 0
    for kind, at, order in records(data, chunk_size, times=True):
        if kind == TIME:
            time = (struct.unpack_from(order + "Q", data, at)[0] - clock[1]) * 1000000000 // clock[0]
        elif kind in (12, 13):
            region = compact_value(data, at, order)
            yield f"{KINDS[kind]} {regions.get(region, f'region {region}')} at {time}"


def records(data, chunk_size, times=False, marks=(5,)):
    """(type, first byte behind its length), with times (which definitions do not have) and the byte order where they are wanted."""
    for begin in range(0, len(data), chunk_size):
        at, end = begin, min(begin + chunk_size, len(data))
        order = "<" if data[at + 1] == 0x42 else ">"
        at += 18
        while at < end and data[at] not in (0, 2):
            kind = data[at]
            at += 1
            if kind in marks:
                if times:
                    yield kind, at, order
                at += 8
                continue
            if kind in WITHOUT_LENGTH and marks:
                yield (kind, at, order) if times else (kind, at)
                at = compact(data, at)
                continue
            size, at = data[at], at + 1
            if size == 255:
                size, at = struct.unpack_from(order + "Q", data, at)[0], at + 8
            if at + size > end:
                raise ValueError("a record is cut")
            if kind != 6 or not marks:
                yield (kind, at, order) if times else (kind, at)
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
    locals_ = [one.stat().st_size for one in (anchor.parent / anchor.stem).glob("*.def")]
    definition_chunk = struct.unpack_from("<Q" if head[1] == 0x42 else ">Q", head, 20)[0]
    try:
        regions, clock = definitions(anchor.with_suffix(".def").read_bytes(), definition_chunk)
    except (ValueError, IndexError, struct.error):
        return dict(out)  # cut
    seen = []
    for path in (anchor.parent / anchor.stem).glob("*.evt"):
        own = regions | {one: regions.get(to, f"region {to}") for one, to in mapped(path.with_suffix(".def"), definition_chunk).items()}
        seen += visits(path.read_bytes(), chunk_size, own, clock)
    # With definitions of locations of their own clocks are corrected: names alone.
    if len(seen) != out["events enter"] + out["events leave"]:
        return dict(out)  # enters of calling contexts have other names
    own_clock = clock[0] == 1000000000 and max(locals_, default=0) <= EMPTY
    return dict(out) | ({"visits with times": sorted(seen)} if own_clock else {"visits": sorted(one.rpartition(" at ")[0] for one in seen)})


def entered(level, times):
    """Without what is made up: leaves at the end of a location, or of what was entered later than what is left."""
    return sorted(f"{row['kind']} {row['name']}" + (f" at {row['time_ns']}" if times else "") for row in level.table("event")
                  if row["kind"] in ("enter", "leave"))


LEVEL = {"visits": lambda level: entered(level, False), "visits with times": lambda level: entered(level, True)}
