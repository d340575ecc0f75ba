"""Folded stacks: distinct stacks and the sum of their counts; lines that are none are counted as left out."""
import collections
import gzip
import re

MADE = [("stencil.cubex", ".folded", "")]
FILES = ["elsewhere/folded/*", "elsewhere/perf-script/*.folded"]


def text_of(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    return data.decode("utf-8-sig", errors="surrogateescape")


def found(path):
    lines = [line for line in text_of(path).split("\n") if line.strip()]
    sound = [match for line in lines if (match := re.fullmatch(r"\s*(\S.*?)\s+(-?\d+(?:\.\d+)?)\s*", line))]
    prefixes, stacks = set(), collections.Counter()
    for match in sound:
        frames = match[1].split(";")
        prefixes |= {tuple(frames[:n + 1]) for n in range(len(frames))}
        stacks["->".join(frames)] += float(match[2])
    return {"contexts": len(prefixes), "stacks": shown(stacks), "total of samples": sum(float(match[2]) for match in sound),
            "told folded.line": len(lines) - len(sound)}


def shown(stacks):
    return sorted(f"{stack}: {value:.9g}" for stack, value in stacks.items() if value)


def own_values(level, metric="samples"):
    out = collections.Counter()
    for row in level.rows("table", level.dataset, "--exclusive", "--csv"):
        if row["metric"] == metric:
            out[row["path"]] += float(row["value"])
    return shown(out)


LEVEL = {"stacks": own_values}
