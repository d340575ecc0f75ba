"""Extra-P's text: a DATA line is a measurement, its numbers are repetitions."""
import math

FILES = ["extrap/inputs/text/**/*.txt", "extrap/errors/text_*.txt"]
EXAMPLES = ["scaling.txt"]


def found(path):
    text = path.read_text(errors="replace")
    if "POINTS" not in text:
        return None
    data = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("DATA")]
    means = math.fsum(math.fsum(map(float, values)) / len(values) for values in data if values)
    return {"measurements": len(data), "repetitions": sum(map(len, data)), "sum of means": means}
