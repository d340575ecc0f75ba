"""HPCToolkit with experiment.xml 4.0: contexts of the tree, values of all profiles but the summary, samples of trace.db."""
import struct
import xml.etree.ElementTree as ElementTree

MADE = [("stencil.cubex", "", "experiment.xml")]
FILES = ["hpctoolkit/a*/experiment.xml"]


def found(path):
    folder = path.parent
    tree = ElementTree.parse(path).getroot().find(".//SecCallPathProfileData")
    ids = {int(one.get("i")) for one in tree.iter() if one.tag in ("PF", "L", "S", "C") and int(one.get("i")) > 0}
    profile = (folder / "profile.db").read_bytes()
    count = struct.unpack_from(">I", profile, 0x12)[0]
    out = {"contexts": len(ids), "locations": count - 1,
           "values": sum(struct.unpack_from(">Q", profile, 128 + 52 * i + 0x20)[0] for i in range(1, count))}
    if (folder / "trace.db").exists():
        trace = (folder / "trace.db").read_bytes()
        lines = [struct.unpack_from(">IHQQ", trace, 128 + 22 * i) for i in range(struct.unpack_from(">I", trace, 0x12)[0])]
        if any(end > begin for _, _, begin, end in lines):
            out["events"] = sum((end - begin) // 12 for _, _, begin, end in lines)
    return out
