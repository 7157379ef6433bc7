"""Cutting solutions with a triangular matrix: between the columns of the right-hand sides, and
where the triangle is too large into blocks of it, solved one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isqrt

from ...matrix.mat import Mat
from ...support.types import Arguments, Function, Keywords, Number
from .cut_products import MatrixProduct, product_tiles
from .staging import StagedResult, staged
from .tiling import Cutter, Tile, TileTooLarge

# computes c <- beta c - a b
Subtract = Callable[[Mat, Mat, Number, Mat], object]


def by_blocks_of_triangle(operation: Function, subtract: Subtract) -> Cutter:
    """Return the cutter of ``b <- alpha op(a)^-1 b`` with the arguments and keywords of BLAS."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        alpha, a, b = args
        if not b.size:
            return
        width = _width(len(a), a.element_size, budget)
        if width == len(a):
            yield from _columns(operation, args, kwargs, budget)
            return
        left = kwargs.get("side", "left") == "left"
        sides = b if left else b.T
        # op(a) x = alpha b, or op(a)^T x^T = alpha b^T: whether the matrix on the left is a^T
        turned = bool(kwargs.get("transpose", False)) is left
        triangle = a.T if turned else a
        starts = range(0, len(a), width)
        forward = bool(kwargs.get("lower", True)) is not turned
        for start in starts if forward else reversed(starts):
            here = slice(start, min(start + width, len(a)))
            done = slice(0, start) if forward else slice(here.stop, len(a))
            if done.start < done.stop:
                yield from product_tiles(MatrixProduct(
                    triangle[here, done], sides[done], sides[here], alpha, subtract), budget)
                yield Tile(_nothing)  # what follows is not asked for before the product is there
            factor = 1 if done.start < done.stop else alpha
            part = b[here] if left else b[:, here]
            yield from _columns(operation, (factor, a[here, here], part), kwargs, budget)
            yield Tile(_nothing)

    return cut


def _nothing() -> None:
    pass


def _width(n: int, itemsize: int, budget: int) -> int:
    """Return how many rows a block of the triangle has: all, if there is room for a column."""
    if n * (n + 1) * itemsize <= budget:
        return n
    width = min(n, isqrt(budget // (2 * itemsize)))
    if width < 1:
        raise TileTooLarge(2 * itemsize)
    return width


def _columns(operation: Function, args: Arguments, kwargs: Keywords,
             budget: int) -> Iterator[Tile]:
    """Yield the tiles for some columns of the right-hand sides each, with the whole triangle."""
    alpha, a, b = args
    by_columns = kwargs.get("side", "left") == "left"
    sides, a = b if by_columns else b.T, staged(a)
    itemsize = a.element_size
    count = (budget - a.size * itemsize) // (len(a) * itemsize)
    for start in range(0, sides.shape[1], count):
        result = StagedResult(sides[:, start:start + count], b.dtype, True)
        yield Tile(partial(_solve, operation, alpha, a, result, by_columns, kwargs),
                   (a, result.target), (result.target,))


# the parameters are those of the operation, with a block of the result
def _solve(operation: Function, alpha: Number, a: Mat, result: StagedResult, by_columns: bool,
           kwargs: Keywords) -> None:
    operation(alpha, a, result.target if by_columns else result.target.T, **kwargs)
    result.finish()
