"""Blocks of a matrix product that is computed piece by piece in a memory with little room, and the
bytes that are copied there and back for them.

A product of m x k by k x n has blocks of `m` rows, `n` columns and `k` of the inner axis. Two
orders are enough. Either a block of C stays while narrow panels of A and B pass by, or k is not
cut, and a block of rows of A (or of columns of B) stays while panels of the other operand pass by.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

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
