#!/usr/bin/env python3
"""Tests of `fathom sql`: docs = every query of docs/sql.md runs and has rows; compare = tables hold the same numbers as
the commands; sums = views add up what adds up; refuse = hostile queries reach nothing; killed = nothing stays behind; parquet = what is written is read back; threads = their number changes
nothing."""
import argparse
import csv
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
failures: list[str] = []


def check(condition: bool, text: str) -> None:
    if not condition:
        failures.append(text)
        print("FAILED:", text)


class Program:
    def __init__(self, path: str) -> None:
        self.path = path

    def run(self, *arguments: str, ok: bool = True, prepare=None, **environment: str) -> str:
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, timeout=120,
                              preexec_fn=prepare, env=os.environ | environment)
        if "need DuckDB" in done.stderr:
            print("skipped:", done.stderr.strip())
            sys.exit(SKIP)
        if ok and done.returncode != 0:
            check(False, f"{arguments}: status {done.returncode}: {done.stderr.strip()}")
        self.status = done.returncode
        self.error = done.stderr
        return done.stdout

    def csv(self, *arguments: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.run(*arguments, "--csv"))))

    def json(self, *arguments: str):
        return json.loads(self.run(*arguments, "--json"))


def docs(fathom: Program) -> None:
    text = (ROOT / "docs" / "sql.md").read_text()
    queries = re.findall(r"```sql\n-- (.*?)\n(.*?)```", text, re.S)
    check(len(queries) >= 20, f"only {len(queries)} queries in the docs")
    for paths, query in queries:
        rows = fathom.csv("sql", *paths.split(), query)
        check(len(rows) > 0, f"no rows: {query}")
    # The list of tables in all forms: every table that it names can be asked for.
    for table in fathom.json("sql", "examples/stencil.cubex", "--tables"):
        found = fathom.csv("sql", "examples/stencil.cubex", f"SELECT * FROM {table['name']} LIMIT 1")
        check(not found or ", ".join(found[0]) == table["columns"], f"{table['name']}: {table['columns']}")
    # Every kind of dataset, also one of several levels of which none is a profile.
    for dataset in ("gpu.sqlite", "scaling.txt", "ring", "stencil.cubex", "samples.perf.txt"):
        for table in fathom.json("sql", f"examples/{dataset}", "--tables"):
            fathom.csv("sql", f"examples/{dataset}", f"SELECT * FROM {table['name']} LIMIT 1")
    # As the cookbook has it.
    check(len(fathom.csv("sql", "examples/stencil.cubex", "SELECT * FROM hot_region LIMIT 5")) == 5, "cookbook, task 10")


def same(name: str, ours: list, theirs: list) -> None:
    check(len(theirs) > 0, f"{name}: nothing to compare with")
    check(sorted(ours) == sorted(theirs), f"{name}: {len(ours)} rows differ from {len(theirs)}, e.g. "
          f"{sorted(set(map(str, ours)) ^ set(map(str, theirs)))[:4]}")


def compare(fathom: Program, data: pathlib.Path) -> None:
    profiles = ["examples/stencil.cubex"]
    traces = ["examples/ring/ring.meta", "examples/ovni"]
    experiments = ["examples/scaling.txt"]
    for wanted, found in (("hpctoolkit/b-small", profiles), ("hpctoolkit/a-small", profiles), ("hpctoolkit/c-cpi", profiles),
                          ("dumpi/ring4", traces), ("dumpi/stencil4", traces), ("dumpi/types4", traces)):
        if (data / wanted).exists():
            found.append(str(data / wanted))
        else:
            print("not compared, missing:", data / wanted)
    for path in profiles:
        for flavour, option in (("", []), ("inclusive", ["--inclusive"]), ("exclusive", ["--exclusive"])):
            table = [(r["metric"], r["context"], r["location"], float(r["value"].split(";")[0]))
                     for r in fathom.csv("table", path, *option)]
            name = f"value(flavour := '{flavour}')" if flavour else "value"
            rows = [(r["metric"], r["context"], r["location"], float(r["value"]))
                    for r in fathom.csv("sql", path, f"SELECT * FROM {name}")]
            same(f"{path} {name}", rows, table)
    for path in traces:
        keys = ["time_ns", "location", "kind", "name", "detail"]
        events = [tuple(r[k] for k in keys) for r in fathom.csv("events", path)]
        same(f"{path} event", [tuple(r[k] for k in keys) for r in fathom.csv("sql", path, "SELECT * FROM event")], events)
    for path in traces:
        if path == "examples/ovni":
            continue
        keys = ["src", "dst", "tag", "comm", "bytes", "t_send", "t_recv"]
        messages = [tuple(r[k] for k in keys) for r in fathom.csv("events", path, "--messages")]
        rows = [tuple(r[k] for k in keys) for r in fathom.csv("sql", path, "SELECT * FROM message")]
        same(f"{path} message", rows, messages)
    for path in experiments:
        models = [(m["callpath"], m["metric"], m["function"], m["RSS"], m["SMAPE"], m["AR2"], m["RE"])
                  for m in fathom.json("model", path)]
        rows = [(m["path"], m["metric"], m["function"], m["RSS"], m["SMAPE"], m["AR2"], m["RE"])
                for m in fathom.json("sql", path, "SELECT * FROM model")]
        same(f"{path} model", rows, models)
        table = [(r["metric"], r["context"], r["location"], float(r["value"])) for r in fathom.csv("table", path)]
        rows = [(r["metric"], r["context"], r["location"], float(r["value"]))
                for r in fathom.csv("sql", path, "SELECT * FROM value")]
        same(f"{path} value", rows, table)


def sums(fathom: Program, data: pathlib.Path) -> None:
    """Views add up what adds up: no minima, no ratios, no lines and loops beside the function that has them."""
    with tempfile.TemporaryDirectory() as folder:
        both = pathlib.Path(folder) / "both.cubex"
        fathom.run("derive", "examples/stencil.cubex", both, "per_visit = time / visits", "twice = 2 * time")
        kinds = {r["id"]: r["kind"] for r in fathom.csv("sql", both, "SELECT id, kind FROM metric")}
        check(kinds["per_visit"] == kinds["twice"] == "derived" and kinds["time"] == "stored", f"kinds: {kinds}")
        for view in ("hot_region", "rank_region"):
            found = {r["metric"] for r in fathom.csv("sql", both, f"SELECT DISTINCT metric FROM {view}")}
            check(found == {"time", "visits", "bytes_sent"}, f"{view}: {found}")
    minima = data / "cube/timep4/timep4.cubex.gz"
    if minima.exists():
        types = {r["id"]: r["type"] for r in fathom.csv("sql", minima, "SELECT id, type FROM metric")}
        check("min_f64" in types.values(), f"no minimum: {types}")
        for view in ("hot_region", "rank_region"):
            found = {types[r["metric"]] for r in fathom.csv("sql", minima, f"SELECT DISTINCT metric FROM {view}")}
            check(len(found) > 0 and not found & {"min_f64", "max_f64", "atomic"}, f"{view}: {found}")
    for name in ("b-small", "a-small", "b-lammps-openmp"):
        path = data / "hpctoolkit" / name
        if not path.exists():
            print("not compared, missing:", path)
            continue
        total = fathom.csv("sql", path, "SELECT metric, sum(t.inclusive) AS s FROM total t JOIN context c ON t.context = c.id "
                           "WHERE c.parent IS NULL GROUP BY metric ORDER BY metric")
        for view in ("hot_region", "rank_region"):
            rows = fathom.csv("sql", path, f"SELECT metric, sum(exclusive) AS s FROM {view} GROUP BY metric ORDER BY metric")
            check(len(rows) == len(total) > 0, f"{path} {view}: {rows} {total}")
            for row, whole in zip(rows, total):
                check(abs(float(row["s"]) - float(whole["s"])) <= 1e-9 * float(whole["s"]), f"{path} {view}: {row} {whole}")


def refuse(fathom: Program) -> None:
    path = "examples/stencil.cubex"
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "out.csv"
        for query in ("SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
                      f"COPY (SELECT 1) TO '{target}'", "INSTALL httpfs", "LOAD httpfs", f"ATTACH '{folder}/x.db'",
                      "SET enable_external_access = true", "SELECT * FROM glob('/etc/*')",
                      "SELECT content FROM read_text('/etc/hostname')", f"EXPORT DATABASE '{folder}/db'"):
            out = fathom.run("sql", path, query, ok=False)
            check(fathom.status == 2 and "rror" in fathom.error, f"not refused: {query}: {out[:80]}")
        check(list(pathlib.Path(folder).iterdir()) == [], "a refused query wrote something")
        fathom.run("sql", path, f"COPY (SELECT 1 AS one) TO '{target}'", "--allow-files")
        check(target.exists() and target.read_text() == "one\n1\n", "--allow-files writes")
    # A crash of the engine is none of ours; the limit under which it does is refused.
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (60_000_000, 60_000_000))
    fathom.run("sql", path, "SELECT 1", ok=False, prepare=limit)
    check(fathom.status == 2 and "DuckDB needs" in fathom.error, f"60 MB: {fathom.status} {fathom.error}")
    for wrong in ("SELEC 1", "SELECT * FROM nothing", "SELECT * FROM value(metric := 'tiem')", "SELECT 1/", ""):
        fathom.run("sql", path, wrong, ok=False)
        check(fathom.status == 2 and fathom.error.startswith("fathom: error:"), f"'{wrong}': {fathom.error}")
        if "tiem" in wrong:
            check("time" in fathom.error, f"no suggestion: {fathom.error}")


def killed(fathom: Program) -> None:
    """What a killed query leaves in the folder for temporary files is removed by the next one."""
    with tempfile.TemporaryDirectory() as folder:
        fathom.run("sql", "examples/stencil.cubex", "SELECT 1", TMPDIR=folder)
        check(os.listdir(folder) == [], f"left by a good end: {os.listdir(folder)}")
        query = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
        endless = subprocess.Popen([fathom.path, "sql", "examples/stencil.cubex", query], cwd=ROOT, stdout=subprocess.DEVNULL,
                                   env=os.environ | {"TMPDIR": folder})
        for _ in range(600):
            if os.listdir(folder):
                break
            time.sleep(0.05)
        fathom.run("sql", "examples/stencil.cubex", "SELECT 1", TMPDIR=folder)
        check(len(os.listdir(folder)) == 1, "a query that runs keeps its folder")
        endless.kill()
        endless.wait()
        check(len(os.listdir(folder)) == 1, "SIGKILL leaves it")
        fathom.run("sql", "examples/stencil.cubex", "SELECT 1", TMPDIR=folder)
        check(os.listdir(folder) == [], f"left by a killed query: {os.listdir(folder)}")


def parquet(fathom: Program, node_modules: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "ring.parquet"
        fathom.run("convert", "examples/ring/ring.meta", out)
        written = {p.stem for p in out.glob("*.parquet")}
        check({"event", "message", "location", "region", "diagnostic"} <= written, f"files: {written}")
        query = "SELECT location, kind, name, time_ns, detail FROM {} ORDER BY ALL"
        direct = fathom.run("sql", "examples/ring/ring.meta", query.format("event"), "--csv")
        back = fathom.run("sql", "examples/ring/ring.meta", query.format(f"'{out}/event.parquet'"), "--allow-files", "--csv")
        check(direct == back and direct.count("\n") == 197, "events differ after Parquet")
        one = pathlib.Path(folder) / "one.parquet"
        fathom.run("convert", "examples/stencil.cubex", one, "--table", "value")
        check(one.is_file(), "one table is one file")
        parts = pathlib.Path(folder) / "parts.parquet"
        fathom.run("convert", "examples/ring/ring.meta", parts, "--partition", "location")
        check(len(list((parts / "event").glob("location=*"))) == 4, "a folder per location")
        result = pathlib.Path(folder) / "result.parquet"
        fathom.run("sql", "examples/stencil.cubex", "SELECT metric, sum(value) AS s FROM value GROUP BY metric", "-o", result)
        check(result.is_file(), "-o writes Parquet")
        fathom.run("convert", "examples/ring/ring.meta", pathlib.Path(folder) / "x.parquet", "--table", "vlaue", ok=False)
        check(fathom.status == 2, "a table that is not there")
        check(not (pathlib.Path(folder) / "x.parquet").exists(), "nothing half written")
        # A second, independent reader.
        script = pathlib.Path(__file__).with_name("read_parquet.mjs")
        if shutil.which("node") and (pathlib.Path(node_modules) / "hyparquet").exists():
            done = subprocess.run(["node", script, node_modules, one, out / "event.parquet"], capture_output=True, text=True,
                                  timeout=120)
            check(done.returncode == 0, f"hyparquet: {done.stderr}")
            read = json.loads(done.stdout)
            expected = fathom.csv("sql", "examples/stencil.cubex",
                                  "SELECT count(*) AS n, sum(value) AS s, min(metric) AS m FROM value")[0]
            check(read[0]["rows"] == int(expected["n"]), f"hyparquet rows {read[0]['rows']}")
            check(abs(read[0]["sum"] - float(expected["s"])) < 1e-6 * float(expected["s"]), "hyparquet sum")
            check(read[1]["rows"] == 196 and read[1]["columns"][:4] == ["time_ns", "location", "kind", "name"],
                  f"hyparquet {read[1]}")
        else:
            print("hyparquet is missing: read back by DuckDB only")


def write_profile(path: pathlib.Path, contexts: int, locations: int) -> dict[tuple[str, int], int]:
    """A Cube 3 file whose values are all different; the sums per metric and location."""
    sums: dict[tuple[str, int], int] = {}
    metrics = ["time", "visits", "bytes"]
    with path.open("w") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<cube version="3.0"><metrics>\n')
        for i, metric in enumerate(metrics):
            kind = "FLOAT" if i == 0 else "INTEGER"
            out.write(f'<metric id="{i}"><disp_name>{metric}</disp_name><uniq_name>{metric}</uniq_name>'
                      f'<dtype>{kind}</dtype></metric>\n')
        out.write('</metrics><program><region id="0" mod="x.c" begin="1" end="2"><name>f</name></region>\n')
        for i in range(contexts):
            out.write(f'<cnode id="{i}" calleeId="0"></cnode>\n')
        out.write('</program><system><machine Id="0"><name>m</name><node Id="0"><name>n</name>'
                  '<process Id="0"><rank>0</rank>\n')
        for i in range(locations):
            out.write(f'<thread Id="{i}"><rank>{i}</rank></thread>\n')
        out.write("</process></node></machine></system><severity>\n")
        for m, metric in enumerate(metrics):
            out.write(f'<matrix metricId="{m}">\n')
            for c in range(contexts):
                row = [(m * contexts + c) * locations + i + 1 for i in range(locations)]
                out.write(f'<row cnodeId="{c}">{" ".join(map(str, row))}</row>\n')
                for i, value in enumerate(row):
                    sums[metric, i] = sums.get((metric, i), 0) + value
            out.write("</matrix>\n")
        out.write("</severity></cube>\n")
    return sums


def threads(fathom: Program) -> None:
    """Several parts: the same answers with any number of threads, and files whose rows stand in one order."""
    contexts, locations = 300, 600
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.cube"
        sums = write_profile(path, contexts, locations)
        first = None
        for count in ("1", "2", "8"):
            rows = fathom.csv("sql", path, "SELECT metric, location, sum(value) AS s, count(*) AS n FROM value GROUP BY ALL",
                              "--threads", count)
            check({(r["metric"], int(r["location"])): int(float(r["s"])) for r in rows} == sums, f"sums, {count} threads")
            check({int(r["n"]) for r in rows} == {contexts}, f"rows, {count} threads")
            files = []
            for ending in ("parquet", "csv"):
                target = pathlib.Path(folder) / f"value-{count}.{ending}"
                fathom.run("convert", path, target, "--table", "value", "--threads", count)
                files.append(target.read_bytes())
            check(first in (None, files), f"files differ with {count} threads")
            first = files
        # As docs/sql.md says: by metric, context, location, here in the order of the values.
        values = [float(line.rsplit(",", 1)[1]) for line in first[1].decode().splitlines()[1:]]
        check(values == sorted(values) and len(values) == 3 * contexts * locations, "the order of the rows")
        back = fathom.run("sql", path, f"SELECT value FROM '{folder}/value-2.parquet'", "--allow-files", "--threads", "1",
                          "--csv")
        check([float(v) for v in back.splitlines()[1:]] == values, "Parquet holds another order")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["docs", "compare", "sums", "refuse", "killed", "parquet", "threads"])
    parser.add_argument("--fathom", required=True)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--node-modules", default="")
    arguments = parser.parse_args()
    fathom = Program(arguments.fathom)
    if arguments.what == "docs":
        docs(fathom)
    elif arguments.what == "compare":
        compare(fathom, ROOT / arguments.data)
    elif arguments.what == "sums":
        sums(fathom, ROOT / arguments.data)
    elif arguments.what == "refuse":
        refuse(fathom)
    elif arguments.what == "killed":
        killed(fathom)
    elif arguments.what == "threads":
        threads(fathom)
    else:
        parquet(fathom, arguments.node_modules)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
