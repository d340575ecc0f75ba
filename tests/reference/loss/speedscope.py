"""speedscope: opened and closed frames of evented profiles, samples and their weights of sampled ones."""
import json

MADE = [("stencil.cubex", ".speedscope.json", ""), ("ring", ".speedscope.json", "")]
FILES = ["elsewhere/speedscope/*.speedscope.json"]


def found(path):
    content = json.loads(path.read_text())
    out = {}
    for profile in content["profiles"]:
        if profile["type"] == "evented":
            for event in profile["events"]:
                key = "events enter" if event["type"] == "O" else "events leave"
                out[key] = out.get(key, 0) + 1
        else:
            key = "exclusive sum of time" if profile["unit"] != "none" else "exclusive sum of samples"
            out[key] = out.get(key, 0) + sum(profile["weights"])
    return out
