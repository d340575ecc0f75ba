"""Inputs and outputs that are no plain files: pipes, devices, links, closed streams."""
import os
import pathlib
import shutil
import stat
import subprocess

from program import EXAMPLES, FATHOM, check, fathom, snapshot, write, writers


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


CASES = (pipes_and_devices, links, links_of_sets, closed_streams)
