"""Functions that are composed of operations, carried out in tiles of all of these where a device
has no room for their operands: each part is then copied once, and intermediate results stay on the
device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import wraps
from math import prod
from typing import Any

from ...core.direction import INPUT, OUTPUT, Direction
from ...core.pending import DEFERRALS
from ...devices.in_use import CPU, in_use
from ...errors import OutOfDeviceMemory
from ...layout.orders import of_result
from ...layout.shapes import broadcast_shapes
from ...layout.strided import packed
from ...matrix.base import form_of_layout
from ...matrix.mat import Mat, new_like
from ...ops.tiles.tile import (
    Cutter,
    Tile,
    being_cut,
    cutting,
    is_large,
    over,
    span_bytes,
    those_in_files,
)
from ...support.plugins import plugin
from ...support.types import Arguments, Function, Keyword, Keywords, Operand
from ..registry import Result

_MANY = 1 << 16  # elements
_TIMES = 16  # as many bytes as operands and results take, intermediate results take at most
_LARGE = 4  # as many times the bytes of operands reductions take with their intermediate results


def in_tiles(function: Function, tables: int = 0) -> Function:
    """Return a function of Mats and numbers, each element of whose results depends on those of the
    operands at its position, that computes large operands in tiles; so many vectors after the first
    operand stay whole.
    """
    @wraps(function)
    def call(*operands: Operand) -> Result:
        if _limit_for(*operands) is not None:
            with suppress(OutOfDeviceMemory):  # each operation may have smaller ones
                return _in_tiles(function, operands, tables)
        return function(*operands)

    return call


def in_blocks(function: Function) -> Function:
    """Return a function of Mats and numbers that the host computes as in a block of `mat.fused`, if
    their elements are more than its caches keep from one operation to the next.
    """
    return _fused_if(lambda operands: in_use() is CPU and any(
        isinstance(x, Mat) and x.size >= _MANY for x in operands), function)


def in_lines(function: Function) -> Function:
    """Return a function of each line along the last axis that computes large Mats in tiles."""
    @wraps(function)
    def call(x: Mat, *others: Operand) -> Mat:
        limit = _limit_for(x) if x.ndim > 1 else None
        if limit is not None:
            with suppress(OutOfDeviceMemory):
                return _in_lines(function, x, others, limit)
        return function(x, *others)

    return call


def in_one_pass(function: Function) -> Function:
    """Return a function that reduces what it computes of its operands, Mats and other values, as in
    a block of `mat.fused` where these are large for a device, or large files of the host.
    """
    return _fused_if(_are_large, function)


def _fused_if(condition: Function, function: Function) -> Function:
    """Return a function that computes operands in a fused block if `condition` holds for them."""
    @wraps(function)
    def call(*operands: Operand) -> Result:
        if not condition(operands) or _is_a_part():
            return function(*operands)
        with plugin("ops.expressions.block").fused():
            return function(*operands)

    return call


def limit_if_large(*operands: Operand) -> int | None:
    """Return the bytes of a device that may have no room for operands and results like them."""
    return in_use().limit if _are_large(operands) and not _is_a_part() else None


def _limit_for(*operands: Operand) -> int | None:
    """Return the bytes of a device that may have no room for what operands and results need."""
    limit = in_use().limit
    if limit is None or _TIMES * span_bytes(*operands) <= limit or _is_a_part():
        return None
    return limit


def _are_large(operands: Arguments) -> bool:
    device = in_use()
    if device is CPU:
        return is_large(*those_in_files(operands))
    return device.limit is not None and _LARGE * span_bytes(*operands) > device.limit


def _is_a_part() -> bool:
    """Return whether operations are parts of a tile, or of the expressions of a fused block."""
    return bool(being_cut()) or (bool(DEFERRALS) and plugin("ops.expressions.block").is_open())


def _in_tiles(function: Function, operands: Arguments, tables: int) -> Result:
    whole = range(1, 1 + tables)
    cut = {k: x for k, x in enumerate(operands) if isinstance(x, Mat) and k not in whole}
    empty = {k: new_like(x, (0,), x.dtype) for k, x in cut.items()}
    forms = _forms(function, tuple([empty.get(k, x) for k, x in enumerate(operands)]))
    shape = broadcast_shapes([x.shape for x in cut.values()])
    like = next(iter(cut.values()))
    layout = packed(shape) if tables else of_result(shape, [x.layout for x in cut.values()])
    results = tuple(form_of_layout(layout, form.dtype).new(like.device_enabled, None)
                    for form in _as_tuple(forms))
    signature = ",".join("_" if k in whole else "..." for k in range(len(operands) + len(results)))
    _Composition(function, operands, len(results), signature, span_bytes(*operands[1:1 + tables]),
                 not tables)(*operands, *results)
    return results if isinstance(forms, tuple) else results[0]


def _in_lines(function: Function, x: Mat, others: Arguments, limit: int) -> Mat:
    form = _forms(function, (new_like(x, (0, *x.shape[1:]), x.dtype), *others))
    result: Mat = new_like(x, (*x.shape[:-1], *form.shape[x.ndim - 1:]), form.dtype)
    if _TIMES * (x.nbytes + result.nbytes) > limit * prod(x.shape[:-1]):  # a line has no room
        return function(x, *others)
    signature = ["..._", *["_" for _ in others], "..." + "_" * (result.ndim - x.ndim + 1)]
    _Composition(function, (x, *others), 1, ",".join(signature))(x, *others, result)
    return result


def _forms(function: Function, empty: Arguments) -> Any:
    """Return results of empty operands, with the dtypes of others."""
    # parts of this call also for observers, since they tell dtypes only
    with cutting(_Composition(function, empty, 1), ()):
        return function(*empty)


def _as_tuple(results: Result) -> tuple[Mat, ...]:
    return results if isinstance(results, tuple) else (results,)


class _Composition:
    """A function of Mats as an operation into results, whose tiles are calls of itself."""

    whole_because = ""

    def __init__(self, function: Function, operands: Arguments, outputs: int,
                 signature: str = "...", whole: int = 0, of_elements: bool = False) -> None:
        self.__name__ = function.__name__.strip("_")
        self.function = function
        self.inputs = len(operands)
        self.operands = [*range(self.inputs + outputs)]
        self.positional = [f"x{k}" for k in self.operands]
        self.written = self.operands[self.inputs:]
        self.result: Any = self.inputs
        self.reads_once = self.of_elements = of_elements
        self.whole = whole  # bytes of operands that are not cut
        self.tiles: Cutter = over(self, signature, free=True, packs=True)
        self.cutter: Cutter | None = self.cut

    def declared_direction(self, k: int, _: Arguments) -> Direction:
        return INPUT if k < self.inputs else OUTPUT

    def read_once(self, _: Arguments) -> list[int]:
        return []

    def cut(self, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        """Return tiles that leave room for intermediate results."""
        return self.tiles(args, kwargs, (budget - self.whole) // _TIMES + self.whole)

    def __call__(self, *args: Operand, **kwargs: Keyword) -> Operand:
        device = in_use()
        if being_cut():
            self.compute(args)
        elif device.planner is not None:
            device.planner(self, args, kwargs)
        else:
            plugin("ops.tiles.tiling").carry_out_in_tiles(device, self, args, kwargs)
        return args[self.result]

    def compute(self, args: Arguments) -> None:
        """Compute the results of a tile."""
        found = _as_tuple(self.function(*args[:self.inputs]))
        for result, part in zip(args[self.inputs:], found, strict=True):
            result.assign_(part)
