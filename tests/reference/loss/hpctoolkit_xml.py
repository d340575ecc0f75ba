"""HPCToolkit with experiment.xml 4.0: contexts of the tree, values of all profiles but the summary, samples of trace.db."""
import collections
import math
import struct
import xml.etree.ElementTree as ElementTree

MADE = [("stencil.cubex", "", "experiment.xml")]
FILES = ["hpctoolkit/a*/experiment.xml"]
SCOPES = {" (I)": "execution", " (E)": "function"}


def values(profile, count):
    """(context, id of the metric, value) of all profiles but the summary."""
    for i in range(1, count):
        total, listed, at = struct.unpack_from(">QIQ", profile, 128 + 52 * i + 0x20)
        index = [struct.unpack_from(">IQ", profile, at + 10 * total + 12 * k) for k in range(listed)] + [(0, total)]
        for (context, begin), (_, end) in zip(index, index[1:]):
            for k in range(begin, end):
                value, metric = struct.unpack_from(">dH", profile, at + 10 * k)
                yield context, metric, value


def found(path):
    folder = path.parent
    root = ElementTree.parse(path).getroot()
    tree = root.find(".//SecCallPathProfileData")
    ids = {int(one.get("i")) for one in tree.iter() if one.tag in ("PF", "L", "S", "C") and int(one.get("i")) > 0}
    profile = (folder / "profile.db").read_bytes()
    count = struct.unpack_from(">I", profile, 0x12)[0]
    out = {"contexts": len(ids), "locations": count - 1,
           "values": sum(struct.unpack_from(">Q", profile, 128 + 52 * i + 0x20)[0] for i in range(1, count))}
    cells = collections.defaultdict(list)
    for context, metric, value in values(profile, count):
        if context in ids:
            cells[metric].append(value)
    for metric in root.iter("MetricDB"):
        name, ending = metric.get("n")[:-4], metric.get("n")[-4:]
        if ending in SCOPES:
            out[f"scope {SCOPES[ending]} cells of {name}"] = len(cells[int(metric.get("i"))])
            out[f"scope {SCOPES[ending]} sum of {name}"] = math.fsum(cells[int(metric.get("i"))])
    if (folder / "trace.db").exists():
        trace = (folder / "trace.db").read_bytes()
        lines = [struct.unpack_from(">IHQQ", trace, 128 + 22 * i) for i in range(struct.unpack_from(">I", trace, 0x12)[0])]
        samples = [struct.unpack_from(">I", trace, at + 8)[0] for _, _, begin, end in lines for at in range(begin, end - 11, 12)]
        if samples:
            out["events"] = out["level events"] = len(samples)
            out["contexts of samples"] = sorted(samples)
    return out
