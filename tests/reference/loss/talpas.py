"""TaLPas: a line is a value."""
import json

FILES = ["extrap/inputs/talpas/*.txt", "extrap/errors/talpas_*.txt"]


def found(path):
    rows = [json.loads(line.replace(";", ",")) for line in path.read_text().splitlines() if line.strip()]
    keys = {(row["callpath"], row["metric"], json.dumps(row["parameters"], sort_keys=True)) for row in rows}
    return {"measurements": len(keys), "repetitions": sum(len(row["value"]) if isinstance(row["value"], list) else 1 for row in rows)}
