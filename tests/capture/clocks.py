#!/usr/bin/env python3
"""Samples of two clocks that are known to be apart: the second rank runs on a "host" of its own, whose clock is 1000 s ahead.

usage: clocks.py FATHOM LAUNCHER
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from run import SKIPPED, environment, fail

AHEAD_S = 1000
# Names and clocks of a host are namespaces of the kernel.
WRAPPER = f"""#!/bin/sh
rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}
[ "$rank" = 1 ] || exec "$@"
exec unshare --uts --time --monotonic {AHEAD_S} sh -c 'hostname other.example; exec "$@"' sh "$@"
"""


def main():
    fathom, launcher = sys.argv[1:]
    probe = subprocess.run(["unshare", "--uts", "--time", "--monotonic", "5", "hostname", "other"], capture_output=True)
    if probe.returncode != 0:
        print("skipped: no namespace of clocks may be made here")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="fathom-clocks-") as folder:
        wrapper = pathlib.Path(folder) / "on_host"
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)
        table = pathlib.Path(folder) / "clock-offsets.txt"
        command = [fathom, "sync", "--sample", "--samples", "40", "-o", str(table), "--", launcher, "-n", "2", str(wrapper)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            fail(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
        if [row[:2] for row in rows] != [["0", os.uname().nodename.split(".")[0]], ["1", "other"]]:
            fail(f"hosts: {rows}")
        if float(rows[0][2]) != 0 or abs(float(rows[1][2]) + AHEAD_S * 1e9) > 0.5e9:
            fail(f"offsets: {rows}")


if __name__ == "__main__":
    main()
