#!/usr/bin/env python3
"""An independent reader of Cube 4 archives, for tests: standard library only.

Prints one line per row that is not all zero: metric, position of the cnode in the document, the row's bytes in little
endian as hexadecimal digits; lines are sorted.
"""
import gzip
import re
import struct
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
import zlib


def order_of(roots, inclusive):
    """cnodes in the order of row numbers: depth first, or in blocks of siblings."""
    out = []
    if not inclusive:
        stack = list(reversed(roots))
        while stack:
            node = stack.pop()
            out.append(node)
            stack.extend(reversed(node.findall("cnode")))
        return out
    for root in roots:
        out.append(root)
        stack = [root]
        while stack:
            node = stack.pop()
            children = node.findall("cnode")
            out.extend(children)
            stack.extend(reversed(children))
    return out


def main(path):
    with tarfile.open(path, "r:") as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
    text = members["anchor.xml"]
    if text[:2] == b"\x1f\x8b":
        text = gzip.decompress(text)
    text = re.sub(rb"(<cubepl\w*\s+\w+=)(\w+)>", rb'\1"\2">', text)
    cube = ElementTree.fromstring(text)
    roots = cube.find("program").findall("cnode")
    depth_first = order_of(roots, False)
    position = {id(node): i for i, node in enumerate(depth_first)}
    locations = len(cube.find("system").findall(".//location"))
    lines = []
    for metric in cube.find("metrics").iter("metric"):
        stem = metric.get("id")
        if (metric.get("viztype") or "").upper() == "GHOST":
            stem = "ghost_" + stem
        if stem + ".index" not in members or stem + ".data" not in members:
            continue
        index, data = members[stem + ".index"], members[stem + ".data"]
        assert index[:11] == b"CUBEX.INDEX"
        (one, version, form) = struct.unpack_from("<IHB", index, 11)
        assert one == 1 and version == 0 and form == 1, (one, version, form)
        (count,) = struct.unpack_from("<I", index, 18)
        numbers = struct.unpack_from("<%dI" % count, index, 22)
        assert len(index) == 22 + 4 * count
        assert list(numbers) == sorted(set(numbers))
        rows = []
        if data[:11] == b"ZCUBEX.DATA":
            (packed,) = struct.unpack_from("<Q", data, 11)
            assert packed == count
            base = 19 + 24 * packed
            for i in range(packed):
                plain, start, size = struct.unpack_from("<3Q", data, 19 + 24 * i)
                row = zlib.decompress(data[base + start:base + start + size])
                assert plain == i * len(row)
                rows.append(row)
        else:
            assert data[:10] == b"CUBEX.DATA"
            assert (len(data) - 10) % count == 0
            size = (len(data) - 10) // count
            rows = [data[10 + i * size:10 + (i + 1) * size] for i in range(count)]
        order = order_of(roots, metric.get("type") in ("INCLUSIVE", "SIMPLE"))
        for number, row in zip(numbers, rows):
            assert len(row) % locations == 0
            assert any(row)
            lines.append("%s %08d %s" % (metric.findtext("uniq_name"), position[id(order[number])], row.hex()))
    lines.sort()
    sys.stdout.write("".join(line + "\n" for line in lines))


main(sys.argv[1])
