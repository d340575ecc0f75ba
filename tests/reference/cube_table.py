#!/usr/bin/env python3
"""`fathom table` against the reference results of real Cube files.

usage: cube_table.py FATHOM CASE_FOLDER     (a folder with one .cubex[.gz] and expected.json.gz)

Stored values must be equal bit for bit, inclusive and exclusive ones to 1e-12. Left to other tests because the
reference reader has rules of its own there: minima and maxima, 64-bit counters that it clamps, composite values.
Integer sums are compared modulo the size of their type, since the reference wraps and Fathom does not. Metrics that the
reference reader cannot do are compared with the dumps of the official tool (six digits).
"""
import csv
import gzip
import io
import json
import math
import subprocess
import sys
from pathlib import Path

BITS = {"UINT64": 64, "INT64": 64, "UINT32": 32, "INT32": 32, "UINT16": 16, "INT16": 16, "UINT8": 8, "INT8": 8, "INTEGER": 64}
PLAIN = {"DOUBLE", "FLOAT", *BITS}
TOLERANCE = 1e-12
DUMP_TOLERANCE = 1e-5
DUMP_ZERO = 1e-14


def number(text):
    return int(text) if text.lstrip("-").isdigit() else float(text)


def table(fathom, path, *options):
    out = subprocess.run([fathom, "table", path, "--csv", "--quiet", *options], capture_output=True, check=True)
    rows = csv.DictReader(io.StringIO(out.stdout.decode()))
    values = {}
    for row in rows:
        key = (row["metric"], row["context"], row["location"])
        if key in values:
            raise SystemExit(f"two rows for {key}")
        values[key] = row["value"]
    return values


def same(got, wanted, flavour, scale, dtype):
    if got == wanted or (isinstance(wanted, float) and math.isnan(wanted) and math.isnan(got)):
        return True
    if flavour == "stored":
        return False
    if dtype == "INT64" and not -2 ** 63 <= got < 2 ** 63:
        return True  # the reference has no such numbers
    if dtype in BITS:
        return (got - wanted) % 2 ** BITS[dtype] == 0
    return abs(got - wanted) <= TOLERANCE * scale


def check_dump(folder, flavour, values, metrics):
    """Values of the official tool's csv; (problems, compared)."""
    paths = sorted(folder.glob(f"cube_dump.{flavour[:4]}.csv*"))
    if not paths:
        return [], 0
    data = paths[0].read_bytes()
    rows = csv.reader(io.StringIO((gzip.decompress(data) if paths[0].suffix == ".gz" else data).decode("utf-8", "replace")))
    header = [name.strip() for name in next(rows)]
    columns = [(i, name) for i, name in enumerate(header) if name in metrics]
    problems, compared = [], 0
    for row in rows:
        if len(row) != len(header):
            continue  # composite values hold unquoted commas
        for i, name in columns:
            try:
                wanted = float(row[i])
            except ValueError:
                continue  # 8-bit values appear as raw characters
            got = number(values.get((name, row[0].strip(), row[1].strip()), "0"))
            compared += 1
            if max(abs(got), abs(wanted)) > DUMP_ZERO and abs(got - wanted) > DUMP_TOLERANCE * max(abs(got), abs(wanted)):
                problems.append(f"dump {flavour} {name} {row[0]} {row[1]}: {got} instead of {wanted}")
    return problems, compared


def check(folder, fathom):
    with gzip.open(folder / "expected.json.gz") as file:
        expected = json.load(file)
    path = next(p for p in sorted(folder.iterdir()) if ".cubex" in p.name)
    info = json.loads(subprocess.run([fathom, "info", path, "--json"], capture_output=True, check=True).stdout)
    problems, compared = [], 0
    for key, name in (("metrics", "metrics"), ("regions", "regions"), ("contexts", "cnodes"), ("locations", "locations")):
        if info[key] != expected["counts"][name]:
            problems.append(f"info: {key} is {info[key]} instead of {expected['counts'][name]}")
    locations = [str(i) for i in sorted(location["id"] for location in expected["locations"])]
    flavours = {"stored": (), "inclusive": ("--inclusive",), "exclusive": ("--exclusive",)}
    tables = {flavour: table(fathom, path, *options) for flavour, options in flavours.items()}
    for flavour in ("inclusive", "exclusive"):
        fallback = {metric["uniq_name"] for metric in expected["metrics"]
                    if metric["dtype"] in PLAIN and metric.get("type", "EXCLUSIVE") in ("EXCLUSIVE", "INCLUSIVE") and
                    ("pycubexr_error" in metric or "pycubexr_open_error" in expected)}
        found, count = check_dump(folder, flavour, tables[flavour], fallback)
        problems += found
        compared += count
    for metric in expected["metrics"]:
        if metric["dtype"] not in PLAIN or metric.get("uint64_clamped_by_pycubexr"):
            continue
        for sample in metric.get("samples", []):
            for flavour in flavours:
                if flavour not in sample or metric.get("pycubexr_error"):
                    continue
                scale_of = sample["inclusive"] if isinstance(sample["inclusive"], list) else sample["stored"]
                values = sample["stored"] if sample[flavour] == "=stored" else sample[flavour]
                if not isinstance(values, list):
                    continue
                for i, (location, value) in enumerate(zip(locations, values)):
                    key = (metric["uniq_name"], str(sample["cnode"]), location)
                    got = number(tables[flavour].get(key, "0"))
                    wanted = float(value) if isinstance(value, str) else value
                    compared += 1
                    if not same(got, wanted, flavour, abs(float(scale_of[i])), metric["dtype"]):
                        problems.append(f"{flavour} {key}: {got} instead of {wanted}")
    return problems, compared


def main():
    fathom, folder = sys.argv[1], Path(sys.argv[2])
    if not folder.is_dir():
        print(f"skipped: no data at {folder}")
        return 77
    problems, compared = check(folder, fathom)
    print(f"{folder.name}: {compared} values compared, {len(problems)} differ")
    print("\n".join(problems[:20]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
