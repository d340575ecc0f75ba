#!/usr/bin/env python3
"""Every format × every command: works, or refuses with a reason.

Datasets are made from examples/ with the program itself, so that a clone of the repository alone runs this. cells.csv
says for every cell what is expected; a cell that works must print something and nothing on stderr but notes, one that
refuses must end with status 2 and a reason; check may find defects. --write writes the table as it is; read it before you commit it.
"""
import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
EXAMPLES = PROJECT / "examples"

# Name of the format -> how its data are made; {T} is the temporary folder, {E} the examples.
MADE = [
    ("cube", "{E}/stencil.cubex", []),
    ("cube3", "{T}/stencil.cube", ["convert", "{E}/stencil.cubex", "{T}/stencil.cube"]),
    ("hpctoolkit", "{T}/database", ["convert", "{E}/stencil.cubex", "{T}/database", "--to", "hpctoolkit"]),
    ("hpctoolkit-xml", "{T}/xml", ["convert", "{E}/stencil.cubex", "{T}/xml", "--to", "hpctoolkit-xml"]),
    ("pprof", "{T}/stencil.pb.gz", ["convert", "{E}/stencil.cubex", "{T}/stencil.pb.gz"]),
    ("folded", "{T}/stencil.folded", ["convert", "{E}/stencil.cubex", "{T}/stencil.folded"]),
    ("callgrind", "{T}/stencil.callgrind", ["convert", "{E}/stencil.cubex", "{T}/stencil.callgrind"]),
    ("tau", "{E}/tau", []),
    ("caliper", "{E}/steps.cali", []),
    ("dumpi", "{E}/ring/ring.meta", []),
    ("dumpi-text", "{E}/ring/ring-0000.dumpi.txt", []),
    ("ovni", "{E}/ovni", []),
    ("chrome", "{T}/ring.json", ["convert", "{E}/ring/ring.meta", "{T}/ring.json"]),
    ("perfetto", "{T}/ring.pftrace", ["convert", "{E}/ring/ring.meta", "{T}/ring.pftrace"]),
    ("speedscope", "{T}/ring.speedscope.json", ["convert", "{E}/ring/ring.meta", "{T}/ring.speedscope.json"]),
    ("perf-script", "{E}/samples.perf.txt", []),
    ("paraver", "{T}/ring.prv", ["convert", "{E}/ring/ring.meta", "{T}/ring.prv"]),
    ("extrap-text", "{E}/scaling.txt", []),
    ("extrap-json", "{T}/scaling.json", ["convert", "{E}/scaling.txt", "{T}/scaling.json", "--to", "extrap-json"]),
    ("extrap-jsonl", "{T}/scaling.jsonl", ["convert", "{E}/scaling.txt", "{T}/scaling.jsonl", "--to", "extrap-jsonl"]),
    ("extra-p", "{T}/scaling.extra-p", ["convert", "{E}/scaling.txt", "{T}/scaling.extra-p"]),
    ("nsight", "{E}/gpu.sqlite", []),
    ("extra-prof", "{E}/gpu.extra-prof.msgpack", []),
    ("runs of traces", "{T}/runs", None),
]

# {D} is the dataset, {O} a path to write to.
COMMANDS = {
    "info": ["info", "{D}"],
    "check": ["check", "{D}"],
    "top": ["top", "{D}"],
    "tree": ["tree", "{D}"],
    "table": ["table", "{D}", "--csv"],
    "nodes": ["nodes", "{D}"],
    "groups": ["groups", "{D}"],
    "routines": ["routines", "{D}"],
    "diff": ["diff", "{D}", "{D}"],
    "merge": ["merge", "{D}", "{D}", "-o", "{O}.cubex"],
    "mean": ["mean", "{D}", "{D}", "-o", "{O}.cubex"],
    "cut": ["cut", "{D}", "-p", "MPI_*", "-o", "{O}.cubex"],
    "convert to cube": ["convert", "{D}", "{O}.cubex"],
    "convert to hpctoolkit": ["convert", "{D}", "{O}", "--to", "hpctoolkit"],
    "convert to pprof": ["convert", "{D}", "{O}.pb.gz"],
    "convert to folded": ["convert", "{D}", "{O}.folded"],
    "convert to callgrind": ["convert", "{D}", "{O}.callgrind"],
    "convert to dot": ["convert", "{D}", "{O}.dot"],
    "convert to chrome": ["convert", "{D}", "{O}.json", "--to", "chrome"],
    "convert to perfetto": ["convert", "{D}", "{O}.pftrace"],
    "convert to speedscope": ["convert", "{D}", "{O}.speedscope.json"],
    "convert to paraver": ["convert", "{D}", "{O}.prv"],
    "convert to extra-p": ["convert", "{D}", "{O}.extra-p"],
    "reduce": ["reduce", "{D}", "{O}.cubex"],
    "events": ["events", "{D}", "--csv"],
    "stats": ["stats", "{D}"],
    "model": ["model", "{D}"],
    "dump": ["dump", "{D}"],
}


def run(program, arguments):
    done = subprocess.run([program, *arguments], capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def make_datasets(program, folder):
    places = {}
    for name, place, command in MADE:
        fill = lambda text: text.replace("{T}", str(folder)).replace("{E}", str(EXAMPLES))
        if name == "runs of traces":
            for point in ("ring.n1.r1", "ring.n2.r1", "ring.n4.r1", "ring.n8.r1", "ring.n16.r1"):
                shutil.copytree(EXAMPLES / "ring", folder / "runs" / point)
        elif command:
            status, _, stderr = run(program, [fill(part) for part in command])
            if status != 0:
                sys.exit(f"cannot make {name}: {stderr}")
        places[name] = fill(place)
    return places


def judge(program, command, place, out):
    arguments = [part.replace("{D}", place).replace("{O}", str(out)) for part in COMMANDS[command]]
    status, stdout, stderr = run(program, arguments)
    shown = "fathom " + " ".join(arguments)
    if status == 0:
        if not stdout and not (out.parent.exists() and any(out.parent.iterdir())):
            return "silent", shown
        return "works", stderr
    if status == 1 and command == "check":
        return "finds defects", stderr
    if status == 2 and "error:" in stderr and len(stderr.split("error:", 1)[1].strip()) > 10:
        return "refuses", stderr
    return f"status {status}", f"{shown}\n{stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = HERE / "cells.csv"
    expected = {}
    if not options.write:
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                expected.update({(row["command"], name): row[name] for name in row if name != "command"})
    failures = []
    seen = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        places = make_datasets(options.program, folder)
        for command in COMMANDS:
            for name, place in places.items():
                out = folder / "out" / f"{len(seen)}" / "x"
                out.parent.mkdir(parents=True)
                state, text = judge(options.program, command, place, out)
                seen[command, name] = state
                wanted = expected.get((command, name))
                if not options.write and state != wanted:
                    failures.append(f"{command} of {name}: expected {wanted}, it {state}\n    {text.strip()}")
    if options.write:
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            names = [name for name, _, _ in MADE]
            writer.writerow(["command", *names])
            for command in COMMANDS:
                writer.writerow([command, *(seen[command, name] for name in names)])
        return 0
    print("\n".join(failures) if failures else f"{len(seen)} cells as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
