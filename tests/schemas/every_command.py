#!/usr/bin/env python3
"""every_command.py FATHOM SCHEMAS TESTS: every command with --json has a schema, and every schema a test."""
import re
import subprocess
import sys
from pathlib import Path

program, schemas, tests = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).read_text()
# What needs more than the examples: DuckDB, and a file with stored models.
ELSEWHERE = {"sql", "model-sets"}


def help_of(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


commands = re.findall(r"^  (\S+)  ", help_of("help", "commands"), re.MULTILINE)
with_json = [name for name in commands if "--json" in help_of(name, "--help").partition("Examples")[0]]
missing = [f"{name} has --json and no schema" for name in with_json if not (schemas / f"{name}.json").exists()]
tested = set(re.findall(r"^add_schema_test\(\S+ (\S+)", tests, re.MULTILINE)) | ELSEWHERE
missing += [f"{path.name} has no test" for path in sorted(schemas.glob("*.json")) if path.stem not in tested]
print("\n".join(missing) if missing else f"{len(with_json)} commands")
sys.exit(1 if missing or len(with_json) < 20 else 0)
