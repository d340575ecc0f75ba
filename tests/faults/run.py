#!/usr/bin/env python3
"""run.py FATHOM CASE: what happens when the world around the program fails. Exit status 0 passed, 1 failed, 77 skipped.

No half-written file, no old file lost, no temporary left, and a text that says what went wrong where.
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = PROJECT / "examples"
FATHOM = pathlib.Path(sys.argv[1]).resolve()
NOBODY = 65534


class Skip(Exception):
    pass


def fathom(*arguments, prepare=None, timeout=120, **more):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, timeout=timeout, preexec_fn=prepare, **more)


def snapshot(folder):
    """Every file below the folder, hidden ones too, with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


# One output of every writer: name, OUT, what is called; {O} is where OUT is.
def convert(name, source, out):
    return name, out, ["convert", EXAMPLES / source, "{O}", "--to", name]


WRITERS = [
    convert("cube", "stencil.cubex", "out.cubex"),
    convert("cube3", "stencil.cubex", "out.cube"),
    convert("hpctoolkit", "stencil.cubex", "meta"),
    convert("hpctoolkit-xml", "stencil.cubex", "xml"),
    convert("pprof", "stencil.cubex", "out.pb.gz"),
    convert("callgrind", "stencil.cubex", "out.callgrind"),
    convert("folded", "stencil.cubex", "out.folded"),
    convert("dot", "stencil.cubex", "out.dot"),
    convert("dumpi", "ring", "out.meta"),
    convert("dumpi-text", "ring/ring-0000.bin", "out.dumpi.txt"),
    convert("paraver", "ring", "out.prv"),
    convert("otf2", "ring", "out.otf2"),
    convert("chrome", "ring", "out.trace.json"),
    convert("perfetto", "ring", "out.pftrace"),
    convert("speedscope", "ring", "out.speedscope.json"),
    convert("ovni", "ovni", "trace"),
    convert("extrap-text", "scaling.txt", "out.txt"),
    convert("extrap-json", "scaling.txt", "out.json"),
    convert("extrap-jsonl", "scaling.txt", "out.jsonl"),
    convert("extra-p", "scaling.txt", "out.extra-p"),
    ("tables as CSV", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "csv"]),
    ("tables as JSON", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "json"]),
    ("tables as Parquet", "tables", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--to", "parquet"]),
    ("a table as CSV", "out.csv", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value"]),
    ("a table as JSON", "out.json", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value", "--to", "json"]),
    ("a table as Parquet", "out.parquet", ["convert", EXAMPLES / "stencil.cubex", "{O}", "--table", "value"]),
    ("a query as CSV", "out.csv", ["sql", EXAMPLES / "stencil.cubex", "SELECT * FROM total ORDER BY ALL", "-o", "{O}"]),
    ("a query as Parquet", "out.parquet", ["sql", EXAMPLES / "stencil.cubex", "SELECT * FROM total ORDER BY ALL", "-o", "{O}"]),
    ("views of ovni", "views", ["emulate", EXAMPLES / "ovni", "-o", "{O}"]),
    ("a sorted trace", "sorted", ["sort", EXAMPLES / "ovni", "-o", "{O}"]),
    ("models", "out.extra-p", ["model", EXAMPLES / "scaling.txt", "--save", "{O}"]),
    ("a plot", "out.svg", ["model", EXAMPLES / "scaling.txt", "--plot", "{O}"]),
    ("a plot as PDF", "out.pdf", ["model", EXAMPLES / "scaling.txt", "--plot", "{O}"]),
    ("a page", "out.html", ["report", EXAMPLES / "stencil.cubex", "-o", "{O}"]),
    ("a difference", "out.cubex", ["diff", EXAMPLES / "stencil.cubex", EXAMPLES / "stencil.cubex", "-o", "{O}"]),
]
MAY_BE_MISSING = ("Parquet", "query", "PDF", "otf2", "page")  # needs a library that is not everywhere


def writers(scratch):
    """Those that work here, each with the files that it writes."""
    for name, out, command in WRITERS:
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        done = write(command, folder / out)
        if done.returncode == 2 and any(word in name for word in MAY_BE_MISSING):
            continue
        check(done.returncode == 0, name, done.stderr)
        yield name, out, command, folder, snapshot(folder)


def write(command, target, **more):
    return fathom(*(target if word == "{O}" else word for word in command), **more)


def full_disk(scratch):
    """Every byte count at which the disk may be full, by a limit on the size of files: the old output stays whole."""

    def limit(size):
        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # as a shell starts it
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return prepare

    for name, out, command, folder, before in writers(scratch):
        largest = max(map(len, before.values()))
        failed = 0
        for size in sorted({0, 1, 100, largest // 3, largest // 2, largest - 1}):
            done = write(command, folder / out, prepare=limit(size))
            check(snapshot(folder) == before, name, size, "changed the old output:", sorted(snapshot(folder)))
            if done.returncode != 0:
                failed += 1
                check(b"too large" in done.stderr and str(folder).encode() in done.stderr, name, done.stderr)
        check(failed >= 5, name, "wrote everything without room")


def small_tmpfs(scratch):
    """The same on a file system that is really full."""
    disk = scratch / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True).returncode:
        raise Skip("a tmpfs cannot be mounted here")
    try:
        for name, out, command, _, files in writers(scratch):
            if sum(map(len, files.values())) > 120 * 1024:
                continue  # too much for this disk
            done = write(command, disk / out)
            check(done.returncode == 0, name, done.stderr)
            before = snapshot(disk)
            filler = disk / "filler"
            descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT)
            try:
                while os.write(descriptor, b"x" * 1024):
                    pass
            except OSError:
                pass
            os.close(descriptor)
            before["filler"] = filler.read_bytes()
            done = write(command, disk / out, cwd=scratch)
            check(done.returncode == 2, name, done.returncode, done.stderr)
            check(b"No space left" in done.stderr and str(disk).encode() in done.stderr, name, done.stderr)
            check(snapshot(disk) == before, name, "changed something:", sorted(snapshot(disk)))
            for entry in disk.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    finally:
        subprocess.run(["umount", disk])


def many_ranks(scratch):
    """A DUMPI run that takes a while to write."""
    source = scratch / "run"
    source.mkdir()
    names = [f"big-{rank:04}.bin" for rank in range(300)]
    for rank, name in enumerate(names):
        shutil.copy(EXAMPLES / "ring" / f"ring-{rank % 4:04}.bin", source / name)
    (source / "big.meta").write_text("hostname=h\nnumprocs=300\nfileprefix=big\n")
    return source / "big.meta"


def signals(scratch):
    """Ctrl-C, SIGTERM and SIGHUP at random moments: all of the old set or all of the new one, and nothing else."""
    source = many_ranks(scratch)
    out = scratch / "out"
    out.mkdir()
    started = time.monotonic()
    check(fathom("convert", source, out / "x.meta").returncode == 0, "cannot convert")
    duration = time.monotonic() - started
    new = snapshot(out)
    old = {name: b"old" for name in list(new)[::2]}
    pick = random.Random(7)
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] * 8:
        shutil.rmtree(out)
        out.mkdir()
        for name, content in old.items():
            (out / name).write_bytes(content)
        process = subprocess.Popen([FATHOM, "convert", source, out / "x.meta"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(pick.uniform(0, duration))
        process.send_signal(number)
        _, text = process.communicate(timeout=60)
        after = snapshot(out)
        if process.returncode == 0:
            check(after == new, "finished, but not all is there")
        else:
            # Before the handler is there the system ends it.
            check(process.returncode in (128 + number, -number), process.returncode, text)
            check(after == old, number, "left", sorted(set(after) ^ set(old))[:5], text)


def killed(scratch):
    """SIGKILL leaves what it leaves; the next run into the same place removes it, or finishes what was begun."""
    source = many_ranks(scratch)
    out = scratch / "out"
    out.mkdir()
    started = time.monotonic()
    check(fathom("convert", source, out / "x.meta").returncode == 0, "cannot convert")
    duration = time.monotonic() - started
    new = snapshot(out)
    pick = random.Random(11)
    left = 0
    for _ in range(8):
        process = subprocess.Popen([FATHOM, "convert", source, out / "x.meta"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(pick.uniform(duration / 4, duration))
        process.kill()
        process.communicate()
        left += any(".fathom-" in p.name for p in out.iterdir())
    check(fathom("convert", source, out / "x.meta").returncode == 0, "cannot convert afterwards")
    check(snapshot(out) == new, sorted(set(snapshot(out)) ^ set(new))[:5])
    check(not any(".fathom-" in p.name for p in out.iterdir()), "temporaries are left")


def no_permission(scratch):
    """Files and directories that may not be read or written are named, with the reason."""
    if os.geteuid() != 0:
        raise Skip("needs root to become somebody else")

    def prepare():
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    os.chmod(scratch, 0o755)
    closed = scratch / "closed"
    closed.mkdir(mode=0o700)
    secret = scratch / "secret.cubex"
    shutil.copy(EXAMPLES / "stencil.cubex", secret)
    secret.chmod(0o600)
    shutil.copy(FATHOM, scratch / "fathom")
    program = scratch / "fathom"
    program.chmod(0o755)

    def run(*arguments):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, preexec_fn=prepare, timeout=60)

    for path in (closed, secret):
        done = run("info", path)
        check(done.returncode == 2 and b"ermission denied" in done.stderr and str(path).encode() in done.stderr, done.stderr)
    # A directory that may be listed only, and a file in one without which nobody knows what it is.
    listed = scratch / "listed"
    shutil.copytree(EXAMPLES / "tau", listed)
    listed.chmod(0o744)
    done = run("info", listed)
    check(done.returncode == 2 and b"not searched: Permission denied" in done.stderr, done.stderr)
    listed.chmod(0o755)
    for profile in listed.iterdir():
        profile.chmod(0o600)
    done = run("info", listed)
    check(done.returncode == 2 and b"'profile.0.0.0' may not be read: Permission denied" in done.stderr, done.stderr)
    # A run among others that may not be looked into is told, not passed by.
    for point in (1, 2, 4):
        (scratch / "runs" / f"a.p{point}").mkdir(parents=True)
        shutil.copy(EXAMPLES / "stencil.cubex", scratch / "runs" / f"a.p{point}" / "profile.cubex")
    (scratch / "runs" / "a.p2").chmod(0)
    done = run("info", scratch / "runs")
    check(done.returncode == 0 and b"a.p2" in done.stderr and b"ermission denied" in done.stderr, done.stderr)
    example = scratch / "stencil.cubex"
    shutil.copy(EXAMPLES / "stencil.cubex", example)
    example.chmod(0o644)
    for out in (closed / "out.cubex", scratch / "out.cubex", closed / "db"):
        done = run("convert", example, out, *(["--to", "hpctoolkit"] if out.name == "db" else []))
        check(done.returncode == 2 and b"ermission denied" in done.stderr and str(out).encode() in done.stderr, done.stderr)
    ours = scratch / "ours"
    ours.mkdir()
    os.chown(ours, NOBODY, NOBODY)
    protected = ours / "protected.cubex"
    protected.write_text("mine")
    protected.chmod(0o444)
    done = run("convert", example, protected)
    check(done.returncode == 2 and protected.read_text() == "mine", done.stderr)


def no_threads(scratch):
    """Where the system gives no thread the work is done by the one there is."""
    if os.geteuid() != 0:
        raise Skip("needs root to become somebody else")
    user = 34567  # has no other process that the limit counts

    def prepare():
        os.setgid(user)
        os.setuid(user)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    os.chmod(scratch, 0o755)
    shutil.copytree(EXAMPLES, scratch / "examples")
    shutil.copy(FATHOM, scratch / "fathom")

    def run(*arguments):
        # The search for leaks of a sanitized program would need a process of its own.
        return subprocess.run([scratch / "fathom", *arguments], capture_output=True, preexec_fn=prepare, timeout=60, cwd=scratch,
                              env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"})

    for command in (("stats", "examples/ring/ring.meta", "--csv"), ("waits", "examples/ring/ring.meta", "--csv"),
                    ("convert", "examples/ring/ring.meta", "-", "--to", "csv", "--table", "message"),
                    ("report", "examples/ring/ring.meta"), ("model", "examples/scaling.txt", "--csv"),
                    ("table", "examples/stencil.cubex", "--csv")):
        done = run(*command)
        wanted = fathom(*command, cwd=scratch)
        check(done.returncode == 0 and done.stdout == wanted.stdout, command, done.stderr)


def halves(scratch):
    """Files of which the second half is missing, as after a killed job: whatever is asked of them, an answer or an error."""
    for source in ("ring", "ovni", "tau", "stencil.cubex", "gpu.sqlite", "steps.cali", "samples.perf.txt", "scaling.txt"):
        copy = scratch / source
        (shutil.copytree if (EXAMPLES / source).is_dir() else shutil.copy)(EXAMPLES / source, copy)
        for file in copy.rglob("*") if copy.is_dir() else [copy]:
            if file.is_file():
                os.truncate(file, file.stat().st_size // 2)
        for command in ("info", "check", "report", "waits", "efficiency", "critical-path", "what-if", "balance", "stats", "tree",
                        "events", "model", "dump"):
            done = fathom(command, copy)
            check(done.returncode in (0, 1, 2), command, source, done.returncode, done.stderr)


def pipes_and_devices(scratch):
    """Nothing waits for a pipe that nobody writes to; devices stay what they are; '-' is standard output."""
    os.mkfifo(scratch / "pipe")
    for command in ("info", "check", "top", "dump"):
        done = fathom(command, scratch / "pipe", timeout=20)
        check(done.returncode == 2 and b"is a pipe" in done.stderr, command, done.stderr)
    ring = scratch / "ring"
    shutil.copytree(EXAMPLES / "ring", ring)
    (ring / "ring-0002.bin").unlink()
    os.mkfifo(ring / "ring-0002.bin")
    done = fathom("stats", ring, timeout=20)
    check(done.returncode == 0 and done.stderr.count(b"ring-0002.bin") == 1 and b"is a pipe" in done.stderr, done.stderr)
    # Whatever a format looks for in a directory.
    members = ("meta.db", "experiment.xml", "callpath.xml", "profile.db", "cct.db", "trace.db", "runs.csv", "profile.0.0.0", "tauprofile.xml",
               "stream.json", "thread.1/stream.obs", "loom.a.0/proc.0/thread.1/stream.json", "clock-offsets.txt", "x.otf2", "x.def", "x.meta",
               "x-0000.bin", "profile.cubex", "x.p1.r1.cubex", "x.p1.r1/profile.cubex", "x.p1.r1.sqlite", "x.cali", "x.prv", "x.pcf", "x.row")
    for i, member in enumerate(members):
        place = scratch / f"of-pipes-{i}"
        (place / member).parent.mkdir(parents=True)
        os.mkfifo(place / member)
        for path in (place, place / member):
            done = fathom("info", path, timeout=20)
            check(done.returncode == 2 and done.stderr or b"is a pipe" in done.stderr, path, done.stderr)
        shutil.rmtree(place)

    for device in ("/dev/null", "/dev/full"):
        before = os.stat(device)
        done = fathom("convert", EXAMPLES / "stencil.cubex", device, "--to", "cube")
        check((done.returncode == 0) == (device == "/dev/null"), device, done.stderr)
        check(stat.S_ISCHR(os.lstat(device).st_mode) and os.stat(device).st_rdev == before.st_rdev, device, "was replaced")
    done = fathom("convert", EXAMPLES / "ring", "/dev/full", "--to", "dumpi")
    check(done.returncode == 2 and not os.path.exists("/dev/full.meta"), done.stderr)
    check(fathom("convert", EXAMPLES / "stencil.cubex", scratch / "a.cubex").returncode == 0, "cannot convert")
    for name in ("-", "/dev/stdout", "/dev/fd/1"):
        done = fathom("convert", EXAMPLES / "stencil.cubex", name, "--to", "cube", cwd=scratch)
        check(done.stdout == (scratch / "a.cubex").read_bytes(), name, "gives other bytes", done.stderr)
    with open(scratch / "log", "w+b") as log:  # what is there already stays
        log.write(b"before\n")
        log.flush()
        with open(scratch / "log", "ab") as end:
            command = ["convert", EXAMPLES / "stencil.cubex", "-", "--to", "csv", "--table", "metric"]
            check(subprocess.run([FATHOM, *command], stdout=end, stderr=subprocess.DEVNULL).returncode == 0, "cannot append")
        log.seek(0)
        check(log.read().startswith(b"before\n"), "standard output was overwritten")
    (scratch / "log").unlink()
    done = fathom("model", EXAMPLES / "scaling.txt", "--save", "-", cwd=scratch)
    check(done.returncode == 0 and b"PK" in done.stdout, "models do not go to standard output", done.stderr)
    for also in ((), ("--json",), ("--csv",)):  # no table behind the profile
        done = fathom("diff", EXAMPLES / "stencil.cubex", EXAMPLES / "stencil.cubex", "-o", "-", "--to", "cube", *also, cwd=scratch)
        check(fathom("diff", EXAMPLES / "stencil.cubex", EXAMPLES / "stencil.cubex", "-o", scratch / "d.cubex").returncode == 0, "cannot diff")
        check(done.stdout == (scratch / "d.cubex").read_bytes(), "diff gives other bytes", done.stderr)
        (scratch / "d.cubex").unlink()
    done = fathom("convert", EXAMPLES / "ring", "-", "--to", "paraver", cwd=scratch)
    check(done.returncode == 2 and sorted(p.name for p in scratch.iterdir()) == ["a.cubex", "pipe", "ring"], done.stderr)


def links(scratch):
    """One file is written to where a link leads, and through to what is no file."""
    for name, out, command, folder, before in writers(scratch):
        if len(before) != 1 or out not in before:
            continue
        real, link, loop = folder / ("real-" + out), folder / ("link-" + out), folder / ("loop-" + out)
        link.symlink_to(real.name)
        for old in (None, b"old"):
            if old is not None:
                real.write_bytes(old)
                real.chmod(0o640)
            done = write(command, link)
            check(done.returncode == 0 and link.is_symlink(), name, "replaced a link", done.stderr)
            check(real.read_bytes() == before[out], name, "wrote something else through a link")
        check(stat.S_IMODE(real.stat().st_mode) == 0o640, name, "changed the permissions")
        loop.symlink_to(loop.name)
        done = write(command, loop)
        check(done.returncode == 2 and loop.is_symlink() and str(loop).encode() in done.stderr, name, done.stderr)
        pipe = folder / ("pipe-" + out)
        os.mkfifo(pipe)
        with open(folder / ("got-" + out), "w+b") as got:
            reader = subprocess.Popen(["cat", pipe], stdout=got)
            done = write(command, pipe)
            reader.wait(timeout=60)
            got.seek(0)
            check(got.read() == before[out], name, "sent something else through a pipe", done.stderr)
        check(stat.S_ISFIFO(os.lstat(pipe).st_mode), name, "replaced a pipe")
        if os.geteuid() != 0:
            continue
        device = folder / ("full-" + out)
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        done = write(command, device)
        check(done.returncode == 2 and str(device).encode() in done.stderr, name, done.stderr)
        check(stat.S_ISCHR(os.lstat(device).st_mode), name, "replaced a device")


def links_of_sets(scratch):
    """A set of files is written to where the link leads that stands for it, also to nothing yet."""
    for name, out, command, folder, before in writers(scratch):
        if len(before) == 1 or out not in before:
            continue
        (folder / "real").mkdir()
        (folder / ("link-" + out)).symlink_to(pathlib.Path("real") / out)
        for _ in range(2):
            done = write(command, folder / ("link-" + out))
            check(done.returncode == 0 and (folder / ("link-" + out)).is_symlink(), name, "replaced a link", done.stderr)
            check(snapshot(folder / "real") == before, name, "wrote something else through a link")


def closed_streams(scratch):
    """Without standard output or error what would be said there does not get into a file."""

    def closing(streams):
        return lambda: [os.close(stream) for stream in streams]

    for name, out, command, folder, before in writers(scratch):
        for streams in ((1,), (2,), (0, 1, 2)):
            done = write(command, folder / out, prepare=closing(streams))
            check(done.returncode in (0, 2) and snapshot(folder) == before, name, streams, done.returncode, done.stderr)
    done = fathom("top", EXAMPLES / "stencil.cubex", prepare=closing((1,)))
    check(done.returncode == 2 and b"cannot write to standard output" in done.stderr, done.stderr)


def foreign_files(scratch):
    """Only files of the format are replaced; what else is in a directory is left alone and needs --force."""
    for name, source in (("hpctoolkit", "stencil.cubex"), ("hpctoolkit-xml", "stencil.cubex"), ("ovni", "ovni")):
        out = scratch / name
        check(fathom("convert", EXAMPLES / source, out, "--to", name).returncode == 0, name)
        check(fathom("convert", EXAMPLES / source, out, "--to", name).returncode == 0, name, "again")
        (out / "thesis.txt").write_text("years of work")
        before = snapshot(out)
        done = fathom("convert", EXAMPLES / source, out, "--to", name)
        check(done.returncode == 2 and b"thesis.txt" in done.stderr and b"--force" in done.stderr, name, done.stderr)
        check(snapshot(out) == before, name)
        check(fathom("convert", EXAMPLES / source, out, "--to", name, "--force").returncode == 0, name)
        check((out / "thesis.txt").read_text() == "years of work", name)
        check(snapshot(out) == before, name, "other bytes the second time")
    # Files that only look like the format's.
    for to, others in (("csv", ["survey.csv", "deep/value.csv"]), ("json", ["package.json", "deep/metric.json"]),
                       ("hpctoolkit", ["metrics/mine.yaml"])):
        out = scratch / ("tables-" + to)
        check(fathom("convert", EXAMPLES / "stencil.cubex", out, "--to", to).returncode == 0, to)
        for other in others:
            (out / other).parent.mkdir(exist_ok=True)
            (out / other).write_text("mine")
            before = snapshot(out)
            done = fathom("convert", EXAMPLES / "stencil.cubex", out, "--to", to)
            check(done.returncode == 2 and other.encode() in done.stderr and snapshot(out) == before, to, done.stderr)
            check(fathom("convert", EXAMPLES / "stencil.cubex", out, "--to", to, "--force").returncode == 0, to)
            check(snapshot(out) == before, to, "took", other)
            (out / other).unlink()
    out = scratch / "ovni"
    for other in ("analysis/metadata.json", "loom.alpha.0/proc.1/thread.notes"):
        (out / other).parent.mkdir(exist_ok=True, parents=True)
        (out / other).write_text("mine")
    check(fathom("convert", EXAMPLES / "ovni", out, "--to", "ovni", "--force").returncode == 0, "ovni")
    check((out / "analysis/metadata.json").exists() and (out / "loom.alpha.0/proc.1/thread.notes").exists(), "ovni took files")
    # Nor is what is read replaced or written into.
    database = scratch / "hpctoolkit"
    (scratch / "link").symlink_to("hpctoolkit")
    before = snapshot(database)
    for out, to in ((database / "copy", "hpctoolkit"), (scratch / "link" / "copy", "hpctoolkit"),
                    (scratch / "ovni/../hpctoolkit/a/copy", "hpctoolkit"), (database, "hpctoolkit-xml"),
                    (scratch / "link", "hpctoolkit-xml")):
        done = fathom("convert", database, out, "--to", to, "--force")
        check(done.returncode == 2 and b"being read" in done.stderr, out, done.stderr)
        check(snapshot(database) == before, out, "changed what is read")


def mounted_twice(scratch):
    """A directory that is mounted in another place, too, is the same one: nothing is converted into itself through it."""
    database, other = scratch / "db", scratch / "mount"
    other.mkdir()
    check(fathom("convert", EXAMPLES / "stencil.cubex", database, "--to", "hpctoolkit").returncode == 0, "cannot convert")
    if os.geteuid() != 0 or subprocess.run(["mount", "--bind", database, other], capture_output=True).returncode:
        raise Skip("a directory cannot be mounted here")
    try:
        before = snapshot(database)
        for source, out in ((database, other / "copy"), (other, database / "copy"), (database, other)):
            done = fathom("convert", source, out, "--to", "hpctoolkit-xml", "--force")
            check(done.returncode == 2 and b"being read" in done.stderr, source, out, done.stderr)
            check(snapshot(database) == before, source, out, "changed what is read")
    finally:
        subprocess.run(["umount", other])


def over_the_input(scratch):
    """What is read is not replaced by a report on it, nor by another format."""
    for source, commands in (
            ("stencil.cubex", ("convert {I} {I} --to folded", "convert {I} {I} --to csv --table value", "report {I} -o {I}",
                               "sql {I} SELECT -o {I}")),
            ("scaling.txt", ("convert {I} {I} --to extra-p", "model {I} --save {I}", "model {I} --print all -o {I}"))):
        copy = scratch / source
        shutil.copy(EXAMPLES / source, copy)
        before = copy.read_bytes()
        (scratch / ("link-" + source)).symlink_to(source)
        for command in commands:
            for out in (copy, scratch / ("link-" + source)):
                first, _, second = command.rpartition("{I}")
                words = f"{first}{{O}}{second}".replace("{I}", str(copy)).replace("{O}", str(out)).split()
                done = fathom(*words)
                check(done.returncode == 2 and b"is being read" in done.stderr, words, done.returncode, done.stderr)
                check(copy.read_bytes() == before, words, "replaced what is read")
        check(fathom("convert", copy, copy).returncode == 0, "the same format again")
    # Nor is a file of a directory that is read; others in it are no part of the dataset.
    run = scratch / "ring"
    shutil.copytree(EXAMPLES / "ring", run)
    member = run / "ring-0001.bin"
    before = member.read_bytes()
    for words in (("convert", run, member, "--to", "chrome"), ("reduce", run, member, "--to", "folded"),
                  ("convert", run / "ring.meta", member, "--to", "csv", "--table", "event")):
        done = fathom(*words)
        check(done.returncode == 2 and b"is being read" in done.stderr, words, done.returncode, done.stderr)
        check(member.read_bytes() == before, words, "replaced what is read")
    for _ in range(2):
        check(fathom("convert", run, run / "ring.json", "--to", "chrome").returncode == 0, "a new file beside what is read")
    # Whichever command writes, and whether the file has been read by then or not.
    database = scratch / "db"
    check(fathom("convert", EXAMPLES / "stencil.cubex", database, "--to", "hpctoolkit").returncode == 0, "cannot convert")
    (database / "src").mkdir()
    (database / "src/stencil.c").write_text("int main;")
    trace = scratch / "trace"
    shutil.copytree(EXAMPLES / "ovni", trace)
    (trace / "clock-offsets.txt").write_text("rank hostname offset_median offset_mean offset_std\n0 none 0 0 0\n")
    profile = scratch / "run.cubex"
    shutil.copy(EXAMPLES / "stencil.cubex", profile)
    cases = [("report", run, "-o", member), ("sql", run, "SELECT 1 AS x", "-o", member), ("report", database, "-o", database / "cct.db"),
             ("convert", database, database / "src/stencil.c", "--to", "folded"),
             ("convert", trace, trace / "clock-offsets.txt", "--to", "csv", "--table", "location"),
             ("groups", profile, "--filter", profile), ("diff", profile, profile, "--junit", profile),
             ("cut", profile, "-p", "MPI_*", "-o", profile, "--to", "cube3"), ("info", profile, "--profile-self-trace", profile)]
    archive = scratch / "archive"
    archive.mkdir()
    if fathom("convert", EXAMPLES / "ring", archive / "x.otf2").returncode == 0:
        events = archive / "x/0.evt"
        (scratch / "link.evt").symlink_to(events)
        cases += [("convert", source, target, "--to", "csv", "--table", "region")
                  for source in (archive, archive / "x.otf2") for target in (events, scratch / "link.evt")]
        cases += [("report", archive, "-o", events), ("convert", archive, archive / "x/0.otf2")]
    for words in cases:
        before = snapshot(scratch)
        done = fathom(*words)
        check(done.returncode == 2 and b"is being read" in done.stderr, words, done.returncode, done.stderr)
        check(snapshot(scratch) == before, words, "replaced what is read")
    # Others in the directory are no part of it, and a profile may take the place of what it is made from.
    for _ in range(2):
        for words in (("convert", trace, trace / "notes.csv", "--table", "location"), ("cut", profile, "-p", "MPI_*", "-o", profile),
                      ("convert", database, database / "notes.folded")):
            done = fathom(*words)
            check(done.returncode == 0, words, done.stderr)


def same_bytes(scratch):
    """What is written depends on what is read alone, not on when."""
    later = scratch / "later"
    later.mkdir()
    first = list(writers(scratch))
    time.sleep(2.1)
    for name, out, command, _, before in first:
        place = later / name.replace(" ", "-")
        place.mkdir()
        zone = {} if name == "dumpi-text" else {"TZ": "Asia/Tokyo"}  # which has the local time, as the original has
        done = write(command, place / out, env={**os.environ, **zone, "USER": "somebody"})
        check(done.returncode == 0, name, done.stderr)
        check(snapshot(place) == before, name, "has other bytes the second time")
    if "a page" not in (name for name, *_ in first):
        return  # built without
    # Pages of traces hold an index, which takes another time each time.
    pages = [scratch / "first.html", scratch / "second.html"]
    for page in pages:
        done = fathom("report", EXAMPLES / "ring", "-o", page)
        check(done.returncode == 0, done.stderr)
    check(pages[0].read_bytes() == pages[1].read_bytes(), "a page has other bytes the second time")


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


def shrinking(scratch):
    """A file that is cut while the program runs: an error that names it, or a result that is whole."""
    source = many_ranks(scratch)
    folder = source.parent
    started = time.monotonic()
    check(fathom("stats", source).returncode == 0, "cannot read")
    duration = time.monotonic() - started
    pick = random.Random(3)
    named = 0
    for _ in range(12):
        for file in folder.glob("*.bin"):
            rank = int(file.stem[-4:])
            shutil.copy(EXAMPLES / "ring" / f"ring-{rank % 4:04}.bin", file)
        process = subprocess.Popen([FATHOM, "convert", source, scratch / "copy.meta"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(pick.uniform(0, duration))
        for file in sorted(folder.glob("*.bin"))[100:]:
            os.truncate(file, 0)
        _, text = process.communicate(timeout=60)
        check(process.returncode in (0, 2), process.returncode, text)
        named += b"became shorter" in text
        check(not any(".fathom-" in p.name for p in scratch.iterdir()), "temporaries are left")


def sorted_in_place(scratch):
    """The streams of a trace that change are replaced together, however many they are and wherever links lead."""

    def event(code, clock):
        return b"\0" + code + clock.to_bytes(8, "little")

    late = b"ovni\1\0\0\0" + event(b"OHp", 100) + event(b"OU[", 101) + event(b"OHr", 50) + event(b"OU]", 102)
    early = b"ovni\1\0\0\0" + event(b"OHr", 50) + event(b"OHp", 100) + event(b"OU[", 101) + event(b"OU]", 102)
    trace, elsewhere = scratch / "trace", scratch / "elsewhere"
    elsewhere.mkdir()
    streams = []
    for number in range(100):
        folder = trace / "loom.n.0" / "proc.1" / f"thread.{number}"
        folder.mkdir(parents=True)
        streams.append(folder / "stream.obs")
        (folder / "stream.json").write_text(json.dumps({"version": 3, "ovni": {"part": "thread", "tid": number, "pid": 1, "loom": "n.0"}}))
        streams[-1].write_bytes(late)
    os.chmod(streams[0], 0o640)
    (elsewhere / "away.obs").write_bytes(late)
    for at, target in ((1, streams[99]), (2, elsewhere / "away.obs")):  # within the trace and out of it
        streams[at].unlink()
        streams[at].symlink_to(target)
    done = fathom("sort", trace, prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
    check(done.returncode == 0, done.stderr)
    check(all(stream.read_bytes() == early for stream in streams), "streams are not sorted")
    check(streams[1].is_symlink() and streams[2].is_symlink() and (elsewhere / "away.obs").read_bytes() == early, "links are replaced")
    check(stat.S_IMODE(streams[0].stat().st_mode) == 0o640, "permissions are lost")
    check(len(snapshot(scratch)) == 201, "something is left:", sorted(snapshot(scratch))[:5])
    # Where one of them cannot be replaced all of them stay.
    for stream in (streams[5], streams[6]):
        stream.write_bytes(late)
    before = snapshot(scratch)
    subprocess.run(["chattr", "+i", streams[6]], capture_output=True)
    try:
        if subprocess.run(["lsattr", streams[6]], capture_output=True).stdout[:20].count(b"i"):
            done = fathom("sort", trace)
            check(done.returncode == 2 and snapshot(scratch) == before, "half of the streams are replaced", done.stderr)
    finally:
        subprocess.run(["chattr", "-i", streams[6]], capture_output=True)


def held_up(scratch):
    """A reader that does not read holds the program up; who asks it to stop does not wait for that reader."""
    run = scratch / "run.txt"
    run.write_text("PARAMETER p\nPOINTS 2 4 8 16 32\nMETRIC time\n" + "".join(
        f"REGION f{i}\n" + f"DATA {i} {i} {i} {i}\n" * 5 for i in range(20000)))
    for command in ("dump", "table"):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([FATHOM, command, run], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.read(1)
            time.sleep(0.5)  # until the pipe is full
            process.send_signal(number)
            try:
                check(process.wait(timeout=20) == 128 + number, command, number, process.returncode)
            finally:
                process.kill()
                process.communicate()


def overwritten(scratch):
    """A file that somebody writes to while it is read, as a job does that runs again: told, since numbers may be of both."""
    run = scratch / "run.txt"
    values = " ".join(str(i) for i in range(1, 100))
    run.write_text("PARAMETER p\nPOINTS 2 4 8 16 32\nMETRIC time\n" + "".join(
        f"REGION f{i}\n" + f"DATA {values}\n" * 5 for i in range(2000)))
    copy = run.read_bytes()
    os.utime(run, (1, 1))
    for change, told in ((lambda: run.write_bytes(copy.replace(b"9", b"8")), True),
                         (lambda: os.replace(scratch / "new.txt", run), False), (lambda: None, False)):
        (scratch / "new.txt").write_bytes(copy)
        # Held up by a reader that does not read yet.
        process = subprocess.Popen([FATHOM, "dump", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        change()
        _, text = process.communicate(timeout=60)
        check(process.returncode == 0 and (b"written to while it was being read" in b" ".join(text.split())) == told, told,
              process.returncode, text)
    process = subprocess.Popen([FATHOM, "dump", run, "--strict"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1)
    run.write_bytes(copy)
    process.communicate(timeout=60)
    check(process.returncode == 1, "--strict", process.returncode)


CASES = {f.__name__: f for f in (full_disk, small_tmpfs, signals, killed, no_permission, no_threads, halves, pipes_and_devices, links,
                                 links_of_sets, closed_streams, foreign_files, mounted_twice, over_the_input,
                                 same_bytes, escapes, shrinking, sorted_in_place, overwritten,
                                 held_up)}


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-faults-") as scratch:
        try:
            CASES[sys.argv[2]](pathlib.Path(scratch).resolve())
        except Skip as why:
            print("skipped:", why)
            return 77
        except AssertionError as failure:
            print("failed:", failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
