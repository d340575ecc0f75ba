"""Outputs appear whole or not at all, and nothing of anybody else is lost for them."""
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import time

from program import EXAMPLES, FATHOM, Skip, check, fathom, many_ranks, snapshot, write, writers


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
    # What is in an archive is unpacked into another folder each time.
    archive = shutil.make_archive(str(scratch / "ring"), "tar", EXAMPLES, "ring")
    for to in ("dot", "hpctoolkit", "hpctoolkit-xml", "cube", "cube3"):
        for out in ("once", "twice"):
            (scratch / out / to).mkdir(parents=True)
            done = fathom("convert", archive, scratch / out / to / "out", "--to", to)
            check(done.returncode == 0, to, done.stderr)
        check(snapshot(scratch / "once" / to) == snapshot(scratch / "twice" / to), to, "has other bytes from an archive")
    if "a page" not in (name for name, *_ in first):
        return  # built without
    # Pages of traces hold an index, which takes another time each time.
    pages = [scratch / "first.html", scratch / "second.html"]
    for page in pages:
        done = fathom("report", EXAMPLES / "ring", "-o", page)
        check(done.returncode == 0, done.stderr)
    check(pages[0].read_bytes() == pages[1].read_bytes(), "a page has other bytes the second time")


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


CASES = (full_disk, small_tmpfs, signals, killed, foreign_files, mounted_twice, over_the_input, same_bytes, sorted_in_place)
