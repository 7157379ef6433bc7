"""`CpuKernel`: a compiled kernel with the facts on operands of one form: an implementation of an
operation.

A kernel has the C signature `mat_kernel` (``native/cpu/call.h``): sizes and strides are in its
frame, which is made once for all operands of the same forms; pointers and numbers come with each
call, and the range of work that a thread is to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..core.compiled import KernelCall
from ..core.observers import OBSERVERS
from ..support import host_pool
from ..support.native import ffi, lib
from ..support.types import CData, Number, Presented
from .thread_pool import share

# grains that are done under the GIL where a grain is what pays for a second thread: in one thread
# some 50 microseconds
BRIEF = 8


class Finish(NamedTuple):
    """The second stage of a kernel: its address, its units, the bytes of a buffer that both stages
    get as a last operand, and whether it is shared as the first one is.
    """

    address: int
    units: int
    room: int
    shared: bool = False


class CpuKernel(KernelCall):  # type: ignore[misc]  # compiled, if anything is
    """A compiled kernel for operands of one form; call it with the values of facets.

    `kernel` is a function of `lib`, `frame` a cffi pointer to a struct, which is kept. `count` is
    how many units of work there are, rows or elements, and `grain` how many, or what part of one, a
    thread should at least get. No more than that, or than `brief` units, is done without releasing
    the GIL; with a `grain` of 0 the work is neither shared nor done so. `result` is the kind of
    number that is returned, if one is ("d" float, "i" int, "D" complex). `keep` is whatever the
    frame points to; `called` the library routine and its arguments, if it is one, for observers. A
    kernel of two stages has a `Finish`. One that can refuse what it is given says so by a result
    that is not 0; `refusal` returns the error that is raised then.
    """

    __slots__ = ("address", "brief", "called", "count", "finish", "frame", "grain", "keep", "least",
                 "numbers", "operands", "refusal", "result")

    # so many parameters: they are facts of kernels of several kinds, most of which have few
    def __init__(self, kernel: CData, frame: CData, count: int, grain: float, *, brief: float = 0,
                 result: str = "", keep: object = None,
                 called: tuple[str, dict[str, object]] | None = None,
                 finish: Finish | None = None,
                 refusal: Callable[[], Exception] | None = None) -> None:
        self.address: int = int(ffi.cast("uintptr_t", kernel))
        self.frame: CData = frame
        self.count: int = count
        self.grain: float = grain
        self.least: int = max(1, int(grain))
        self.brief: float = max(grain, brief)
        self.result: str = result
        self.keep: object = keep
        self.called: tuple[str, dict[str, object]] | None = called
        self.finish: Finish | None = finish
        self.refusal: Callable[[], Exception] | None = refusal
        self.operands: Sequence[int] = ()
        self.numbers: Sequence[int] = ()
        self.set_kernel(self.address, int(ffi.cast("uintptr_t", frame)), count, self.least,
                        self.how, result)
        if finish is not None:
            self.set_finish(*finish)

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> CpuKernel:
        """Set the positions of operands and numbers in a call; return self."""
        self.operands, self.numbers = operands, numbers
        return self

    @property
    def how(self) -> int:
        """How to run it: 0, 1 alone, 2, 3 shared; without the GIL if even, else with it."""
        shared = self.grain and self.count >= 2 * max(self.grain, 1)
        return (2 if shared else 0) + (self.count <= self.brief)

    def __call__(self, *values: Presented) -> Number:
        if OBSERVERS and self.called is not None:
            for observer in tuple(OBSERVERS):
                observer.called(self.called[0], **self.called[1])
        operands = ffi.new("char *[]", len(self.operands) + 1)
        buffer = host_pool.workspace(self.finish.room) if self.finish is not None else ffi.NULL
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
        self._run(self.address, self.count, bool(self.grain), operands, numbers, result)
        if self.finish is not None:
            self._run(self.finish.address, self.finish.units, self.finish.shared, operands, numbers,
                      result)
        if self.refusal is not None and result[0]:
            raise self.refusal()
        return self._result(result) if self.result else None

    def _run(self, address: int, units: int, shared: bool, operands: CData, numbers: CData,
             result: CData) -> None:
        """Call one of the stages."""
        if shared:
            share(address, self.frame, operands, numbers, result, units, self.least)
        else:
            lib.mat_run(address, self.frame, operands, numbers, result, 0, units)

    def _result(self, found: CData) -> Number:
        if self.result == "D":
            return complex(found[0], found[1])
        return int(found[0]) if self.result == "i" else float(found[0])


def _put(numbers: CData, k: int, value: Number) -> None:
    """Write `value` as the k-th pair."""
    number = complex(value)
    numbers[2 * k], numbers[2 * k + 1] = number.real, number.imag
