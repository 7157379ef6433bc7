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
from ..runtime.kernel import LONGEST_FRAME, CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .elementwise import MOST_AXES, StridedLoop, strided_loop, strides_of
from .program import Folded, ProgramKernel, ProgramLine, ProgramPlaces, composed, is_heavy
from .reduce import (
    FIELDS,
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
    """A reduction: its parts, and the form of its operand and result."""

    made_of: ReductionType
    letter: str
    form: ReductionForm
    more: dict[str, Any]


class FoldParts:
    """An engine for implementations that return their reduction as a `FoldPart`."""

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
    one = _Folding(program, fold, places, [operands[k] for k in places.mats[:-1]], shape)
    text = "\n".join(['#include "reduce_program.cuh"', *one.lines(""),
                      f"MAT_FOLD({launch.kernel}, {one.count}, {one.out}, "
                      f"{one.kernels.vector}, {one.counter})", ""])
    return places.called(launch.kernel_of(Program(text, (EXACT,)), "mat_fold", one.axes))


class _Folding:
    """The source of a program and its reduction, and its axes as the end of a frame."""

    def __init__(self, program: Sequence[ProgramLine], fold: FoldPart, places: ProgramPlaces,
                 read: Sequence[Operand], shape: Ints) -> None:
        strides = [*(strides_of(x.layout, shape) for x in read), packed_strides(shape)]
        found = strided_loop(shape, strides, 1, ("steps", "long"))
        inner = found.frame[_STEPS:_STEPS + len(read)]
        self.program, self.places = program, places
        self.count = len(strides)
        self.out = places.at[places.mats[-1]]
        self.kernels = fold.made_of.kernels(fold.letter)
        self.folded = Folded(
            BY_CHAR[fold.letter].suffix, not found.frame[_AXES],
            _is_packed(shape, strides, 16 // self.kernels.item),
            [k for k, step in zip(places.mats, inner, strict=False) if step])
        self.axes = (*found.frame, 0)
        self.counter = _counter(found)

    def lines(self, number: str) -> list[str]:
        """Return the lines of the source; `number` is at the end of names."""
        heavy = is_heavy(self.program, self.count)
        return [*composed(self.program, self.places, heavy, self.folded, f"mat_composed{number}"),
                f"typedef {self.kernels.made_of} mat_folded{number};",
                f"static_assert(sizeof(mat_folded{number}::State) == {self.kernels.state}, "
                '"room is made for these");']


class RowProgram(NamedTuple):
    """One of several programs over the same rows: what it reduces them to, or None; its shape,
    perhaps one element for each row; its operands and their directions, and their places in the
    call of all.
    """

    program: Sequence[ProgramLine]
    fold: FoldPart | None
    shape: Ints
    operands: Sequence[Operand]
    directions: str
    at: Sequence[int]


def is_of_rows(fold: FoldPart) -> bool:
    """Return whether each row has one result, by adjacent elements and threads of one block."""
    found = plan(fold.made_of, fold.letter, fold.form, **fold.more)
    reduced, kept = fold.form.reduced, fold.form.kept
    return (found.kernel == "lines" and not found.finish and len(reduced) == 1
            and reduced[0].x == 1 and len(kept) == 1 and kept[0].x == reduced[0].n
            and kept[0].y == 1)


def prepare_rows(programs: Sequence[RowProgram]) -> CudaKernel | None:
    """Return the kernel that carries out programs over rows, the last axis, one after another, each
    row in a block: first a reduction, others and programs over their results, and perhaps a last
    one that writes elements.

    None if reductions share a row among different numbers of threads, or there is no room.
    """
    plans = [plan(p.fold.made_of, p.fold.letter, p.fold.form, **p.fold.more)
             for p in programs if p.fold is not None]
    facts = [dict(zip(FIELDS, found.frame, strict=False)) for found in plans]
    if len({(found.kernel, found.finish, found.block, fact["lanes"])
            for found, fact in zip(plans, facts, strict=True)}) > 1:
        return None
    if plans[0].kernel != "lines" or plans[0].finish:
        return None
    shape, of_folds = programs[0].shape, iter(facts)
    rows = prod(shape[:-1])
    frame: list[int] = [rows, shape[-1], facts[0]["lanes"]]
    classes: list[str] = []
    fields: list[str] = []
    calls: list[str] = []
    for k, one in enumerate(programs):
        places = ProgramPlaces(one.program, one.operands, one.directions, one.at)
        if any(kind in ("i64", "u64") for kind in places.given.values()):
            return None
        ends = next(of_folds) if one.fold is not None else {}
        frame += [ends.get(name, 0) for name in ("divisor", "accumulate", "bytes", "mask")]
        lines, call, axes, count = _row_program(k, one, places)
        classes, calls, frame = [*classes, *lines], [*calls, call], [*frame, *axes]
        fields.append(f"mat_row_frame<{count}> phase{k};")
    if 8 * len(frame) > LONGEST_FRAME:
        return None
    text = "\n".join([
        '#include "reduce_program.cuh"', *classes,
        f"struct mat_rows_frame {{ int64_t rows, n, lanes; {' '.join(fields)} }};",
        "MAT_KERNEL(mat_rows, mat_rows_frame, MAT_REDUCE_THREADS) {",
        "    const mat_row_place row = mat_row_of(frame.rows, frame.n, frame.lanes);",
        *(f"    {call}" for call in calls), "}", ""])
    each = plans[0].block // facts[0]["lanes"]
    return CudaKernel(Program(text, (EXACT,)), "mat_rows", frame, (-(-rows // each), 1, 1),
                      (plans[0].block, 1, 1))


def _row_program(k: int, one: RowProgram, places: ProgramPlaces) -> tuple[
        list[str], str, Sequence[int], int]:
    """Return the source of a program, its statement, its axes, and how many operands have them."""
    shape = one.shape
    if one.fold is not None:
        read = [one.operands[n] for n in places.mats[:-1]]
        fold = _Folding(one.program, one.fold, places, read, shape)
        return (fold.lines(str(k)), f"MAT_FOLD_ROW({k}, {fold.count}, {fold.out}, {fold.counter})",
                fold.axes, fold.count)
    mats = [one.operands[n] for n in places.mats]
    strides = [strides_of(x.layout, shape) for x in mats]
    found = strided_loop(shape, strides, 1, ("steps", "long"))
    group = 16 // max(x.itemsize for x in mats)
    packed = _is_packed(shape, strides, group) and shape[-1] % group == 0
    lines = composed(one.program, places, is_heavy(one.program, len(mats)), name=f"mat_composed{k}")
    call = (f"MAT_RUN_ONE({k}, {_counter(found)})" if shape[-1] == 1 else
            f"MAT_RUN_ROW({k}, {group if packed else 1}, {_counter(found)})")
    return lines, call, (*found.frame, 0), len(mats)


_AXES, _STEPS = 5, 6 + 3 * (MOST_AXES - 1)  # where frames have axes, and steps on the innermost one


def _counter(found: StridedLoop) -> str:
    """Return the type that elements are counted in."""
    return "uint32_t" if found.way == "steps" else "uint64_t"


def _is_packed(shape: Ints, strides: Sequence[Ints], group: int) -> bool:
    """Return whether groups of adjacent results come from groups of adjacent elements."""
    found = strided_loop(shape, strides, group, ("flat", "rows", "steps", "long"))
    if found.way == "rows":
        return found.frame[0] % group == 0
    return found.way == "flat" and prod(shape) > 0
