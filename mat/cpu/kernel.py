"""`CpuKernel`: a compiled kernel, and whatever operands of one form settle: what an operation's
body can be.

A kernel has the C signature `mat_kernel` (``native/cpu/call.h``): sizes and strides are in its
frame, which is made once for all operands of the same forms; pointers and numbers come with each
call, and the range of work that a thread is to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.observers import OBSERVERS
from ..support.native import ffi, lib
from .thread_pool import share

RESULTS = {"": None, "d": float, "i": int, "D": complex}
_room = ffi.new_allocator(should_clear_after_alloc=False)


class Finish(NamedTuple):
    """The second stage: a kernel, its units, and the bytes of a buffer that both stages are given
    as a last operand.
    """

    address: int
    units: int
    room: int


class CpuKernel:
    """Call it with what facets present; `kernel` is a function of `lib`, `frame` a cffi pointer to
    a struct, which is kept.

    `count` is how many units of work there are, rows or elements, and `grain` how many a thread
    should at least get; what is not worth sharing may be done without letting go of the GIL. A
    `grain` of 0: neither shared nor done so. `result` says what is returned: nothing, or a number
    ("d" float, "i" int, "D" complex). `keep` is whatever the frame points to; `called` the library
    routine and its arguments, if it is one, for observers. A kernel of two stages has a `Finish`.
    """

    __slots__ = ("address", "called", "count", "finish", "frame", "grain", "keep", "numbers",
                 "operands", "result")

    def __init__(self, kernel: Any, frame: Any, count: int, grain: int, *, result: str = "",
                 keep: object = None,
                 called: tuple[str, dict[str, object]] | None = None,
                 finish: Finish | None = None) -> None:
        self.address = int(ffi.cast("uintptr_t", kernel))
        self.frame = frame
        self.count = count
        self.grain = grain
        self.result = result
        self.keep = keep
        self.called = called
        self.finish = finish
        self.operands: Sequence[int] = ()
        self.numbers: Sequence[int] = ()

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> CpuKernel:
        """Say at which positions of a call the operands are, and the numbers; return self."""
        self.operands, self.numbers = operands, numbers
        return self

    @property
    def how(self) -> int:
        """Whether one thread does it without the GIL (0), or with it, since it is so little (1), or
        several share it (2).
        """
        if self.count <= self.grain:
            return 1
        return 2 if self.grain and self.count >= 2 * self.grain else 0

    def __call__(self, *values: Any) -> Any:
        if OBSERVERS and self.called is not None:
            for observer in tuple(OBSERVERS):
                observer.called(self.called[0], **self.called[1])
        operands = ffi.new("char *[]", len(self.operands) + 1)
        buffer = _room("char[]", self.finish.room) if self.finish is not None else ffi.NULL
        operands[len(self.operands)] = buffer
        numbers = ffi.new("double[]", 2 * (len(self.numbers) + len(self.operands)))
        result = ffi.new("double[2]")
        for k, at in enumerate(self.numbers):
            _put(numbers, k, values[at])
        for k, at in enumerate(self.operands, len(self.numbers)):
            value = values[at]
            address = getattr(value, "address", None)
            if address is not None:
                operands[k - len(self.numbers)] = ffi.cast("char *", address)
            else:
                _put(numbers, k, value)
                operands[k - len(self.numbers)] = ffi.cast("char *", numbers + 2 * k)
        if self.grain:
            share(self.address, self.frame, operands, numbers, result, self.count, self.grain)
        else:
            lib.mat_run(self.address, self.frame, operands, numbers, result, 0, self.count)
        if self.finish is not None:
            lib.mat_run(self.finish.address, self.frame, operands, numbers, result, 0,
                        self.finish.units)
        return self._result(result) if self.result else None

    def _result(self, found: Any) -> Any:
        return complex(found[0],
                       found[1]) if self.result == "D" else RESULTS[self.result](found[0])  # type: ignore[misc]


def _put(numbers: Any, k: int, value: Any) -> None:
    """Write `value` as the k-th pair."""
    number = complex(value)
    numbers[2 * k], numbers[2 * k + 1] = number.real, number.imag
