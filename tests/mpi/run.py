#!/usr/bin/env python3
"""What one process prints and writes, several print and write, byte for byte, under a real MPI launcher.

usage: run.py FATHOM FATHOM_MPI LAUNCHER SOURCE_DIR DATA_DIR SUITE [PROCESSES...]
"""
import filecmp
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77
COUNTS = (1, 2, 3, 5)

ALL_WAITS = "--by kind --by rank --by culprit --by call --csv"

# Per family: (command, path below the data or the examples, further words). OUT is a file or directory of its own.
SUITES = {
    "examples": [
        ("stats {ex}/ring/ring.meta", "--json"),
        ("stats {ex}/ring/ring.meta", "--by rank --by bin --option bins=7"),
        ("top {ex}/ring/ring.meta", "--by context -n 0 --json"),
        ("tree {ex}/ring/ring.meta", "--csv"),
        ("reduce {ex}/ring/ring.meta OUT.cubex", "--split peer"),
        ("events {ex}/ring/ring.meta", "--messages --csv"),
        ("check {ex}/ring/ring.meta", "--json"),
        ("waits {ex}/ring/ring.meta", "--by rank --by culprit --csv"),
        ("convert {ex}/ring/ring.meta OUT.meta", ""),
        ("stats {ex}/ovni", ""),
        ("stats {ex}/ovni", "--json --by model --by thread"),
        ("tree {ex}/ovni", "-m time"),
        ("reduce {ex}/ovni OUT.cubex", "--windows 3"),
        ("diff {ex}/ring/ring.meta {ex}/ovni", "--json -m visits"),
        ("index {ex}/ring/ring.meta", "--index OUT --json"),
        ("index {ex}/ovni", "--index OUT --csv"),
    ],
    "dumpi": [
        ("top {unsorted}", "--json -n 0"),
        ("events {unsorted}", "--messages --csv"),
        ("stats {data}/dumpi/stencil4/stencil4.meta", "--json --by rank-call --by size --by counter"),
        ("stats {data}/dumpi/comms4", "--json --option bins=mpi --by bin-call"),
        ("stats {data}/dumpi/threads2", "--json"),
        ("stats {data}/dumpi/truncated", "--json"),
        ("stats {data}/dumpi/misc4", "--json --option bins=5 --by bin-counter --by bin-peer"),
        ("top {data}/dumpi/threads2", "--csv -n 0"),
        ("tree {data}/dumpi/rma3", "--json"),
        ("table {data}/dumpi/types4", "--total --csv"),
        ("reduce {data}/dumpi/io4 OUT.cubex", "--split communicator"),
        ("events {data}/dumpi/stencil4/stencil4.meta", "--messages --csv"),
        ("events {data}/dumpi/comms4", "--messages --json -n 7"),
        ("check {data}/dumpi/truncated", "--json"),
        ("check {data}/dumpi/comms4", ""),
        ("diff {data}/dumpi/ring4 {data}/dumpi/comms4", "--json"),
        ("convert {data}/dumpi/coll4 OUT.meta", ""),
        ("convert {data}/dumpi/coll4 OUT.cubex", ""),
    ],
    # Every kind of waiting, clocks that disagree, ranks that are missing or cut off, communicators, windows, threads;
    # {otf2} is one of these traces as OTF2.
    "waits": [
        ("waits {data}/planted/late-sender-16", "--by kind --by call --csv"),
        ("waits {data}/planted/late-receiver-8", ALL_WAITS),
        ("waits {data}/planted/wrong-order-9", ALL_WAITS),
        ("waits {data}/planted/master-worker-17", ALL_WAITS),
        ("waits {data}/planted/early-reduce-16", ALL_WAITS),
        ("waits {data}/planted/late-bcast-12", ALL_WAITS),
        ("waits {data}/planted/scan-10", ALL_WAITS),
        ("waits {data}/planted/split-rows-16", ALL_WAITS),
        ("waits {data}/planted/skewed-imbalance-12", ALL_WAITS),
        ("waits {data}/planted/missing-rank-10", ALL_WAITS),
        ("waits {data}/planted/killed-12", "--by rank --json"),
        ("waits {data}/dumpi/rma3", ALL_WAITS),
        ("waits {data}/dumpi/threads2", ALL_WAITS),
        ("waits {data}/dumpi/comms4", ALL_WAITS),
        ("waits {data}/dumpi/io4", ALL_WAITS),
        ("waits {data}/otf2/pingpong/traces.otf2", ALL_WAITS),
        ("waits {data}/otf2/eztrace_mpi4/eztrace_log.otf2", ALL_WAITS),
        ("waits {otf2}", ALL_WAITS),
    ],
    "causes": [
        ("critical-path {data}/planted/imbalance-12", "--csv"),
        ("critical-path {otf2}", "--json"),
        ("what-if {data}/planted/imbalance-12", "--balance --json"),
        ("top {data}/planted/killed-12", "--json --by rank"),
        ("report {data}/planted/propagation-12", "--json"),
        ("report {data}/planted/skewed-imbalance-12", ""),
        ("report {otf2}", "--json"),
        ("report {data}/ovni/v3/ovni-sort/trace.tar.gz", "--json"),
        ("report {ex}/stencil.cubex", "--json"),
        ("report {runs}", "--json"),
        ("report {ex}/ring/ring.meta {data}/planted/imbalance-12", "--json"),
        ("efficiency {data}/planted/imbalance-12", "--csv"),
        ("efficiency {otf2}", "--json"),
        ("efficiency {ex}/stencil.cubex", "--json"),
        ("efficiency {runs}", "--csv"),
        ("efficiency {ex}/ovni", "--csv"),
        ("reduce {data}/planted/imbalance-12 OUT.cubex", "--waits"),
    ],
    "ovni": [
        ("stats {data}/ovni/v3/nanos6-nested-tasks/trace.tar.gz", ""),
        ("stats {data}/ovni/v3/ovni-sort/trace.tar.gz", "--json"),
        ("tree {data}/ovni/v3/nosv-task-types/trace.tar.gz", "--csv"),
        ("top {data}/ovni/v3/nosv-hwc/trace.tar.gz", "--json -n 0"),
        ("reduce {data}/ovni/v3/ovni-mp-simple/trace.tar.gz OUT.cubex", "--channel cpu"),
        ("check {data}/ovni/v3/ovni-sort/trace.tar.gz", "--json"),
        ("top {data}/ovni/v3/ovni-empty-stream/trace.tar.gz", "--json"),
    ],
    "otf2": [
        ("stats {data}/otf2/pingpong/traces.otf2", "--json"),
        ("stats {data}/otf2/eztrace_mpi4/eztrace_log.otf2", "--json"),
        ("stats {data}/otf2/kinds/traces.otf2", "--csv"),
        ("tree {data}/otf2/kinds/traces.otf2", "--csv"),
        ("events {data}/otf2/pingpong/traces.otf2", "--messages --csv"),
        ("check {data}/otf2/kinds/traces.otf2", "--json"),
        ("reduce {data}/otf2/pingpong/traces.otf2 OUT.cubex", ""),
        ("index {data}/otf2/eztrace_mpi4/eztrace_log.otf2", "--index OUT --json"),
        ("convert {ex}/ring/ring.meta OUT.otf2", ""),
        ("convert {data}/planted/missing-rank-10 OUT", "--to otf2"),
        ("convert {ex}/ovni OUT.otf2", ""),
        ("convert {data}/otf2/pingpong/traces.otf2 OUT.otf2", ""),
    ],
    "hpctoolkit": [
        ("stats {data}/hpctoolkit/b-mpi24-stats", "--json --by location --by context"),
        ("stats {data}/hpctoolkit/b0-multithread", "--csv"),
        ("top {data}/hpctoolkit/b-mpi24-stats", "--json"),
        ("tree {data}/hpctoolkit/b-mpi24-stats", "--csv --view bottomup"),
        ("top {data}/hpctoolkit/b-mpi24-stats", "--csv --by rank"),
        ("diff {data}/hpctoolkit/b-mpi24-stats {data}/hpctoolkit/b-pingpong-mpi", "--json --match path -n 0"),
        ("index {data}/hpctoolkit/b-mpi24-stats", "--index OUT --csv"),
        ("convert {data}/hpctoolkit/b-mpi24-stats OUT", "--to hpctoolkit-xml"),
        ("table {data}/hpctoolkit/b-mpi24-stats", "--csv"),
        ("table {data}/hpctoolkit/a-mpi24-stats", "--total --inclusive --json"),
        ("check {data}/hpctoolkit/b-mpi24-stats", "--json"),
        ("reduce {data}/hpctoolkit/b-pingpong-mpi OUT.cubex", ""),
    ],
    "profiles": [
        ("top {ex}/stencil.cubex", "--json"),
        ("tree {ex}/stencil.cubex", "--csv"),
        ("table {ex}/stencil.cubex", "--csv"),
        ("table {ex}/stencil.cubex", "--total --inclusive --csv"),
        ("table {ex}/stencil.cubex", "--json --zeros"),
        ("table {ex}/stencil.cubex", "--total"),
        ("check {ex}/stencil.cubex", "--json"),
        ("diff {ex}/stencil.cubex {ex}/stencil.cubex", "--json"),
        ("diff {ex}/stencil.cubex {ex}/stencil.cubex", "--match file -o OUT.cubex"),
        ("top {ex}/stencil.cubex", "--by context --inclusive -n 0 --elide MPI_*"),
        ("tree {ex}/stencil.cubex", "--view modules --json"),
        ("convert {ex}/stencil.cubex OUT.hpcdb", ""),
        ("convert {ex}/stencil.cubex OUT.hpcdb", "--to hpctoolkit-xml"),
        ("model {ex}/scaling.txt", "--json"),
        ("model {runs}", "--json"),
        ("model {runs}", "--csv --metric visits"),
        ("check {data}/cube/malformed/anchor_gz_corrupt.cubex", "--json"),
        ("info {ex}/scaling.txt", "--json"),
    ],
}


def environment():
    env = dict(os.environ)
    # Tests run in containers, as root, on few cores.
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader,tcp", OMPI_MCA_plm="isolated",
               OMPI_MCA_orte_tmpdir_base=tempfile.gettempdir(), HYDRA_LAUNCHER="fork", LC_ALL="C", TZ="UTC",
               # MPI libraries leave memory behind.
               ASAN_OPTIONS="detect_leaks=0")
    return env


class Runs:
    def __init__(self, fathom, fathom_mpi, launcher, folder):
        self.fathom, self.fathom_mpi, self.launcher, self.folder = fathom, fathom_mpi, launcher, folder

    def run(self, words, name, processes=None, timeout=240):
        """Exit status, stdout, stderr, what was written."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        words = [str(place / word) if word.startswith("OUT") else word for word in words]
        command = [self.fathom, *words]
        if processes is not None:
            command = [self.launcher, "-n", str(processes), self.fathom_mpi, *words]
        done = subprocess.run(command, env=environment(), capture_output=True, timeout=timeout, cwd=self.folder)
        # Where the output is to go may be part of what is said.
        out = done.stdout.replace(str(place).encode(), b"PLACE")
        return done.returncode, out, done.stderr.decode(errors="replace"), place


def said(text, place):
    """What Fathom itself said, without the launcher's words and the place of the output."""
    lines = [line for line in text.splitlines() if line.startswith("fathom: ") and "not split between" not in line]
    # Of many files that have the like, it is the first to be met that is named.
    lines = [re.sub(r"^(fathom: [a-z ]+:).*(; \d+ other files have the like)", r"\1\2", line) for line in lines]
    return sorted(line.replace(str(place), "") for line in lines)


def same_files(a, b):
    def names(root):
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    if names(a) != names(b):
        return f"files differ: {names(a)} and {names(b)}"
    for name in names(a):
        if name.endswith(".otf2"):
            # The library gives every archive a number of its own.
            one, other = ((root / name).read_bytes() for root in (a, b))
            if one[:-19] + one[-11:] == other[:-19] + other[-11:]:
                continue
        if not filecmp.cmp(a / name, b / name, shallow=False):
            return f"{name} differs"
    return None


def unpacked(word, folder):
    """The trace in an archive."""
    if not word.endswith("trace.tar.gz") or not pathlib.Path(word).exists():
        return word
    place = folder / pathlib.Path(word).parent.name
    if not place.exists():
        with tarfile.open(word) as archive:
            archive.extractall(place)
    inner = sorted(place.iterdir())
    return str(inner[0] if len(inner) == 1 and inner[0].is_dir() else place)


def make_runs(places):
    """Runs of different sizes: the first ranks of the ring as traces, each a run."""
    for count in (1, 2, 3, 4):
        folder = pathlib.Path(places["runs"]) / f"ring.p{count}"
        folder.mkdir(parents=True)
        for rank in range(count):
            shutil.copy(f"{places['ex']}/ring/ring-{rank:04}.bin", folder)
        (folder / "ring.meta").write_text(f"hostname=here\nnumprocs={count}\nfileprefix=ring\n")


def make_otf2(runs, places):
    """A trace with messages and collectives on which ranks wait, as OTF2, where that can be written."""
    source = pathlib.Path(places["data"]) / "planted" / "late-sender-16"
    got = runs.run(["convert", str(source), "OUT.otf2"], "otf2") if source.exists() else (2, b"", "", runs.folder)
    found = sorted(got[3].rglob("*.otf2")) if got[0] == 0 else []
    places["otf2"] = str(next((path for path in found if path.is_file()), "no-otf2"))


def make_unsorted(places):
    """A run whose records are not in order of time: MPI_Init seems to end while the next call is under way."""
    shutil.copytree(f"{places['ex']}/ring", places["unsorted"])
    for path in pathlib.Path(places["unsorted"]).glob("*.bin"):
        data = bytearray(path.read_bytes())
        # Behind the beginning of 16 bytes: id, mask, thread, times of the CPU, start on the wall clock.
        stop_ns = 16 + 2 + 1 + 2 + 12 + 6 + 2
        data[stop_ns:stop_ns + 4] = (0x1010).to_bytes(4, "big")
        path.write_bytes(data)


def canonical(text):
    """Remarks come in the order in which threads and processes made them."""
    try:
        data = json.loads(text)
    except ValueError:
        return text
    if isinstance(data, dict):
        for key in ("diagnostics", "defects"):
            if isinstance(data.get(key), list):
                data[key].sort(key=json.dumps)
                for one in data[key]:
                    # Of several alike in a file it is the first to be met that is named.
                    if isinstance(one, dict) and one.get("count", 1) > 1:
                        one.pop("offset", None)
                        one.pop("text", None)
    return json.dumps(data).encode()


def compare(runs, words, counts):
    alone = runs.run(words, "alone")
    failures = []
    if alone[0] not in (0, 1):
        return [f"fathom {' '.join(words)}: exit status {alone[0]}\n{alone[2]}"]
    for count in counts:
        several = runs.run(words, "several", count)
        what = f"{count} processes: {' '.join(words)}"
        if several[0] != alone[0]:
            failures.append(f"{what}: exit status {several[0]} instead of {alone[0]}\n{several[2]}")
        elif several[1] != alone[1] and canonical(several[1]) != canonical(alone[1]):
            failures.append(f"{what}: the output differs\n--- one\n{alone[1][:2000]}\n--- several\n{several[1][:2000]}")
        elif said(several[2], several[3]) != said(alone[2], alone[3]):
            failures.append(f"{what}: the remarks differ\n--- one\n{alone[2]}\n--- several\n{several[2]}")
        elif difference := same_files(alone[3], several[3]):
            failures.append(f"{what}: {difference}")
    return failures


def failing(runs, examples, folder):
    """One error, said once, with its exit status, and nobody left behind."""
    failures = []
    cases = [(["stats", "nowhere"], 2, "nowhere"), (["stats"], 2, "needs PATH"), (["nonsense"], 2, "unknown command")]
    # One process alone meets the defect: the file that it was dealt is cut off.
    damaged = folder / "damaged"
    shutil.copytree(f"{examples}/ring", damaged)
    last = damaged / "ring-0003.bin"
    last.write_bytes(last.read_bytes()[:-400])
    for command in ("stats", "waits", "report", "efficiency"):
        cases.append(([command, str(damaged / "ring.meta"), "--strict"], 1, "ring-0003.bin"))
    # All meet it: no calls, so nobody waits.
    silent = folder / "silent.json"
    silent.write_text('{"traceEvents": [{"ph": "X", "name": "work", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}')
    cases.append((["waits", str(silent)], 2, "no calls of a message-passing library"))
    for words, status, text in cases:
        for count in (1, 2, 5):
            got = runs.run(words, "failing", count, timeout=60)
            errors = [line for line in got[2].splitlines() if line.startswith("fathom: error")]
            if got[0] != status or len(errors) != 1 or text not in errors[0]:
                failures.append(f"{count} processes: {' '.join(words)}: exit status {got[0]}, expected {status} and "
                                f"one error with '{text}'\n{got[2]}")
    # What is not split says so and is done once.
    got = runs.run(["formats", "--csv"], "failing", 3)
    if got[0] != 0 or got[2].count("not split between processes") != 1:
        failures.append(f"formats: {got[0]}\n{got[2]}")
    if got[1] != runs.run(["formats", "--csv"], "failing")[1]:
        failures.append("formats: the output differs")
    return failures


def longer(folder, examples, ranks):
    """A run of many ranks."""
    place = folder / f"ranks-{ranks}"
    place.mkdir()
    for rank in range(ranks):
        os.symlink(f"{examples}/ring/ring-{rank % 4:04}.bin", place / f"ring-{rank:04}.bin")
    (place / "ring.meta").write_text(f"hostname=here\nnumprocs={ranks}\nfileprefix=ring\n")
    return str(place / "ring.meta")


def many_threads(folder, examples, threads):
    """An ovni trace of a process with many threads."""
    place = folder / f"threads-{threads}"
    source = pathlib.Path(examples) / "ovni" / "loom.alpha.0" / "proc.1000" / "thread.1000"
    metadata = json.loads((source / "stream.json").read_text())
    for tid in range(1000, 1000 + threads):
        thread = place / "loom.alpha.0" / "proc.1000" / f"thread.{tid}"
        thread.mkdir(parents=True)
        metadata["ovni"]["tid"] = tid
        (thread / "stream.json").write_text(json.dumps(metadata))
        os.symlink(source / "stream.obs", thread / "stream.obs")
    return str(place)


def progress(runs, examples, folder):
    """A line about all processes while they work, and nothing of it without --progress."""
    ranks = 300
    words = ["index", longer(folder, examples, ranks), "--index", "OUT", "--threads", "1"]
    # Work is usually silent for its first half second; whether it takes that long depends on the machine.
    os.environ["FATHOM_PROGRESS_AFTER"] = "0"
    got = runs.run([*words, "--progress-every", "0"], "several", 3)
    lines = re.findall(r"^fathom: ([a-z ]+): (\d+) of (\d+) after \d+ s$", got[2], re.M)
    if got[0] != 0 or not lines:
        return [f"no line: {got[0]}\n{got[2]}"]
    if not all(int(done) <= int(total) for _, done, total in lines):
        return [f"more than everything is done: {lines}"]
    # The ranks of all processes, not those of the first.
    if not any(int(total) > 2 * ranks / 3 for _, _, total in lines):
        return [f"nothing about all {ranks} ranks in {lines}"]
    if re.search(" of .* after", runs.run(words, "several", 3)[2]):
        return ["progress that nobody asked for"]
    return []


def archive_files(anchor):
    """Of the locations of an OTF2 archive."""
    return sum(1 for path in anchor.with_suffix("").glob("*") if path.suffix in (".evt", ".def"))


def opens(runs, places, folder):
    """Files of a run are opened by the process that reads the run; all of them look at what kind of data each is."""
    failures = []
    alone = 0
    for count in (1, 2, 4):
        timing = folder / "timing.json"
        got = runs.run(["model", places["runs"], "--json", "--timing", str(timing)], "several", count)
        opened = [one["files_opened"] for one in json.loads(timing.read_text())["processes"]] if timing.exists() else []
        alone = alone or max(opened, default=0)
        most = {1: alone, 2: alone * 2 // 3, 4: alone // 2}[count]
        if got[0] != 0 or len(opened) != count or not 0 < max(opened) <= most:
            failures.append(f"{count} processes open {opened} files, one opens {alone}\n{got[2]}")
    # Of a trace each opens what it scans and what it reads; the two are dealt out by bytes and by records.
    ranks, others = 120, 8
    traces = [(longer(folder, places["ex"], ranks), ranks, 0)]
    # Of ovni there are two files for each stream: what it is, and its events. All look into the former, up to 200 of
    # them, to see what kind of data it is.
    traces.append((many_threads(folder, places["ex"], ranks // 2), ranks, ranks // 2))
    # Of OTF2 there are two files for each location: definitions and events.
    otf2 = [path for path in pathlib.Path(places["data"]).glob("otf2/*/*.otf2") if archive_files(path) >= 8]
    traces += [(str(path), archive_files(path), 0) for path in sorted(otf2)[:1]]
    for command, (trace, ranks, recognised) in itertools.product(("stats", "top"), traces):
        for count in (1, 2, 4):
            timing = folder / "timing.json"
            timing.unlink(missing_ok=True)
            got = runs.run([command, trace, "--json", "--timing", str(timing)], "several", count)
            opened = [one["files_opened"] for one in json.loads(timing.read_text())["processes"]] if timing.exists() else []
            most = (2 * ranks if count == 1 else 1.5 * ranks / count) + recognised + others
            if got[0] != 0 or len(opened) != count or max(opened) > most or sum(opened) < ranks:
                failures.append(f"{command} {trace}: {count} processes open {opened} files of {ranks}\n{got[2]}")
    return failures


def shards(runs, examples):
    """One Parquet file per process; one glob gives the rows that one process writes."""
    failures = []
    trace = f"{examples}/ring/ring.meta"
    query = "SELECT time_ns, location, kind, name, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    alone = runs.run(["sql", trace, query.format("event"), "--csv"], "alone")
    if alone[0] != 0:
        print("skipped: there is no DuckDB")
        return None
    for count in (1, 2, 3, 5):
        got = runs.run(["convert", trace, "OUT.parquet"], "several", count)
        files = sorted(p.name for p in (got[3] / "OUT.parquet" / "event").glob("*.parquet"))
        table = f"'{got[3]}/OUT.parquet/event/*.parquet'" if count > 1 else f"'{got[3]}/OUT.parquet/event.parquet'"
        read = runs.run(["sql", trace, query.format(table), "--csv", "--allow-files"], "alone")
        # Four locations: a fifth process has nothing to write.
        if got[0] != 0 or len(files) != (0 if count == 1 else min(count, 4)):
            failures.append(f"{count} processes: {got[0]}, {files}\n{got[2]}")
        elif read[1] != alone[1]:
            failures.append(f"{count} processes: the rows differ\n{read[1][:500]}\n{alone[1][:500]}{read[2]}")
    return failures


def main():
    fathom, fathom_mpi, launcher, source, data, suite, *rest = sys.argv[1:]
    counts = tuple(int(word) for word in rest) or COUNTS
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-mpi-"))
    places = {"runs": str(folder / "runs"), "unsorted": str(folder / "unsorted"),
              "ex": str(pathlib.Path(source) / "examples"), "data": str((pathlib.Path(source) / data).resolve())}
    try:
        runs = Runs(fathom, fathom_mpi, launcher, folder)
        if suite == "failing":
            failures = failing(runs, places["ex"], folder)
        elif suite == "progress":
            failures = progress(runs, places["ex"], folder)
        elif suite == "opens":
            make_runs(places)
            failures = opens(runs, places, folder)
        elif suite == "parquet":
            failures = shards(runs, places["ex"])
            if failures is None:
                return SKIPPED
        else:
            failures, ran = [], 0
            if suite in ("profiles", "causes"):
                make_runs(places)
            if suite in ("waits", "causes"):
                make_otf2(runs, places)
            if suite == "dumpi":
                make_unsorted(places)
            for text, options in SUITES[suite]:
                words = [unpacked(word.format(**places), folder) for word in text.split()] + options.split()
                if not pathlib.Path(words[1]).exists():
                    print(f"skipped: there is no {words[1]}")
                    continue
                ran += 1
                failures += compare(runs, words, counts)
            if ran == 0:
                return SKIPPED
        for failure in failures:
            print(failure)
        return 1 if failures else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
