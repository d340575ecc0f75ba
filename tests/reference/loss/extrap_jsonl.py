"""Extra-P's JSON lines: a line is a value; values of one call path, metric and point are repetitions of one measurement."""
import collections
import json
import math

MADE = [("scaling.txt", ".jsonl", "")]
FILES = ["extrap/inputs/jsonlines/**/*.jsonl", "extrap/errors/jsonl_*.jsonl"]


def found(path):
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    points = collections.defaultdict(list)
    for row in rows:
        values = row["value"] if isinstance(row["value"], list) else [row["value"]]
        points[row.get("callpath", "<root>"), row.get("metric", "<default>"), json.dumps(row["params"], sort_keys=True)] += values
    means = math.fsum(math.fsum(values) / len(values) for values in points.values())
    return {"measurements": len(points), "repetitions": sum(map(len, points.values())), "sum of means": means}
