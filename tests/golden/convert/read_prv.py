#!/usr/bin/env python3
"""A second reader of Paraver traces: reads NAME.prv with its .pcf and .row, judges it, and prints what it holds.

Usage: read_prv.py NAME.prv regions|counts
  regions   per task: region, how often it was entered, time inside (inclusive), by order of names
  counts    records of each kind, communications with their bytes, events per type
"""
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

REGION_TYPES = range(90000001, 90001001)


def fail(line, why):
    sys.exit(f"line {line}: {why}")


def read_names(pcf):
    types, values, states = {}, defaultdict(dict), {}
    section, current = None, []
    for line in pcf.read_text().splitlines():
        words = line.split(maxsplit=2)
        if line in ("EVENT_TYPE", "VALUES", "STATES", "STATES_COLOR"):
            section = line
            current = [] if line == "EVENT_TYPE" else current
        elif not words or not words[0].isdigit():
            continue
        elif section == "EVENT_TYPE":
            types[int(words[1])] = words[2]
            current.append(int(words[1]))
        elif section in ("VALUES", "STATES"):
            number, name = line.split(maxsplit=1)
            for table in [values[kind] for kind in current] if section == "VALUES" else [states]:
                table[int(number)] = name.strip()
    return types, values, states


def read_rows(row):
    levels, level = {}, None
    for line in row.read_text().splitlines():
        if line.startswith("LEVEL "):
            _, level, _, size = line.split()
            levels[level] = (int(size), [])
        elif line:
            levels[level][1].append(line)
    for level, (size, names) in levels.items():
        if size != len(names):
            sys.exit(f"level {level}: {size} names announced, {len(names)} there")
    return levels


def main():
    prv = Path(sys.argv[1])
    types, values, states = read_names(prv.with_suffix(".pcf"))
    rows = read_rows(prv.with_suffix(".row"))
    with prv.open() as lines:
        header = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)(?:,(\d+))?",
                              next(lines).rstrip("\n"))
        if not header:
            fail(1, "bad header")
        final = int(header[1])
        cpus = [int(count) for count in header[3].split(",")]
        tasks = [tuple(map(int, task.split(":"))) for task in header[5].split(",")]
        if len(cpus) != int(header[2]) or len(tasks) != int(header[4]):
            fail(1, "counts of nodes or tasks are wrong")
        if rows["THREAD"][0] != sum(threads for threads, _ in tasks) or rows["TASK"][0] != len(tasks):
            fail(1, "rows do not fit")

        def check_place(number, cpu, application, task, thread):
            if not (0 < cpu <= sum(cpus) and application == 1 and 0 < task <= len(tasks) and 0 < thread <= tasks[task - 1][0]):
                fail(number, "no such object")

        communicators = int(header[6] or 0)
        last, kinds, per_type, data = 0, Counter(), Counter(), 0
        state_end = defaultdict(int)
        inside = defaultdict(list)  # (task, thread) -> regions with the time of entry, from the values alone
        entered, time = Counter(), Counter()
        for number, line in enumerate(lines, 2):
            if number < 2 + communicators:
                letter, *fields = line.split(":")
                if letter != "c" or int(fields[2]) != len(fields) - 3 or not all(0 < int(t) <= len(tasks) for t in fields[3:]):
                    fail(number, "bad communicator")
                continue
            kind, *fields = (int(field) for field in line.split(":"))
            kinds[kind] += 1
            place, rest = tuple(fields[:4]), fields[4:]
            check_place(number, *place)
            if rest[0] < last:
                fail(number, "time goes backwards")
            last = rest[0]
            if max(rest[0], rest[1] if kind == 1 else rest[0]) > final:
                fail(number, "later than the end")
            if kind == 1:
                begin, end, state = rest
                if begin < state_end[place] or end <= begin or state not in states:
                    fail(number, "bad state")
                state_end[place] = end
            elif kind == 2:
                if len(rest) % 2 != 1:
                    fail(number, "types without values")
                for kind_of, value in zip(rest[1::2], rest[2::2]):
                    per_type[kind_of] += 1
                    if kind_of not in types or (values[kind_of] and value not in values[kind_of]):
                        fail(number, f"type {kind_of} value {value} has no name")
                    if kind_of not in REGION_TYPES:
                        continue
                    stack = inside[place, kind_of]
                    # Back to the region around the innermost one, or into another.
                    if stack and value == (stack[-2][0] if len(stack) > 1 else 0):
                        region, since = stack.pop()
                        time[place[2], values[kind_of][region]] += rest[0] - since
                    else:
                        stack.append((value, rest[0]))
                        entered[place[2], values[kind_of][value]] += 1
            elif kind == 3:
                check_place(number, *rest[2:6])
                if len(rest) != 10 or rest[6] > final or rest[7] > final:
                    fail(number, "bad communication")
                data += rest[8]
            else:
                fail(number, "unknown kind")
    if last > final:
        fail(1, "final time is too low")
    if sys.argv[2] == "regions":
        for (task, region), count in sorted(entered.items()):
            print(task - 1, region, count, time[task, region])
    else:
        print("states", kinds[1], "\nevents", kinds[2], "\ncommunications", kinds[3], "\nbytes", data)
        for kind_of, count in sorted(per_type.items()):
            print(types[kind_of], count)


main()
