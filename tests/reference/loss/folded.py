"""Folded stacks: distinct stacks and the sum of their counts; lines that are none are counted as left out."""
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
    prefixes = set()
    for match in sound:
        frames = match[1].split(";")
        prefixes |= {tuple(frames[:n + 1]) for n in range(len(frames))}
    return {"contexts": len(prefixes), "total of samples": sum(float(match[2]) for match in sound),
            "told folded.line": len(lines) - len(sound)}
