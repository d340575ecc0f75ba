#!/usr/bin/env python3
"""Tests of the Python module on the datasets in examples/; run from the project's root."""
import csv
import gc
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import xml.etree.ElementTree
from typing import Any

try:
    import numpy as np
    import pandas
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

import fathom

PROFILE = "examples/stencil.cubex"
TRACE = "examples/ring/ring.meta"
EXPERIMENT = "examples/scaling.txt"
PROGRAM = os.environ["FATHOM_PROGRAM"]


def program(*arguments: str) -> str:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


class Datasets(unittest.TestCase):
    def test_info_is_that_of_the_program(self) -> None:
        for path in (PROFILE, TRACE, EXPERIMENT):
            theirs = json.loads(program("info", path, "--json"))
            ours = fathom.open(path).info
            for key in ("format", "levels", "metrics", "contexts", "locations", "parameters", "points"):
                self.assertEqual(ours.get(key), theirs.get(key), (path, key))

    def test_errors_say_where_and_what(self) -> None:
        with self.assertRaises(fathom.UsageError) as caught:
            fathom.open("/no/such/file")
        self.assertEqual(caught.exception.file, "/no/such/file")
        with self.assertRaises(fathom.Error):
            fathom.open(__file__)
        dataset = fathom.open(PROFILE)
        with self.assertRaisesRegex(fathom.UsageError, "did you mean 'time'"):
            dataset.table("value", metric="tiem")
        with self.assertRaisesRegex(fathom.UsageError, "no bound 'from_ns'"):
            dataset.table("value", from_ns=3)
        with self.assertRaisesRegex(fathom.UsageError, "no trace"):
            dataset.trace
        with self.assertRaises(KeyError):
            dataset.table("value")["valeu"]
        dataset.close()
        with self.assertRaises(fathom.UsageError):
            dataset.tables

    def test_files_that_shrink_are_errors_and_others_go_on(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            # Less than a page, for which there is no signal; then many.
            for path, member, size in (("examples/ring", "ring-0002.bin", 100), (PROFILE, "", 4096)):
                copy = os.path.join(folder, os.path.basename(path))
                if member:
                    shutil.copytree(path, copy)
                else:
                    shutil.copy(path, copy)
                dataset = fathom.open(copy)
                other = fathom.open(PROFILE)
                os.truncate(os.path.join(copy, member) if member else copy, size)
                time.sleep(0.2)  # sizes are not looked at all the time where that takes long
                for _ in range(2):
                    with self.assertRaisesRegex(fathom.Error, "became shorter") as caught:
                        dataset.table("value").to_pandas()
                    self.assertTrue(str(caught.exception.file).startswith(copy), caught.exception.file)
                if member:
                    self.assertGreater(len(other.table("value").to_pandas()), 0)
                self.assertGreater(len(fathom.open(PROFILE).table("value").to_pandas()), 0)

    def test_shows_itself_in_notebooks(self) -> None:
        dataset = fathom.open(PROFILE)
        self.assertIn("stencil.cubex", dataset._repr_html_())
        self.assertIn("<details", dataset.profile.tree()._repr_html_())
        self.assertIn("<table>", dataset.table("metric")._repr_html_())
        self.assertIn("<svg", fathom.model(EXPERIMENT)._repr_html_())


class Tables(unittest.TestCase):
    def test_values_are_those_of_the_program(self) -> None:
        rows = csv.DictReader(io.StringIO(program("table", PROFILE, "--csv", "--inclusive")))
        theirs = sorted((r["metric"], int(r["context"]), int(r["location"]), float(r["value"])) for r in rows)
        table = fathom.open(PROFILE).table("value", flavour="inclusive")
        ours = sorted(zip(table["metric"], table["context"].tolist(), table["location"].tolist(),
                          table["value"].tolist()))
        self.assertEqual(ours, theirs)

    def test_bounds_and_columns(self) -> None:
        table = fathom.open(PROFILE).table("value", ["value", "location"], metric="time", location=range(8))
        self.assertEqual(table.columns, ["value", "location"])
        self.assertEqual(set(table["location"].tolist()), set(range(8)))

    def test_numbers_are_views_that_outlive_everything(self) -> None:
        dataset = fathom.open(PROFILE)
        table = dataset.table("value", metric="time")
        values = table["value"]
        self.assertEqual(len(list(table.batches())), 1)
        self.assertFalse(values.flags.owndata)
        self.assertFalse(values.flags.writeable)
        before = values.sum()
        dataset.close()
        del dataset, table
        gc.collect()
        self.assertEqual(values.sum(), before)

    def test_pandas(self) -> None:
        frame = fathom.open(TRACE).table("event").to_pandas()
        self.assertEqual(len(frame), 196)
        self.assertEqual(str(frame["kind"].dtype), "category")
        self.assertEqual(str(frame["peer"].dtype), "Int64")
        self.assertTrue(frame.loc[frame["kind"] == "enter", "peer"].isna().all())
        self.assertEqual(set(frame["location"]), {0, 1, 2, 3})

    def test_batches_join_to_the_same(self) -> None:
        dataset = fathom.open(TRACE)
        whole = dataset.table("event").to_dicts()
        small = dataset.table("event", batch_rows=7)
        self.assertGreater(len(list(small.batches())), 20)
        self.assertEqual(small.to_dicts(), whole)

    def test_arrow_stream_protocol(self) -> None:
        table = fathom.open(PROFILE).table("value")
        capsule = table.__arrow_c_stream__()
        self.assertIn("arrow_array_stream", repr(capsule))
        del capsule  # nobody took it: it is released
        gc.collect()

    def test_diagnostics_is_a_list(self) -> None:
        self.assertEqual(fathom.open(PROFILE).diagnostics, [])

    def test_many_threads(self) -> None:
        dataset = fathom.open(TRACE)
        counts = []

        def work() -> None:
            for _ in range(20):
                counts.append(len(dataset.table("event")))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [196] * 80)


class Levels(unittest.TestCase):
    def test_top_is_that_of_the_program(self) -> None:
        theirs = json.loads(program("top", PROFILE, "-n", "3", "--json", "--metric", "time"))
        rows = theirs["rows"] if isinstance(theirs, dict) else theirs
        ours = fathom.open(PROFILE).profile.top(3)
        self.assertEqual(len(ours), 3)
        for one, row in zip(ours.itertuples(), rows):
            self.assertAlmostEqual(one.exclusive, row["exclusive"]["time"], places=9)

    def test_tree_adds_up(self) -> None:
        tree = fathom.open(PROFILE).profile.tree("time")
        total = sum(node.exclusive for node in tree.walk())
        self.assertAlmostEqual(total, tree.inclusive, places=9)
        self.assertAlmostEqual(total, 60.2816, places=3)

    def test_diff_of_the_same_is_nothing(self) -> None:
        dataset = fathom.open(PROFILE)
        frame = fathom.diff(dataset, dataset)
        self.assertEqual(len(frame), 15)
        self.assertTrue((frame["change"] == 0).all())

    def test_models_are_those_of_the_program(self) -> None:
        theirs = json.loads(program("model", EXPERIMENT, "--json", "--predict", "p=4096"))
        models = fathom.model(EXPERIMENT)
        self.assertEqual(len(models), len(theirs))
        for row, forecast, one in zip(models.table.to_dicts(), models.predict(p=4096), theirs):
            self.assertEqual(row["function"], one["function"])
            self.assertEqual(forecast["value"], one["predictions"][0]["value"])
            self.assertEqual(forecast["low"], one["predictions"][0]["low"])
        with self.assertRaises(fathom.UsageError):
            models.predict(q=3)
        with self.assertRaises(fathom.UsageError):
            fathom.model(EXPERIMENT, modeler="none of them")


    def test_report_is_that_of_the_program(self) -> None:
        for path in (PROFILE, TRACE):
            expected = json.loads(program("report", path, "--json"))
            del expected["diagnostics"]
            found = fathom.open(path).report()
            self.assertEqual(dict(found), expected)
            for one in found.findings:
                self.assertIn(one["text"], str(found))
        self.assertIn("<table>", found._repr_html_())

    def test_reduce_has_its_options(self) -> None:
        trace = fathom.open(TRACE).trace
        whole = trace.reduce()
        self.assertEqual(whole.levels, ["profile"])
        total = lambda ds, metric: sum(ds.profile.totals(metric)["exclusive"].tolist())  # noqa: E731
        parts = trace.reduce(windows=4)
        self.assertAlmostEqual(total(whole, "time"), total(parts, "time"))
        self.assertEqual(parts.info["locations"], 4 * whole.info["locations"])
        names = [row["name"] for row in trace.reduce(split="peer").table("context").to_dicts()]
        self.assertTrue(any(name.startswith("peer ") for name in names), names)
        with self.assertRaises(fathom.UsageError):
            trace.reduce(split="colour")
        with self.assertRaises(fathom.UsageError):
            trace.reduce(from_ns=5, to_ns=5)

    def test_hatchet_gets_the_tree(self) -> None:
        """With a stand-in that keeps what it is given, where hatchet is not installed."""
        class GraphFrame:
            @staticmethod
            def from_literal(literal: list[dict[str, Any]]) -> list[dict[str, Any]]:
                return literal

        stand_in = types.ModuleType("hatchet")
        stand_in.GraphFrame = GraphFrame  # type: ignore[attr-defined]
        before = sys.modules.get("hatchet")
        sys.modules["hatchet"] = stand_in
        try:
            roots = fathom.open(PROFILE).to_hatchet("time")
        finally:
            del sys.modules["hatchet"]
            if before is not None:
                sys.modules["hatchet"] = before
        tree = fathom.open(PROFILE).profile.tree("time")

        def compare(literal: list[dict[str, Any]], nodes: list[Any]) -> None:
            self.assertEqual([one["frame"]["name"] for one in literal], [node.name for node in nodes])
            for one, node in zip(literal, nodes):
                self.assertEqual(one["metrics"], {"time": node.exclusive, "time (inc)": node.inclusive})
                compare(one["children"], node.children)

        compare(roots, tree.children)

    def test_a_model_shows_its_plot(self) -> None:
        html = fathom.model(EXPERIMENT)._repr_html_()
        self.assertIn("<svg", html)
        xml.etree.ElementTree.fromstring(html[html.index("<svg"):html.index("</svg>") + 6])

    def test_ctrl_c_stops(self) -> None:
        # Python ignores what is raised while an object is freed: a signal that hits such a moment has to come again.
        code = ("import fathom, os, signal, threading\n"
                f"trace = fathom.open({TRACE!r}).trace\n"
                "for at in (0.5, 10, 20, 30):\n"
                "    timer = threading.Timer(at, os.kill, (os.getpid(), signal.SIGINT))\n"
                "    timer.daemon = True\n"
                "    timer.start()\n"
                "try:\n"
                "    while True: trace.reduce()\n"
                "except KeyboardInterrupt: print('stopped')\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "stopped\n", done.stderr)


class Sql(unittest.TestCase):
    def setUp(self) -> None:
        try:
            fathom.open(PROFILE).sql("SELECT 1")
        except fathom.UsageError as error:
            if "DuckDB" in str(error):
                self.skipTest(str(error))

    def test_answers(self) -> None:
        dataset = fathom.open(PROFILE)
        rows = dataset.sql("SELECT metric, count(*) AS n FROM value GROUP BY metric ORDER BY metric").to_dicts()
        self.assertEqual([row["metric"] for row in rows], ["bytes_sent", "time", "visits"])
        self.assertEqual(sum(row["n"] for row in rows), len(dataset.table("value")))
        with self.assertRaises(fathom.UsageError):
            dataset.sql("SELECT * FROM read_csv('/etc/passwd')")

    def test_two_datasets(self) -> None:
        one, two = fathom.open(PROFILE), fathom.open(PROFILE)
        rows = one.sql("SELECT count(*) AS n FROM this.value JOIN b.value USING (metric, context, location, value)", b=two)
        self.assertEqual(rows.to_dicts()[0]["n"], len(one.table("value")))


class Leaks(unittest.TestCase):
    def test_a_thousand_opens(self) -> None:
        def resident() -> int:
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * 4096

        def once() -> None:
            dataset = fathom.open(PROFILE)
            table = dataset.table("value", metric="time")
            assert len(table) > 0
            table["metric"]
            table.__arrow_c_stream__()

        for _ in range(200):
            once()
        gc.collect()
        before = resident()
        for _ in range(1000):
            once()
        gc.collect()
        # A dataset that leaked would take far more than this each time.
        self.assertLess(resident() - before, 8 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=1)
