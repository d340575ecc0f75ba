"""Paraver: states, values of events (several types and values may share a line) with their names, rows and times, and communications."""
import collections
import re

FILES = ["ovni/**/*.prv"]
MADE = [("ring", ".prv", "")]


def names_of(path):
    """The labels of the types in the file beside."""
    out, inside = {}, False
    beside = path.with_suffix(".pcf")
    for line in beside.read_text(errors="replace").splitlines() if beside.exists() else ():
        if line.strip() in ("EVENT_TYPE", "VALUES", ""):
            inside = line.strip() == "EVENT_TYPE"
        elif inside and (match := re.match(r"\s*\d+\s+(\d+)\s+(.*)", line)):
            out[int(match[1])] = match[2].strip()
    return out


def found(path):
    lines = path.read_text(errors="replace").splitlines()
    names = names_of(path)
    threads = [int(count) for count, _ in re.findall(r"(\d+):(\d+)", re.findall(r"\(([\d:,]+)\)", lines[0])[-1])]
    states, messages, values = 0, [], collections.Counter()
    for line in lines:
        fields = line.split(":")
        if fields[0] == "1":
            states += 1
        elif fields[0] == "2":
            row = sum(threads[:int(fields[3]) - 1]) + int(fields[4])
            for kind, value in zip(map(int, fields[6::2]), map(int, fields[7::2])):
                values[f"{fields[5]} row {row} {names.get(kind, f'type {kind}')} = {value}"] += 1
        elif fields[0] == "3":
            messages.append(f"{fields[5]} to {fields[11]}: {fields[13]} bytes, tag {fields[14]}")
    out = {"events": states + values.total() + len(messages), "messages": sorted(messages)}
    if states:
        return out  # where there are states there are types that mean more than their values
    return out | {"level events": values.total() + 2 * len(messages), "values": sorted(values.elements())}


def messages(level):
    return sorted(f"{row['t_send']} to {row['t_recv']}: {row['bytes']} bytes, tag {row['tag']}" for row in level.table("message"))


def values(level):
    """No value is written as 0."""
    return sorted(f"{row['time_ns']} row {row['location']} {row['name']} = {row['value'] or 0}" for row in level.table("event") if row["kind"] == "state")


LEVEL = {"messages": messages, "values": values}
