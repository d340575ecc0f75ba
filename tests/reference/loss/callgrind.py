"""callgrind: self costs per event and the counts of all calls; names of functions."""
import gzip
import re

MADE = [("stencil.cubex", ".callgrind", "")]
FILES = ["elsewhere/callgrind/*"]


def found(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode(errors="surrogateescape")
    events, positions, sums, calls, skip = [], 1, {}, 0, False
    for line in text.split("\n"):
        line = line.strip()
        if match := re.match(r"(events|positions):\s*(.*)", line):
            if match[1] == "events":
                events = match[2].split()
            else:
                positions = len(match[2].split())
        elif match := re.match(r"(calls)=(\S+)", line):
            calls += int(match[2], 0)
            skip = True  # the next line has the costs of the callee
        elif re.match(r"(jump|jcnd)=", line):
            skip = "jcnd" not in line and "jump" not in line
        elif re.match(r"[0-9+*-]", line):
            costs = line.split()[positions:]
            if not skip:
                for name, cost in zip(events, costs):
                    sums[name] = sums.get(name, 0) + int(cost, 0)
            skip = False
    out = {f"total of {name}": sums.get(name, 0) for name in events}
    return out
