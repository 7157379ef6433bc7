"""The warning about a context manager that becomes garbage without having been entered: a call such
as ``mat.use_device("cuda")`` does nothing without ``with``.
"""

from __future__ import annotations

import importlib
import sys
import warnings
import weakref
from types import FrameType
from typing import Any

from .native import core

_PACKAGE = __name__.partition(".")[0]


def warn_unused(call: str, above: int = 1) -> None:
    """Warn that `call`, as the user wrote it, was not used by ``with``.

    The line is the one at which the object becomes garbage, so many frames above: that of the call,
    unless the object was kept. Compiled code has no frames. There is no warning where the package
    itself does not use one, as after an error, nor at the interpreter's exit, nor uncompiled, where
    an interrupt may come between any two statements before the block is entered.
    """
    if core is None or sys.is_finalizing():
        return
    frame = sys._getframe(above)
    if _name_of(frame).partition(".")[0] == _PACKAGE or _is_entering(frame):
        return
    warnings.warn_explicit(
        f"{call} did nothing, since it was not used by with: write with {call}: ...",
        RuntimeWarning, frame.f_code.co_filename, frame.f_lineno, _name_of(frame),
        frame.f_globals.setdefault("__warningregistry__", {}))


def _is_entering(frame: FrameType) -> bool:
    """Return whether `frame` was about to begin a ``with`` that an interrupt prevented."""
    found = list(importlib.import_module("dis").get_instructions(frame.f_code))
    at = next(k for k, one in enumerate(found) if one.offset >= frame.f_lasti)
    return any(one.opname in ("BEFORE_WITH", "LOAD_SPECIAL") for one in found[at:at + 2])


def _name_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "")


class Unused(weakref.ref[Any]):
    """A reference to a block: if that is garbage before it was entered, there is a warning."""

    __slots__ = ("call",)
    call: str

    def __new__(cls, block: object, call: str) -> Unused:
        made = super().__new__(cls, block, _warn)
        made.call = call
        return made


def _warn(reference: weakref.ref[Any]) -> None:
    assert isinstance(reference, Unused)
    warn_unused(reference.call, 2)
