#!/usr/bin/env python3
"""commands.py FATHOM PAGE: every indented line of the page that is a command of Fathom works, beside copies of the examples."""
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

program, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
examples = Path(__file__).resolve().parent.parent.parent / "examples"
failures = []
lines = [line.strip() for line in page.read_text().split("\n") if line.startswith("    fathom ")]
with tempfile.TemporaryDirectory() as folder:
    for name in ("stencil.cubex", "steps.cali"):
        shutil.copy(examples / name, folder)
    shutil.copytree(examples / "tau", Path(folder) / "tau")
    for line in lines:
        done = subprocess.run([program, *shlex.split(line)[1:]], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0 and "DuckDB" not in done.stderr:
            failures.append(f"{line}: {done.stderr}")
print("\n".join(failures) if failures or not lines else f"{len(lines)} commands work")
sys.exit(1 if failures or not lines else 0)
