#!/usr/bin/env python3
"""Runs an instrumented program with our ovni library and lets the emulator judge what it wrote.

usage: ovni.py FATHOM PROGRAM [all|misuse]
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

THREADS = 3
MISUSES = ["version", "minor", "no-version", "thread-first", "emit-first", "fini-first", "twice", "tid-0", "payload-1",
           "payload-17", "model", "model-version", "mark-0", "mark-type", "label", "attribute", "json", "cpu", "jumbo",
           "free-twice", "again", "after"]


def fail(text):
    print(text)
    sys.exit(1)


def run(words, env, expected=0):
    done = subprocess.run(words, env=dict(os.environ) | env, capture_output=True, text=True, timeout=120)
    if done.returncode != expected:
        fail(f"{words} {env}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def check(fathom, program, folder, rounds, env):
    trace = folder / "trace"
    marks = 0 if "NO_MARKS" in env else 1
    run([program, str(rounds)], env | {"OVNI_TRACEDIR": str(trace)})
    run([fathom, "check", str(trace)], {})
    run([fathom, "sort", "--check", str(trace)], {})
    stats = json.loads(run([fathom, "stats", str(trace), "--json"], {}).stdout)
    counts = {name: entry["count"] for name, entry in stats["calls"].items()}
    for name, count in {"OHx": 1, "OHe": 1, "6W[": rounds, "6W]": rounds, "OM[": marks, "OM]": marks}.items():
        if counts.get(name, 0) != count * THREADS:
            fail(f"{env}: {name}: {counts.get(name)}, {count * THREADS} were emitted")
    if counts.get("6Yc") != 1:
        fail(f"{env}: the jumbo event is missing")
    # One flush for each time the buffer was full; the last one stays in memory.
    size = rounds * 24 + 28 + 12 + 2 * 24 * marks
    flushes = counts.get("OF[", 0)
    if flushes != counts.get("OF]", 0) or flushes != THREADS * (size // (2 * 1024 * 1024)):
        fail(f"{env}: {flushes} flushes for {size} bytes per thread")
    # Where the reference's tools are on the PATH, they judge as well.
    if "FATHOM_OVNI_LAYOUT" not in env and shutil.which("ovniemu") and shutil.which("ovnidump"):
        dump = run(["ovnidump", str(trace)], {}).stdout
        if dump != run([fathom, "dump", str(trace)], {}).stdout:
            fail(f"{env}: ovnidump shows something else")
        copy = folder / "copy"  # it writes into the trace
        shutil.copytree(trace, copy)
        run(["ovniemu", "-l", str(copy)], {})
    views = folder / "views"
    if "FATHOM_OVNI_LAYOUT" not in env:
        run([fathom, "emulate", str(trace), "--linter", "-o", str(views)], {})
        metadata = json.loads(next(trace.rglob("stream.json")).read_text())
        if metadata["ovni"]["finished"] != 1 or metadata["app"]["rounds"] != rounds:
            fail(f"metadata: {metadata}")
    else:
        run([fathom, "emulate", str(trace), "-a", "-o", str(views)], {}, expected=0)
    return trace


def main():
    fathom, program, what = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="fathom-ovni-") as base:
        base = pathlib.Path(base)
        if what == "misuse":
            for name in MISUSES:
                done = subprocess.run([program, "1", name], env=dict(os.environ) | {"OVNI_TRACEDIR": str(base / name)},
                                      capture_output=True, text=True, timeout=60)
                if done.returncode != -signal.SIGABRT or "ovni: " not in done.stderr:
                    fail(f"{name}: {done.returncode} {done.stderr}")
            return
        # The first version cannot say what marks mean.
        cases = [{}, {"FATHOM_OVNI_CLOCK": "tsc"}, {"FATHOM_OVNI_LAYOUT": "v1", "NO_MARKS": "1"}, {"OVNI_TMPDIR": str(base / "temporary")}]
        for number, env in enumerate(cases):
            for rounds in (1000, 100000):
                folder = base / f"{number}-{rounds}"
                folder.mkdir()
                check(fathom, program, folder, rounds, env)
        left = list((base / "temporary").rglob("*.obs"))
        if left:
            fail(f"left behind in the temporary directory: {left}")


if __name__ == "__main__":
    main()
