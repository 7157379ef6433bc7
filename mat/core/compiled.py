"""The compiled path of small calls (``mat._core``), or what stands in for it where nothing is
compiled: Python does all then.

`Lock` is what cubes are locked by; `Access`, `CompiledPlan` and `CompiledOperation` are the bases
of looks, plans and operations. `register_types` tells the compiled ones where Python's classes keep
what they need.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from ..support.native import core as _core
from ..support.native import ffi, lib

_getframe = sys._getframe
# one for each block, of any thread, with a device in use: calls then ask which is meant
IN_USE: list[None] = []

class _PythonPlan:
    """A plan that nothing can carry out but Python."""

    __slots__ = ()
    armed = False

    def arm(self, *_: Any) -> bool:
        """Take note of a kernel: not here."""
        return False

    def then(self, *_: Any) -> None:
        """Take note of a second kernel: not here."""

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out the plan on the arguments."""
        # plans have them
        return self.away(args, kwargs) if IN_USE else self.walk(args,  # type: ignore[attr-defined]
                                                                kwargs)


class _PythonOperation:
    """An operation whose calls all go the long way."""

    def takes(self, *_: Any) -> None:
        """Take note of what plans depend on: not here."""

    def forget_compiled(self) -> None:
        """Forget plans: there are none here."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)  # type: ignore[attr-defined]  # operations have it


class _PythonAccess:
    """A look that begins and ends by Python."""

    __slots__ = ("direction", "facet", "record", "view")

    def __enter__(self) -> Any:
        return self.enter(_getframe(1))  # type: ignore[attr-defined]  # looks have it

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.leave(kind is not None)  # type: ignore[attr-defined]


Lock: Any = threading.RLock
Access: Any = _PythonAccess
CompiledPlan: Any = _PythonPlan
CompiledOperation: Any = _PythonOperation


def try_lock(lock: Any) -> bool:
    """Hold `lock` if nobody else does; whether that is so now."""
    return bool(lock.acquire(blocking=False))


def register_types(*_: Any) -> None:
    """Nothing is compiled that would want to know."""


def share_by(threads: int) -> None:
    """Have compiled calls share large work by so many threads, which must be there; with 0, leave
    that to Python.
    """
    if lib is not None:
        _core.share_by(_SHARE, threads)


if lib is not None:
    _SHARE = int(ffi.cast("uintptr_t", ffi.addressof(lib, "mat_share")))
    Lock, Access, register_types = _core.Lock, _core.Access, _core.register_types
    CompiledPlan, CompiledOperation = _core.Plan, _core.Operation
    try_lock = Lock.try_acquire
