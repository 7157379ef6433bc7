"""The classes of ``native/cuda/reduce_types.cuh`` by which the device reduces: their kernels for a
dtype, and the mapping of elements to their items.

An operation names one of them, with what it adds, such as the smallest instead of the largest.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

from ...support.dtypes import (
    BY_CHAR,
    COMPLEX_TYPES,
    DISTINCT,
    FLOATING,
    INEXACT,
    REAL_TYPES,
    SIGNED,
    UNSIGNED,
)
from ..runtime.nvrtc import Program

REDUCED = DISTINCT  # the dtypes of which there are kernels
WAYS = ("lines", "columns", "apart")
_ONE_WAY = ("apart",)
_TRUTH = 1 << 8  # of a mask: all bytes but 0 are 1


class Kernels(NamedTuple):
    """The kernels of a class for a dtype: their name, the C++ class, bytes of item and state, and
    the ways to step through operands.
    """

    name: str
    made_of: str
    item: int
    state: int
    ways: tuple[str, ...]

    @property
    def vector(self) -> int:
        """Columns that a thread takes: as many as 16 bytes of items, or 64 of states."""
        return min(16 // self.item, 64 // self.state)

    def program(self, way: str) -> Program:
        """Return the program of those that go one way."""
        return _program(self, way)


@cache
def _program(k: Kernels, way: str) -> Program:
    return Program(f'#include "reduce.cuh"\nstatic_assert(sizeof({k.made_of}::State) == {k.state}, '
                   '"room is made for these");\n'
                   f"MAT_REDUCE_{way.upper()}({k.name}, {k.vector}, {k.made_of})\n")


def _item_letter(letter: str) -> str:
    """Return the letter of the items that elements are loaded as: integers are all unsigned."""
    return letter.upper() if letter in SIGNED else "B" if letter == "?" else letter


class ReductionType:
    """A class of ``reduce_types.cuh``; `smallest` turns its order round."""

    name: ClassVar[str]
    letters = REDUCED  # the dtypes of which there are kernels
    divides = False  # the result is divided by the number of elements
    smallest = False

    def kernels(self, letter: str) -> Kernels:
        """Return the kernels for elements of a dtype."""
        item = _item_letter(letter)
        return Kernels(f"reduce_{self.name}_{item}", self.made_of(item), BY_CHAR[item].size,
                       self.state(item), self.ways(item))

    def made_of(self, item: str) -> str:
        """Return the C++ class for such items."""
        return f"mat_{self.name}{'_integer' if item in UNSIGNED else ''}<{BY_CHAR[item].cuda}>"

    def state(self, item: str) -> int:
        """Return the bytes of a state of it."""
        return 16 if item in COMPLEX_TYPES else 8

    def ways(self, item: str) -> tuple[str, ...]:
        """Return the ways that have kernels."""
        return WAYS

    def mask(self, letter: str) -> int:
        """Return the bits that turn elements of a dtype into items."""
        size = 8 * BY_CHAR[letter].size
        if letter in INEXACT:
            sign = size - 1 if letter in FLOATING else size // 2 - 1
            return 1 << sign if self.smallest else 0
        turned = 1 << size - 1 if letter in SIGNED else _TRUTH if letter == "?" else 0
        return turned ^ ((1 << size) - 1) if self.smallest else turned


class SumKernels(ReductionType):
    """Sums."""

    name = "sum"

    def state(self, item: str) -> int:
        return {"d": 16, "F": 16, "D": 32}.get(item, 8)


class MeanKernels(ReductionType):
    """Means; those of floating-point and complex numbers are made of sums."""

    name = "mean"
    divides = True

    def kernels(self, letter: str) -> Kernels:
        whole = _item_letter(letter) in UNSIGNED
        return super().kernels(letter) if whole else SumKernels().kernels(letter)

    def state(self, item: str) -> int:
        return 16

    def mask(self, letter: str) -> int:
        long = letter in SIGNED and BY_CHAR[letter].size == 8
        return (1 << 64) - 1 if long else super().mask(letter)


class VarianceKernels(ReductionType):
    """Variances and standard deviations."""

    name = "variance"
    letters = REAL_TYPES

    def state(self, item: str) -> int:
        return 32


class ProductKernels(ReductionType):
    """Products, rarely used and done in one way."""

    name = "prod"

    def ways(self, item: str) -> tuple[str, ...]:
        return _ONE_WAY


class ExtremeKernels(ReductionType):
    """Largest or smallest elements."""

    name = "extreme"

    def __init__(self, *, smallest: bool = False) -> None:
        self.smallest = smallest

    def made_of(self, item: str) -> str:
        return f"mat_{self.name}<{BY_CHAR[item].cuda}>"

    def state(self, item: str) -> int:
        return max(8, 2 * BY_CHAR[item].size)

    def ways(self, item: str) -> tuple[str, ...]:
        return _ONE_WAY if item in COMPLEX_TYPES else WAYS  # the order of complex numbers is rare


class NumberKernels(ExtremeKernels):
    """Largest or smallest elements that are not NaN."""

    name = "extreme_number"
    letters = "".join(c for c in REDUCED if c in INEXACT)


class PositionKernels(ExtremeKernels):
    """Indices of the first largest or smallest elements."""

    name = "place"

    def state(self, item: str) -> int:
        return max(16, 2 * BY_CHAR[item].size)


TYPES = (SumKernels(), ProductKernels(), MeanKernels(), VarianceKernels(), ExtremeKernels(),
         NumberKernels(), PositionKernels())
