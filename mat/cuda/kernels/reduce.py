"""Reductions on the device: the kernel of ``native/cuda/reduce.cuh`` for operands of a form, its
number of blocks, and the classes of ``reduce_types.cuh`` by which it reduces, one of which an
operation names.

As on the host the form alone decides, not the device: so the same operands give the same bits on
every one and in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import inf, prod
from typing import ClassVar, NamedTuple

from ...layout.merged_axes import ReductionAxis, ReductionForm, magic, other_axes
from ...layout.shapes import signed
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
from ...support.types import Operand
from ..runtime.kernel import THREADS, CudaKernel, in_blocks
from ..runtime.nvrtc import EXACT, Program

RANK = 8  # axes that a frame has room for, of those that are kept and of those that are reduced
FULL = 1 << 18  # threads that are enough to keep a device busy
BLOCKS, LONG_BLOCKS = 512, 4096  # blocks that are enough: of short parts, and of long ones
SHORT_PART, LONG_PART = 16 << 10, 128 << 10  # bytes of such parts
WORTH = 80 << 10  # bytes for a result, or for results side by side, that are worth a second launch
# parts that a thread of the second stage puts together, at most, if there are not too many
FINISH = 16
MOST = 1 << 30  # elements of a part, which kernels count in 32 bits


def programs() -> Iterator[Program]:
    """Yield all programs."""
    found = dict.fromkeys(made_of.kernels(letter) for made_of in TYPES
                          for letter in made_of.letters)
    return (k.program(way) for k in found for way in k.ways)


# One form of operands


def reduction(made_of: ReductionType, letter: str, form: ReductionForm, *,
              accumulate: bool = False, nbytes: int = 0, ddof: int | None = None,
              root: bool = False) -> CudaKernel:  # the parameters are what kernels are told
    """Return a kernel for operands of this form; with `accumulate` its numbers are alpha and beta,
    of sums only.

    `nbytes` are those of an element of the result, where integers are summed. Variances divide by
    the number of elements less `ddof`, and take the square `root` of that.
    """
    kernels = made_of.kernels(letter)
    planned = plan(made_of, letter, form, accumulate=accumulate, nbytes=nbytes, ddof=ddof,
                   root=root)
    return planned.kernel_of(kernels.program(planned.way), kernels.name)


class PlannedReduction(NamedTuple):
    """The launch of a kernel, and that of the second stage, if there is one."""

    way: str
    kernel: str
    frame: list[int]
    grid: tuple[int, int, int]
    block: int
    room: int
    finish: int  # blocks of the second stage; 0: there is none

    def kernel_of(self, program: Program, name: str, more: Sequence[int] = ()) -> CudaKernel:
        """Return the kernels with names that begin so, of a program; the frame has `more`."""
        frame = [*self.frame, *more]
        second = in_blocks(program, f"{name}_finish", frame, self.finish) if self.finish else None
        return CudaKernel(program, f"{name}_{self.kernel}", frame, self.grid, (self.block, 1, 1),
                          room=self.room, then=second)


# the parameters are those of `reduction`
def plan(made_of: ReductionType, letter: str, form: ReductionForm, *, accumulate: bool = False,
         nbytes: int = 0, ddof: int | None = None, root: bool = False) -> PlannedReduction:
    """Return how operands of this form are reduced."""
    total = prod(a.n for a in form.reduced)
    reduced = form.reduced if form.reduced and total else [ReductionAxis(total, 0, 0)]
    divisor = ddof if ddof is not None else total if made_of.divides else 1
    ends = {"divisor": divisor, "accumulate": int(accumulate or root), "bytes": nbytes,
            "mask": signed(made_of.mask(letter))}
    planned = _ReductionPlan(made_of.kernels(letter), form, reduced, total, ends)
    least = min((a.x for a in reduced if a.x), default=inf)
    columns = form.kept and 0 < form.kept[-1].x < least
    return planned.by_columns() if columns else planned.by_lines()


class _ReductionPlan(NamedTuple):
    """A reduction of one form: kernels, axes, elements of a result, treatment of the total."""

    kernels: Kernels
    form: ReductionForm
    reduced: list[ReductionAxis]
    total: int
    ends: dict[str, int]

    @property
    def vector(self) -> int:
        """The items in 16 bytes."""
        return 16 // self.kernels.item

    def by_lines(self) -> PlannedReduction:
        """Return the launch whose threads step along the reduced axes."""
        results, last = prod(a.n for a in self.form.kept), self.reduced[-1]
        long = len(self.reduced) == 1 or last.n >= self.vector
        together = last.x == 1 and "lines" in self.kernels.ways and long
        each = -(-max(self.total, 1) // (self.vector if together else 1))
        lanes = _lanes(each, results)
        chunk, chunks = self.parts(self.total, self.total * self.kernels.item, results)
        if chunks > 1:
            lanes = THREADS
        width = min(lanes, _power(-(-last.n // self.vector))) if together else lanes
        block = lanes if lanes > 32 else min(THREADS, -(-results * lanes // 32) * 32)
        way = "lines" if together else "apart"
        sizes = {"results": results, "chunk": chunk, "chunks": chunks, "lanes": lanes,
                 "width": width}
        return self.launch(way, way, sizes, (-(-results // (block // lanes)), chunks, 1), block)

    def by_columns(self) -> PlannedReduction:
        """Return the launch whose neighbouring threads compute adjacent results."""
        columns, results = self.form.kept[-1], prod(a.n for a in self.form.kept)
        steps = [columns.n, *(a.x for a in (*self.form.kept[:-1], *self.reduced))]
        has_columns = "columns" in self.kernels.ways
        vector = self.kernels.vector if has_columns else 1
        vector = vector if columns.x == 1 and all(s % vector == 0 for s in steps) else 1
        wide = results // vector
        rows = _power(-(-self.total // 16)) // 2 or 1  # at least 8 for each thread
        blocks = -(-wide // max(64, THREADS // rows))
        across = -(-wide // blocks)
        chunk, chunks = self.parts(self.total, self.total * across * vector * self.kernels.item,
                                   blocks)
        sizes = {"results": results, "chunk": chunk, "chunks": chunks, "across": across,
                 "column_y": columns.y}
        high = min(THREADS // across, _power(-(-chunk // 8)))
        block = -(-across * max(high, 1) // 32) * 32
        by_vectors = has_columns and vector == self.kernels.vector
        way, kernel = ("columns", "columns") if by_vectors else ("apart", "column")
        return self.launch(way, kernel, sizes, (blocks, chunks, 1), block)

    def parts(self, total: int, nbytes: int, units: int) -> tuple[int, int]:
        """Return the elements of a part of a result, and the parts, for `units` side by side."""
        short = nbytes // SHORT_PART if nbytes >= WORTH else 1
        count = max(min(-(-BLOCKS // units), short),
                    min(-(-LONG_BLOCKS // units), nbytes // LONG_PART), -(-total // MOST), 1)
        if count == 1:
            return max(total, 1), 1
        step = THREADS * self.vector
        step = step if total >= count * step else self.vector  # parts begin where 16 bytes do
        chunk = -(-total // (count * step)) * step
        return chunk, -(-total // chunk)

    def launch(self, way: str, kernel: str, sizes: dict[str, int], grid: tuple[int, int, int],
               block: int) -> PlannedReduction:
        """Return the launch of a kernel, and after it that for the second stage."""
        results, chunks = sizes["results"], sizes["chunks"]
        across = min(32, _power(results), _power(max(FINISH * THREADS // chunks, 1)))
        given = {**sizes, **self.ends, "start_x": self.form.start_x, "start_y": self.form.start_y,
                 "reduced": self.total,
                 "finish_across": across}
        frame = [*(given.get(name, 0) for name in FIELDS), *axes_frame(self.form.kept),
                 *axes_frame(self.reduced)]
        room = results * chunks * self.kernels.state if chunks > 1 else 0
        return PlannedReduction(way, kernel, frame, grid, block, room,
                      -(-results // across) if chunks > 1 else 0)


FIELDS = ("start_x", "start_y", "results", "reduced", "chunk", "chunks", "lanes", "width",
           "across", "column_y",
           "finish_across", "divisor", "accumulate", "bytes", "mask")


def _lanes(each: int, results: int) -> int:
    """Return the number of threads for a result with up to `each` contributors; a power of two.

    Four loads for each keep memory busy, but fewer than four neighbours would not use what comes
    along.
    """
    lanes = min(32, max(_power(-(-each // 4)), min(4, _power(each))))
    while lanes < THREADS and results * lanes < FULL and each >= 2 * lanes:
        lanes *= 2
    return lanes


def _power(n: int) -> int:
    """Return the least power of two that is not below `n`."""
    return 1 << max(n - 1, 0).bit_length()


def axes_frame(axes: Sequence[ReductionAxis]) -> list[int]:
    """Return a ``mat_reduced_axes``."""
    found = [len(axes)]
    for a in axes:
        found += a.n, a.x, a.y, *magic(a.n, 64)
    return found + [0] * (5 * (RANK - len(axes)))


def other_reduction_axes(x: Operand, out: Operand, axis: int = -1) -> list[ReductionAxis]:
    """Return the fewest axes of two operands of a shape, without `axis` if it is not -1."""
    strides = x.element_strides, out.element_strides
    return list(map(ReductionAxis._make, other_axes(x.shape, strides, axis)))


REDUCED = DISTINCT  # the dtypes of which there are kernels
WAYS = ("lines", "columns", "apart")
_ONE_WAY = ("apart",)
_TRUTH = 1 << 8  # of a mask: all bytes but 0 are 1


class Kernels(NamedTuple):
    """The kernels of a class for a dtype: name, C++ class, bytes of item and state, steps."""

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
                   f"MAT_REDUCE_{way.upper()}({k.name}, {k.vector}, {k.made_of})\n", (EXACT,))


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
