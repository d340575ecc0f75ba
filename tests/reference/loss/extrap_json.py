"""Extra-P's JSON in its two layouts."""
import collections
import json
import math

MADE = [("scaling.txt", ".json", "")]
FILES = ["extrap/inputs/json/*.JSON", "extrap/inputs/json/**/*.json", "extrap/errors/json_*.json"]


def found(path):
    content = json.loads(path.read_text())
    if not isinstance(content, dict):
        return None
    measured = content["measurements"]
    if isinstance(measured, list):
        # Values of one call path, metric and coordinate are repetitions of one measurement.
        keys = ("callpath_id", "metric_id", "coordinate_id")
        points = collections.defaultdict(list)
        for one in measured:
            points[tuple(str(one[key]) for key in keys)].append(float(one["value"]))
        return {"measurements": len(points), "repetitions": len(measured), "sum of means": sum_of_means(points.values())}
    points = [one["values"] for metrics in measured.values() for points in metrics.values() for one in points]
    return {"measurements": len(points), "repetitions": sum(map(len, points)), "sum of means": sum_of_means(map(flat, points))}


def flat(value):
    return [one for part in value for one in flat(part)] if isinstance(value, list) else [float(value)]


def sum_of_means(lists):
    return math.fsum(math.fsum(values) / len(values) for values in lists if values)
