"""Extra-P 4: measurements and models of experiment.json in the archive."""
import json
import zipfile

MADE = [("scaling.txt", ".extra-p", "")]
FILES = ["extrap/extra-p/*.extra-p"]


def found(path):
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("experiment.json"))
    measured = content["measurements"]
    models = sum(len(metrics) for one in content.get("modelers", []) for metrics in one.get("models", {}).values())
    return {"measurements": sum(len(points) for outer in measured.values() for points in outer.values()), **({"model": models} if models else {})}
