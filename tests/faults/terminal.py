"""Names in files do not drive the terminal."""
import json
import os
import subprocess

from program import EXAMPLES, FATHOM, check, fathom


def on_a_terminal(*words):
    """What a terminal gets to show."""
    ours, its = os.openpty()
    with subprocess.Popen([FATHOM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.DEVNULL) as child:
        os.close(its)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # the way a terminal ends
            pass
        check(child.wait(timeout=60) == 0, words)
    os.close(ours)
    return shown


def escapes(scratch):
    """Names in files do not drive the terminal."""
    bad = b"m\x1b]0;\x07\x9bn\r"
    database = scratch / "db"
    check(fathom("convert", EXAMPLES / "stencil.cubex", database, "--to", "hpctoolkit").returncode == 0, "cannot convert")
    names = [line.split(",")[0] for line in fathom("top", database, "--csv").stdout.decode().splitlines()[1:]]
    text = (database / "meta.db").read_bytes()
    changed = 0
    for name in (b"exchange", b"stencil", b"compute", b"main", b"MPI_Recv", b"MPI_Waitall"):
        if name + b"\0" in text:
            new = (b"\x1b]2;\x07\nx\x9b" + b"y" * 20)[: len(name)]
            text = text.replace(name + b"\0", new + b"\0")
            changed += 1
    check(changed > 0, "no name to change", names)
    (database / "meta.db").write_bytes(text)
    experiment = scratch / "bad.txt"
    experiment.write_bytes(b"PARAMETER p\nPOINTS 2 4 8 16 32\nREGION a->" + bad + b"\nMETRIC t\x1b[2J\x7f\n" + b"DATA 1 2\n" * 5)
    runs = [("top", database), ("tree", database), ("table", database), ("dump", database), ("info", database),
            ("check", database), ("groups", database), ("model", experiment), ("info", experiment), ("table", experiment),
            ("dump", experiment), ("check", experiment), ("top", scratch / "no\x1b[2Jsuch\x07")]
    for command, path in runs:
        done = fathom(command, path)
        for stream in (done.stdout, done.stderr):
            odd = [b for b in stream if (b < 32 and b not in (9, 10)) or b == 127]
            check(not odd, command, path, "sends", odd[:5])
            check(b"\xc2\x9b" not in stream, command, path, "sends C1 controls")
            stream.decode()  # no raw bytes either
    check(b"\\x1b" in fathom("top", database).stdout, "the name is not shown at all")
    # Colours and line breaks of a name are not those of the program: no text is hidden, no line forged.
    odd = "a\x1b[8mb\x1b[31m\nFORGED"
    trace = scratch / "odd.trace.json"
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "name": odd, "cat": odd, "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {odd: odd}},
        {"ph": "C", "name": odd, "pid": 1, "ts": 2, "args": {"v": 1}}]}))
    records = scratch / "odd.json"
    records.write_text(json.dumps({"parameters": ["p"], "measurements": {odd: {odd: [
        {"point": [p], "values": [p * p]} for p in (2, 4, 8, 16, 32)]}}}))
    stacks = scratch / "odd.speedscope.json"
    stacks.write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [
        {"name": odd, "file": odd, "line": 1}]}, "profiles": [{"type": "sampled", "name": odd, "unit": "seconds",
        "startValue": 0, "endValue": 1, "samples": [[0]], "weights": [1]}]}))
    for path in (trace, records, stacks):
        for command in ("info", "report", "top", "tree", "table", "events", "stats", "check", "dump", "model", "source",
                        "balance", "routines", "groups", "nodes", "diff", "sql"):
            more = [path] if command == "diff" else ["SELECT * FROM region"] if command == "sql" else []
            done = fathom(command, path, *more)
            check(done.returncode in (0, 1, 2), command, path, done.returncode, done.stderr)
            for stream in (done.stdout, done.stderr):
                check(b"\x1b" not in stream and b"\nFORGED" not in stream, command, path, "lets a name through:", stream[:400])
    # On a terminal machine forms are read by people, too; in a pipe they hold what the file holds.
    for form in ("--csv", "--json"):
        shown = on_a_terminal("events", trace, form)
        check(b"FORGED" in shown and b"\x1b" not in shown, form, "sends to a terminal", shown[:400])
    check(b"\x1b[8m" in fathom("events", trace, "--csv").stdout, "changes what a machine reads")
    figure = scratch / "figure.svg"
    check(fathom("model", experiment, "--plot", figure).returncode == 0, "no figure")
    check(not [letter for letter in figure.read_text() if (letter < " " and letter != "\n") or "\x7f" <= letter < "\xa0"],
          "a figure has control characters")
    # Nor do units, and CSV is UTF-8 whatever bytes a name has.
    units = scratch / "units.callgrind"
    units.write_bytes(b"# callgrind format\nversion: 1\ncreator: x\nevents: Ir\n\nfl=a\xff.c\nfn=ma\xff\x9bin\n1 10\n")
    done = fathom("table", units, "--csv")
    check(done.returncode == 0 and "ma\ufffd\ufffdin" in done.stdout.decode(), done.stdout, done.stderr)
    profile = scratch / "units.cube"
    check(fathom("convert", EXAMPLES / "stencil.cubex", profile).returncode == 0, "cannot convert")
    profile.write_text(profile.read_text().replace("<uom>occ</uom>", "<uom>o&#x202e;&#10;FORGED</uom>"))
    for command in ("top", "tree", "balance", "source"):
        done = fathom(command, profile, "-m", "visits")
        check(done.returncode == 0 and b"FORGED" in done.stdout and b"\nFORGED" not in done.stdout, command, done.stdout, done.stderr)
    # Spreadsheets: no cell of a name is a formula, in whichever way the rows are made.
    formulas = scratch / "formulas.folded"
    formulas.write_text("=1+1;@sum 5\n=1+1 3\n")
    for command in ("table", "tree", "top", "sql"):
        query = ["SELECT name, name AS again FROM region"] if command == "sql" else []
        done = fathom(command, formulas, *query, "--csv-safe")
        if command == "sql" and done.returncode == 2:
            continue  # needs a library that is not everywhere
        check(done.returncode == 0 and b"'=1+1" in done.stdout, command, done.stdout, done.stderr)
        cells = done.stdout.replace(b"\n", b",").split(b",")
        check(not any(cell[:1] in (b"=", b"@") for cell in cells), command, done.stdout)
    for out in ("one.csv", "all"):
        done = fathom("convert", formulas, scratch / out, *(["--table", "region"] if out == "one.csv" else ["--to", "csv"]), "--csv-safe")
        check(done.returncode == 0, done.stderr)
        written = (scratch / out if out == "one.csv" else scratch / out / "region.csv").read_text()
        check("'=1+1" in written and "'@sum" in written, out, written)
    done = fathom("convert", formulas, scratch / "safe.cubex", "--csv-safe")
    check(done.returncode == 2 and b"--csv-safe" in done.stderr and not (scratch / "safe.cubex").exists(), done.stderr)


CASES = (escapes,)
