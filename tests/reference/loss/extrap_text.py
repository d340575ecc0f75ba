"""Extra-P's text: a DATA line is a measurement, its numbers are repetitions."""
FILES = ["extrap/inputs/text/**/*.txt", "extrap/errors/text_*.txt"]
EXAMPLES = ["scaling.txt"]


def found(path):
    text = path.read_text(errors="replace")
    if "POINTS" not in text:
        return None
    data = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("DATA")]
    return {"measurements": len(data), "repetitions": sum(map(len, data))}
