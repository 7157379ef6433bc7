"""Products of matrices in tiles: blocks of C that stay on the device while panels of A and B pass
by, or a block of A or of B that stays, whichever copies less.

Transposes are views here, which BLAS takes as flags. What is fresh on the device stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from math import prod
from typing import NamedTuple

import numpy as np

from ...devices.in_use import CPU, in_use
from ...matrix.mat import Mat
from ...support.dtypes import HALVES
from ...support.types import DType, Number
from .signatures import StagedResult, TileGrid, is_there, staged
from .tile import GridAxes, Tile, TileTooLarge, nothing, span_bytes

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


def room_within(budget: int) -> int:
    """Return the bytes that a tile takes together with the data for the next one."""
    limit = in_use().memory.limit
    room = 2 * budget if limit is None else min(2 * budget, limit)
    return room - room // _SPARE


def product_tiles(product: MatrixProduct, budget: int) -> Iterator[Tile]:
    """Yield the tiles of a product; with data for the next one, each takes twice the budget."""
    _, blocks = plan_product(product, room_within(budget))
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
    rows, to = (x.layout.viewed_as((prod(x.layout.shape[:-1]), x.layout.shape[-1])) for x in (a, c))
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


# Blocks of `m` rows, `n` columns and `k` of the inner axis, and the bytes that are copied there and
# back for them. Two orders are enough. Either a block of C stays while narrow panels of A and B
# pass by, or k is not cut, and a block of rows of A (or of columns of B) stays while panels of the
# other operand pass by


_WIDTHS = (24, 4, 1)  # the narrowest panels that are taken, the first for which there is room
_COUNTS = 256  # numbers of blocks along an axis that are tried one by one; beyond, some of them
_PACKING = 4  # so many bytes that are packed count like one that is copied to another memory


class ProductOperand(NamedTuple):
    """An operand of a product: bytes of an element, adjacent axis, whether it is copied."""

    size: int
    adjacent: str
    copied: bool = True


class ProductForm(NamedTuple):
    """A product that is to be cut: its lengths, the operands, whether C is read, and whether the
    inner axis may be cut. Panels that pass by take at most one `panels`-th of the room, two by two.
    """

    lengths: tuple[int, int, int]
    a: ProductOperand
    b: ProductOperand
    c: ProductOperand
    reads_c: bool
    inner: bool = True
    panels: int = 8


class ProductBlocks(NamedTuple):
    """The lengths of blocks, the axis that is walked along last, and the bytes that are copied.

    `outer` is "c" where blocks of C stay, "m" where rows of A do, "n" where columns of B do.
    """

    m: int
    n: int
    k: int
    outer: str
    moved: int


def pieces(length: int, block: int) -> int:
    """Return the number of blocks along an axis."""
    return -(-length // block) if block else 1


def _even(length: int, block: int) -> int:
    """Return the length of blocks that are as many, and about equally long."""
    return -(-length // pieces(length, block)) if length else block


def _lengths(length: int) -> Iterator[int]:
    """Yield lengths of blocks, from the whole axis to one element."""
    count, before = 1, 0
    while count <= length:
        block = -(-length // count)
        if block != before:
            yield block
        before, count = block, count + max(1, (count - _COUNTS) // 8)
    if before != 1:
        yield 1


def bytes_of(form: ProductForm) -> tuple[int, int, int]:
    """Return the bytes of A, B and C."""
    m, n, k = form.lengths
    return m * k * form.a.size, k * n * form.b.size, m * n * form.c.size


def bytes_moved(form: ProductForm, blocks: ProductBlocks) -> int:
    """Return the bytes that are copied to the memory and back."""
    m, n, k = form.lengths
    a, b, c = bytes_of(form)
    rounds = pieces(m, blocks.m), pieces(n, blocks.n)
    whole = pieces(k, blocks.k) == 1
    times_a = 1 if whole and (blocks.outer == "m" or rounds[0] == 1) else rounds[1]
    times_b = 1 if whole and (blocks.outer == "n" or rounds[1] == 1) else rounds[0]
    return (a * times_a * form.a.copied + b * times_b * form.b.copied
            + c * form.c.copied * (1 + form.reads_c))


def bytes_packed(form: ProductForm, blocks: ProductBlocks) -> int:
    """Return the bytes of blocks that are not one run of adjacent elements."""
    m, n, k = form.lengths
    a, b, c = bytes_of(form)
    cut = {"m": blocks.m < m, "n": blocks.n < n, "k": blocks.k < k}
    return (a * pieces(n, blocks.n) * cut[form.a.adjacent] * form.a.copied
            + b * pieces(m, blocks.m) * cut[form.b.adjacent] * form.b.copied
            + c * cut[form.c.adjacent] * form.c.copied)


def least_room(form: ProductForm) -> int:
    """Return the bytes that the smallest blocks need."""
    a, b, c = _sizes(form)
    whole = form.lengths[2] * (min(a, b) + 2 * max(a, b)) + 2 * c
    return min(whole, 2 * (a + b) + c) if form.inner else whole


@lru_cache(256)
def product_blocks(form: ProductForm, room: int) -> ProductBlocks | None:
    """Return the blocks, with panels for the next step, that copy least; None if none fit."""
    for width in _WIDTHS:
        found = [blocks._replace(moved=bytes_moved(form, blocks))
                 for blocks in _candidates(form, room, width)]
        if found:
            # panels of an operand may be there the next time, blocks of C are of no use then
            return min(found, key=lambda blocks: (
                blocks.moved + bytes_packed(form, blocks) // _PACKING, -blocks.k,
                blocks.outer == "c", -blocks.m))
    return None


def _candidates(form: ProductForm, room: int, width: int) -> Iterator[ProductBlocks]:
    """Yield blocks that fit, whose panels have at least that width."""
    yield from _around_rows(form, room, width)
    for blocks in _around_rows(_mirrored(form), room, width):
        yield ProductBlocks(blocks.n, blocks.m, blocks.k, "n", 0)
    if form.inner:
        yield from _around_c(form, room, min(width, form.lengths[2]))


def _mirrored(form: ProductForm) -> ProductForm:
    """Return the product of the transposes, with A and B exchanged."""
    m, n, k = form.lengths
    return form._replace(lengths=(n, m, k), a=form.b, b=form.a)


def _sizes(form: ProductForm) -> tuple[int, int, int]:
    """Return the bytes of an element that the blocks of each operand take: none if it is there."""
    a, b, c = (x.size * x.copied for x in (form.a, form.b, form.c))
    return a, b, c


def _around_c(form: ProductForm, room: int, width: int) -> Iterator[ProductBlocks]:
    """Yield blocks of C that stay while panels pass by."""
    (m, n, k), (a, b, c) = form.lengths, _sizes(form)
    for rows in _lengths(m):
        columns = (room - 2 * width * rows * a) // max(1, rows * c + 2 * width * b)
        if columns >= 1:
            columns = _even(n, min(n, columns))
            panel = 2 * (rows * a + columns * b)
            most = (room - rows * columns * c) // panel if panel else k
            yield ProductBlocks(rows, columns, _even(k, min(k, most)), "c", 0)


def _around_rows(form: ProductForm, room: int, width: int) -> Iterator[ProductBlocks]:
    """Yield blocks of rows of A that stay while columns of B pass by."""
    (m, n, k), (a, b, c) = form.lengths, _sizes(form)
    for rows in _lengths(m):
        step = 2 * (k * b + rows * c)
        columns = min(n, (room - rows * k * a) // step) if step else n
        if columns < n:  # several panels have room, so that some are there the next time
            columns = min(columns, max(width, room // (form.panels * step)))
        # a block that is used once need not stay: the mirrored product has that, with panels ahead
        used_again = columns < n or rows == m
        if columns >= min(width, n) and columns > 0 and used_again:
            yield ProductBlocks(rows, _even(n, columns), k, "m", 0)
