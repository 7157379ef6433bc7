"""The base classes of accesses, plans and operations: compiled (``mat._core``), or where nothing is
compiled, classes that leave everything to Python.

`Lock` is the lock of a cube. `register_types` tells the compiled classes at which offsets Python's
classes have the attributes that C reads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..support.native import core as _core
from ..support.native import ffi, lib
from .registry import Presented

_getframe = sys._getframe
# one item for each block, of any thread, with a device in use: calls then find out which one
IN_USE: list[None] = []


class _PythonPlan:
    """A plan that is carried out by Python."""

    __slots__ = ()
    armed = False
    execute: Callable[[tuple[Any, ...], dict[str, Any]], Any]  # plans have these two
    execute_on_device: Callable[[tuple[Any, ...], dict[str, Any]], Any]

    def arm(self, *_: object) -> bool:
        """Return False: no kernel can be called without Python."""
        return False

    def then(self, *_: object) -> None:
        """Ignore a second kernel."""

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out the plan on the arguments."""
        return self.execute_on_device(args, kwargs) if IN_USE else self.execute(args, kwargs)


class _PythonOperation:
    """An operation whose calls are all made by Python."""

    call: Callable[..., Any]  # operations have it

    def set_positions(self, *_: object) -> None:
        """Ignore the positions of operands and settings."""

    def forget_compiled(self) -> None:
        """Do nothing: there are no compiled plans."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)


class _PythonAccess:
    """An access that is begun and ended by Python."""

    __slots__ = ("direction", "facet", "record", "view")
    enter: Callable[[FrameType], Presented]  # accesses have these two
    leave: Callable[[bool], None]

    def __enter__(self) -> Presented:
        return self.enter(_getframe(1))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.leave(kind is not None)


Lock: Any = threading.RLock
Access: Any = _PythonAccess
CompiledPlan: Any = _PythonPlan
CompiledOperation: Any = _PythonOperation


def try_lock(lock: Any) -> bool:
    """Acquire `lock` if no other thread holds it; return True if it was acquired."""
    return bool(lock.acquire(blocking=False))


def register_types(*_: object) -> None:
    """Do nothing: there are no compiled classes."""


def share_by(threads: int) -> None:
    """Have compiled calls divide large work among `threads` threads, which must be running.

    With 0, such calls are left to Python.
    """
    if lib is not None:
        _core.share_by(_SHARE, threads)


if lib is not None:
    _SHARE = int(ffi.cast("uintptr_t", ffi.addressof(lib, "mat_share")))
    Lock, Access, register_types = _core.Lock, _core.Access, _core.register_types
    CompiledPlan, CompiledOperation = _core.Plan, _core.Operation
    try_lock = Lock.try_acquire
