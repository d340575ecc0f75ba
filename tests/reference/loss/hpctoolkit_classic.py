"""HPCToolkit with experiment.xml 2.x: elements of the tree, samples of *.hpctrace and of experiment.mt."""
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


def found(path):
    tree = ElementTree.parse(path).getroot().find(".//SecCallPathProfileData")
    if tree is None:
        return None
    out = {"contexts": sum(1 for one in tree.iter() if one.tag in ("PF", "Pr", "P", "L", "C", "S", "A"))}
    traces = [one.read_bytes() for one in path.parent.glob("*.hpctrace")]
    merged = path.parent / "experiment.mt"
    if merged.exists():
        data = merged.read_bytes()
        count = struct.unpack_from(">I", data, 4)[0]
        starts = [struct.unpack_from(">Q", data, 8 + 16 * i + 8)[0] for i in range(count)] + [len(data) - 8]
        traces += [data[begin:end] for begin, end in zip(starts, starts[1:])]
    if traces:
        out["events"] = sum(map(samples, traces))
    return out
