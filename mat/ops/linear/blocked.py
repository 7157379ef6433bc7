"""Factors of a matrix for which a device has no room: block by block, each updated by products of
those before it, so that each block of the result is copied there and back once.

The operations on single blocks are given by those that are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isqrt

import numpy as np

from ...devices.in_use import in_use
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Array, Engine, Function, Keywords
from ..engine.operation import Input, Output, op
from ..tiles.signatures import over
from ..tiles.staging import StagedResult, on_host, staged
from ..tiles.tile_grid import Gridded
from ..tiles.tiling import Cutter, Tile, TileTooLarge, note_origin
from .blas_gemm import gemm
from .blas_level23 import trsm

_SPARE = 64  # part of the room that is left, as memory is allocated in blocks of certain sizes
_THIN = 4  # how many times narrower panels are than the block that they update


def _room(budget: int) -> int:
    """Return the bytes that a tile takes together with the data for the next one."""
    limit = in_use().memory.limit
    room = 2 * budget if limit is None else min(2 * budget, limit)
    return room - room // _SPARE


def _slices(start: int, stop: int, width: int) -> Iterator[slice]:
    for begin in range(start, stop, width):
        yield slice(begin, min(begin + width, stop))


def _even(length: int, most: int) -> int:
    """Return the length of equal parts of an axis that have at most so many elements."""
    return -(-length // -(-length // most))


def _part(x: Mat, *at: slice) -> Mat:
    return x.over(x.layout.part(at))


def _after() -> Tile:
    """Return a tile that does nothing: what follows it is asked for when those ahead are done."""
    return Tile(lambda: None)


def _each(*stacks: Mat) -> Iterator[tuple[Mat, ...]]:
    """Yield the matrices of stacks with the same leading axes."""
    for index in np.ndindex(stacks[0].layout.shape[:-2]):
        yield tuple(x.over(x.layout.part(index)) for x in stacks)


@op(method="", by_form=True, name="conjugate")
def _write_conjugate(x: Input, out: Output) -> None:
    """Compute the conjugate of each number."""


@_write_conjugate.on("array")
def _write_conjugate_numpy(np: Engine, x: Array, out: Array) -> None:
    np.conjugate(x, out=out)


def _conjugate(x: Mat) -> Mat:
    """Return the conjugate of a staged part, made on the host; of real numbers, the part."""
    if x.element_type.kind != "c":
        return x
    found = _write_conjugate(on_host(x), on_host(new_like(x, x.layout.shape, x.element_type)))
    found.device_enabled = True
    return found


class _Block(StagedResult):
    """A block of a result that begins with the elements of a block of an operand."""

    def __init__(self, source: Mat, view: Mat) -> None:
        self.view = view
        self.target: Mat = on_host(source).astype(view.element_type, "K")
        self.target.device_enabled = True
        note_origin(self.target, source)


# Cholesky's factor


def cholesky_tiles(factor: Gridded) -> Cutter:
    """Return the cutter of an operation that computes Cholesky's factor: between matrices, and
    where there is no room for one, into its square blocks.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        for a, out in _each(*args):
            yield from _Cholesky(factor, a, out, _room(budget)).tiles()

    return over(factor, "...__", cut, free=True)


class _Cholesky:
    """The walk down the columns of blocks, of which each is finished before the next one begins.

    A block stays on the device while panels of the rows to its left pass by, and until the solution
    with the triangle above it.
    """

    def __init__(self, factor: Function, a: Mat, out: Mat, room: int) -> None:
        self.factor, self.a, self.out = factor, a, out
        self.n = len(out)
        # a block and two panels, and two more for the next tile; or two blocks
        elements = room // out.element_size
        if elements < 2 + _THIN:
            raise TileTooLarge((2 + _THIN) * out.element_size)
        whole = self.n * self.n <= elements
        self.side = self.n if whole else _even(self.n, max(1, isqrt(elements // 2)))
        self.width = max(1, self.side // _THIN)

    def tiles(self) -> Iterator[Tile]:
        for columns in _slices(0, self.n, self.side):
            for rows in _slices(columns.start, self.n, self.side):
                yield from self.block(rows, columns)
                if rows == columns:
                    yield _after()
            yield Tile(partial(self.clear, columns))

    def clear(self, rows: slice) -> None:
        """Write zeros right of the block on the diagonal, on the host."""
        on_host(_part(self.out, rows, slice(rows.stop, self.n))).fill_(0)

    def block(self, rows: slice, columns: slice) -> Iterator[Tile]:
        """Yield the tiles of a block: the products, and the factor or the solution."""
        result = _Block(_part(self.a, rows, columns), _part(self.out, rows, columns))
        target = result.target
        for inner in _slices(0, columns.start, self.width):
            left = staged(_part(self.out, rows, inner))
            right = _conjugate(left if rows == columns else staged(_part(self.out, columns, inner)))
            yield Tile(partial(gemm, -1, left, right.T, 1, target), (left, right, target),
                       (target,))
        if rows == columns:
            yield Tile(partial(self.finish, result), (target,), (target,))
            return
        triangle = _conjugate(staged(_part(self.out, columns, columns)))
        yield Tile(partial(self.finish, result, triangle), (triangle, target), (target,))

    def finish(self, result: _Block, triangle: Mat | None = None) -> None:
        target = result.target
        if triangle is None:
            self.factor(target, target)
        else:
            trsm(1, triangle, target, side="right", transpose=True)
        result.finish()
