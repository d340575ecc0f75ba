#!/usr/bin/env python3
"""Records a real MPI program and compares the trace with what the program counted itself.

usage: run.py FATHOM LAUNCHER RANKS PROGRAM [--check CHECK] [ARGUMENT...]
"""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def environment():
    env = dict(os.environ)
    # Tests run in containers, as root, on few cores.
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader,tcp", OMPI_MCA_plm="isolated",
               OMPI_MCA_orte_tmpdir_base=tempfile.gettempdir(), HYDRA_LAUNCHER="fork", LC_ALL="C")
    env.pop("DUMPI_CONF", None)
    return env


class Case:
    def __init__(self, fathom, launcher, ranks, program, arguments):
        self.fathom, self.launcher, self.ranks, self.program = fathom, launcher, ranks, program
        self.arguments = arguments
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-record-"))
        self.trace = self.folder / "trace"

    def record(self, *options, arguments=None, expected=0, env=None, timeout=120):
        command = [self.fathom, "record", "-o", "trace", *options, "--", self.launcher, "-n", str(self.ranks),
                   self.program, *(self.arguments if arguments is None else arguments)]
        done = subprocess.run(command, cwd=self.folder, env=environment() | (env or {}), capture_output=True, text=True,
                              timeout=timeout)
        if done.returncode == SKIPPED:
            print("skipped: the MPI library does not support it")
            sys.exit(SKIPPED)
        if expected is not None and done.returncode != expected:
            fail(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def ask(self, *words, expected=0):
        done = subprocess.run([self.fathom, *words], cwd=self.folder, capture_output=True, text=True, timeout=120)
        if expected is not None and done.returncode != expected:
            fail(f"fathom {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def meta(self):
        found = sorted(self.trace.glob("*.meta"))
        if len(found) != 1:
            fail(f"expected one metafile, found {found}")
        return str(found[0])

    def counted(self):
        calls, sent = collections.Counter(), {}
        files = sorted(self.folder.glob("counts.*"))
        if len(files) != self.ranks:
            fail(f"{len(files)} of {self.ranks} ranks wrote their counts")
        for file in files:
            for line in file.read_text().splitlines():
                kind, *rest = line.split()
                if kind == "call":
                    calls[rest[0]] += int(rest[1])
                else:
                    source, target, messages, size = map(int, rest)
                    before = sent.get((source, target), (0, 0))
                    sent[source, target] = (before[0] + messages, before[1] + size)
        return calls, sent

    def compare(self, ignore=()):
        """Defects, counts, matrix."""
        self.ask("check", self.meta())
        stats = json.loads(self.ask("stats", self.meta(), "--json"))
        calls, sent = self.counted()
        found = {name: entry["count"] for name, entry in stats["calls"].items()}
        wrong = [f"{name}: recorded {found.get(name, 0)}, made {calls.get(name, 0)}" for name in sorted(calls | found)
                 if found.get(name, 0) != calls.get(name, 0) and name not in ignore]
        matrix = {(row["src"], row["dst"]): (row["messages"], row["bytes"]) for row in stats["matrix"]}
        wrong += [f"{pair}: recorded {matrix.get(pair)}, sent {sent.get(pair)}" for pair in sorted(set(sent) | set(matrix))
                  if matrix.get(pair) != sent.get(pair)]
        if wrong:
            fail("\n".join(wrong))
        self.ask_reference()
        return stats

    def ask_reference(self):
        """Where the dump of the DUMPI community is on the PATH, it must read the same."""
        judge = shutil.which("dumpi2ascii")
        for file in sorted(self.trace.glob("*.bin")) if judge else []:
            done = subprocess.run([judge, "-HSKFPAX", file], env=dict(os.environ) | {"TZ": ""}, capture_output=True,
                                  timeout=120)
            ours = subprocess.run([self.fathom, "dump", file], env=dict(os.environ) | {"TZ": ""}, capture_output=True,
                                  timeout=120)
            if done.returncode != 0 or done.stdout != ours.stdout:
                fail(f"{judge} {file}: {done.returncode} {done.stderr.decode()}, or another text than ours")

    def done(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def fail(text):
    print(text)
    sys.exit(1)


def check_all(case):
    case.record()
    stats = case.compare()
    unmatched = [d for d in stats.get("diagnostics", []) if "match" in d["text"]]
    if unmatched:
        fail(f"messages without a partner: {unmatched}")


def check_settings(case):
    """Functions chosen, one clock, no statuses, the user's own dumpi.conf."""
    (case.folder / "dumpi.conf").write_text("# my own\nMPI_Barrier = disable\nstatuses disable\n")
    case.record("--no-cpu-time")
    meta = case.meta()
    calls, _ = case.counted()
    stats = json.loads(case.ask("stats", meta, "--json"))
    if "MPI_Barrier" in stats["calls"]:
        fail("a disabled call was recorded")
    text = case.ask("dump", str(sorted(case.trace.glob("*.bin"))[0]))
    total = next(int(line.split()[2]) for line in (case.folder / "counts.0").read_text().splitlines()
                 if line.startswith("call MPI_Barrier "))
    if f"MPI_Barrier called {total} times and ignored {total} times" not in text:
        fail("calls that were left out are not counted as ignored")
    if "cputime 0.000000000" not in text or "{bytes=" in text:
        fail("CPU time or statuses were recorded")
    shutil.rmtree(case.trace)
    case.record("--functions", "Send,MPI_Recv")
    stats = json.loads(case.ask("stats", case.meta(), "--json"))
    if set(stats["calls"]) != {"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"}:
        fail(f"--functions: {sorted(stats['calls'])}")
    if stats["calls"]["MPI_Send"]["count"] != calls["MPI_Send"]:
        fail("--functions: wrong count")


def check_life(case):
    """Ends of every kind."""
    bins = lambda: sorted(case.trace.glob("*.bin"))  # noqa: E731

    def again():
        shutil.rmtree(case.trace, ignore_errors=True)
        for file in case.folder.glob("counts.*"):
            file.unlink()

    # Without MPI_Finalize the trace is whole all the same.
    case.record(arguments=["exit"], expected=None)
    if len(bins()) != case.ranks:
        fail("exit: files are missing")
    # Launchers end the others when the first one leaves without a word.
    whole = ["no defects" in case.ask("check", str(file), expected=None) for file in bins()]
    if not any(whole):
        fail("exit: no file is whole")
    again()
    # MPI_Abort: whole on the rank that calls it, readable on all.
    case.record(arguments=["abort"], expected=None)
    text = case.ask("dump", str(bins()[0]))
    if "MPI_Abort entering" not in text:
        fail("MPI_Abort is not in the trace")
    for file in bins():
        case.ask("check", str(file), expected=None)
    again()
    # A forked child that goes on and one that runs another program leave the parent's trace alone.
    case.record(arguments=["fork"])
    case.compare()
    again()
    # Switched off and on, with remarks.
    case.record(arguments=["pcontrol"])
    text = case.ask("dump", str(bins()[0]))
    if "MPI_Barrier called 30 times and ignored 10 times" not in text:
        fail("MPI_Pcontrol: wrong counts")
    if text.count("MPI_Barrier entering") != 20 or 'ANNOTATION: step 7' not in text:
        fail("MPI_Pcontrol: wrong records")
    again()
    # Calls without a place in the format are named.
    done = case.record(arguments=["newer"])
    side = sorted(case.trace.glob("*.unrecorded"))
    if len(side) != 1 or f"MPI_Ibarrier {10 * case.ranks}\n" not in side[0].read_text():
        fail(f"newer calls are not counted: {side}")
    if "no place in a DUMPI trace" not in done.stderr:
        fail(f"newer calls are not reported: {done.stderr}")
    case.compare(ignore={"MPI_Ibarrier", "MPI_Iallreduce", "MPI_Get_library_version"})
    again()


def check_own_wrappers(case):
    """A program that wraps MPI itself hides those calls; it is told so, and all others are there."""
    done = case.record()
    if "the program wraps 1 MPI calls itself (MPI_Send" not in done.stderr:
        fail(f"own wrappers are not reported: {done.stderr}")
    calls, _ = case.counted()
    stats = json.loads(case.ask("stats", case.meta(), "--json"))
    found = {name: entry["count"] for name, entry in stats["calls"].items()}
    del calls["MPI_Send"]
    if found != dict(calls):
        fail(f"recorded {found}, made {dict(calls)}")


def check_full_disk(case):
    """The program runs on unharmed, and one line says why there is no trace."""
    plain = subprocess.run([case.launcher, "-n", str(case.ranks), case.program, *case.arguments], cwd=case.folder,
                           env=environment(), capture_output=True, text=True, timeout=120)
    # How often it tests for the end of something differs from run to run; what it sends does not.
    sent = lambda: case.counted()[1]  # noqa: E731
    expected = sent()
    # A folder that cannot be made into.
    env = {"DUMPI_CONF": str(case.folder / "bad.conf")}
    (case.folder / "bad.conf").write_text("fileroot=/proc/nowhere/dumpi\n")
    recorder = json.loads(case.ask("record", "--mpi-info", "--json"))
    library = next(r["recorder"] for r in recorder if r["mpi"] in case.launcher)
    done = subprocess.run([case.launcher, "-n", str(case.ranks), "env", f"LD_PRELOAD={library}",
                           f"DUMPI_CONF={case.folder / 'bad.conf'}", case.program, *case.arguments], cwd=case.folder,
                          env=environment() | env, capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stderr.splitlines() if line.startswith("fathom record:")]
    if done.returncode != plain.returncode or len(lines) != 1 or "No such file or directory" not in lines[0]:
        fail(f"unwritable directory: {done.returncode}, {done.stderr}")
    if expected != sent():
        fail("unwritable directory: the program did something else")
    # A disk that fills up: files may not grow beyond 64 KiB.
    (case.folder / "small.conf").write_text(f"fileroot={case.folder}/small\n")
    done = subprocess.run([case.launcher, "-n", str(case.ranks), "env", f"LD_PRELOAD={library}", "SMALL_FILES=1",
                           f"DUMPI_CONF={case.folder}/small.conf", "DUMPI_MEMBUF_SIZE=16384", case.program,
                           *case.arguments], cwd=case.folder, env=environment(), capture_output=True, text=True,
                          timeout=120)
    lines = [line for line in done.stderr.splitlines() if "File too large" in line]
    if done.returncode != plain.returncode or len(lines) != case.ranks:
        fail(f"full disk: {done.returncode}, {done.stderr}")
    for file in case.folder.glob("small*.bin"):
        text = case.ask("check", str(file), expected=None)
        if "whole records are used" not in text:
            fail(f"full disk: {text}")


def check_kill(case):
    """Killed at random moments: what was flushed is there, and only whole calls."""
    seed = int(os.environ.get("FATHOM_SEED", "1"))
    moments = random.Random(seed)
    for attempt in range(4):
        shutil.rmtree(case.trace, ignore_errors=True)
        command = [case.fathom, "record", "-o", "trace", "--no-cpu-time", "--", case.launcher, "-n", str(case.ranks),
                   case.program, "forever"]
        process = subprocess.Popen(command, cwd=case.folder, env=environment() | {"DUMPI_MEMBUF_SIZE": "65536"},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.time() + 60
        pids = []
        while len(pids) < case.ranks and time.time() < deadline:
            pids = [int(p.name[4:]) for p in case.folder.glob("pid.*")]
            time.sleep(0.02)
        time.sleep(moments.uniform(0.05, 0.8))
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait(timeout=60)
        progress = {}
        for file in case.folder.glob("pid.*"):
            file.unlink()
        for file in sorted(case.trace.glob("*.bin")):
            if file.stat().st_size == 0:
                continue  # killed before its first buffer was full, as happens on a busy machine
            out = json.loads(case.ask("stats", str(file), "--json", expected=None))
            rank = int(file.stem.split("-")[-1])
            progress[rank] = out["calls"].get("MPI_Sendrecv", {"count": 0})["count"]
        for rank in range(case.ranks):
            # The program writes how far it is; at most one buffer of 64 KiB is missing.
            reached = int((case.folder / f"reached.{rank}").read_text() or 0)
            lost = reached - progress.get(rank, 0)
            if lost > 65536 // 60 + 1:
                fail(f"killed (seed {seed}, {attempt}): rank {rank} reached {reached}, recorded {progress.get(rank)}")
            (case.folder / f"reached.{rank}").unlink()


def check_otf2(case):
    """An archive with all calls, also those that a DUMPI trace has no place for."""
    if "libopen-trace-format2" in case.record("--to", "otf2", arguments=["newer"], expected=None).stderr:
        print("skipped: built without the OTF2 library")
        sys.exit(SKIPPED)
    left = sorted(p.name for p in case.trace.iterdir() if p.suffix in (".bin", ".calls", ".meta", ".unrecorded"))
    anchors = sorted(case.trace.glob("*.otf2"))
    if left or len(anchors) != 1:
        fail(f"left: {left}, archives: {anchors}")
    case.ask("check", str(anchors[0]))
    calls, _ = case.counted()
    stats = json.loads(case.ask("stats", str(anchors[0]), "--json"))
    found = {name: entry["count"] for name, entry in stats["calls"].items()}
    if found != dict(calls) or found.get("MPI_Ibarrier", 0) != 10 * case.ranks:
        fail(f"recorded {found}, made {dict(calls)}")
    # One more thread per rank, which made no other call.
    threads = json.loads(case.ask("info", str(anchors[0]), "--json"))["locations"]
    if threads != 2 * case.ranks:
        fail(f"{threads} locations of {case.ranks} ranks with two threads each")
    judge = shutil.which("otf2-print")
    if judge:
        text = subprocess.run([judge, str(anchors[0])], capture_output=True, text=True, timeout=120)
        if text.returncode != 0 or text.stdout.count('"MPI_Ibarrier"') != 2 * 10 * case.ranks:
            fail(f"otf2-print: {text.returncode} {text.stderr}, {text.stdout.count('MPI_Ibarrier')} lines")


def check_counters(case):
    """Counters through PAPI, where it is installed: of the kernel's own, which a virtual machine has, too."""
    done = case.record("--counters", "perf::PAGE-FAULTS,NO_SUCH_COUNTER")
    if "counters are left out" in done.stderr or "perf::PAGE-FAULTS is not to be had" in done.stderr:
        print("skipped: no PAPI, or it may not count here")
        sys.exit(SKIPPED)
    if done.stderr.count("counter NO_SUCH_COUNTER is not to be had here and left out") != 1:
        fail(f"the counter that there is not: {done.stderr}")
    case.compare()
    for file in sorted(case.trace.glob("*.bin")):
        lines = [line for line in case.ask("dump", str(file)).splitlines() if line.startswith("Perfcounters:")]
        values = [int(line.split("=")[1].rstrip("]")) for line in lines]
        if len(values) < 20 or values != sorted(values) or values[-1] <= values[0]:
            fail(f"{file}: {values[:10]}... are no counts of faults")


def check_spawn(case):
    """Processes that the program starts write a trace of their own."""
    case.record()
    metas = sorted(case.trace.glob("*.meta"))
    if len(metas) != 2:
        fail(f"expected two traces, found {metas}")
    for meta in metas:
        case.ask("check", str(meta))
    calls = [{name: entry["count"] for name, entry in json.loads(case.ask("stats", str(meta), "--json"))["calls"].items()}
             for meta in metas]
    parent, child = sorted(calls, key=lambda names: "MPI_Comm_spawn" not in names)
    if (parent.get("MPI_Comm_spawn"), parent.get("MPI_Bcast"), child.get("MPI_Bcast")) != (1, 1, 2):
        fail(f"calls: {calls}")
    dumps = [case.ask("dump", str(file)) for file in case.trace.glob("*-0000.bin")]
    if not any('string argv[-2]=["child"]' in text for text in dumps):
        fail("the arguments of the child are not recorded")
    case.ask_reference()


CHECKS = {"all": check_all, "counters": check_counters, "spawn": check_spawn, "otf2": check_otf2, "settings": check_settings, "life": check_life, "full-disk": check_full_disk,
          "kill": check_kill, "own-wrappers": check_own_wrappers}


def main():
    words = sys.argv[1:]
    check = "all"
    if "--check" in words:
        at = words.index("--check")
        check = words[at + 1]
        del words[at:at + 2]
    fathom, launcher, ranks, program, *arguments = words
    case = Case(os.path.abspath(fathom), launcher, int(ranks), os.path.abspath(program), arguments)
    CHECKS[check](case)
    case.done()


if __name__ == "__main__":
    main()
