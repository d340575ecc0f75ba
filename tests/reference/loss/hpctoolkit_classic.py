"""HPCToolkit with experiment.xml 2.x: elements of the tree, samples of *.hpctrace and of experiment.mt."""
import math
import struct
import xml.etree.ElementTree as ElementTree

FILES = ["hpctoolkit/c-*/experiment.xml"]


def samples(data):
    """Of one trace file: a head of 24 or 32 bytes, records of 12 or 16."""
    if data[:18] != b"HPCRUN-trace______":
        raise ValueError("no trace")
    if data[18:23] == b"01.00":
        return (len(data) - 24) // 12
    flags = struct.unpack_from(">Q", data, 24)[0]
    return (len(data) - 32) // (16 if flags & 1 else 12)


def tables(folder):
    """The files of values, single or merged: columns of doubles, a row per context from 1 on."""
    files = [one.read_bytes() for one in folder.glob("*.metric-db")]
    for merged in folder.glob("experiment-*.mdb"):
        files += parts(merged.read_bytes())
    for data in files:
        rows, columns = struct.unpack_from(">II", data, 24)
        yield [struct.unpack_from(f">{columns}d", data, 32 + 8 * columns * row) for row in range(rows)]


def parts(data):
    """The files in a merged one."""
    count = struct.unpack_from(">I", data, 4)[0]
    starts = [struct.unpack_from(">Q", data, 8 + 16 * i + 8)[0] for i in range(count)] + [len(data) - 8]
    return [data[begin:end] for begin, end in zip(starts, starts[1:])]


def found(path):
    root = ElementTree.parse(path).getroot()
    tree = root.find(".//SecCallPathProfileData")
    if tree is None:
        return None
    out = {"contexts": sum(1 for one in tree.iter() if one.tag in ("PF", "Pr", "P", "L", "C", "S", "A"))}
    procedures = {one.get("i"): one.get("n") for one in root.iter("Procedure")}
    names = {int(one.get("i")): procedures.get(one.get("n"), one.get("n")) for one in tree.iter("PF")}
    NAMED.clear()
    NAMED.update(names)
    out["names"] = sorted(f"{one}: {name}" for one, name in names.items())
    traces = [one.read_bytes() for one in path.parent.glob("*.hpctrace")]
    merged = path.parent / "experiment.mt"
    if merged.exists():
        traces += parts(merged.read_bytes())
    if traces:
        out["events"] = out["level events"] = sum(map(samples, traces))
    # Of the root above all there is no context.
    values = [row for table in tables(path.parent) for row in table[1:]]
    for metric in root.iter("MetricDB") if values else ():
        name, scope = metric.get("n"), metric.get("t")
        name = name[:-4] if name.endswith((" (I)", " (E)")) else name
        column = [row[int(metric.get("db-id"))] for row in values]
        out[f"scope {scope} cells of {name}"] = sum(1 for value in column if value != 0)
        out[f"scope {scope} sum of {name}"] = math.fsum(column)
    return out


NAMED = set()  # procedure frames of the file at hand, which are called
LEVEL = {"names": lambda level: sorted(f"{row['id']}: {row['name']}" for row in level.table("context")
                                       if int(row["id"]) in NAMED and row["edge"] == "call")}
