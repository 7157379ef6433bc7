"""Products of matrices in tiles: blocks of C that stay on the device while panels of A and B pass
by, or a block of A or of B that stays, whichever copies less (``layout/product_blocks.py``).

Transposes are views here, which BLAS takes as flags. What is fresh on the device stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from ...devices.in_use import CPU, in_use
from ...layout.product_blocks import (
    ProductBlocks,
    ProductForm,
    ProductOperand,
    least_room,
    product_blocks,
)
from ...matrix.mat import Mat
from ...support.dtypes import HALVES
from ...support.types import DType, Number
from .passing import nothing
from .staging import StagedResult, is_there, staged
from .tile import GridAxes, Tile, TileTooLarge, span_bytes
from .tile_grid import TileGrid

_FLOAT32 = np.dtype(np.float32)
# parts of the room that panels take, two by two: a device keeps several for another product, files
# are read faster in large ones
_PANELS, _PANELS_OF_FILES = 8, 1
_SPARE = 64  # part of the room that is left, as memory is allocated in blocks of certain sizes
# computes c <- a b + beta c for blocks; None as beta: the inner axis is whole, and C is not read
Multiply = Callable[[Mat, Mat, Number | None, Mat], object]


class MatrixProduct(NamedTuple):
    """A product of matrices that is to be cut, ``c <- a b + beta c``: a is m x k, b k x n.

    With beta None, C is not read, and the inner axis is cut if `inner` says so.
    """

    a: Mat
    b: Mat
    c: Mat
    beta: Number | None
    multiply: Multiply
    inner: bool = True

    def lengths(self) -> tuple[int, int, int]:
        """Return m, n and k."""
        return (*self.c.layout.shape, self.a.layout.shape[1])  # type: ignore[return-value]

    @property
    def sum_dtype(self) -> DType:
        """The dtype of sums over a part of the inner axis: 16-bit floats are rounded once."""
        dtype: DType = self.c.element_type
        return _FLOAT32 if dtype.char in HALVES else dtype

    @property
    def reads_c(self) -> bool:
        """Whether C is read."""
        return self.beta is not None and self.beta != 0

    def form(self) -> ProductForm:
        """Return the properties by which blocks are chosen."""
        size = max(self.sum_dtype.itemsize, self.c.element_size) if self.inner else (
            self.c.element_size)
        return ProductForm(self.lengths(), _operand(self.a, "m", "k"), _operand(self.b, "k", "n"),
                           _operand(self.c, "m", "n")._replace(size=size), self.reads_c,
                           self.inner, _PANELS_OF_FILES if in_use() is CPU else _PANELS)


def _operand(x: Mat, down: str, across: str) -> ProductOperand:
    """Return the facts of an operand whose axes are called so."""
    (rows, columns), (row, column) = x.layout.shape, x.layout.strides
    by_rows = rows == 1 or (columns != 1 and abs(column) <= abs(row))
    return ProductOperand(x.element_size, across if by_rows else down)


def plan_product(product: MatrixProduct, room: int) -> tuple[ProductForm, ProductBlocks]:
    """Return the cut of a product that copies least, operands being left there or not."""
    form, found = product.form(), []
    there = [k for k, x in enumerate((product.a, product.b)) if is_there(x)]
    for kept in {(), tuple(there[:1]), tuple(there[1:]), tuple(there)}:
        changed = form
        left = room
        for k in kept:
            name, x = ("a", product.a) if k == 0 else ("b", product.b)
            changed = changed._replace(**{name: getattr(form, name)._replace(copied=False)})
            left -= span_bytes(x)
        blocks = product_blocks(changed, left) if left > 0 else None
        if blocks is not None:
            found.append((changed, blocks))
    if not found:
        raise TileTooLarge(least_room(form))
    return min(found, key=lambda pair: pair[1].moved)


def product_tiles(product: MatrixProduct, budget: int) -> Iterator[Tile]:
    """Yield the tiles of a product; with data for the next one, each takes twice the budget."""
    limit = in_use().memory.limit
    room = 2 * budget if limit is None else min(2 * budget, limit)
    _, blocks = plan_product(product, room - room // _SPARE)
    steps = _Steps(product, blocks)
    for rows, columns, inner in sorted(_windows(product.lengths(), blocks), key=steps.order):
        yield steps.tile(rows, columns, inner)


def _windows(lengths: tuple[int, int, int],
             blocks: ProductBlocks) -> Iterator[tuple[slice, slice, slice]]:
    """Yield the rows, columns and inner indices of the tiles in their order."""
    m, n, k = lengths
    if blocks.outer == "n":
        for columns in _slices(n, blocks.n):
            for rows in _slices(m, blocks.m):
                yield rows, columns, slice(0, k)
        return
    for rows in _slices(m, blocks.m):
        for columns in _slices(n, blocks.n):
            for inner in _slices(k, blocks.k):
                yield rows, columns, inner


def _slices(length: int, block: int) -> Iterator[slice]:
    """Yield the slices of an axis; one without elements if it has none."""
    for start in range(0, max(length, 1), max(block, 1)):
        yield slice(start, min(start + block, length))


class _Steps:
    """The walk along the tiles of a product, with the blocks that stay from one to the next."""

    def __init__(self, product: MatrixProduct, blocks: ProductBlocks) -> None:
        self.product = product
        self.blocks = blocks
        self.parts: dict[str, tuple[tuple[slice, slice], Mat]] = {}
        self.result: StagedResult | None = None

    def part(self, name: str, x: Mat, rows: slice, columns: slice) -> Mat:
        """Return a block of an operand, the same one as long as it is asked for again."""
        at, found = self.parts.get(name, (None, None))
        if found is None or at != (rows, columns):
            self.parts.pop(name, None)
            found = staged(x.over(x.layout.part((rows, columns))))
            self.parts[name] = (rows, columns), found
        return found

    def order(self, window: tuple[slice, slice, slice]) -> tuple[int, bool]:
        """Return a key that puts panels first that are there, where the order has no effect."""
        rows, columns, inner = window
        if self.blocks.outer == "c":
            return 0, False
        if self.blocks.outer == "m":
            panel = self.product.b.layout.part((inner, columns))
            return rows.start, not is_there(self.product.b.over(panel))
        panel = self.product.a.layout.part((rows, inner))
        return columns.start, not is_there(self.product.a.over(panel))

    def tile(self, rows: slice, columns: slice, inner: slice) -> Tile:
        """Return the tile of these indices."""
        product, outer = self.product, self.blocks.outer
        a = self.part("a", product.a, rows, inner)
        b = self.part("b", product.b, inner, columns)
        first, last = inner.start == 0, inner.stop == product.lengths()[2]
        dtype = product.c.element_type if first and last else product.sum_dtype
        if first or self.result is None:
            view = product.c.over(product.c.layout.part((rows, columns)))
            self.result = StagedResult(view, dtype, product.reads_c)
        beta = (None if first and last else 0) if product.beta is None else product.beta
        multiply = partial(product.multiply, a, b, beta if first else 1)
        run = partial(_update, multiply, self.result, last)
        if outer == "m":
            run = partial(_and_use, run, a)
        parts = (a, outer == "m"), (b, outer == "n")
        ahead = tuple(x for x, stays in parts if not stays)
        kept = tuple(x for x, stays in parts if stays)
        return Tile(run, ahead, (self.result.target,), stays=kept, passed=nothing)


def _update(update: Callable[[Mat], object], result: StagedResult, last: bool) -> object:
    """Carry out the update of a part of the result, the last of which finishes it."""
    found = update(result.target)
    if last:
        result.finish()
    return found


def _and_use(run: Callable[[], object], stays: Mat) -> object:
    """Carry out a tile, and let the device evict other copies than the one that stays."""
    found = run()
    device = in_use()
    if device is not CPU:
        with stays.facet(device.facet, "input"):
            pass
    return found


# Squares


# the parameters are those of the operation
def panel_tiles(a: Mat, beta: Number, c: Mat, budget: int,
                update: Callable[[Mat, Number, Mat], object]) -> Iterator[Tile]:
    """Yield tiles of ``c <- beta c`` and an update by each panel of `a`; `c` fits."""
    result = StagedResult(c, c.dtype, True)
    k = a.layout.shape[1]
    width = max(1, (2 * budget - c.nbytes) // max(1, 2 * len(a) * a.element_size))
    for inner in _slices(k, min(width, k)):
        panel = staged(a.over(a.layout.part((slice(None), inner))))
        add = partial(update, panel, 1 if inner.start else beta)
        yield Tile(partial(_update, add, result, inner.stop == k), (panel,), (result.target,))


# Stacks of matrices


def stack_tiles(product: MatrixProduct, budget: int) -> Iterator[Tile]:
    """Yield the tiles of a product of stacks: some matrices each, or parts if none fit."""
    product = _as_matrices(product)
    c = product.c
    if c.ndim == 2:
        return product_tiles(product, budget)
    lead = c.layout.shape[:-2]
    a, b = (x.broadcast_to((*lead, *x.layout.shape[-2:])) for x in (product.a, product.b))
    count = len(lead)
    axes: GridAxes = (*range(count), None, None)
    grid = TileGrid(lead, dict.fromkeys(range(3), axes), (a, b, c))
    try:
        lengths = grid.blocks(budget)
    except TileTooLarge:
        return _one_by_one(product._replace(a=a, b=b), budget)
    return (_tile_of_stack(product, grid.arguments(window)) for window in grid.windows(lengths))


def _as_matrices(product: MatrixProduct) -> MatrixProduct:
    """Return the product with leading axes of A and C as rows, if there is one B."""
    a, b, c = product.a, product.b, product.c
    if c.ndim == 2 or b.size != prod(b.layout.shape[-2:]) or (
            a.layout.shape[:-2] != c.layout.shape[:-2]):
        return product
    rows, to = (x.layout.viewed_as((prod(x.layout.shape[:-1]), x.layout.shape[-1]))
                for x in (a, c))
    if rows is None or to is None:
        return product
    return product._replace(a=a.over(rows), b=b.reshape(b.layout.shape[-2:]), c=c.over(to))


def _tile_of_stack(product: MatrixProduct, views: tuple[Mat, ...]) -> Tile:
    a, b, c = views
    reads = (a, b, c) if product.reads_c else (a, b)
    return Tile(lambda: product.multiply(a, b, product.beta, c), reads, (c,), passed=nothing)


def _one_by_one(product: MatrixProduct, budget: int) -> Iterator[Tile]:
    """Yield the tiles of one matrix of the stack after another."""
    for index in np.ndindex(product.c.layout.shape[:-2]):
        a, b, c = (x.over(x.layout.part(index)) for x in (product.a, product.b, product.c))
        yield from product_tiles(product._replace(a=a, b=b, c=c), budget)
