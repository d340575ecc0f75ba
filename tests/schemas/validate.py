#!/usr/bin/env python3
"""Validates what the program prints with --json against docs/schemas.

usage: validate.py FATHOM SCHEMA COMMAND...   (COMMAND without 'fathom'; --json is added)

Knows the words of JSON Schema that the schemas use; an unknown one is an error, so that none is ignored by accident.
"""
import json
import subprocess
import sys

KNOWN = {"$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items", "anyOf",
         "enum", "minimum"}
TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def defects(value, schema, place="$"):
    """Every place where the value is not as the schema says."""
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit(f"validate.py does not know {sorted(unknown)}")
    if "anyOf" in schema and all(list(defects(value, one, place)) for one in schema["anyOf"]):
        yield f"{place}: {value!r} is none of what is allowed"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is not one of {schema['enum']}"
    if "type" in schema and not is_type(value, schema["type"]):
        yield f"{place}: {value!r} is no {schema['type']}"
        return
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{place}: {value!r} is less than {schema['minimum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: '{name}' is missing"
        for name, member in value.items():
            if name in schema.get("properties", {}):
                yield from defects(member, schema["properties"][name], f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{place}: '{name}' is not expected"
            elif isinstance(schema.get("additionalProperties"), dict):
                yield from defects(member, schema["additionalProperties"], f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from defects(item, schema["items"], f"{place}[{i}]")


def main():
    program, schema_file, *command = sys.argv[1:]
    with open(schema_file, encoding="utf-8") as file:
        schema = json.load(file)
    done = subprocess.run([program, *command, "--json"], stdout=subprocess.PIPE, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"exit status {done.returncode}")
    found = list(defects(json.loads(done.stdout), schema))
    for text in found[:20]:
        print(text)
    raise SystemExit(1 if found else 0)


main()
