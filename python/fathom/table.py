"""Tables: columns as numpy arrays, pandas frames, or Arrow streams for anything else."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_void_p, pythonapi
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional

import numpy as np

from . import _native as native

if TYPE_CHECKING:
    import pandas

Array = Any  # numpy.ndarray; numpy of Debian 12 has no stubs that mypy accepts for all of it


@dataclass(frozen=True)
class Texts:
    """A column of texts: codes into a list of categories; code -1 = no value."""

    codes: Array
    categories: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Optional[str]:
        code = int(self.codes[row])
        return None if code < 0 else self.categories[code]

    def __iter__(self) -> Iterator[Optional[str]]:
        return (self[row] for row in range(len(self)))

    def to_numpy(self) -> Array:
        """The texts themselves, as an array of objects; None where there is no value."""
        lookup = np.array(self.categories + [None], dtype=object)
        return lookup[self.codes]


Column = Any  # an array, or Texts

_NUMBERS = {"l": np.int64, "L": np.uint64, "g": np.float64, "i": np.int32}


class _Owner:
    """Keeps an Arrow array alive while numpy arrays look at its memory."""

    def __init__(self, array: native.ArrowArray) -> None:
        self.array = array

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(byref(self.array))


def _view(owner: _Owner, address: Optional[int], rows: int, dtype: Any) -> Array:
    """An array over foreign memory that holds on to its owner."""
    if rows == 0 or not address:
        return np.empty(0, dtype=dtype)
    size = rows * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * size).from_address(address)
    memory._owner = owner  # type: ignore[attr-defined]
    out = np.frombuffer(memory, dtype=dtype)  # type: ignore[call-overload]
    out.flags.writeable = False
    return out


def _validity(owner: _Owner, array: native.ArrowArray) -> Optional[Array]:
    if array.null_count == 0 or not array.buffers[0]:
        return None
    bits = _view(owner, array.buffers[0], (array.length + 7) // 8, np.uint8)
    return np.unpackbits(bits, count=array.length, bitorder="little").astype(bool)


def _words(owner: _Owner, array: native.ArrowArray) -> list[str]:
    offsets = _view(owner, array.buffers[1], array.length + 1, np.int64)
    if array.length == 0 or offsets[-1] == 0:
        return [""] * array.length
    memory = ctypes.string_at(array.buffers[2], int(offsets[-1]))
    ends = offsets.tolist()
    return [memory[a:b].decode(errors="replace") for a, b in zip(ends[:-1], ends[1:])]


class Batch:
    """Rows of some columns. Numbers are views of the library's memory, which lives as long as they do."""

    def __init__(self, schema: list[tuple[str, str]], array: native.ArrowArray) -> None:
        self._owner = _Owner(array)
        self._schema = schema
        self.columns = [name for name, _ in schema]

    def __len__(self) -> int:
        return int(self._owner.array.length)

    def __getitem__(self, column: str) -> Column:
        """An array of numbers, NaN (or 0 of integers, see valid()) where there is none; texts as codes."""
        position = self.columns.index(column)
        array = self._owner.array.children[position].contents
        form = self._schema[position][1]
        if array.dictionary:
            codes = _view(self._owner, array.buffers[1], array.length, np.int32)
            valid = _validity(self._owner, array)
            if valid is not None:
                codes = np.where(valid, codes, np.int32(-1))
            return Texts(codes, _words(self._owner, array.dictionary.contents))
        if form == "b":
            bits = _view(self._owner, array.buffers[1], (array.length + 7) // 8, np.uint8)
            return np.unpackbits(bits, count=array.length, bitorder="little").astype(bool)
        if form.startswith("d:"):
            halves = _view(self._owner, array.buffers[1], array.length * 2, np.int64).reshape(-1, 2)
            return np.array([(int(high) << 64) | (int(low) & 0xFFFFFFFFFFFFFFFF) for low, high in halves], dtype=object)
        values = _view(self._owner, array.buffers[1], array.length, _NUMBERS[form])
        valid = _validity(self._owner, array)
        if valid is not None and form == "g":
            values = np.where(valid, values, np.nan)
        return values

    def valid(self, column: str) -> Array:
        """True where there is a value."""
        array = self._owner.array.children[self.columns.index(column)].contents
        found = _validity(self._owner, array)
        return np.ones(len(self), dtype=bool) if found is None else found


def _joined(parts: list[Column]) -> Column:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Texts):
        # Dictionaries of batches differ where texts are made as they come.
        position: dict[str, int] = {}
        codes = []
        last: Optional[list[str]] = None
        for part in parts:
            if part.categories is not last and part.categories != last:
                numbers = [position.setdefault(word, len(position)) for word in part.categories]
                lookup = np.array(numbers + [-1], dtype=np.int32)
                last = part.categories
            codes.append(lookup[part.codes])
        return Texts(np.concatenate(codes), list(position))
    return np.concatenate([part for part in parts if not isinstance(part, Texts)])


class Table:
    """A table of a dataset: read when it is asked for, as often as wanted.

    table["value"] is a column, table.to_pandas() a frame, table.batches() goes through large ones piece by piece; and
    whatever takes an Arrow stream (polars, pyarrow, DuckDB, pandas 3) takes the table itself.
    """

    def __init__(self, name: str, open_stream: Callable[[native.ArrowArrayStream], None],
                 cancel: native.Cancel) -> None:
        self.name = name
        self._open = open_stream
        self._cancel = cancel
        self._kept: Optional[list[Batch]] = None
        self._schema_kept: Optional[list[tuple[str, str]]] = None

    def _stream(self) -> native.ArrowArrayStream:
        stream = native.ArrowArrayStream()
        native.interruptible(self._cancel, lambda: self._open(stream))
        return stream

    def _schema(self, stream: native.ArrowArrayStream) -> list[tuple[str, str]]:
        schema = native.ArrowSchema()
        _check(stream, stream.get_schema(byref(stream), byref(schema)))
        out = [(schema.children[i].contents.name.decode(), schema.children[i].contents.format.decode())
               for i in range(schema.n_children)]
        schema.release(byref(schema))
        return out

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        if self._schema_kept is None:
            stream = self._stream()
            try:
                self._schema_kept = self._schema(stream)
            finally:
                stream.release(byref(stream))
        return [name for name, _ in self._schema_kept]

    def batches(self) -> Iterator[Batch]:
        """Piece by piece; nothing is kept."""
        stream = self._stream()
        try:
            schema = self._schema(stream)
            while True:
                array = native.ArrowArray()
                _check(stream, native.interruptible(self._cancel, lambda: int(stream.get_next(byref(stream), byref(array)))))
                if not array.release:
                    return
                yield Batch(schema, array)
        finally:
            stream.release(byref(stream))

    def _all(self) -> list[Batch]:
        if self._kept is None:
            self._kept = list(self.batches())
        return self._kept

    def __len__(self) -> int:
        return sum(len(batch) for batch in self._all())

    def __getitem__(self, column: str) -> Column:
        """A column of numbers as a numpy array, without a copy when the table is one batch; texts as Texts."""
        if column not in self.columns:
            raise KeyError(f"the table '{self.name}' has no column '{column}'; it has: {', '.join(self.columns)}")
        parts = [batch[column] for batch in self._all()]
        return _joined(parts) if parts else np.empty(0)

    def to_pandas(self) -> "pandas.DataFrame":
        """A frame; texts are categoricals, integers with gaps are of pandas' nullable type."""
        import pandas

        out: dict[str, Any] = {}
        for name in self.columns:
            values = self[name]
            if isinstance(values, Texts):
                # Categories of a categorical are different from each other.
                unique, positions = np.unique(np.array(values.categories or [""], dtype=object), return_inverse=True)
                lookup = np.append(positions, -1).astype(np.int32)
                out[name] = pandas.Categorical.from_codes(lookup[values.codes], list(unique))
                continue
            valid = np.concatenate([batch.valid(name) for batch in self._all()] or [np.ones(0, dtype=bool)])
            if valid.all() or values.dtype.kind not in "iu":
                out[name] = values
            else:
                out[name] = pandas.arrays.IntegerArray(np.array(values), ~valid)
        return pandas.DataFrame(out)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Rows as dictionaries; for small tables."""
        lists = {}
        for name in self.columns:
            values = self[name]
            plain = list(values) if isinstance(values, Texts) else values.tolist()
            valid = np.concatenate([batch.valid(name) for batch in self._all()] or [np.ones(0, dtype=bool)])
            lists[name] = [value if known else None for value, known in zip(plain, valid)]
        return [dict(zip(lists, row)) for row in zip(*lists.values())]

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The Arrow PyCapsule protocol: polars, pyarrow, DuckDB and pandas take the table directly."""
        stream = self._stream()
        kept = _Capsule(stream)
        return kept.capsule()

    def __repr__(self) -> str:
        return f"<fathom.Table {self.name}({', '.join(self.columns)})>"

    def _repr_html_(self) -> str:
        rows = []
        count = 0
        for batch in self.batches():
            lists = {name: batch[name] for name in batch.columns}
            for row in range(min(len(batch), 10 - count)):
                rows.append([lists[name][row] for name in batch.columns])
            count = len(rows)
            if count >= 10:
                break
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
        more = "<p>…</p>" if count >= 10 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _check(stream: native.ArrowArrayStream, status: int) -> None:
    if status == 0:
        return
    import errno

    text = stream.get_last_error(byref(stream))
    message = text.decode(errors="replace") if text else "reading a table failed"
    if status == errno.ECANCELED:
        raise KeyboardInterrupt(message)
    raise native.Error(message)


_Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_NAME = b"arrow_array_stream"
pythonapi.PyCapsule_New.restype = ctypes.py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, _Destructor]
pythonapi.PyCapsule_GetPointer.restype = c_void_p
pythonapi.PyCapsule_GetPointer.argtypes = [c_void_p, c_char_p]


class _Capsule:
    """A stream inside a capsule; a consumer moves it out and leaves `release` empty."""

    _alive: dict[int, native.ArrowArrayStream] = {}

    def __init__(self, stream: native.ArrowArrayStream) -> None:
        self.stream = stream

    def capsule(self) -> Any:
        address = ctypes.addressof(self.stream)
        _Capsule._alive[address] = self.stream
        return pythonapi.PyCapsule_New(address, _NAME, _destroy)


def _destroy_capsule(capsule: int) -> None:
    address = pythonapi.PyCapsule_GetPointer(capsule, _NAME)
    stream = _Capsule._alive.pop(address, None)
    if stream is not None and stream.release:
        stream.release(byref(stream))


_destroy = _Destructor(_destroy_capsule)
