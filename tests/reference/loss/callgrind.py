"""callgrind: per function own costs per event, those with the calls that leave it, and how often it is called."""
import collections
import gzip
import re

MADE = [("stencil.cubex", ".callgrind", "")]
FILES = ["elsewhere/callgrind/*"]


def found(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode(errors="surrogateescape")
    events, positions, names, now = [], 1, {}, {}
    own, inclusive, calls = collections.Counter(), collections.Counter(), collections.Counter()
    function = callee = None  # (object, file, name)
    jump = False

    def named(space, text):
        """'(id) name' defines, '(id)' refers."""
        match = re.match(r"(\(\d+\))\s*(.*)", text)
        if match and match[2]:
            names[space, match[1]] = match[2]
        return names.get((space, match[1]), match[1]) if match else text

    for line in text.split("\n"):
        line = line.strip()
        if match := re.match(r"(events|positions):\s*(.*)", line):
            if match[1] == "events":
                events = match[2].split()
            else:
                positions = len(match[2].split())
        elif match := re.match(r"([cj]?)(ob|fl|fi|fe|fn)=\s*(.*)", line):
            space = match[2] if match[2] in ("ob", "fn") else "file"
            now[match[1] + space] = named(space, match[3])
            if match[2] == "fl" and not match[1]:
                now["fl"] = now["file"]
            if match[1] + space == "fn":
                function = now.get("ob"), now.get("fl"), now["fn"]
            elif match[1] + space == "cfn":
                # What the call does not name is that of the code that calls.
                callee = now.pop("cob", now.get("ob")), now.pop("cfile", now.get("file")), now["cfn"]
        elif match := re.match(r"calls=(\S+)", line):
            calls["calls", callee[2]] += int(match[1], 0)
        elif re.match(r"(jump|jcnd)=", line):
            jump = True  # the next line is a position
        elif re.match(r"[0-9+*-]", line):
            for name, cost in zip(events, line.split()[positions:] if not jump else ()):
                if callee is None:
                    own[name, function[2]] += int(cost, 0)
                if callee != function:
                    inclusive[name, function[2]] += int(cost, 0)
            callee = callee if jump else None
            jump = False
    out = {f"total of {name}": sum(cost for (event, _), cost in own.items() if event == name) for name in events}
    return out | {"own costs": shown(own), "costs with calls": shown(inclusive), "called": shown(calls)}


def shown(costs):
    return sorted(f"{event} of {function}: {int(cost)}" for (event, function), cost in costs.items() if cost)


def measured(level, flavour, calls=False):
    out = collections.Counter()
    for row in level.rows("table", level.dataset, flavour, "--csv"):
        if (row["metric"] == "calls") == calls:
            out[row["metric"], row["path"]] += float(row["value"])
    return shown(out)


LEVEL = {"own costs": lambda level: measured(level, "--exclusive"), "costs with calls": lambda level: measured(level, "--scope=inclusive"),
         "called": lambda level: measured(level, "--exclusive", calls=True)}
