"""Inputs that may not be read, are cut or change while they are read; readers that do not read."""
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from program import EXAMPLES, FATHOM, NOBODY, Skip, check, fathom, many_ranks, snapshot


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
    # Nor is one of a set, and then none of the others.
    shutil.copytree(EXAMPLES / "ring", scratch / "ring")
    written = run("convert", scratch / "ring", ours / "set.meta", "--to", "dumpi")
    check(written.returncode == 0, written.stderr)
    (ours / "set-0000.bin").write_text("old")
    (ours / "set-0002.bin").chmod(0o444)
    before = snapshot(ours)
    done = run("convert", scratch / "ring", ours / "set.meta", "--to", "dumpi")
    check(done.returncode == 2 and b"set-0002.bin" in done.stderr and snapshot(ours) == before, done.stderr)


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


CASES = (no_permission, no_threads, halves, shrinking, overwritten, held_up)
