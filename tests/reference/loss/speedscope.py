"""speedscope: opened and closed frames of evented profiles, samples and their weights of sampled ones."""
import json

MADE = [("stencil.cubex", ".speedscope.json", ""), ("ring", ".speedscope.json", "")]
FILES = ["elsewhere/speedscope/*.speedscope.json"]
NANOSECONDS = {"none": 1, "nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9, "bytes": 1}


def found(path):
    content = json.loads(path.read_text())
    out, frames, events = {}, content["shared"]["frames"], []
    for profile in content["profiles"]:
        if profile["type"] == "evented":
            for event in profile["events"]:
                key = "events enter" if event["type"] == "O" else "events leave"
                out[key] = out.get(key, 0) + 1
                at = round(event["at"] * NANOSECONDS[profile["unit"]])
                events.append(f"{key.split()[1]} {frames[event['frame']]['name']} at {at}")
        else:
            key = "exclusive sum of time" if profile["unit"] != "none" else "exclusive sum of samples"
            out[key] = out.get(key, 0) + sum(profile["weights"])
    return out | ({"frames": sorted(events)} if events else {})


LEVEL = {"frames": lambda level: sorted(f"{row['kind']} {row['name']} at {row['time_ns']}" for row in level.table("event")
                                        if row["kind"] in ("enter", "leave"))}
