#!/usr/bin/env python3
"""The prompt of `fathom sql` as a person meets it: on a terminal, with Tab, the arrow keys and a pager.

usage: prompt.py FATHOM
"""
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PATH = "examples/stencil.cubex"


class Prompt:
    def __init__(self, fathom, home, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"HOME": home, "TERM": "xterm", "PAGER": "cat", "COLUMNS": "200"} | env)
            os.environ.pop("XDG_STATE_HOME", None)
            os.execv(fathom, [fathom, "sql", PATH])
        self.seen = ""

    def expect(self, text, seconds=60):
        """What came up to and with `text`."""
        end = time.time() + seconds
        while text not in self.seen:
            if time.time() > end or not select.select([self.fd], [], [], max(0.0, end - time.time()))[0]:
                sys.exit(f"'{text}' did not come; seen: {self.seen!r}")
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                if text not in self.seen:
                    sys.exit(f"ended before '{text}' came; seen: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        self.type(".quit\n")
        while True:
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    fathom = os.path.abspath(sys.argv[1])
    probe = subprocess.run([fathom, "sql", PATH, "SELECT 1"], capture_output=True, text=True)
    if probe.returncode != 0 and "DuckDB" in probe.stderr:
        print("skipped: no DuckDB")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="fathom-prompt-") as home:
        prompt = Prompt(fathom, home)
        prompt.expect("sql> ")
        prompt.type(".tables\n")
        prompt.expect("hot_region")
        prompt.expect("sql> ")
        prompt.type(".schema metric\n")
        prompt.expect("metric(id, name, unit, parent")
        prompt.expect("sql> ")
        # Tab makes "hot_region" of "hot_r"; the query ends on a second line.
        prompt.type("SELECT region FROM hot_r\t WHERE metric = 'time'\n")
        prompt.expect("  -> ")
        prompt.type("ORDER BY exclusive DESC LIMIT 1;\n")
        prompt.expect("apply_stencil")
        prompt.expect("sql> ")
        # A column behind an alias.
        prompt.type("SELECT count(DISTINCT l.ran\t) AS ranks FROM location l;\n")
        prompt.expect("ranks")
        prompt.expect("16")
        prompt.expect("sql> ")
        # A mistake is shown and the prompt comes again.
        prompt.type("SELECT nothing;\n")
        prompt.expect("nothing")
        prompt.expect("sql> ")
        if prompt.end() != 0:
            sys.exit("the first session did not end well")
        history = pathlib.Path(home) / ".local/state/fathom/sql_history"
        if not history.exists():
            sys.exit("no history was kept")
        if history.stat().st_mode & 0o077:
            sys.exit("the history can be read by others")
        # The next session knows the last line but one (.quit is the last); a pager gets the answer.
        prompt = Prompt(fathom, home, PAGER="sed s/^/paged:/")
        prompt.expect("sql> ")
        prompt.type("\x1b[A\x1b[A")
        prompt.expect("SELECT nothing;")
        prompt.type("\x15SELECT 40 + 2 AS answer;\n")
        prompt.expect("paged:answer")
        prompt.expect("paged:    42")
        prompt.expect("sql> ")
        if prompt.end() != 0:
            sys.exit("the second session did not end well")


if __name__ == "__main__":
    main()
