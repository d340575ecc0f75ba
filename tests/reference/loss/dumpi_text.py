"""Text dumps of DUMPI: a call begins with a line 'NAME entering at walltime ...' and ends with 'NAME returning at ...'."""
import collections
import re

from cube import unpacked

FILES = ["dumpi/**/*.dumpi.txt", "dumpi/**/*.ascii", "dumpi/**/*.ascii.gz", "dumpi/**/*.txt", "dumpi/**/*.txt.gz"]
EXAMPLES = ["ring/ring-0000.dumpi.txt"]
LINE = re.compile(r"^(MPI_\w+) (entering|returning) at walltime (-?\d+)\.(\d{9}), cputime (-?\d+)\.(\d{9}) seconds", re.MULTILINE)


def found(path):
    text = unpacked(path.read_bytes()).decode(errors="replace")
    lines = [(match[1], match[2] == "entering", int(match[3] + match[4]), int(match[5] + match[6])) for match in LINE.finditer(text)]
    lines = [one for one in lines if one[0] != "MPI_Pcontrol"]
    counts = sorted(collections.Counter(name for name, enters, _, _ in lines if enters).values())
    out = {"calls per function": counts, "level calls per function": counts}
    if clock := next((clock for clock in (2, 3) if any(one[clock] for one in lines)), None):
        out["calls with times"] = sorted(f"{one[0]} {'enter' if one[1] else 'leave'} {one[clock]}" for one in lines)
    return out


def calls_with_times(level):
    return sorted(f"{row['name']} {row['kind']} {row['time_ns']}" for row in level.table("event")
                  if row["kind"] in ("enter", "leave") and row["name"].startswith("MPI_") and row["name"] != "MPI_Pcontrol")


LEVEL = {"calls with times": calls_with_times}
