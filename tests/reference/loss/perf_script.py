"""perf script: every header line is a sample; frames follow until a blank line."""
import re

from folded import text_of

FILES = ["elsewhere/perf-script/*.txt.gz"]
EXAMPLES = ["samples.perf.txt"]
FRAME = re.compile(r"\s*[0-9a-f]+ .* \(.*\)\s*$")


def found(path):
    samples = 0
    for block in re.split(r"\n\s*\n", text_of(path)):
        lines = [line for line in block.split("\n") if line.strip() and not line.startswith("#")]
        samples += sum(1 for line in lines if not FRAME.match(line))
    return {"events sample": samples}
