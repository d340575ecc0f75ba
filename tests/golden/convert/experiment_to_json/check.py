"""What Python reads from a converted experiment: sums by call path and metric."""
import json
import sys
import zipfile
from collections import defaultdict

sums = defaultdict(float)
path = sys.argv[1]
if path.endswith(".json"):
    data = json.load(open(path))
    assert data["parameters"] == ["p", "n"]
    for callpath, metrics in data["measurements"].items():
        for metric, points in metrics.items():
            for point in points:
                sums[callpath, metric] += point["point"][0] * sum(point["values"])
elif path.endswith(".jsonl"):
    for line in open(path):
        row = json.loads(line)
        sums[row["callpath"], row["metric"]] += row["params"]["p"] * sum(row["value"])
elif path.endswith(".extra-p"):
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None
    data = json.loads(archive.read("experiment.json"))
    assert data["parameters"] == ["p", "n"]
    assert archive.read("values/0.vals").startswith(b"Extra-P VALUES\0\0\x93NUMPY")
    for callpath, metrics in data["measurements"].items():
        for metric, points in metrics.items():
            for point in points:
                sums[callpath, metric] += point["coordinate"][0] * point["mean"] * point["repetitions"]
else:
    callpath = metric = None
    points, values = [], []
    for line in open(path):
        key, _, value = line.strip().partition(" ")
        if key == "POINTS":
            points = [float(p.split()[0]) for p in value.strip("()").split(") (")]
        elif key == "METRIC":
            metric = value
        elif key == "REGION":
            callpath, values = value, iter(points)
        elif key == "DATA":
            sums[callpath, metric] += next(values) * sum(map(float, value.split()))
for (callpath, metric), value in sums.items():
    print(callpath, metric, value)
