"""Caliper streams: records, and the sum of every attribute that is a value; what repeats an exclusive value is left out."""
import re

FILES = ["elsewhere/caliper/*.cali"]
EXAMPLES = ["steps.cali"]
NAME, PROPERTIES, TYPE = "8", "10", "9"
AS_VALUE, HIDDEN = 1, 128
PLACES = {"block", "mpi.rank"}  # locations and steps, no metrics


def split(text, at):
    """Fields of a line; a backslash takes what follows as it is."""
    out, now, escaped = [], "", False
    for letter in text:
        if escaped:
            now += "\n" if letter == "n" else letter
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == at:
            out.append(now)
            now = ""
        else:
            now += letter
    return out + [now]


def fields(line):
    """Keys and lists of values: 'a=1=2,b=3'; escapes stay for the second cut."""
    out = {}
    for part in re.split(r"(?<!\\),", line):
        key, *values = re.split(r"(?<!\\)=", part)
        out[key] = values
    return out


def found(path):
    nodes, attributes, sums, records = {}, {}, {}, 0
    for line in path.read_text(errors="replace").splitlines():
        one = fields(line)
        kind = one.get("__rec", [""])[0]
        if kind == "node":
            number, attribute, data = one["id"][0], one["attr"][0], split(one["data"][0], "\0")[0]
            parent = one.get("parent", [None])[0]
            nodes[number] = (attribute, data, parent)
            if attribute == NAME:
                properties, at = 0, parent
                while at in nodes:
                    if nodes[at][0] == PROPERTIES:
                        properties |= int(nodes[at][1])
                    at = nodes[at][2]
                attributes[number] = (data, properties)
        elif kind == "ctx":
            records += 1
            for attribute, data in zip(one.get("attr", []), one.get("data", [])):
                name, properties = attributes[attribute]
                if properties & AS_VALUE and not properties & HIDDEN:
                    sums.setdefault(name, []).append(data)
    out = {"records": records}
    for name, texts in sums.items():
        if name in PLACES or (name.startswith("inclusive#") and name.removeprefix("inclusive#") in sums):
            continue  # a value that is there exclusively as well is left out, and the note of it has no number
        try:
            out[f"stored sum of {name}"] = sum(map(float, texts))
        except ValueError:
            continue  # texts are no metric
    return out
