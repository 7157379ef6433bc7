"""The classes of ``native/cuda/reduce_types.cuh`` by which the device reduces: their kernels for a
dtype, and how elements are mapped to the items of these.

An operation names one of them, with what it adds, such as the smallest instead of the largest.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

from .nvrtc import Program

_ITEMS = {"B": "uint8_t", "H": "uint16_t", "I": "uint32_t", "L": "uint64_t", "e": "mat_half",
          "E": "mat_bfloat", "f": "float",
          "d": "double", "F": "mat_complex", "D": "mat_complex_double"}
_SIZES = {"B": 1, "H": 2, "I": 4, "L": 8, "e": 2, "E": 2, "f": 4, "d": 8, "F": 8, "D": 16}
_REAL, _COMPLEX, _UNSIGNED, _SIGNED = "eEfd", "FD", "BHIL", "bhil"
REDUCED = "?" + _SIGNED + _UNSIGNED + _REAL + _COMPLEX  # the dtypes of which there are kernels
WAYS = ("lines", "columns", "apart")
_ONE_WAY = ("apart",)


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
    return letter.upper() if letter in _SIGNED else "B" if letter == "?" else letter


class ReductionType:
    """A class of ``reduce_types.cuh``; `smallest` turns its order round."""

    name: ClassVar[str]
    divides = False  # the result is divided by the number of elements
    smallest = False

    def kernels(self, letter: str) -> Kernels:
        """Return the kernels for elements of a dtype."""
        item = _item_letter(letter)
        return Kernels(f"reduce_{self.name}_{item}", self.made_of(item), _SIZES[item],
                       self.state(item), self.ways(item))

    def made_of(self, item: str) -> str:
        """Return the C++ class for such items."""
        if item in _COMPLEX:
            part = "float" if item == "F" else "double"
            return f"mat_{self.name}_complex<{_ITEMS[item]}, {part}>"
        return f"mat_{self.name}{'_integer' if item in _UNSIGNED else ''}<{_ITEMS[item]}>"

    def state(self, item: str) -> int:
        """Return the bytes of a state of it."""
        return 16 if item in _COMPLEX else 8

    def ways(self, item: str) -> tuple[str, ...]:
        """Return the ways of which there are kernels."""
        return WAYS

    def mask(self, letter: str) -> int:
        """Return the bits that turn elements of a dtype into items."""
        size = 8 * _SIZES[_item_letter(letter)]
        if letter in _REAL + _COMPLEX:
            sign = size - 1 if letter in _REAL else size // 2 - 1
            return 1 << sign if self.smallest else 0
        turned = 1 << size - 1 if letter in _SIGNED else 0
        return turned ^ ((1 << size) - 1) if self.smallest else turned


class Sum(ReductionType):
    """Sums."""

    name = "sum"

    def state(self, item: str) -> int:
        return {"d": 16, "F": 16, "D": 32}.get(item, 8)


class Mean(ReductionType):
    """Means; those of floating-point and complex numbers are made of sums."""

    name = "mean"
    divides = True

    def kernels(self, letter: str) -> Kernels:
        whole = _item_letter(letter) in _UNSIGNED
        return super().kernels(letter) if whole else Sum().kernels(letter)

    def state(self, item: str) -> int:
        return 16

    def mask(self, letter: str) -> int:
        return (1 << 64) - 1 if letter == "l" else super().mask(letter)


class Product(ReductionType):
    """Products, which are rare, and go one way."""

    name = "prod"

    def ways(self, item: str) -> tuple[str, ...]:
        return _ONE_WAY


class Extreme(ReductionType):
    """Largest or smallest elements."""

    name = "extreme"

    def __init__(self, *, smallest: bool = False) -> None:
        self.smallest = smallest

    def made_of(self, item: str) -> str:
        return f"mat_{self.name}<{_ITEMS[item]}>"

    def state(self, item: str) -> int:
        return max(8, 2 * _SIZES[item])

    def ways(self, item: str) -> tuple[str, ...]:
        return _ONE_WAY if item in _COMPLEX else WAYS  # the order of complex numbers is rare


class Place(Extreme):
    """Indices of the first largest or smallest elements."""

    name = "place"

    def state(self, item: str) -> int:
        return max(16, 2 * _SIZES[item])


TYPES = (Sum(), Product(), Mean(), Extreme(), Place())
