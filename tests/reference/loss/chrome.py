"""Chrome's Trace Event Format: enters, leaves, markers and counters by the phases of the events, with names, times and values."""
import decimal
import gzip
import json
import re

FILES = ["perfetto/chrome/*", "perfetto/probes/*.json"]
LEFT_OUT = {"events enter": ["chrome.negative_duration"],
            "events leave": ["chrome.negative_duration", "trace.unmatched_end"]}
MADE_UP = {"events leave": ["trace.closed_early"]}
ENTERS, LEAVES, MARKERS = "XBbS", "XEeF", "iIstfnTpP"


def events_of(path):
    """The events, and what all times are added to."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    try:
        content = json.loads(text, parse_float=decimal.Decimal)
    except json.JSONDecodeError:  # a list that is not closed, or with a comma too many
        content = json.loads(re.sub(r"\s*,?\s*\]?\s*$", "]", text), parse_float=decimal.Decimal)
    return (content["traceEvents"], content.get("baseTimeNanoseconds", 0)) if isinstance(content, dict) else (content, 0)


def found(path):
    events, base = events_of(path)
    when = lambda event: base + int((decimal.Decimal(event["ts"]) * 1000).to_integral_value(decimal.ROUND_HALF_UP))
    count = lambda phases: sum(1 for event in events if event["ph"] in phases)
    numbers = [value for event in events if event["ph"] == "C" for value in event["args"].values()]
    flows = sum(1 for event in events if event.get("flow_in") or event.get("flow_out"))
    out = {"events": len(events), "events enter": count(ENTERS), "events leave": count(LEAVES),
           "events marker": count(MARKERS) + flows, "events counter": len(numbers)}
    if all(event.get("dur", 0) >= 0 for event in events):
        out["begins"] = sorted(f"{event['name']} at {when(event)}" for event in events if event["ph"] in ENTERS)
    out["values"] = sorted(f"{float(value):.9g} at {when(event)}" for event in events if event["ph"] == "C"
                           for value in event["args"].values())
    return out


LEVEL = {"begins": lambda level: sorted(f"{row['name']} at {row['time_ns']}" for row in level.table("event") if row["kind"] == "enter"),
         "values": lambda level: sorted(f"{float(row['real'] or row['value']):.9g} at {row['time_ns']}" for row in level.table("event")
                                        if row["kind"] == "counter")}
