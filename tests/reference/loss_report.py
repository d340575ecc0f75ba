#!/usr/bin/env python3
"""Nothing lost without a word: what small readers of our own, written from the formats' documents, find in real files
against what reaches Fathom's levels plus what its diagnostics say was left out.

usage: loss_report.py FATHOM DATA FAMILY

A file whose numbers differ fails unless the diagnostics of `fathom info --count` or `check` account for it: records that
are missing must be counted there, one by one.
"""
import gzip
import json
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def ask(fathom, *arguments):
    """The answer as JSON, or None where the program refuses."""
    done = subprocess.run([fathom, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout) if done.returncode in (0, 1) and done.stdout else None


# --- Cube -------------------------------------------------------------------------------------------------------------

def tar_members(data):
    """Headers by hand: some writers store wrong checksums, which Python refuses."""
    at = 0
    while at + 512 <= len(data) and data[at:at + 1] != b"\0":
        name = data[at:at + 100].split(b"\0")[0].decode()
        size = int(data[at + 124:at + 136].strip(b"\0 ") or b"0", 8)
        yield name, data[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512


def cube(path):
    data = path.read_bytes()
    for name, content in tar_members(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data):
        if name.endswith("anchor.xml"):
            return anchor(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    return None


def anchor(content):
    root = ElementTree.fromstring(content)
    locations = len(list(root.iter("location"))) + len(list(root.iter("thread")))
    return {"metrics": len(list(root.iter("metric"))), "contexts": len(list(root.iter("cnode"))),
            "regions": len(list(root.iter("region"))), "locations": locations}


def cube3(path):
    data = path.read_bytes()
    return anchor(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


# --- HPCToolkit -------------------------------------------------------------------------------------------------------

def hpctoolkit(folder):
    out = {}
    profile = (folder / "profile.db").read_bytes()
    section = struct.unpack_from("<Q", profile, 0x18)[0]
    first, count = struct.unpack_from("<QI", profile, section)
    stride = profile[section + 12]
    out["values"] = sum(struct.unpack_from("<Q", profile, first + i * stride)[0] for i in range(1, count))
    if (folder / "trace.db").exists():
        trace = (folder / "trace.db").read_bytes()
        section = struct.unpack_from("<Q", trace, 0x18)[0]
        first, count = struct.unpack_from("<QI", trace, section)
        stride = trace[section + 12]
        lines = [struct.unpack_from("<QQ", trace, first + i * stride + 8) for i in range(count)]
        if any(end > begin for begin, end in lines):
            out["events"] = sum((end - begin) // 12 for begin, end in lines)
    return out


# --- DUMPI ------------------------------------------------------------------------------------------------------------

def dumpi(meta):
    """Calls by the footers, which the recorder counts apart from the records; markers and Pcontrol have no place there."""
    total = 0
    prefix = re.search(r"^fileprefix=(.*)$", meta.read_text(), re.MULTILINE)[1].strip()
    for path in meta.parent.glob(Path(prefix).name + "-*.bin*"):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        magic = data[:8]
        if not any(data[-at:len(data) - at + 8] == magic for at in (64, 56, 48, 40)):
            return None  # cut off: no footer
        footer = struct.unpack_from(">Q", data, len(data) - 16)[0]
        if footer == 0:
            return None
        numbers = struct.unpack_from(">582I", data, footer + 8)
        total += sum(numbers[:290]) - sum(numbers[291:581])
    return {"events": total}


# --- ovni -------------------------------------------------------------------------------------------------------------

def ovni(folder):
    total = 0
    for path in list(folder.rglob("stream.obs")) + [one for one in folder.rglob("thread.*") if one.is_file() and one.suffix != ".json"]:
        data = path.read_bytes()
        at = 8 if data[:4] == b"ovni" else 0
        while at + 12 <= len(data):
            flags = data[at]
            if flags & 0x10:
                size = 4 + (struct.unpack_from("<I", data, at + 12)[0] if at + 16 <= len(data) else 1 << 32)
            else:
                size = (flags & 15) + 1 if flags & 15 else 0
            if at + 12 + size > len(data):
                break  # the last event is not whole
            total += 1
            at += 12 + size
    return {"events": total}


# --- OTF2, by its own printer -----------------------------------------------------------------------------------------

def otf2(archive):
    done = subprocess.run(["otf2-print", str(archive)], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return None
    lines = re.split(r"^=== ", done.stdout.split("=== Events")[-1], flags=re.MULTILINE)[0].splitlines()
    # "ENTER    2   12345  Region: ..." ; what belongs to the record before is indented.
    return {"events": sum(1 for line in lines if re.match(r"[A-Z][A-Z0-9_ ]*[A-Z0-9_] +\d+ +\d+", line))}


# --- Paraver ----------------------------------------------------------------------------------------------------------

def paraver(path):
    total = 0
    for line in path.read_text(errors="replace").splitlines():
        fields = line.split(":")
        if fields[0] == "1" or fields[0] == "3":
            total += 1
        elif fields[0] == "2":
            total += (len(fields) - 6) // 2  # several types and values may share a line
    return {"events": total}


# --- Extra-P ----------------------------------------------------------------------------------------------------------

def extrap_text(path):
    if "POINTS" not in (text := path.read_text(errors="replace")):
        return None
    return {"measurements": sum(1 for line in text.splitlines() if line.strip().startswith("DATA"))}


def extrap_lines(path):
    rows = set()
    for line in path.read_text().splitlines():
        if line.strip():
            row = json.loads(line)
            rows.add((row.get("callpath", "<root>"), row.get("metric", "<default>"), json.dumps(row["params"], sort_keys=True)))
    return {"measurements": len(rows)}


def extra_p(path):
    with zipfile.ZipFile(path) as archive:
        measured = json.loads(archive.read("experiment.json"))["measurements"]
    return {"measurements": sum(len(points) for outer in measured.values() for points in outer.values())}


def extrap_json(path):
    # Values of one call path, metric and coordinate are repetitions of one measurement.
    keys = ("callpath_id", "metric_id", "coordinate_id")
    return {"measurements": len({tuple(one[key] for key in keys) for one in json.loads(path.read_text())["measurements"]})}


def talpas(path):
    rows = [json.loads(line.replace(";", ",")) for line in path.read_text().splitlines() if line.strip()]
    return {"measurements": len({(r["callpath"], r["metric"], json.dumps(r["parameters"], sort_keys=True)) for r in rows})}


def classic(path):
    """Call paths of experiment.xml 2.x: every element of the calling-context tree is one."""
    root = ElementTree.parse(path).getroot()
    tree = root.find(".//SecCallPathProfileData")
    if tree is None:
        return None
    return {"contexts": sum(1 for one in tree.iter() if one.tag in ("PF", "Pr", "P", "L", "C", "S"))}


# Family -> (how files are found, reader)
FAMILIES = {
    "cube": ("cube/**/*.cubex", cube),
    "cube3": ("cube/**/*.cube", cube3),
    "hpctoolkit": ("hpctoolkit/*/meta.db", lambda path: hpctoolkit(path.parent)),
    "dumpi": ("dumpi/**/*.meta", dumpi),
    "ovni": ("ovni/*/*/trace.tar.gz", ovni),
    "otf2": ("otf2/**/*.otf2", otf2),
    "paraver": ("ovni/**/*.prv", paraver),
    "extrap-text": ("extrap/inputs/text/**/*.txt", extrap_text),
    "hpctoolkit-classic": ("hpctoolkit/c-*/experiment.xml", classic),
    "extra-p": ("extrap/extra-p/*.extra-p", extra_p),
    "extrap-json": ("extrap/inputs/json/*.JSON", extrap_json),
    "talpas": ("extrap/inputs/talpas/*.txt", talpas),
    "extrap-jsonl": ("extrap/inputs/jsonlines/**/*.jsonl", extrap_lines),
}


def accounted(answer, check, key, missing):
    """Whether the diagnostics name as many records as are missing, or say that data were lost."""
    told = [one for one in (answer["diagnostics"] + (check or {}).get("diagnostics", [])) if one["severity"] != "info"]
    return missing > 0 and (sum(one["count"] for one in told) >= missing or
                            any(one["severity"] == "data_loss" for one in told))


def compare(fathom, path, found, dataset, at_least=()):
    answer = ask(fathom, "info", dataset, "--count")
    if answer is None:
        return "refused"
    troubles = []
    for key, count in found.items():
        reached = answer.get(key)
        if reached == count or (key in at_least and reached is not None and reached >= count):
            continue
        check = ask(fathom, "check", dataset)
        if not accounted(answer, check, key, count - (reached or 0)):
            troubles.append(f"{path}: {count} {key} in the file, {reached} reached the level, and nothing is said of it")
    return troubles


def main():
    fathom, data, family = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    pattern, reader = FAMILIES[family]
    files = sorted(data.glob(pattern))
    if not files:
        print(f"skipped: no data at {data}")
        return 77
    compared, refused, troubles = 0, 0, []
    for path in files:
        with tempfile.TemporaryDirectory() as temporary:
            dataset = path.parent if path.name in ("meta.db", "experiment.xml") else path
            if path.name.endswith(".tar.gz"):
                with tarfile.open(path) as archive:
                    archive.extractall(temporary)
                inside = [one for one in Path(temporary).iterdir()]
                dataset = inside[0] if len(inside) == 1 and inside[0].is_dir() and inside[0].name != "loom" and \
                    not inside[0].name.startswith("loom.") else Path(temporary)
            try:
                found = reader(dataset if path.name.endswith(".tar.gz") else path)
            except (ElementTree.ParseError, struct.error, UnicodeDecodeError, ValueError, KeyError, OSError):
                found = None  # no reader of ours gets anything out of it
            if found is None:
                continue
            outcome = compare(fathom, path.relative_to(data), found, dataset, ("events",) if family == "dumpi" else ())
            if outcome == "refused":
                refused += 1
            else:
                compared += 1
                troubles += outcome
    print(*troubles, sep="\n")
    print(f"{family}: {compared} files compared, {refused} refused, {len(troubles)} differ")
    return 1 if troubles or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
