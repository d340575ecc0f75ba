"""Nsight Systems: rows of the tables of calls and activities, each an enter and a leave of the trace; in the experiment what kernels, copies and
memsets took and moved, waits, and calls that launched kernels, by name; where nothing marks ranges also every other call."""
import collections
import gzip
import json
import math
import sqlite3
import tempfile

FILES = ["elsewhere/nsight/*.sqlite.gz", "extrap/gpu/nsight_*.tar.gz"]
MEMBERS = "**/*.sqlite"
EXAMPLES = ["gpu.sqlite"]
COPIES = ["UNKNOWN", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "HOST_TO_DEVICE_ARRAY", "DEVICE_ARRAY_TO_HOST", "DEVICE_ARRAY_TO_DEVICE_ARRAY",
          "DEVICE_ARRAY_TO_DEVICE", "DEVICE_TO_DEVICE_ARRAY", "DEVICE_TO_DEVICE", "HOST_TO_HOST", "PEER_TO_PEER", "UMA_HOST_TO_DEVICE",
          "UMA_DEVICE_TO_HOST"]
SUMS = ["GPU", "bytes", "wait", "launch"]
WAITS = ["UNKNOWN", "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT", "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"]


class Tables:
    def __init__(self, base):
        self.base = base
        self.names = {name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def columns(self, table):
        return {row[1] for row in self.base.execute(f"PRAGMA table_info({table})")}

    def rows(self, table, *columns):
        return self.base.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall() if table in self.names else []

    def count(self, table, where="1"):
        return self.base.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0] if table in self.names else 0


def trace(tables):
    calls = "CUPTI_ACTIVITY_KIND_RUNTIME"
    slices = tables.count(calls, "eventClass IN (0, 1)" if "eventClass" in tables.columns(calls) else "1")
    slices += sum(tables.count(f"CUPTI_ACTIVITY_KIND_{kind}") for kind in ("KERNEL", "MEMCPY", "MEMSET"))
    slices += tables.count("OSRT_API") + tables.count("NVTX_EVENTS", "eventType = 59 AND end IS NOT NULL")
    slices += sum(tables.count(f"MPI_{kind}_EVENTS") for kind in ("P2P", "START_WAIT", "COLLECTIVES", "OTHER"))
    return {"events enter": slices, "events leave": slices}


def experiment(tables):
    names = dict(tables.rows("StringIds", "id", "value"))
    out = collections.Counter()
    launches, copies = [], collections.defaultdict(list)
    for name, start, end, call in tables.rows("CUPTI_ACTIVITY_KIND_KERNEL", "shortName", "start", "end", "correlationId"):
        out["GPU", names[name]] += end - start
        launches.append((names[name], call))
    for kind, start, end, size, call in tables.rows("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", "start", "end", "bytes", "correlationId"):
        out["GPU", COPIES[kind]] += end - start
        out["bytes", COPIES[kind]] += size
        copies[call].append((start, end))
    for start, end, size, call in tables.rows("CUPTI_ACTIVITY_KIND_MEMSET", "start", "end", "bytes", "correlationId"):
        out["GPU", "MEMSET"] += end - start
        out["bytes", "MEMSET"] += size
    # What Extra-P stored is used as it is: calls outside of all marked ranges have no path there, which is told.
    stored = {number for number, in tables.rows("EXTRAP_RESOLVED_CALLPATHS", "correlationId")}
    for kind, start, end, call in tables.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "syncType", "start", "end", "correlationId"):
        if not stored or call in stored:
            out["wait", WAITS[kind]] += end - start
    # Of two records of one call the longer one is the call.
    calls = {}
    for name, start, end, number in tables.rows("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId", "start", "end", "correlationId"):
        if number not in calls or calls[number][2] - calls[number][1] < end - start:
            calls[number] = (names[name], start, end)
    for kernel, number in launches:
        out["launch", kernel] += calls[number][2] - calls[number][1]
    launched = {number for _, number in launches}
    for number, (name, start, end) in calls.items():
        inside = sum(max(0, min(end, to) - max(start, begin)) for begin, to in copies[number])
        if number not in launched:
            out["call", name] += end - start - min(inside, end - start)
    return out


def of_kinds(out, kinds):
    return sorted(f"{kind} of {name}: {round(total)}" for (kind, name), total in out.items() if kind in kinds and round(total))


def found(path):
    with tempfile.NamedTemporaryFile() as copy:
        data = path.read_bytes()
        copy.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        copy.flush()
        base = sqlite3.connect(f"file:{copy.name}?mode=ro", uri=True)
        tables = Tables(base)
        sums = experiment(tables)
        out = trace(tables) | {"sums": of_kinds(sums, SUMS)}
        marks = tables.count("NVTX_EVENTS", "eventType = 75 AND text = 'de.tu-darmstadt.parallel.extra_prof'")
        if not marks and "EXTRAP_RESOLVED_CALLPATHS" not in tables.names:
            out["calls"] = of_kinds(sums, ["call"])
        base.close()
    return out


def measured(level):
    """What an activity took is told as alone and beside others, so that both are added."""
    out = collections.Counter()
    lines = level.run("convert", level.dataset, "-", "--to", "extrap-jsonl", "--quiet").stdout.splitlines()
    rows = [(tuple(one["callpath"].split("->")), one["metric"], math.fsum(one["value"])) for one in map(json.loads, lines)]
    launches = {path[:-1] for path, _, _ in rows if len(path) > 1 and path[-1] == f"GPU {path[-2]}"}
    for path, metric, value in rows:
        beside = path[-1] == "OVERLAP"
        name = path[-2 if beside else -1].removeprefix("BLOCKING ")
        on_gpu = name.startswith("GPU ") or name in COPIES
        if "OVERLAP" in path[:-1] or name == "GPU IDLE" or beside and not on_gpu:
            continue
        if metric == "bytes_transferred":
            out["bytes", name.removeprefix("GPU ")] += value
        elif on_gpu:
            out["GPU", name.removeprefix("GPU ")] += value * 1e9
        elif name == "WAIT":
            out["wait", path[-2]] += value * 1e9
        elif path in launches:
            out["launch", name] += value * 1e9
        else:
            out["call", name] += value * 1e9
    return out


LEVEL = {"sums": lambda level: of_kinds(measured(level), SUMS), "calls": lambda level: of_kinds(measured(level), ["call"])}
