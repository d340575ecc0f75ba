#!/usr/bin/env python3
"""A query leaves nothing behind and touches nothing that is not its own, as valgrind sees it.

usage: leaks.py FATHOM
"""
import shutil
import subprocess
import sys

SKIPPED = 77
QUERY = "SELECT kind, count(*) AS n, [min(time_ns)] AS list FROM event GROUP BY kind; SELECT * FROM message_matrix"


def main():
    fathom = sys.argv[1]
    valgrind = shutil.which("valgrind")
    plain = subprocess.run([fathom, "sql", "examples/ring/ring.meta", QUERY], capture_output=True, text=True)
    if valgrind is None or (plain.returncode != 0 and "DuckDB" in plain.stderr):
        print("skipped: no valgrind, or no DuckDB")
        sys.exit(SKIPPED)
    done = subprocess.run([valgrind, "-q", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
                           "--error-exitcode=9", fathom, "sql", "examples/ring/ring.meta", QUERY], capture_output=True,
                          text=True)
    if done.returncode != plain.returncode or done.stdout != plain.stdout:
        sys.exit(f"{done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
