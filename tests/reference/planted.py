#!/usr/bin/env python3
"""fathom report --json on a simulated run whose truth is known: findings, waiting times, efficiencies, critical path.

Usage: planted.py FATHOM FOLDER. Tolerances are those of the data's README."""
import json
import subprocess
import sys
from pathlib import Path


def close(found, wanted, relative, absolute=0.0):
    return abs(found - wanted) <= max(relative * abs(wanted), absolute)


def check_findings(report, truth, runtime, wrong):
    findings = report["findings"]
    if not truth["findings"]:
        for finding in findings:
            if finding["level"] != "note":
                wrong.append(f"a healthy run has a {finding['level']}: {finding['kind']} {finding['severity']:.4f}")
    for number, wanted in enumerate(truth["findings"]):
        kinds = [wanted["kind"]] + wanted.get("accept", [])
        found = [(i, f) for i, f in enumerate(findings) if f["kind"] in kinds]
        if not found:
            wrong.append(f"no finding {kinds}: {[(f['kind'], round(f['severity'], 4)) for f in findings]}")
            continue
        place, finding = found[0]
        if place != number:
            wrong.append(f"{finding['kind']} is number {place}, not {number}")
        if not close(finding["lost_s"], wanted["lost_s"], wanted.get("tolerance", 0.05)):
            wrong.append(f"{finding['kind']} lost {finding['lost_s']:.6f}, expected {wanted['lost_s']:.6f}")
        if wanted["culprits"]:
            named = [c["rank"] for c in finding["culprits"]]
            if not named or named[0] not in wanted["culprits"]:
                wrong.append(f"{finding['kind']} names {named}, expected {wanted['culprits']}")
        if "victims" in wanted:
            named = [v["rank"] for v in finding["victims"]]
            if not named or named[0] not in wanted["victims"]:
                wrong.append(f"{finding['kind']} has the victims {named}, expected {wanted['victims']}")
        where = finding["where"]
        if "window_s" in wanted:
            for found_s, wanted_s in zip((where["from_s"], where["to_s"]), wanted["window_s"]):
                if abs(found_s - wanted_s) > 0.02 * runtime:
                    wrong.append(f"{finding['kind']} at {where['from_s']}..{where['to_s']}, expected {wanted['window_s']}")
        if "from_s" in wanted and abs(where["from_s"] - wanted["from_s"]) > 0.05 * runtime:
            wrong.append(f"{finding['kind']} from {where['from_s']}, expected {wanted['from_s']}")
        if not finding["text"] or not finding["advice"]:
            wrong.append(f"{finding['kind']} has no text or advice")


def check(report, truth):
    wrong = []
    runtime, all_time = truth["runtime_s"], truth["location_time_s"]
    if not close(report["runtime_s"], runtime, 1e-4):
        wrong.append(f"runtime {report['runtime_s']}, expected {runtime}")
    check_findings(report, truth, runtime, wrong)
    states = {kind: state["s"] for kind, state in report["wait_states"].items()}
    for kind in sorted(set(states) | set(truth["wait_states"])):
        found, wanted = states.get(kind, 0.0), truth["wait_states"].get(kind, 0.0)
        if not close(found, wanted, 0.01, 0.0005 * all_time):
            wrong.append(f"wait state {kind}: {found:.9f}, expected {wanted:.9f}")
    for name, wanted in truth["efficiencies"].items():
        found = report["efficiencies"][name]
        if wanted is None or found is None:
            if wanted is not found:
                wrong.append(f"efficiency {name}: {found}, expected {wanted}")
        elif not name.endswith("_s") and abs(found - wanted) > 0.01:
            wrong.append(f"efficiency {name}: {found:.6f}, expected {wanted:.6f}")
        elif name.endswith("_s") and not close(found, wanted, 0.01):
            wrong.append(f"{name}: {found:.9f}, expected {wanted:.9f}")
    length = truth["critical_path"]["length_s"]
    parts = {(p["rank"], p["activity"]): p["s"] for p in report["critical_path"]}
    if not close(sum(parts.values()), length, 0.01):
        wrong.append(f"critical path is {sum(parts.values())} long, expected {length}")
    for part in truth["critical_path"]["parts"]:
        found = parts.get((part["rank"], part["activity"]), 0.0)
        if abs(found - part["s"]) > 0.01 * length:
            wrong.append(f"critical path of {part['rank']} {part['activity']}: {found}, expected {part['s']}")
    # What holds in every run.
    waits = sum(s for kind, s in states.items() if kind not in ("late_sender_wrong_order", "no_overlap"))
    costs = sum(c["short_s"] + c["long_s"] for c in report["delay_costs"])
    if not close(costs, waits, 1e-9, 1e-9):
        wrong.append(f"delay costs are {costs}, all waiting is {waits}")
    if not close(sum(parts.values()), report["runtime_s"], 1e-5):
        wrong.append("the critical path is not as long as the run")
    e = report["efficiencies"]
    if not close(e["load_balance"] * e["communication"], e["parallel"], 1e-9):
        wrong.append("efficiencies do not multiply")
    if e["transfer"] is not None and not close(e["transfer"] * e["serialisation"], e["communication"], 1e-9):
        wrong.append("serialisation and transfer do not multiply")
    return wrong


def main():
    fathom, folder = sys.argv[1], Path(sys.argv[2])
    if not (folder / "truth.json").exists():
        print("skipped: no data")
        return 77
    truth = json.loads((folder / "truth.json").read_text())
    meta = next(folder.glob("*.meta"))
    outputs = []
    for threads in ("1", "3"):
        run = subprocess.run([fathom, "report", str(meta), "--json", "--threads", threads], capture_output=True, text=True)
        if run.returncode != 0:
            print(f"exit status {run.returncode}\n{run.stderr}")
            return 1
        outputs.append(run.stdout)
    wrong = check(json.loads(outputs[0]), truth)
    if outputs[0] != outputs[1]:
        wrong.append("the result depends on the number of threads")
    print("\n".join(wrong) or "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
