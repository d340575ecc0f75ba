"""ovni: events of all streams, a stream that ends inside an event up to there; what each becomes on the level by the table of the specification:
kinds, names of subsystems and tasks, values of states, marks and counters, and times."""
import collections
import csv
import json
import re
import struct
import sys
from pathlib import Path

FILES = ["ovni/*/*/trace.tar.gz"]
EXAMPLES = ["ovni"]


def table(path):
    """(code -> (kind, name or value)) of events that have a rule of their own; tasks by what is done with them."""
    out = {}
    with open(path) as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            code, effect = row["mcv"], row["emulator effect"]
            if match := re.match(r"\w+\.(?:subsystem|function) (push|pop) \d+ \((.*)\)$", effect):
                name = match[2] if row["model"] == "mpi" else f"{row['model']} {match[2]}"
                out[code] = ("enter" if match[1] == "push" else "leave", name)
            elif match := re.match(r"body (?:Created->Running|Running->Dead)|(?:push|pop) label", effect):
                out[code] = ("task", "enter" if "Created" in effect or effect.startswith("push") else "leave")
            elif match := re.match(r"body (?:Running->Paused|Paused->Running)", effect):
                out[code] = ("task", "state")
            elif match := re.match(r"(\w+)\.(\w+) (push|pop|set) (\d+)", effect):
                out[code] = ("channel", f"{match[1]} {match[2]}", match[3], int(match[4]))
            elif match := re.match(r"thread\.state := .*?\((\d)\)|.*thread\.state := Running\((1)\)", effect):
                out[code] = ("thread", int(match[1] or match[2]))
            elif match := re.match(r"ovni\.flush := (\d|null)", effect):
                out[code] = ("channel", "ovni flush", "set", None if match[1] == "null" else 1)
            elif match := re.match(r"(?:push|pop|set) mark", effect):
                out[code] = ("mark",)
            elif effect.startswith("hwc["):
                out[code] = ("counters",)
            elif effect.startswith("thread.cpu :="):
                out[code] = ("cpu",)
            elif effect.startswith("type table"):
                out[code] = ("type",)
            elif effect.startswith("task table"):
                out[code] = ("create",)
            else:
                out[code] = ("marker",)
    return out


def loose(text):
    """JSON with comments."""
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or "", text, flags=re.DOTALL))


def about(path):
    """(process, host, metadata of the thread) of a stream: of version 3 by its metadata, else by the names above."""
    if path.name == "stream.obs":
        data = loose((path.parent / "stream.json").read_text())
        own = data.get("ovni", {})
        return (own.get("loom"), own.get("pid")), (own.get("loom") or "").split(".")[0], data
    loom = path.parent.parent.name.removeprefix("loom.")
    data = path.with_suffix(".json") if path.suffix == ".obs" else path
    return (loom, path.parent.name), loom.split(".")[0], loose(data.read_text()) if data.suffix == ".json" and data.exists() else {}


def offsets(folder):
    out = {}
    for one in [folder, *folder.iterdir()]:
        file = one / "clock-offsets.txt"
        if one.is_dir() and file.exists():
            for line in file.read_text().splitlines()[1:]:
                if line.strip():
                    out[line.split()[1]] = int(float(line.split()[2]))
    return out


def events_of(path):
    """(clock, code, payload)"""
    data = path.read_bytes()
    at = 8 if data[:4] == b"ovni" else 0
    while at + 12 <= len(data):
        flags = data[at]
        if flags & 0x10:
            size = 4 + (struct.unpack_from("<I", data, at + 12)[0] if at + 16 <= len(data) else 1 << 32)
        else:
            size = (flags & 15) + 1 if flags & 15 else 0
        if at + 12 + size > len(data):
            break
        yield struct.unpack_from("<Q", data, at + 4)[0], data[at + 1:at + 4].decode("latin-1"), data[at + 12:at + 12 + size]
        at += 12 + size


def tasks_of(streams, rules):
    """(process, model, task) -> type and (process, model, type) -> label; the first definition holds."""
    labels, types = {}, {}
    for process, events, _ in streams:
        for _, code, payload in events:
            kind = rules.get(code, ("unknown",))[0]
            if kind == "type" and len(payload) >= 8:
                number = struct.unpack_from("<I", payload, 4)[0]
                label = payload[8:].split(b"\0")[0].decode(errors="replace")
                labels.setdefault((process, code[0], number), label or f"(unlabeled task type {number})")
    for process, events, _ in streams:
        for _, code, payload in events:
            if rules.get(code, ("unknown",))[0] == "create" and len(payload) >= 8:
                task, number = struct.unpack_from("<II", payload)
                if (process, code[0], number) in labels:
                    types.setdefault((process, code[0], task), labels[process, code[0], number])
    return labels, types


def found(folder):
    specification = Path(sys.argv[2]).parent / "specs" / "ovni-events.tsv"
    rules = table(specification) if specification.exists() else {}
    streams, shift, times, total = [], offsets(folder), 0, 0
    paths = list(folder.rglob("stream.obs"))
    paths += [one for one in folder.rglob("thread.*") if one.is_file() and one.suffix != ".json"]
    for path in paths:
        process, host, data = about(path)
        # The order of the clocks: late events are put where they belong.
        events = sorted(events_of(path), key=lambda one: one[0])
        streams.append((process, events, data))
        total += len(events)
        times += sum(clock + shift.get(host, 0) for clock, _, _ in events)
    if not rules:
        return {"events": total, "sum of times": times}
    labels, tasks = tasks_of(streams, rules)
    threads = [data for _, _, data in streams if data.get("ovni", {}).get("part", "thread") == "thread" and "ovni" in data]
    named = max((data.get("nosv", {}).get("hwc", {}) for data in threads), key=len, default={})
    counters = [named[str(i)]["name"] for i in range(len(named))]
    marks = {int(number): one["title"] for _, _, data in streams for number, one in data.get("ovni", {}).get("mark", {}).items()}
    out = collections.Counter()
    for process, events, _ in streams:
        opened, channels, known = [], collections.defaultdict(list), process != (None, None)

        def enter(code, region):
            opened.append(region)
            out[code, "enter", region[1], ""] += 1

        def leave(code, region):
            """What was entered later and is not left yet goes on outside of it."""
            if region not in opened:
                out[code, "marker", code, ""] += 1
                return
            at = len(opened) - 1 - opened[::-1].index(region)
            above = opened[at + 1:]
            opened[at:] = above
            for _, name in [region, *above]:
                out[code, "leave", name, ""] += 1
            for _, name in above:
                out[code, "enter", name, ""] += 1

        for _, code, payload in events:
            rule = rules.get(code, ("unknown",))
            if rule[0] == "enter":
                enter(code, rule)
            elif rule[0] == "leave":
                leave(code, ("enter", rule[1]))
            elif rule[0] == "task":
                number = struct.unpack_from("<I", payload + bytes(4))[0]
                name = (labels if code[1] == "Q" else tasks).get((process, code[0], number))
                if name is None:
                    out[code, "marker", code, ""] += 1
                    continue
                if rule[1] == "leave":
                    leave(code, (code[0], name))
                if code[1] != "Q":
                    out[code, "state", "task", str(number) if code[2] in "xr" else ""] += 1
                if rule[1] == "enter":
                    enter(code, (code[0], name))
            elif rule[0] == "channel":
                stack = channels[rule[1]]
                if rule[2] == "push":
                    stack.append(rule[3])
                elif rule[2] == "pop" and stack:
                    stack.pop()
                value = rule[3] if rule[2] == "set" else stack[-1] if stack else None
                out[code, "state", rule[1], "" if value is None else str(value)] += 1
            elif rule[0] == "thread":
                out[code, "state", "thread state", str(rule[1])] += 1
                if code == "OHx":
                    out[code, "state", "cpu", "one"] += known
                    enter(code, ("thread", "thread"))
                elif code == "OHe":
                    out[code, "state", "cpu", ""] += 1
                    for _, name in opened:
                        out[code, "leave", name, ""] += 1
                    opened.clear()
            elif rule[0] == "cpu":
                out[(code, "state", "cpu", "one") if known else (code, "marker", code, "")] += 1
            elif rule[0] == "mark":
                out[code, "marker", marks.get(struct.unpack_from("<8xi", payload + bytes(12))[0], code), ""] += 1
            elif rule[0] == "counters":
                values = [one[0] for one in struct.iter_unpack("<q", payload[4:len(payload) - (len(payload) - 4) % 8])]
                for name, value in zip(counters, values):
                    out[code, "counter", name, str(value)] += 1
                if len(values) > len(counters) or not values:
                    out[code, "marker", code, ""] += 1  # values without a name
            else:
                out[code, "marker", "unknown event" if rule[0] == "unknown" else code, ""] += 1
    return {"events": total, "events by what they are": sorted((+out).items()), "sum of times": times}


def by_what_they_are(level):
    """What another thread did (a move to a CPU) has no event of this stream, nor has what is closed at its end."""
    out = collections.Counter()
    for row in level.table("event"):
        if match := re.search(r"(?:^|;)event=(...)", row["detail"]):
            value = "one" if row["name"] == "cpu" and row["value"] else row["value"]
            out[match[1], row["kind"], row["name"], value] += 1
    return sorted(out.items())


def sum_of_times(level):
    return sum(int(time) for _, _, time in {(row["location"], row["record"], row["time_ns"]) for row in level.table("event") if row["record"]})


LEVEL = {"events by what they are": by_what_they_are, "sum of times": sum_of_times}
