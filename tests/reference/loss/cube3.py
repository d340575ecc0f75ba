"""Cube 3: one XML document; the numbers of its severity section that are not zero."""
import math
import xml.etree.ElementTree as ElementTree

from cube import definitions, unpacked

MADE = [("stencil.cubex", ".cube", "")]
FILES = ["cube/**/*.cube", "cube/**/*.cube.gz"]


def found(path):
    root = ElementTree.fromstring(unpacked(path.read_bytes()))
    out = definitions(root)
    names = {metric.get("id"): metric.findtext("uniq_name") for metric in root.iter("metric")}
    for matrix in root.iter("matrix"):
        values = [float(text) for row in matrix.iter("row") for text in row.text.split() if float(text) != 0]
        out[f"exclusive cells of {names[matrix.get('metricId')]}"] = len(values)
        out[f"exclusive sum of {names[matrix.get('metricId')]}"] = math.fsum(values)
    return out
