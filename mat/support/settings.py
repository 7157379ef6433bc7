"""Settings: what holds in this context (``with mat.settings(...)``) or for good
(``mat.configure(...)``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..errors import SettingError
from .dtypes import as_dtype

FLOAT64: np.dtype[Any] = np.dtype(np.float64)
_TORN = ("raise", "warn", "ignore")


@dataclass(frozen=True, slots=True)
class Options:
    """One state of all settings."""

    dtype: np.dtype[Any] = FLOAT64
    print_contents: bool = True
    print_facets: bool = True
    device_enabled: bool = True
    torn: str = "raise"
    page_locked: bool = False  # where there is CUDA
    page_locked_bytes: int = 1 << 30  # kept for the next use
    threads: int | None = None  # None: as many as there are cores for this process


_context: ContextVar[Options | None] = ContextVar("mat_settings", default=None)
THREADS: list[Callable[[], None]] = []  # called when the number of threads changes, or changes back
CONTEXTS: list[None] = []  # one for each block that has a number of threads of its own
_lasting = Options()  # what `configure` replaces


def current() -> Options:
    """The settings that hold here and now."""
    return _context.get() or _lasting


def _changed(options: Options, changes: dict[str, Any]) -> Options:
    known = [f.name for f in fields(Options)]
    for name, value in changes.items():
        if name not in known:
            raise SettingError(f"no setting {name!r}; there are {', '.join(known)}")
        if name == "torn" and value not in _TORN:
            raise SettingError(f"torn is one of {', '.join(map(repr, _TORN))}, got {value!r}")
        if name == "threads" and value is not None and (isinstance(value, bool)
                                                        or not isinstance(value, int) or value < 1):
            raise SettingError("threads is a number above 0, or None for one on each core, got "
                               f"{value!r}")
        if name == "page_locked_bytes" and (isinstance(value, bool) or not isinstance(value, int)
                                            or value < 0):
            raise SettingError(f"page_locked_bytes is a number of bytes, got {value!r}")
        if name not in ("torn", "dtype", "threads",
                        "page_locked_bytes") and not isinstance(value, bool):
            raise SettingError(f"{name} is True or False, got {value!r}")
    if "dtype" in changes:
        changes = {**changes, "dtype": as_dtype(changes["dtype"])}
    return replace(options, **changes)


class Settings:
    """``with mat.settings(dtype="float32"):`` changes settings for the block, in this thread or
    task only.

    ``mat.settings.dtype`` and its like read what holds now. The settings: ``dtype`` of new Mats,
    ``print_contents`` and ``print_facets`` for the printer, ``device_enabled`` of new Mats,
    ``torn``: what reading half-written data does ("raise", "warn", "ignore"), ``page_locked``:
    whether the host's memory of what is copied from or to a GPU is page-locked, or else such copies
    are staged through memory that is (no effect without CUDA), ``page_locked_bytes`` of which are
    kept for the next use, and ``threads`` that share a large operation of our own kernels (None:
    one on each core; BLAS has threads of its own).

    >>> import mat
    >>> with mat.settings(dtype="float32"):
    ...     print(mat.settings.dtype)
    float32
    """

    @contextmanager
    def __call__(self, **changes: Any) -> Iterator[Options]:
        options = _changed(current(), changes)
        own = "threads" in changes
        if own:
            CONTEXTS.append(None)
            _tell_threads()
        token = _context.set(options)
        try:
            yield options
        finally:
            _context.reset(token)
            if own:
                CONTEXTS.pop()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(current(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise SettingError(f"settings are changed by mat.configure({name}={value!r}), or for a "
                           "block by mat.settings(...)")

    def __dir__(self) -> list[str]:
        return [f.name for f in fields(Options)]

    def __repr__(self) -> str:
        return repr(current()).replace("Options", "mat.settings")


settings = Settings()


def configure(**changes: Any) -> None:
    """Change settings for good, in every thread; inside a ``with mat.settings`` block that block's
    still hold.

    >>> import mat
    >>> mat.configure(print_facets=True)
    """
    global _lasting
    _lasting = _changed(_lasting, changes)
    if "threads" in changes:
        _tell_threads()


def _tell_threads() -> None:
    for callback in THREADS:
        callback()
