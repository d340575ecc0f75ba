#!/usr/bin/env python3
"""Waiting times and efficiencies of recorded DUMPI traces, against those of the analysis that was checked on simulated
runs. Usage: planted_real.py FATHOM DATA."""
import json
import subprocess
import sys
from pathlib import Path


def main():
    fathom, data = sys.argv[1], Path(sys.argv[2])
    expected_file = data / "planted" / "expected-real.json"
    if not expected_file.exists():
        print("skipped: no data")
        return 77
    wrong = []
    for name, expected in json.loads(expected_file.read_text()).items():
        meta = sorted((data / "dumpi" / name).rglob("*.meta"))[0]
        run = subprocess.run([fathom, "report", str(meta), "--json"], capture_output=True, text=True, check=True)
        report = json.loads(run.stdout)
        all_time = report["location_time_s"]
        if abs(report["runtime_s"] - expected["runtime_s"]) > 1e-6:
            wrong.append(f"{name}: runtime {report['runtime_s']}, expected {expected['runtime_s']}")
        found = {kind: state["s"] for kind, state in report["wait_states"].items()}
        for kind in sorted(set(found) | set(expected["wait_states"])):
            if kind in expected["left_out"]:
                continue
            have, want = found.get(kind, 0.0), expected["wait_states"].get(kind, 0.0)
            if abs(have - want) > max(0.01 * want, 0.0005 * all_time):
                wrong.append(f"{name}: {kind} {have}, expected {want}")
        for factor, want in expected["efficiencies"].items():
            if abs(report["efficiencies"][factor] - want) > 0.01:
                wrong.append(f"{name}: {factor} {report['efficiencies'][factor]}, expected {want}")
        costs = sum(c["short_s"] + c["long_s"] for c in report["delay_costs"])
        waits = sum(s for kind, s in found.items() if kind not in ("late_sender_wrong_order", "no_overlap"))
        if abs(costs - waits) > 1e-9 * max(1.0, waits):
            wrong.append(f"{name}: delay costs are {costs}, all waiting is {waits}")
    print("\n".join(wrong) or "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
