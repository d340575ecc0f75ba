"""perf script: every header line is a sample, its frames follow until a blank line."""
import re

from folded import text_of

FILES = ["elsewhere/perf-script/*.txt.gz"]
EXAMPLES = ["samples.perf.txt"]
SYMBOL = re.compile(r"\s*[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \([^()]*(?:\([^()]*\))?[^()]*\)\s*$")
FRAME = re.compile(r"\s*[0-9a-f]+ .* \(.*\)\s*$")


def name_of(line):
    """Of a frame; without a symbol that of its module."""
    name = SYMBOL.match(line)[1]
    return name if name != "[unknown]" else f"[{re.search(r'[(]([^()]*)[)][^()]*$', line)[1].rpartition('/')[2].strip('[]')}]"


def found(path):
    samples, stacks = 0, []
    for block in re.split(r"\n\s*\n", text_of(path)):
        lines = [line for line in block.split("\n") if line.strip() and not line.startswith("#")]
        heads = [line for line in lines if not FRAME.match(line)]
        samples += len(heads)
        if len(heads) == 1 and len(lines) > 1:
            frames = [name_of(line) for line in lines if FRAME.match(line)]
            stacks.append([re.match(r"(.*?)\s+-?\d+(/\d+)?\s", heads[0])[1].strip(), *reversed(frames)])
    out = {"events sample": samples}
    if len(stacks) == samples:
        out["stacks"] = sorted("->".join(stack) for stack in stacks)
    return out


def stacks(level):
    return sorted(row["detail"].partition("path=")[2] for row in level.table("event") if row["kind"] == "sample")


LEVEL = {"stacks": stacks}
