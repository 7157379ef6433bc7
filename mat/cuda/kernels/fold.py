"""Folds: reductions of what a program computes, as one kernel of
``native/cuda/reduce_program.cuh``: the results are not in memory, and are reduced in the order in
which they would be if they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...layout.merged_axes import ReductionForm
from ...layout.shapes import Ints
from ...layout.strided import packed_strides
from ...support.dtypes import BY_CHAR
from ...support.types import Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .elementwise import MOST_AXES, StridedLoop, strided_loop, strides_of
from .program import Folded, ProgramKernel, ProgramLine, ProgramPlaces, composed, is_heavy
from .reduce import (
    ExtremeKernels,
    MeanKernels,
    NumberKernels,
    PositionKernels,
    ProductKernels,
    ReductionType,
    SumKernels,
    VarianceKernels,
    plan,
)


class FoldPart(NamedTuple):
    """A reduction: what it is made of, and the form of its operand and result."""

    made_of: ReductionType
    letter: str
    form: ReductionForm
    more: dict[str, Any]


class FoldParts:
    """What implementations for the device can be called with in place of the engine: they return
    their reduction as a `FoldPart`.
    """

    SumKernels, ProductKernels, MeanKernels = SumKernels, ProductKernels, MeanKernels
    VarianceKernels, PositionKernels = VarianceKernels, PositionKernels
    ExtremeKernels, NumberKernels = ExtremeKernels, NumberKernels

    @staticmethod
    def reduction(made_of: ReductionType, letter: str, form: ReductionForm,
                  **more: Any) -> FoldPart:
        """Return a reduction."""
        return FoldPart(made_of, letter, form, more)


FOLDS = FoldParts()


def prepare_fold(program: Sequence[ProgramLine], fold: FoldPart, shape: Ints,
                 operands: Sequence[Operand], directions: str) -> CudaKernel | ProgramKernel:
    """Return the kernel that reduces the last results of a program, of that shape, to the last
    operand; the others and their `directions` are those of a program.
    """
    launch = plan(fold.made_of, fold.letter, fold.form, **fold.more)
    places = ProgramPlaces(program, operands, directions)
    read = [operands[k] for k in places.mats[:-1]]
    strides = [strides_of(x.layout, shape) for x in read]
    found = strided_loop(shape, [*strides, packed_strides(shape)], 1, ("steps", "long"))
    kernels = fold.made_of.kernels(fold.letter)
    inner = found.frame[_STEPS:_STEPS + len(read)]
    folded = Folded(BY_CHAR[fold.letter].suffix, not found.frame[_AXES],
                    _is_packed(shape, [*strides, packed_strides(shape)], 16 // kernels.item),
                    [k for k, step in zip(places.mats, inner, strict=False) if step])
    count, out = len(read) + 1, places.at[places.mats[-1]]
    text = "\n".join([
        '#include "reduce_program.cuh"',
        *composed(program, places, is_heavy(program, count), folded),
        f"typedef {kernels.made_of} mat_folded;",
        f'static_assert(sizeof(mat_folded::State) == {kernels.state}, "room is made for these");',
        f"MAT_FOLD({launch.kernel}, {count}, {out}, {kernels.vector}, {_counter(found)})", ""])
    return places.called(launch.kernel_of(Program(text, (EXACT,)), "mat_fold", (*found.frame, 0)))


_AXES, _STEPS = 5, 6 + 3 * (MOST_AXES - 1)  # where frames have axes, and steps on the innermost one


def _counter(found: StridedLoop) -> str:
    """Return the type that elements are counted in."""
    return "uint32_t" if found.way == "steps" else "uint64_t"


def _is_packed(shape: Ints, strides: Sequence[Ints], group: int) -> bool:
    """Return whether groups of adjacent results are computed of groups of adjacent elements, or of
    one element each.
    """
    found = strided_loop(shape, strides, group, ("flat", "rows", "steps", "long"))
    if found.way == "rows":
        return found.frame[0] % group == 0
    return found.way == "flat" and prod(shape) > 0
