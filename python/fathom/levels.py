"""Views of the levels: trees, rankings, differences."""
from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional

import numpy as np

from . import _native as native
from .table import Batch, Table

if TYPE_CHECKING:
    import pandas

    from .dataset import Dataset


@dataclass
class Node:
    """A node of a call tree."""

    id: int
    name: str
    path: str
    exclusive: float = 0.0
    inclusive: float = 0.0
    children: list["Node"] = field(default_factory=list)

    def walk(self) -> Iterator["Node"]:
        """This node and all below it, depth first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def _lines(self, depth: int, most: int) -> Iterator[str]:
        yield f"{self.inclusive:12.6g} {self.exclusive:12.6g}  {'  ' * depth}{self.name}"
        if depth < most:
            for child in self.children:
                yield from child._lines(depth + 1, most)

    def __str__(self) -> str:
        return "\n".join(self._lines(0, 40))

    def _repr_html_(self) -> str:
        total = self.inclusive or 1.0

        def show(node: "Node", depth: int) -> str:
            share = 100 * node.inclusive / total
            text = f"{share:5.1f}% {node.inclusive:.6g} <b>{escape(node.name)}</b>"
            if not node.children or depth > 60:
                return f"<div style='margin-left:1.2em'>{text}</div>"
            inner = "".join(show(child, depth + 1) for child in node.children)
            is_open = " open" if share >= 50 and depth < 12 else ""
            return f"<details style='margin-left:1.2em'{is_open}><summary>{text}</summary>{inner}</details>"

        return show(self, 0)


class Profile:
    """The profile of a dataset."""

    def __init__(self, dataset: "Dataset") -> None:
        self.dataset = dataset

    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [name for name in self.dataset.table("metric", ["name"])["name"] if name is not None]

    def _metric(self, metric: Optional[str]) -> str:
        names = self.metrics()
        if metric is not None:
            return metric
        if not names:
            raise native.UsageError(f"{self.dataset.path} has no metrics")
        return "time" if "time" in names else names[0]

    def totals(self, metric: Optional[str] = None) -> Table:
        """Exclusive and inclusive values of contexts over all locations."""
        return self.dataset.table("total", metric=self._metric(metric))

    def tree(self, metric: Optional[str] = None) -> Node:
        """The call tree with one metric; its root stands for all roots."""
        contexts = self.dataset.table("context", ["id", "parent", "name", "path"])
        totals = self.totals(metric)
        ids = contexts["id"].tolist()
        parents = contexts.to_dicts()
        nodes = {row["id"]: Node(row["id"], row["name"] or "", row["path"] or "") for row in parents}
        for context, exclusive, inclusive in zip(totals["context"].tolist(), totals["exclusive"].tolist(),
                                                 totals["inclusive"].tolist()):
            nodes[context].exclusive = exclusive
            nodes[context].inclusive = inclusive
        root = Node(-1, self._metric(metric), "")
        for number, row in zip(ids, parents):
            above = nodes.get(row["parent"], root) if row["parent"] is not None else root
            above.children.append(nodes[number])
        root.inclusive = sum(child.inclusive for child in root.children)
        return root

    def top(self, n: int = 10, metric: Optional[str] = None) -> "pandas.DataFrame":
        """The regions with the largest exclusive values, over all contexts and locations."""
        import pandas

        contexts = self.dataset.table("context", ["id", "name"]).to_pandas()
        totals = self.totals(metric).to_pandas()
        joined = totals.merge(contexts, left_on="context", right_on="id")
        grouped = joined.groupby("name", observed=True).agg(exclusive=("exclusive", "sum"), contexts=("id", "count"))
        out = grouped.sort_values("exclusive", ascending=False).head(n).reset_index()
        whole = float(totals["exclusive"].sum())
        out["share"] = out["exclusive"] / whole if whole else np.nan
        return pandas.DataFrame(out)

    def literal(self, metric: Optional[str] = None) -> list[dict[str, Any]]:
        """The tree as nested dictionaries, as hatchet's from_literal takes them."""

        def make(node: Node) -> dict[str, Any]:
            return {"frame": {"name": node.name, "type": "function"},
                    "metrics": {"time (inc)": node.inclusive, "time": node.exclusive},
                    "children": [make(child) for child in node.children]}

        return [make(child) for child in self.tree(metric).children]


class Report(dict[str, Any]):
    """What `fathom report --json` says, as a dictionary; shows its findings in notebooks."""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings, the costliest first."""
        out: list[dict[str, Any]] = self.get("findings", [])
        return out

    def __str__(self) -> str:
        return "\n".join(f"{number}. {one['kind'].replace('_', ' ')} ({one['level']}, {100 * one['severity']:.1f}%)\n   {one['text']}"
                         for number, one in enumerate(self.findings, 1)) or "nothing found"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{100 * one['severity']:.1f}%</td><td>{escape(one['level'])}</td>"
                       f"<td style='text-align:left'><b>{escape(one['kind'].replace('_', ' '))}</b><br>{escape(one['text'])}</td></tr>"
                       for one in self.findings)
        return f"<table><tr><th>cost</th><th></th><th>finding</th></tr>{rows}</table>"


class Trace:
    """The trace of a dataset."""

    def __init__(self, dataset: "Dataset") -> None:
        self.dataset = dataset

    def events(self, **bounds: Any) -> Table:
        """All events, or those within bounds (from_ns, to_ns, location)."""
        return self.dataset.table("event", **bounds)

    def messages(self, **bounds: Any) -> Table:
        """Messages with both ends."""
        return self.dataset.table("message", **bounds)

    def reduce(self, from_ns: Optional[int] = None, to_ns: Optional[int] = None, windows: int = 1,
               split: Optional[str] = None, channels: Iterable[str] = ()) -> "Dataset":
        """The profile of this trace as a dataset of its own.

        from_ns, to_ns: only this part; windows: so many equal parts of it, each a location of its own beside the others;
        split: calls by "communicator", "peer" or "size" of their messages; channels: what these say a location does.
        """
        options: list[str] = []
        for name, value in (("from_ns", from_ns), ("to_ns", to_ns), ("split", split)):
            if value is not None:
                options += [name, str(value)]
        options += ["windows", str(windows)]
        for channel in channels:
            options += ["channel", channel]
        return self.dataset._reduced(options)

    def __iter__(self) -> Iterator[Batch]:
        return self.dataset.table("event").batches()


def diff(before: "Dataset", after: "Dataset", metric: Optional[str] = None) -> "pandas.DataFrame":
    """Call paths of two profiles side by side: inclusive values, their change, falling by its size."""

    def by_path(dataset: "Dataset", name: str) -> "pandas.DataFrame":
        totals = dataset.profile.totals(metric).to_pandas()
        paths = dataset.table("context", ["id", "path"]).to_pandas()
        joined = totals.merge(paths, left_on="context", right_on="id")
        joined["path"] = joined["path"].astype(str)
        return joined.groupby("path")["inclusive"].sum().rename(name).to_frame()

    joined = by_path(before, "before").join(by_path(after, "after"), how="outer").fillna(0.0)
    joined["change"] = joined["after"] - joined["before"]
    with np.errstate(divide="ignore", invalid="ignore"):
        joined["relative"] = joined["change"] / joined["before"]
    order = joined["change"].abs().sort_values(ascending=False).index
    return joined.loc[order].reset_index()
