"""Scaling models of an experiment or a directory of runs."""
from __future__ import annotations

import functools
from ctypes import byref, c_double, c_void_p
from html import escape
from typing import Any, Optional, Union

from . import _native as native
from .dataset import Dataset, open
from .table import Table


class Models:
    """One model for every call path and metric."""

    def __init__(self, dataset: Dataset, modeler: str, measure: str, options: dict[str, Any]) -> None:
        self._pointer: Optional[int] = None
        self._dataset = dataset
        pairs: list[str] = []
        for name, value in options.items():
            pairs += [name, str(value)]
        error = c_void_p()
        call = functools.partial(native.lib.fathom_fit, dataset._handle, modeler.encode(), measure.encode(),
                                 native.texts(pairs), byref(error))
        self._pointer = native.interruptible(dataset._cancel, call)
        if not self._pointer:
            native.raise_error(error)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            native.lib.fathom_models_free(self._pointer)
            self._pointer = None

    def __len__(self) -> int:
        return int(native.lib.fathom_models_count(self._pointer))

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in order."""
        count = native.lib.fathom_models_parameter_count(self._pointer)
        return [native.lib.fathom_models_parameter(self._pointer, i).decode() for i in range(count)]

    @property
    def table(self) -> Table:
        """set, metric, context, path, function, quality."""

        def open_stream(stream: native.ArrowArrayStream) -> None:
            error = c_void_p()
            if native.lib.fathom_models_table(self._pointer, byref(stream), byref(error)) != 0:
                native.raise_error(error)

        return Table("model", open_stream, self._dataset._cancel)

    def predict(self, level: float = 0.95, **point: float) -> list[dict[str, Any]]:
        """What every model says about a point, with the interval of a new run: models.predict(p=4096)."""
        names = self.parameters
        wrong = set(point) ^ set(names)
        if wrong:
            raise native.UsageError(f"a point has the parameters {', '.join(names)}; wrong or missing: "
                                    f"{', '.join(sorted(wrong))}")
        at = (c_double * len(names))(*[float(point[name]) for name in names])
        out = []
        for number, row in enumerate(self.table.to_dicts()):
            values = (c_double * 3)()
            error = c_void_p()
            status = native.lib.fathom_models_predict(self._pointer, number, at, len(names), level, values, byref(error))
            if status != 0:
                native.raise_error(error)
            out.append({"callpath": row["path"], "metric": row["metric"], "value": values[0], "low": values[1],
                        "high": values[2]})
        return out

    def plot(self, callpath: str, metric: Optional[str] = None, width: int = 480, height: int = 300) -> str:
        """The model of a call path over its one parameter, with the measurements, as SVG."""
        if len(self.parameters) != 1:
            raise native.UsageError("a plot has one parameter")
        rows = self.table.to_dicts()
        chosen = [(i, row) for i, row in enumerate(rows)
                  if row["path"] == callpath and (metric is None or row["metric"] == metric)]
        if not chosen:
            raise native.UsageError(f"there is no model of '{callpath}'")
        number, row = chosen[0]
        points = {one["id"]: one for one in self._dataset.table("point").to_dicts()}
        name = [key for key in next(iter(points.values())) if key not in ("id", "name")][0]
        measured = sorted((points[one["point"]][name], one["mean"])
                          for one in self._dataset.table("measurement", metric=row["metric"],
                                                         context=row["context"]).to_dicts())
        low, high = measured[0][0], measured[-1][0] * 2
        curve = []
        for step in range(101):
            x = low + (high - low) * step / 100
            values = (c_double * 3)()
            native.lib.fathom_models_predict(self._pointer, number, (c_double * 1)(x), 1, 0.95, values, None)
            curve.append((x, values[0]))
        top = max([y for _, y in curve + measured] + [1e-300])

        def place(x: float, y: float) -> tuple[float, float]:
            return 50 + (width - 70) * (x - low) / ((high - low) or 1), height - 30 - (height - 60) * y / top

        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
        dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='#c33'/>"
                       for x, y in (place(*point) for point in measured))
        return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' font-size='11'>"
                f"<polyline points='{line}' fill='none' stroke='#36c' stroke-width='2'/>{dots}"
                f"<text x='50' y='15'>{escape(callpath)} ({escape(row['metric'])}): {escape(row['function'])}</text>"
                f"<text x='{width // 2}' y='{height - 8}'>{escape(name)}</text></svg>")

    def _repr_html_(self) -> str:
        html = self.table._repr_html_()
        if len(self.parameters) == 1 and len(self) > 0:
            first = self.table.to_dicts()[0]
            html = self.plot(first["path"], first["metric"]) + html
        return str(html)


def model(runs: Union[Dataset, str], modeler: str = "default", measure: str = "mean", **options: Any) -> Models:
    """Fits a model for every call path and metric of an experiment or a directory of runs.

    modeler: default, basic, refining, segmented, multi-parameter, robust; options as `fathom model --option` has them.
    """
    dataset = runs if isinstance(runs, Dataset) else open(runs)
    return Models(dataset, modeler, measure, options)
