"""Cube 4: definitions of anchor.xml, and the cells of N.index and N.data that are not zero and their sum, per stored metric."""
import gzip
import math
import re
import struct
import zlib
import xml.etree.ElementTree as ElementTree

MADE = [("stencil.cubex", ".cubex", "")]
FILES = ["cube/**/*.cubex"]

# Bytes of a value and how its numbers are packed.
TYPES = {"UINT8": "B", "CHAR": "B", "INT8": "b", "UINT16": "H", "UNSIGNED SHORT INT": "H", "INT16": "h", "SHORT INT": "h",
         "SIGNED SHORT INT": "h", "UINT32": "I", "UNSIGNED INT": "I", "INT32": "i", "INT": "i", "SIGNED INT": "i", "UINT64": "Q",
         "UNSIGNED INTEGER": "Q", "INT64": "q", "INTEGER": "q", "SIGNED INTEGER": "q", "DOUBLE": "d", "FLOAT": "d"}


def members(data):
    """Headers by hand: some writers store wrong checksums or a block of zeros in between, which Python refuses."""
    at, out = 0, {}
    while at + 512 <= len(data):
        if data[at] == 0:
            at += 512
            continue
        name = data[at:at + 100].split(b"\0")[0].decode()
        size = int(data[at + 124:at + 136].strip(b"\0 ") or b"0", 8)
        out[name] = data[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512
    return out


def unpacked(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def parsed(anchor):
    """Two attributes of CubePL are written without quotes."""
    return ElementTree.fromstring(re.sub(rb"(rowwise|cubeplaggrtype)=(\w+)", rb'\1="\2"', anchor))


def definitions(root):
    return {"metrics": len(list(root.iter("metric"))), "contexts": len(list(root.iter("cnode"))),
            "regions": len(list(root.iter("region"))),
            "locations": len(list(root.iter("location"))) + len(list(root.iter("thread")))}


def rows(index, data, row_bytes):
    """Every stored row."""
    order = "<" if index[11:15] == b"\x01\0\0\0" else ">"
    dense = index[17] == 3
    count = None if dense else struct.unpack_from(order + "I", index, 18)[0] if len(index) >= 22 else 0
    if data[:11] == b"ZCUBEX.DATA":
        entries = struct.unpack_from(order + "Q", data, 11)[0]
        streams = 19 + 24 * entries
        for i in range(entries):
            _, start, size = struct.unpack_from(order + "3Q", data, 19 + 24 * i)
            yield order, zlib.decompress(data[streams + start:streams + start + size])
        return
    for i in range((len(data) - 10) // row_bytes if dense else count):
        yield order, data[10 + i * row_bytes:10 + (i + 1) * row_bytes]


def found(path):
    files = members(unpacked(path.read_bytes()))
    root = parsed(unpacked(files["anchor.xml"]))
    out = definitions(root)
    void = {one for metric in root.iter("metric") if metric.findtext("val") == "VOID" for one in metric.iter("metric")}
    for metric in root.iter("metric"):
        prefix = "ghost_" if metric.get("viztype", "").upper() == "GHOST" else ""
        letter = TYPES.get(metric.findtext("dtype"))
        index, data = (files.get(f"{prefix}{metric.get('id')}.{kind}") for kind in ("index", "data"))
        if letter is None or index is None or data is None or metric in void:
            continue
        scope = "inclusive" if metric.get("type") in ("INCLUSIVE", "SIMPLE") else "exclusive"
        width = struct.calcsize("=" + letter)
        values = []
        for order, row in rows(index, data, width * out["locations"]):
            if len(row) != width * out["locations"]:
                raise ValueError("a row is cut")
            values += [value for value in struct.unpack(order + letter * out["locations"], row) if value != 0]
        out[f"{scope} cells of {metric.findtext('uniq_name')}"] = len(values)
        if all(map(math.isfinite, values)):
            out[f"{scope} sum of {metric.findtext('uniq_name')}"] = math.fsum(values)
    return out
