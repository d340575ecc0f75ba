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


def frames(root, tree):
    """By id the names of procedure frames, the edges, and the frames that all others are in; a call site without an id of its own around a frame
    makes it an inlined call."""
    procedures = {one.get("i"): one.get("n") for one in root.iter("Procedure")}
    names, edges, owners, todo = {}, {}, {}, [(tree, None, None)]
    while todo:
        node, above, frame = todo.pop()
        if node.tag == "PF" and int(node.get("i")) > 0:
            names[int(node.get("i"))] = procedures[node.get("n")]
            inlined = above is not None and above.tag == "C" and int(above.get("i")) < 0 and -int(above.get("i")) == int(node.get("i"))
            edges[int(node.get("i"))] = "inlined" if inlined else "call"
        elif node.tag in ("L", "S", "C") and int(node.get("i")) > 0:
            edges[int(node.get("i"))] = "lexical"
        frame = int(node.get("i")) if node.tag == "PF" else frame
        if node.get("i") and frame is not None:
            owners.setdefault(int(node.get("i")), frame)
        todo += [(child, node, frame) for child in node]
    return names, edges, owners


def found(path):
    folder = path.parent
    root = ElementTree.parse(path).getroot()
    tree = root.find(".//SecCallPathProfileData")
    ids = {int(one.get("i")) for one in tree.iter() if one.tag in ("PF", "L", "S", "C") and int(one.get("i")) > 0}
    names, edges, owners = frames(root, tree)
    NAMED.clear()
    NAMED.update(names)
    profile = (folder / "profile.db").read_bytes()
    count = struct.unpack_from(">I", profile, 0x12)[0]
    out = {"contexts": len(ids), "locations": count - 1,
           "values": sum(struct.unpack_from(">Q", profile, 128 + 52 * i + 0x20)[0] for i in range(1, count))}
    out["names"] = sorted(f"{one}: {name}" for one, name in names.items())
    out["edges"] = sorted(f"{one}: {edge}" for one, edge in edges.items())
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
            functions = collections.Counter(owners[one] for one in samples if one in ids)
            out["samples of functions"] = sorted(f"{one}: {count}" for one, count in functions.items())
    return out


NAMED = set()  # procedure frames of the file at hand
LEVEL = {"samples of functions": lambda level: sorted(f"{row['context']}: {row['count']}" for row in
                                                      level.rows("stats", level.dataset, "--by", "context", "--csv") if row["context"]),
         "names": lambda level: sorted(f"{row['id']}: {row['name']}" for row in level.table("context") if int(row["id"]) in NAMED),
         "edges": lambda level: sorted(f"{row['id']}: {row['edge']}" for row in level.table("context"))}
