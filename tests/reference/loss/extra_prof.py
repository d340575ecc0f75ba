"""Extra-Prof: nodes of the tree in MessagePack with their visits, bytes, exclusive times and further metrics."""
import collections
import json
import math
import struct

FILES = ["extrap/gpu/extra_prof_*.tar.gz"]
MEMBERS = "**/*.extra-prof.msgpack"
EXAMPLES = ["gpu.extra-prof.msgpack"]


def unpack(data, at=0):
    """(value, where it ends) of one MessagePack item."""
    head = data[at]
    at += 1
    if head < 0x80:
        return head, at
    if head >= 0xE0:
        return head - 256, at
    if head < 0x90 or head in (0xDE, 0xDF):
        size, at = (head & 15, at) if head < 0x90 else number(data, at, "H" if head == 0xDE else "I")
        out = {}
        for _ in range(size):
            key, at = unpack(data, at)
            out[key], at = unpack(data, at)
        return out, at
    if head < 0xA0 or head in (0xDC, 0xDD):
        size, at = (head & 15, at) if head < 0xA0 else number(data, at, "H" if head == 0xDC else "I")
        out = []
        for _ in range(size):
            value, at = unpack(data, at)
            out.append(value)
        return out, at
    if head < 0xC0 or head in (0xD9, 0xDA, 0xDB, 0xC4, 0xC5, 0xC6):
        sizes = {0xD9: "B", 0xDA: "H", 0xDB: "I", 0xC4: "B", 0xC5: "H", 0xC6: "I"}
        size, at = (head & 31, at) if head < 0xC0 else number(data, at, sizes[head])
        return data[at:at + size].decode(errors="replace"), at + size
    if head in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[head], at
    return number(data, at, {0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i",
                             0xD3: "q"}[head])


def number(data, at, letter):
    return struct.unpack_from(">" + letter, data, at)[0], at + struct.calcsize(letter)


NONE, LAUNCH, KERNEL, COPY, SET, SYNCHRONIZE, OVERHEAD, OVERLAP = range(8)
ASYNCHRONOUS, OVERLAPS = 1, 2  # flags


def mean(value):
    """Of the threads, where each has a number of its own."""
    return sum(value) / len(value) if isinstance(value, list) and value else value or 0


def beside(node):
    """What runs while the node above goes on: no part of its time."""
    kind, flags = node[2], node[3] or 0
    return kind == KERNEL or kind in (COPY, SET) and flags & ASYNCHRONOUS or flags & OVERLAPS and kind != OVERLAP


def own(whole, inside):
    """Where more is inside than there is, the whole is kept."""
    return whole - inside if inside <= whole else whole


def add(node, depth, names, out):
    """Values by the depth of the call path and what the GPU has to do with it; times are exclusive."""
    place = (depth, "GPU" if node[2] in (KERNEL, COPY, SET) else "LAUNCH" if node[2] == LAUNCH else "")
    out["visits", *place] += mean(node[5])
    out["bytes", *place] += mean(node[6])
    inside = [child for child in node[1] if not beside(child)]
    out["time", *place] += own(mean(node[4]), sum(mean(child[4]) for child in inside)) / 1e9
    for at, name in enumerate(names[0]):
        out[name, *place] += mean(node[7][at]) if len(node) > 7 and node[7] else 0
    more = lambda one, at: mean(one[8][at]) if len(one) > 8 and one[8] else 0
    for at, name in enumerate(names[1]):
        out[name, *place] += own(more(node, at), sum(more(child, at) for child in inside))
    for child in node[1]:
        add(child, depth + 1, names, out)


def found(path):
    content, _ = unpack(path.read_bytes())
    names = [content[3] if len(content) > 3 else [], [one[0] for one in content[4]] if len(content) > 4 else []]
    out = collections.Counter()
    for node in content[2][1]:
        add(node, 1, names, out)
    return {"values": rounded(out)}


def rounded(out):
    return sorted(f"{metric} at depth {depth} {kind}: {value:.9g}" for (metric, depth, kind), value in out.items() if abs(value) > 1e-15)


def measured(level):
    out = collections.Counter()
    for line in level.run("convert", level.dataset, "-", "--to", "extrap-jsonl", "--quiet").stdout.splitlines():
        one = json.loads(line)
        *above, name = one["callpath"].split("->")
        kind = next((prefix for prefix in ("GPU", "LAUNCH") if name.startswith(prefix + " ")), "")
        out[one["metric"], len(above) + 1, kind] += math.fsum(one["value"])
    return rounded(out)


LEVEL = {"values": measured}
