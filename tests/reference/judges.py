#!/usr/bin/env python3
"""judges.py FATHOM NAME DATA: what Fathom writes, as the tools of its readers see it."""
import csv
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

program, name, data = sys.argv[1], sys.argv[2], Path(sys.argv[3])
SOURCE = Path(__file__).resolve().parent.parent.parent
failures = []


def run(*arguments, good=True):
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if good and done.returncode != 0:
        failures.append(f"{arguments}: {done.stderr}")
    return done.stdout


def inputs():
    """Profiles and traces of several formats, those of the repository and some of the further data."""
    found = [SOURCE / "examples/stencil.cubex", SOURCE / "examples/ring/ring.meta", SOURCE / "examples/ovni"]
    for more in ("hpctoolkit/a-small", "hpctoolkit/b-cpi-mpi", "elsewhere/pprof/parca_fib.pb.gz",
                 "elsewhere/folded/speedscope_recursion.txt"):
        if (data / more).exists():
            found.append(data / more)
    return found


def totals(path):
    text = run(program, "table", path, "--total", "--inclusive", "--csv", "--quiet")
    return {row["metric"]: row["value"] for row in csv.DictReader(io.StringIO(text))}


def pprof(folder):
    for path in inputs():
        target = folder / "out.pb.gz"
        run(program, "convert", path, target)
        raw = run("go", "tool", "pprof", "-raw", target)
        head = raw[raw.index("Samples:"):].split("\n")
        types = re.findall(r"(\S.*?)/\S+", re.sub(r"\[dflt\]", "", head[1]))
        sums = [0] * len(types)
        for line in head[2:]:
            if line.startswith("Locations"):
                break
            if match := re.match(r"^\s*((?:-?\d+\s+)*-?\d+):", line):
                for i, value in enumerate(match.group(1).split()):
                    sums[i] += int(value)
        # What pprof adds up is what the written file has for Fathom.
        seen = totals(target)
        names = list(seen)
        for metric, total in zip(names, sums):
            if int(seen[metric]) != total:
                failures.append(f"{path}: pprof has {total} of {metric}, Fathom {seen[metric]}")
        if len(names) != len(types):
            failures.append(f"{path}: {types} for pprof, {names} for Fathom")
        # And the tool rewrites it without a complaint.
        again = folder / "again.pb.gz"
        run("go", "tool", "pprof", "-proto", f"-output={again}", target)
        if totals(again) != seen:
            failures.append(f"{path}: rewritten by pprof the totals are {totals(again)}, not {seen}")


def callgrind(folder):
    for path in inputs():
        target = folder / "out.callgrind"
        run(program, "convert", path, target)
        seen = totals(target)
        text = run("callgrind_annotate", "--auto=no", "--threshold=100", "--show-percs=no", target)
        events = re.search(r"^Events recorded: +(.*)$", text, re.M).group(1).split()
        totals_line = re.search(r"^(.*?) +PROGRAM TOTALS", text, re.M).group(1)
        judged = dict(zip(events, (0 if word == "." else int(word.replace(",", "")) for word in totals_line.split())))
        for event, total in judged.items():
            if int(seen.get(event, 0)) != total:
                failures.append(f"{path}: callgrind_annotate has {total} of {event}, Fathom {seen.get(event)}")
        # Inclusive values of functions, as both make them of the calls. The judge counts recursion more than once.
        if "pprof" in str(path) or "recursion" in str(path):
            continue
        text = run("callgrind_annotate", "--auto=no", "--threshold=100", "--show-percs=no", "--inclusive=yes",
                   f"--show={events[0]}", target)
        own = Counter()
        for row in csv.DictReader(io.StringIO(run(program, "table", target, "--scope", "inclusive", "--metric", events[0],
                                                  "--csv", "--quiet"))):
            own[int(row["value"])] += 1
        judged = Counter()
        for line in text[text.index("file:function"):].split("\n"):
            if match := re.match(r"^ *([\d,]+)  \S", line):
                judged[int(match.group(1).replace(",", ""))] += 1
        del judged[0]
        # What `top` shows unasked is the same.
        top = list(csv.DictReader(io.StringIO(run(program, "top", target, "--metric", events[0], "--inclusive", "-n", "1",
                                                  "--csv", "--quiet"))))
        if top and int(float(top[0]["inclusive"])) != max(own):
            failures.append(f"{path}: top has {top[0]['inclusive']} as the largest inclusive value, not {max(own)}")
        missing = judged - own
        if missing:
            failures.append(f"{path}: inclusive values of {events[0]} that Fathom has not: {dict(missing)}")


def dot(folder):
    more = [data / "elsewhere/callgrind/gprof2dot_issue35.callgrind", data / "elsewhere/folded/gprof2dot_keywords.folded"]
    for path in inputs() + [one for one in more if one.exists()]:
        target = folder / "out.dot"
        run(program, "convert", path, target, "--option", "nodes=0", "--option", "edges=0")
        drawn = run("dot", "-Tplain", target)
        nodes = sum(line.startswith("node ") for line in drawn.split("\n"))
        text = target.read_text()
        if nodes == 0 or nodes != len(re.findall(r"^  n\d+ \[", text, re.M)):
            failures.append(f"{path}: dot draws {nodes} nodes")
        if sum(line.startswith("edge ") for line in drawn.split("\n")) != len(re.findall(r"^  n\d+ ->", text, re.M)):
            failures.append(f"{path}: dot draws other edges than are written")


TOOLS = {"pprof": "go", "callgrind": "callgrind_annotate", "dot": "dot"}


def main():
    if shutil.which(TOOLS[name]) is None:
        print(f"{TOOLS[name]} is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        globals()[name](Path(folder))
    print("\n".join(failures) if failures else "as the judge sees it")
    return 1 if failures else 0


sys.exit(main())
