"""Datasets: what was opened, its levels and tables."""
from __future__ import annotations

import ctypes
import functools
import json
import os
import sys
from ctypes import byref, c_char_p, c_int64, c_void_p
from html import escape
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from . import _native as native
from .levels import Profile, Report, Trace
from .table import Batch, Table

Choice = Union[None, str, int, Iterable[Union[str, int]]]


def _list(values: Choice) -> Optional[list[str]]:
    if values is None:
        return None
    if isinstance(values, (str, int)):
        return [str(values)]
    return [str(value) for value in values]


def _terminal_progress(label: str, done: int, total: int, finished: bool) -> None:
    if finished:
        sys.stderr.write("\r\x1b[K")
    else:
        sys.stderr.write(f"\r\x1b[K{label} {100 * done // max(total, 1)}%")
    sys.stderr.flush()


class Dataset:
    """A dataset of any format. Made by fathom.open(); closed when nobody has it any more."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], format: Optional[str] = None, strict: bool = False,
                 threads: int = 0, max_memory: int = 0,
                 progress: Union[bool, Callable[[str, int, int, bool], None]] = False, **options: Any) -> None:
        self._pointer: Optional[int] = None
        self._cancel = native.Cancel()
        given = native.OpenOptions()
        given.size = ctypes.sizeof(given)
        given.format = format.encode() if format else None
        given.strict = int(strict)
        given.threads = threads
        given.max_memory = max_memory
        given.cancel = self._cancel.pointer
        tell: Any = _terminal_progress if progress is True else progress
        # The callback must live as long as the dataset: every later call may report, too.
        self._progress: Any = None
        if callable(tell):
            def report(_user: Any, label: bytes, done: int, total: int, finished: int) -> None:
                try:
                    tell(label.decode(errors="replace"), done, total, bool(finished))
                except Exception:  # a display that fails must not stop the work
                    pass

            self._progress = native.ProgressCallback(report)
            given.progress = self._progress
        pairs: list[str] = []
        for name, value in options.items():
            pairs += [name.replace("_", "-"), str(value).lower() if isinstance(value, bool) else str(value)]
        given.options = native.texts(pairs)
        error = c_void_p()
        self.path = os.fspath(path)
        call = functools.partial(native.lib.fathom_open, os.fsencode(path), byref(given), byref(error))
        self._pointer = native.interruptible(self._cancel, call)
        if not self._pointer:
            native.raise_error(error)

    def close(self) -> None:
        """Lets go of the files. Tables and arrays that exist stay usable."""
        if self._pointer:
            native.lib.fathom_close(self._pointer)
            self._pointer = None

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and native.lib is not None:
            self.close()

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _handle(self) -> int:
        if not self._pointer:
            raise native.UsageError("the dataset is closed")
        return self._pointer

    @property
    def format(self) -> str:
        """The name of the format."""
        return str(native.lib.fathom_format(self._handle).decode())

    @property
    def levels(self) -> list[str]:
        """What it holds: trace, profile, experiment, model."""
        return str(native.lib.fathom_levels(self._handle).decode()).split()

    @property
    def info(self) -> dict[str, Any]:
        """What `fathom info --json` says."""
        error = c_void_p()
        text = native.lib.fathom_info(self._handle, 0, byref(error))
        if not text:
            native.raise_error(error)
        out: dict[str, Any] = json.loads(ctypes.string_at(text).decode())
        native.lib.fathom_text_free(text)
        return out

    @property
    def tables(self) -> list[str]:
        """Names of its tables."""
        count = native.lib.fathom_table_count(self._handle)
        return [native.lib.fathom_table_name(self._handle, i).decode() for i in range(count)]

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What was noticed while reading and did not stop it."""
        return self.table("diagnostic").to_dicts()

    def table(self, name: str, columns: Optional[Iterable[str]] = None, *, metric: Choice = None,
              location: Choice = None, context: Choice = None, from_ns: Optional[int] = None,
              to_ns: Optional[int] = None, flavour: Optional[str] = None, batch_rows: int = 0) -> Table:
        """A table, or the part of it within the bounds: ds.table("value", metric="time", location=range(8))."""
        wanted = None if columns is None else list(columns)
        chosen = (_list(metric), _list(location), _list(context))
        dataset = self

        def open_stream(stream: native.ArrowArrayStream) -> None:
            bounds = native.Bounds()
            bounds.size = ctypes.sizeof(bounds)
            bounds.columns = native.texts(wanted)
            bounds.metrics, bounds.locations, bounds.contexts = (native.texts(one) for one in chosen)
            if from_ns is not None:
                bounds.from_ns = ctypes.pointer(c_int64(from_ns))
            if to_ns is not None:
                bounds.to_ns = ctypes.pointer(c_int64(to_ns))
            bounds.flavour = flavour.encode() if flavour else None
            bounds.part = -1
            bounds.batch_rows = batch_rows
            error = c_void_p()
            status = native.lib.fathom_table(dataset._handle, name.encode(), byref(bounds), byref(stream), byref(error))
            if status != 0:
                native.raise_error(error)

        made = Table(name, open_stream, self._cancel)
        made.columns  # a wrong name is an error now, not later
        return made

    def events(self, columns: Optional[Iterable[str]] = None, **bounds: Any) -> Iterator[Batch]:
        """The events of a trace batch by batch, location after location."""
        return self.table("event", columns, **bounds).batches()

    def sql(self, query: str, **others: "Dataset") -> Table:
        """SQL over this dataset; with others, this one is the schema `this` and they are schemas of their names."""
        datasets = [self, *others.values()]
        names = ["this", *others] if others else [""]

        def open_stream(stream: native.ArrowArrayStream) -> None:
            handles = (c_void_p * len(datasets))(*[one._handle for one in datasets])
            schemas = (c_char_p * len(names))(*[name.encode() for name in names])
            error = c_void_p()
            status = native.lib.fathom_sql(handles, schemas, len(datasets), query.encode(), byref(stream), byref(error))
            if status != 0:
                native.raise_error(error)

        made = Table("result", open_stream, self._cancel)
        made.columns
        return made

    @property
    def profile(self) -> Profile:
        """Level 2: trees and rankings."""
        if "profile" not in self.levels:
            raise native.UsageError(f"{self.path} has no profile; it has: {', '.join(self.levels)}")
        return Profile(self)

    @property
    def trace(self) -> Trace:
        """Level 1: events and messages."""
        if "trace" not in self.levels:
            raise native.UsageError(f"{self.path} has no trace; it has: {', '.join(self.levels)}")
        return Trace(self)

    def report(self) -> "Report":
        """What is wrong and why: the findings of `fathom report`, the costliest first."""
        error = c_void_p()
        call = functools.partial(native.lib.fathom_report, self._handle, byref(error))
        text = native.interruptible(self._cancel, call)
        if not text:
            native.raise_error(error)
        found: dict[str, Any] = json.loads(ctypes.string_at(text).decode())
        native.lib.fathom_text_free(text)
        return Report(found)

    def _reduced(self, options: list[str]) -> "Dataset":
        error = c_void_p()
        call = functools.partial(native.lib.fathom_reduce, self._handle, native.texts(options), byref(error))
        pointer = native.interruptible(self._cancel, call)
        if not pointer:
            native.raise_error(error)
        made = Dataset.__new__(Dataset)
        made._pointer = pointer
        # What runs in it reports and stops as what it was made from does.
        made._cancel = self._cancel
        made._progress = getattr(self, "_progress", None)
        made.path = self.path
        return made

    def to_hatchet(self, metric: Optional[str] = None) -> Any:
        """A hatchet GraphFrame with exclusive and inclusive values, where hatchet is installed."""
        import hatchet

        return hatchet.GraphFrame.from_literal(self.profile.literal(metric))

    def __repr__(self) -> str:
        return f"<fathom.Dataset {self.path}: {self.format}, {', '.join(self.levels)}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th style='text-align:left'>{escape(str(key))}</th><td>{escape(str(value))}</td></tr>"
                       for key, value in self.info.items())
        tables = ", ".join(f"<code>{escape(name)}</code>" for name in self.tables)
        return f"<b>{escape(self.path)}</b><table>{rows}</table><p>tables: {tables}</p>"


def open(path: Union[str, "os.PathLike[str]"], format: Optional[str] = None, strict: bool = False, threads: int = 0,
         max_memory: int = 0, progress: Union[bool, Callable[[str, int, int, bool], None]] = False,
         **options: Any) -> Dataset:
    """Opens a file or directory of any format.

    format: take it as this format instead of recognising it; strict: every defect is an error; threads: 0 = all cores;
    max_memory: bytes; progress: True shows it on stderr, or a function (label, done, total, finished). Further options
    are those of the format, see `fathom formats NAME`.
    """
    return Dataset(path, format, strict, threads, max_memory, progress, **options)
