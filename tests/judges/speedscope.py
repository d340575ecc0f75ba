#!/usr/bin/env python3
"""speedscope.py FATHOM BUILD PROJECT DATA: what is written for speedscope is as its schema and its importer want it.

The schema is that of the npm package, which ./dev fetches into BUILD/node/speedscope; without it only the rules of the
importer are judged, which the schema does not say: times ascend, what is closed is what was opened last, everything is
closed at the end, and weights add up to the length of the profile.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, BUILD, PROJECT, DATA = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
SCHEMA = BUILD / "node" / "speedscope" / "file-format-schema.json"
KNOWN = {"$schema", "$ref", "title", "definitions", "type", "properties", "required", "items", "anyOf", "enum", "const"}
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float)}


def defects(value, schema, root, place="$"):
    """Every place where the value is not as the schema says."""
    unknown = set(schema) - KNOWN
    if unknown:
        sys.exit(f"the schema has words that are not known here: {sorted(unknown)}")
    if "$ref" in schema:
        yield from defects(value, root["definitions"][schema["$ref"].rsplit("/", 1)[1]], root, place)
    if "anyOf" in schema and all(any(defects(value, one, root, place)) for one in schema["anyOf"]):
        yield f"{place} is nothing that is allowed there"
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {value!r}"
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        yield f"{place} is no {schema['type']}"
        return
    if isinstance(value, dict):
        yield from (f"{place} has no {key}" for key in schema.get("required", []) if key not in value)
        for key, one in schema.get("properties", {}).items():
            if key in value:
                yield from defects(value[key], one, root, f"{place}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            yield from defects(one, schema["items"], root, f"{place}[{i}]")


def refused(file):
    """Why the importer would refuse it."""
    frames = len(file["shared"]["frames"])
    for profile in file["profiles"]:
        name = profile["name"]
        if profile["type"] == "sampled":
            samples, weights = profile["samples"], profile["weights"]
            if len(samples) != len(weights):
                yield f"{name}: {len(samples)} samples, {len(weights)} weights"
            if any(not 0 <= frame < frames for stack in samples for frame in stack):
                yield f"{name}: a frame that is not there"
            if abs(profile["endValue"] - profile["startValue"] - sum(weights)) > 1e-9 * abs(profile["endValue"]):
                yield f"{name}: weights add up to {sum(weights)}, it ends at {profile['endValue']}"
            continue
        before, stack = profile["startValue"], []
        for event in profile["events"]:
            if event["at"] < before or not 0 <= event["frame"] < frames:
                yield f"{name}: {event} after {before}"
            before = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            elif not stack or stack.pop() != event["frame"]:
                yield f"{name}: {event} closes what was not opened last"
        if stack or before > profile["endValue"]:
            yield f"{name}: {len(stack)} frames are open at the end"


def main():
    schema = json.loads(SCHEMA.read_text()) if SCHEMA.exists() else None
    sources = [PROJECT / "examples" / name for name in ("ring/ring.meta", "ovni", "stencil.cubex", "samples.perf.txt")]
    sources += [DATA / "otf2" / name for name in ("pingpong/traces.otf2", "apex_als/APEX.otf2", "kinds/traces.otf2")]
    bad, judged = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            if not source.exists():
                continue
            out = pathlib.Path(folder) / "out.speedscope.json"
            done = subprocess.run([PROGRAM, "convert", source, out], capture_output=True, text=True, timeout=120,
                                  check=False)
            if done.returncode != 0:
                bad.append(f"{source}: {done.stderr}")
                continue
            file = json.loads(out.read_text())
            bad += [f"{source.name}: {text}" for text in list(refused(file))[:5]]
            if schema:
                bad += [f"{source.name}: {text}" for text in list(defects(file, schema, schema))[:5]]
            judged += 1
    # The judge must see what is wrong.
    for name in ("incomplete-trace", "out-of-order-events"):
        path = DATA / "elsewhere" / "speedscope" / f"invalid_{name}.json"
        if path.exists() and not list(refused(json.loads(path.read_text()))):
            bad.append(f"{path.name} passes")
    print("\n".join(bad) if bad else f"{judged} files, {'with' if schema else 'without'} the schema")
    return 1 if bad or judged < 4 else 0


sys.exit(main())
