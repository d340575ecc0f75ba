"""Extra-Prof: nodes of the tree in MessagePack, merged by their names as the format says, with visits and bytes."""
import re
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


def found(path):
    content, _ = unpack(path.read_bytes())
    return {"visits": sum(map(visits, content[2][1]))}


def visits(node):
    """Of a node and all below it, as a mean over the threads where each has a number of its own."""
    own = node[5]
    own = sum(own) / len(own) if isinstance(own, list) and own else own or 0
    return own + sum(map(visits, node[1]))
