#!/usr/bin/env python3
"""A second reader of Cube 3 documents: compares FILE.cube with a dump of exclusive values of the official tools.

Usage: read_cube3.py FILE.cube DUMP.csv
The dump has lines of cnode, thread and one value per metric; metrics go by their unique names.
"""
import csv
import sys
import xml.etree.ElementTree as ElementTree

root = ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == "cube" and root.get("version") == "3.0"
assert [part.tag for part in root if part.tag != "attr"] == ["doc", "metrics", "program", "system", "severity"]
metrics = {metric.findtext("uniq_name"): metric.get("id") for metric in root.iter("metric")}
cnodes = {cnode.get("id") for cnode in root.iter("cnode")}
regions = {region.get("id") for region in root.iter("region")}
assert {cnode.get("calleeId") for cnode in root.iter("cnode")} <= regions
threads = sorted(int(thread.get("Id")) for thread in root.findall("system/machine/node/process/thread"))
assert threads == list(range(len(threads)))
for cart in root.iter("cart"):
    assert len(cart.findall("dim")) == int(cart.get("ndims"))
    for coord in cart.findall("coord"):
        assert len(coord.text.split()) == int(cart.get("ndims"))
values = {}
for matrix in root.find("severity"):
    for row in matrix:
        assert row.get("cnodeId") in cnodes
        numbers = [float(word) for word in row.text.split()]
        assert len(numbers) == len(threads)
        values[matrix.get("metricId"), row.get("cnodeId")] = numbers
with open(sys.argv[2]) as dump:
    rows = csv.reader(dump)
    names = [name.strip() for name in next(rows)][2:]
    cells = 0
    for cnode, thread, *shown in rows:
        for name, text in zip(names, shown):
            value = values.get((metrics[name], cnode), [0] * len(threads))[int(thread)]
            if abs(value - float(text)) > 1e-5 * abs(value):
                sys.exit(f"metric {name}, cnode {cnode}, thread {thread}: {value} is not {text}")
            cells += 1
print(f"{len(names)} metrics, {len(cnodes)} cnodes, {len(threads)} threads: {cells} cells agree")
