"""Extra-P 4: measurements with their figures and models of experiment.json in the archive."""
import json
import math
import zipfile

MADE = [("scaling.txt", ".extra-p", "")]
FILES = ["extrap/extra-p/*.extra-p"]


def found(path):
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("experiment.json"))
    measured = content["measurements"]
    models = sum(len(metrics) for one in content.get("modelers", []) for metrics in one.get("models", {}).values())
    rows = [one for outer in measured.values() for points in outer.values() for one in points]
    figures = {"mean": "mean", "median": "median", "minimum": "minimum", "maximum": "maximum", "std": "deviation"}
    sums = {f"sum of {ours}s": math.fsum(one[theirs] for one in rows) for theirs, ours in figures.items() if all(theirs in one for one in rows)}
    return {"measurements": len(rows), **({"model": models} if models else {}), **sums}
