#!/usr/bin/env python3
"""perfetto.py FATHOM BUILD PROJECT DATA: what Perfetto's own engine says of the traces that Fathom writes.

The engine is a WebAssembly file of an npm package, which ./dev fetches into BUILD/node/trace-processor; DATA has the
program that asks it. Where one of them is missing the test is skipped (77). Slices, flows and counter values must be those
of the trace that was converted, and the engine must find nothing wrong. Arrows go through both formats and back.
"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM, BUILD, PROJECT, DATA = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
ENGINE = BUILD / "node" / "trace-processor"
ASK = DATA / "perfetto" / "tpq.mjs"
ENDINGS = ["json", "pftrace"]
# Of each the engine has counted the flows that are drawn in the file itself.
ARROWS = ["chrome/kineto_event_sync.json.gz", "chrome/kineto_mi250.json.gz", "chrome/perfetto_flow_v1.json",
          "chrome/perfetto_flow_v2.json", "pftrace/flow_events_track_event.pftrace"]


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"fathom {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def counts(trace):
    """Events of each kind."""
    kinds = {}
    for row in csv.DictReader(io.StringIO(run("events", trace, "--csv"))):
        kinds[row["kind"]] = kinds.get(row["kind"], 0) + 1
    return kinds


def asked(trace):
    environment = dict(os.environ, TRACE_PROCESSOR_DIR=str(ENGINE))
    done = subprocess.run(["node", ASK, trace], capture_output=True, text=True, timeout=120, env=environment, check=True)
    return json.loads(done.stdout)


def arrows(folder):
    """What is wrong with arrows: a file is written as packets, those as JSON, and that as packets again."""
    traces = [(DATA / "perfetto" / name, json.loads((DATA / "perfetto" / "expected" / f"{pathlib.Path(name).name}.json")
                                                    .read_text())["flows"]) for name in ARROWS]
    traces.append((PROJECT / "examples" / "gpu.sqlite", 4))  # two kernels, a copy, a memset
    for trace, wanted in traces:
        before = trace
        for step, ending in enumerate(["pftrace", "json", "pftrace"]):
            out = folder / f"step{step}.{ending}"
            run("convert", before, out)
            said = asked(out)
            if said["flows"] != wanted or said["problems"]:
                yield f"{trace.name}, step {step}: {said['flows']} flows, expected {wanted}; {said['problems']}"
            before = out


def main():
    if not shutil.which("node") or not (ENGINE / "trace_processor.wasm").exists() or not ASK.exists():
        print("skipped: node, the engine (./dev fetches it) or the shared data are not there")
        return 77
    traces = [(PROJECT / "examples" / "ring" / "ring.meta", 12), (PROJECT / "examples" / "ovni", 0)]
    traces += [(DATA / "otf2" / "pingpong" / "traces.otf2", 16), (DATA / "otf2" / "mi300" / "traces.otf2", 0)]
    traces += [(DATA / "dumpi" / "ring4" / "ring4.meta", None)]
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for trace, messages in traces:
            if not trace.exists():
                continue
            kinds = counts(trace)
            for ending in ENDINGS:
                out = pathlib.Path(folder) / f"out.{ending}"
                run("convert", trace, out)
                said = asked(out)
                name = f"{trace.name} as {ending}"
                if said["problems"]:
                    bad.append(f"{name}: {said['problems']}")
                if messages is not None and said["flows"] != messages:
                    bad.append(f"{name}: {said['flows']} flows, expected {messages}")
                if said["counter_values"] != kinds.get("counter", 0):
                    bad.append(f"{name}: {said['counter_values']} counter values, expected {kinds.get('counter', 0)}")
                if "state" in kinds:
                    continue  # states become slices, too
                wanted = sum(kinds.get(kind, 0) for kind in ("enter", "marker", "collective", "send", "recv"))
                if said["slices"] != wanted:
                    bad.append(f"{name}: {said['slices']} slices, expected {wanted}")
                if said["unfinished"] != kinds.get("enter", 0) - kinds.get("leave", 0):
                    bad.append(f"{name}: {said['unfinished']} slices without end")
        bad += arrows(pathlib.Path(folder))
    print("\n".join(bad) if bad else "the engine agrees")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
