"""Extra-P's JSON in its two layouts."""
import json

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
        return {"measurements": len({tuple(str(one[key]) for key in keys) for one in measured}), "repetitions": len(measured)}
    points = [one for metrics in measured.values() for points in metrics.values() for one in points]
    return {"measurements": len(points), "repetitions": sum(len(one["values"]) for one in points)}
