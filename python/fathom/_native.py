"""The C interface of libfathom (fathom/fathom.h) through ctypes. Calls release the GIL."""
from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, Callable, Optional, TypeVar

T = TypeVar("T")


class ArrowSchema(Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowSchema))), ("private_data", c_void_p)]


class ArrowArray(Structure):
    pass


ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowArray))), ("private_data", c_void_p)]


class ArrowArrayStream(Structure):
    pass


ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowArrayStream))),
    ("private_data", c_void_p)]

ProgressCallback = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64, c_int)


class OpenOptions(Structure):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("strict", c_int), ("threads", c_uint),
                ("max_memory", c_uint64), ("cancel", c_void_p), ("progress", ProgressCallback), ("user", c_void_p),
                ("options", POINTER(c_char_p))]


class Bounds(Structure):
    _fields_ = [("size", c_size_t), ("columns", POINTER(c_char_p)), ("from_ns", POINTER(c_int64)),
                ("to_ns", POINTER(c_int64)), ("locations", POINTER(c_char_p)), ("metrics", POINTER(c_char_p)),
                ("contexts", POINTER(c_char_p)), ("flavour", c_char_p), ("part", c_int64), ("batch_rows", c_uint64)]


def _library_path() -> str:
    """FATHOM_LIBRARY, then beside the module, then what the loader finds."""
    named = os.environ.get("FATHOM_LIBRARY")
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    for place in (here / "libfathom.so", here / "libfathom.so.0", here.parent.parent / "build" / "libfathom.so"):
        if place.exists():
            return str(place)
    return "libfathom.so.0"


lib = ctypes.CDLL(_library_path())

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "fathom_error_kind": (c_int, [c_void_p]),
    "fathom_error_text": (c_char_p, [c_void_p]),
    "fathom_error_hint": (c_char_p, [c_void_p]),
    "fathom_error_file": (c_char_p, [c_void_p]),
    "fathom_error_offset": (c_int64, [c_void_p]),
    "fathom_error_line": (c_int64, [c_void_p]),
    "fathom_error_free": (None, [c_void_p]),
    "fathom_cancel_new": (c_void_p, []),
    "fathom_cancel_request": (None, [c_void_p]),
    "fathom_cancel_reset": (None, [c_void_p]),
    "fathom_cancel_free": (None, [c_void_p]),
    "fathom_open": (c_void_p, [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)]),
    "fathom_close": (None, [c_void_p]),
    "fathom_format": (c_char_p, [c_void_p]),
    "fathom_levels": (c_char_p, [c_void_p]),
    "fathom_info": (c_void_p, [c_void_p, c_int, POINTER(c_void_p)]),
    "fathom_text_free": (None, [c_void_p]),
    "fathom_report": (c_void_p, [c_void_p, POINTER(c_void_p)]),
    "fathom_reduce": (c_void_p, [c_void_p, POINTER(c_char_p), POINTER(c_void_p)]),
    "fathom_table_count": (c_size_t, [c_void_p]),
    "fathom_table_name": (c_char_p, [c_void_p, c_size_t]),
    "fathom_table": (c_int, [c_void_p, c_char_p, POINTER(Bounds), POINTER(ArrowArrayStream), POINTER(c_void_p)]),
    "fathom_table_parts": (c_int64, [c_void_p, c_char_p, POINTER(Bounds), POINTER(c_void_p)]),
    "fathom_sql": (c_int, [POINTER(c_void_p), POINTER(c_char_p), c_size_t, c_char_p, POINTER(ArrowArrayStream),
                           POINTER(c_void_p)]),
    "fathom_fit": (c_void_p, [c_void_p, c_char_p, c_char_p, POINTER(c_char_p), POINTER(c_void_p)]),
    "fathom_models_free": (None, [c_void_p]),
    "fathom_models_count": (c_size_t, [c_void_p]),
    "fathom_models_parameter_count": (c_size_t, [c_void_p]),
    "fathom_models_parameter": (c_char_p, [c_void_p, c_size_t]),
    "fathom_models_table": (c_int, [c_void_p, POINTER(ArrowArrayStream), POINTER(c_void_p)]),
    "fathom_models_predict": (c_int, [c_void_p, c_size_t, POINTER(c_double), c_size_t, c_double, POINTER(c_double),
                                      POINTER(c_void_p)]),
    "fathom_version": (c_char_p, []),
}
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments


class Error(Exception):
    """Something that Fathom could not do: with the file and the place in it where that is known."""

    def __init__(self, text: str, hint: str = "", file: str = "", offset: Optional[int] = None,
                 line: Optional[int] = None) -> None:
        super().__init__(text + (f"\n  {hint}" if hint else ""))
        self.text = text
        self.hint = hint
        self.file = file
        self.offset = offset
        self.line = line


class UsageError(Error, ValueError):
    """The request itself is wrong: a name, a path, an option."""


class RefusedError(Error):
    """The data were judged and refused (strict)."""


def raise_error(error: c_void_p) -> None:
    if not error:
        raise Error("it failed without saying why (no memory?)")
    kind = lib.fathom_error_kind(error)
    text = lib.fathom_error_text(error).decode(errors="replace")
    hint = lib.fathom_error_hint(error).decode(errors="replace")
    file = lib.fathom_error_file(error).decode(errors="replace")
    offset = lib.fathom_error_offset(error)
    line = lib.fathom_error_line(error)
    lib.fathom_error_free(error)
    if kind == 3:
        raise KeyboardInterrupt(text)
    made = {1: UsageError, 2: RefusedError}.get(kind, Error)
    raise made(text, hint, file, None if offset < 0 else offset, None if line < 0 else line)


class Cancel:
    """Stops what runs; freed with the last one who has it."""

    def __init__(self) -> None:
        self.pointer = lib.fathom_cancel_new()

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            lib.fathom_cancel_free(self.pointer)
            self.pointer = None


def interruptible(cancel: Cancel, work: Callable[[], T]) -> T:
    """Runs work on another thread when this is the main one, so that Ctrl-C is seen and stops it."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
        return work()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:  # handed over to the thread that asked
            outcome.append((False, error))

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    try:
        worker.join()
    except KeyboardInterrupt:
        lib.fathom_cancel_request(cancel.pointer)
        worker.join()
        lib.fathom_cancel_reset(cancel.pointer)
        raise
    done, result = outcome[0]
    if not done:
        raise result
    return result  # type: ignore[no-any-return]


def texts(values: Optional[list[str]]) -> Any:
    """A list that ends with NULL, as the C interface takes it."""
    if values is None:
        return None
    return (c_char_p * (len(values) + 1))(*[value.encode() for value in values], None)


def version() -> str:
    return str(lib.fathom_version().decode())
