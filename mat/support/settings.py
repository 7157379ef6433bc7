"""Settings, for a block in this context (``with mat.settings(...)``) or permanently
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
from .types import DType, Keywords

FLOAT64: DType = np.dtype(np.float64)
_TORN = ("raise", "warn", "ignore")


@dataclass(frozen=True, slots=True)
class Options:
    """One state of all settings."""

    dtype: DType = FLOAT64
    print_contents: bool = True
    print_facets: bool = True
    device_enabled: bool = True
    torn: str = "raise"
    page_locked: bool = False  # if there is CUDA
    page_locked_bytes: int = 1 << 30  # cached for the next use
    threads: int | None = None  # None: one for each core that this process may use


_context: ContextVar[Options | None] = ContextVar("mat_settings", default=None)
THREADS: list[Callable[[], None]] = []  # called when the number of threads changes, or changes back
CONTEXTS: list[None] = []  # one item for each block that sets the number of threads
_permanent = Options()  # replaced by `configure`


def current() -> Options:
    """Return the settings of this context."""
    return _context.get() or _permanent


def _changed(options: Options, changes: Keywords) -> Options:
    """Return `options` with `changes`; raise `SettingError` for an invalid name or value."""
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
    """The settings; ``with mat.settings(dtype="float32"):`` changes them for a block.

    The change concerns the current thread or task only. ``mat.settings.dtype`` and the other
    attributes are the current values.

    Parameters
    ----------
    **changes
        New values of the attributes by name.

    Returns
    -------
    context manager
        Its value in the block has the attributes.

    Raises
    ------
    SettingError
        At the begin of the block: for an unknown setting, or a value that it cannot have.

    Attributes
    ----------
    dtype : dtype
        Of new Mats.
    print_contents, print_facets : bool
        True to print the elements of a Mat, and the letters of its facets.
    device_enabled : bool
        Of new Mats: True to have operations on them compute on the device in use.
    torn : {"raise", "warn", "ignore"}
        The effect of an access that reads half-written data.
    page_locked : bool
        True to page-lock host memory, so that copies from and to a GPU need no staging. No effect
        without CUDA.
    page_locked_bytes : int
        The most bytes of page-locked memory that are cached for the next use.
    threads : int or None
        The number of threads for large operations of `mat`'s own kernels; None: one for each core.
        BLAS has its own threads.

    Examples
    --------
    >>> import mat
    >>> with mat.settings(dtype="float32"):
    ...     print(mat.settings.dtype)
    float32
    """

    @contextmanager
    def __call__(self, **changes: object) -> Iterator[Options]:
        options = _changed(current(), changes)
        own = "threads" in changes
        if own:
            CONTEXTS.append(None)
            _notify_threads()
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

    def __setattr__(self, name: str, value: object) -> None:
        raise SettingError(f"settings are changed by mat.configure({name}={value!r}), or for a "
                           "block by mat.settings(...)")

    def __dir__(self) -> list[str]:
        return [f.name for f in fields(Options)]

    def __repr__(self) -> str:
        return repr(current()).replace("Options", "mat.settings")


settings = Settings()


def configure(**changes: object) -> None:
    """Change settings permanently, in every thread.

    The settings of a ``with mat.settings(...)`` block take precedence inside it.

    Parameters
    ----------
    **changes
        New values of `settings` by name.

    Raises
    ------
    SettingError
        For an unknown setting, or a value that it cannot have.

    Examples
    --------
    >>> import mat
    >>> mat.configure(print_facets=True)
    """
    global _permanent
    _permanent = _changed(_permanent, changes)
    if "threads" in changes:
        _notify_threads()


def _notify_threads() -> None:
    for callback in THREADS:
        callback()
