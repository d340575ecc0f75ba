"""DUMPI: calls per function by the footers, which the recorder counts apart from the records (called less ignored), and where the reference's own
dump was added up their times."""
import collections
import csv
import gzip
import re
import struct
from pathlib import Path

FILES = ["dumpi/**/*.meta", "planted/*/*.meta"]
CALLS = 290  # slot 290 is the sum; Pcontrol and annotations are not counted


def found(meta):
    calls = [0] * CALLS
    prefix = re.search(r"^fileprefix=(.*)$", meta.read_text(), re.MULTILINE)[1].strip()
    for path in meta.parent.glob(Path(prefix).name + "-*.bin*"):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        if not any(data[-at:len(data) - at + 8] == data[:8] for at in (64, 56, 48, 40)):
            return None  # cut off: no footer
        footer = struct.unpack_from(">Q", data, len(data) - 16)[0]
        if footer == 0:
            return None
        numbers = struct.unpack_from(">582I", data, footer + 8)
        for call in range(CALLS):
            calls[call] += numbers[call] - numbers[CALLS + 1 + call]
    counts = sorted(count for count in calls if count)
    out = {"calls per function": counts, "level calls per function": counts}
    table = meta.parent / "expected" / "functions.tsv"
    if table.exists():
        rows = list(csv.DictReader(table.read_text().splitlines(), delimiter="\t"))
        rows = [row for row in rows if row["function"].startswith("MPI_") and row["function"] != "MPI_Pcontrol"]
        column = "wall_ns" if any(int(row["wall_ns"]) for row in rows) else "cpu_ns"
        out["times"] = sorted(f"{row['rank']} {row['function']}: {row[column]}" for row in rows if int(row[column]))
    return out


def times(level):
    """Per rank, whichever thread, and function: ends less beginnings."""
    sums, signs = collections.Counter(), {"enter": -1, "leave": 1}
    for row in level.table("event"):
        if row["kind"] in signs and row["name"].startswith("MPI_") and row["name"] != "MPI_Pcontrol":
            sums[row["location"].split(".")[0], row["name"]] += signs[row["kind"]] * int(row["time_ns"] or 0)
    return sorted(f"{rank} {function}: {time}" for (rank, function), time in sums.items() if time)


LEVEL = {"times": times}
