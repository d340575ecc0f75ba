"""Extra-P's JSON lines: a line is a value; values of one call path, metric and point are repetitions of one measurement."""
import json

MADE = [("scaling.txt", ".jsonl", "")]
FILES = ["extrap/inputs/jsonlines/**/*.jsonl", "extrap/errors/jsonl_*.jsonl"]


def found(path):
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    keys = {(row.get("callpath", "<root>"), row.get("metric", "<default>"), json.dumps(row["params"], sort_keys=True)) for row in rows}
    return {"measurements": len(keys), "repetitions": sum(len(row["value"]) if isinstance(row["value"], list) else 1 for row in rows)}
