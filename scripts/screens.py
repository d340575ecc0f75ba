#!/usr/bin/env python3
"""Screens of the terminal as PNG: runs a command on a pseudo-terminal and draws what it prints with chromium.

usage: screens.py COLUMNS OUT.png COMMAND...      e.g. screens.py 120 docs/images/top.png build/fathom top x.cubex
       screens.py --docs BUILD [DATA]             the ones in docs/images
"""
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "36": "#76e3ea"}
LINE, CHARACTER = 19, 8.43  # of 14 px DejaVu Sans Mono


def printed(columns, command):
    """What the command prints, stdout and stderr together, on a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                             env={**os.environ, "TERM": "xterm-256color"})
    os.close(theirs)
    out = b""
    try:
        while part := os.read(ours, 65536):
            out += part
    except OSError:
        pass
    child.wait()
    return out.decode("utf-8", "replace").replace("\r\n", "\n")


def as_html(text):
    text = re.sub(r"\r|\x1b\[K", "", text)
    out, style = [], ""
    for part in re.split(r"(\x1b\[[\d;]*m)", text):
        if code := re.fullmatch(r"\x1b\[([\d;]*)m", part):
            rules = []
            for one in code[1].split(";"):
                rules += {"1": ["font-weight:bold"], "2": ["opacity:.6"]}.get(one, [])
                rules += [f"color:{COLOURS[one]}"] if one in COLOURS else []
            style = ";".join(rules)
        elif part:
            out.append(f'<span style="{style}">{html.escape(part)}</span>' if style else html.escape(part))
    return "".join(out)


def draw(columns, target, command):
    text = "$ " + " ".join(Path(a).name if os.path.exists(a) else a for a in command) + "\n" + printed(columns, command)
    lines = text.rstrip("\n").count("\n") + 1
    page = f"""<meta charset="utf-8"><body style="margin:0;background:#0d1117"><pre style="margin:0;padding:12px;
font:14px/{LINE}px 'DejaVu Sans Mono',monospace;color:#e6edf3;width:{columns}ch">{as_html(text)}</pre>"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "screen.html"
        path.write_text(page)
        size = f"{int(columns * CHARACTER) + 28},{lines * LINE + 24}"
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--window-size={size}", f"--screenshot={target}", path.as_uri()],
                       check=True, capture_output=True, timeout=120)
    widest = max(len(re.sub(r"\x1b\[[\d;]*[mK]", "", line)) for line in text.split("\n")[1:])
    print(f"{target}: {columns} columns, widest line {widest}")
    return widest <= columns


def main():
    if sys.argv[1] != "--docs":
        return 0 if draw(int(sys.argv[1]), sys.argv[2], sys.argv[3:]) else 1
    project = Path(__file__).resolve().parent.parent
    fathom, examples = str(Path(sys.argv[2]).resolve() / "fathom"), project / "examples"
    images = project / "docs" / "images"
    profile, ring, scaling = str(examples / "stencil.cubex"), str(examples / "ring" / "ring.meta"), str(examples / "scaling.txt")
    screens = [(80, "terminal-top", ["top", profile, "-n", "8"]), (80, "terminal-tree", ["tree", profile]),
               (80, "terminal-groups", ["groups", profile, "-m", "time", "-m", "visits"]),
               (80, "terminal-balance-80", ["balance", profile, "-n", "5"]), (120, "terminal-balance", ["balance", profile]), (120, "terminal-model", ["model", scaling]),
               (200, "terminal-stats", ["stats", ring, "--by", "rank"])]
    good = [draw(columns, str(images / f"{name}.png"), [fathom, *command]) for columns, name, command in screens]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
