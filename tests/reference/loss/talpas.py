"""TaLPas: a line is a value."""
import collections
import json
import math

FILES = ["extrap/inputs/talpas/*.txt", "extrap/errors/talpas_*.txt"]


def found(path):
    rows = [json.loads(line.replace(";", ",")) for line in path.read_text().splitlines() if line.strip()]
    points = collections.defaultdict(list)
    for row in rows:
        values = row["value"] if isinstance(row["value"], list) else [row["value"]]
        points[row["callpath"], row["metric"], json.dumps(row["parameters"], sort_keys=True)] += values
    means = math.fsum(math.fsum(values) / len(values) for values in points.values())
    return {"measurements": len(points), "repetitions": sum(map(len, points.values())), "sum of means": means}
