"""Chrome's Trace Event Format: enters, leaves, markers and counters by the phases of the events."""
import gzip
import json
import re

FILES = ["perfetto/chrome/*", "perfetto/probes/*.json"]
LEFT_OUT = {"events enter": ["chrome.negative_duration"],
            "events leave": ["chrome.negative_duration", "trace.unmatched_end"]}
MADE_UP = {"events leave": ["trace.closed_early"]}
ENTERS, LEAVES, MARKERS = "XBbS", "XEeF", "iIstfnTpP"


def events_of(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    try:
        content = json.loads(text)
    except json.JSONDecodeError:  # a list that is not closed, or with a comma too many
        content = json.loads(re.sub(r"\s*,?\s*\]?\s*$", "]", text))
    return content["traceEvents"] if isinstance(content, dict) else content


def found(path):
    events = events_of(path)
    count = lambda phases: sum(1 for event in events if event["ph"] in phases)
    numbers = [value for event in events if event["ph"] == "C" for value in event["args"].values()]
    flows = sum(1 for event in events if event.get("flow_in") or event.get("flow_out"))
    return {"events": len(events), "events enter": count(ENTERS), "events leave": count(LEAVES),
            "events marker": count(MARKERS) + flows, "events counter": len(numbers)}
