"""Fourier transforms by cuFFT, prepared for operands of one form.

Blocks that lie in memory as cuFFT can describe it are read and written where they are; others, and
spectra that it would overwrite, go through packed memory.
"""

from __future__ import annotations

from math import prod

from ...layout.embedding import Embedding, embedding
from ...layout.shapes import Ints
from ...layout.strided import Layout, packed_strides
from ...support.types import Function
from ..kernels.copy import prepare_moves
from ..kernels.integer_matmul import prepare_scale
from .cublas_operands import SIZES, DeviceOperand, areas
from .cublas_table import DATA
from .cufft import FORWARD, INVERSE, TransformForm, plan_for


class _Side:
    """An operand: its axes with those of the transform last, and how its blocks lie in memory."""

    def __init__(self, letter: str, layout: Layout, order: Ints, rank: int, dense: bool) -> None:
        self.letter = letter
        self.item: int = SIZES[letter]
        self.shape: Ints = tuple(layout.shape[k] for k in order)
        self.strides: Ints = tuple(layout.strides[k] for k in order)
        self.own: Ints = packed_strides(self.shape)
        self.nbytes: int = layout.size * self.item
        self.align: int = SIZES[letter.upper()]  # cuFFT has real numbers as pairs
        there = embedding(self.shape, self.strides, rank)
        # a result is multiplied where it is, with no elements in between
        self.there: Embedding | None = None if dense and not _is_dense(self) else there
        packed = embedding(self.shape, self.own, rank)
        assert packed is not None
        self.packed: Embedding = packed

    def lies(self, x: DeviceOperand) -> Embedding | None:
        """Return how the blocks of an operand lie in memory; None if cuFFT cannot have them so."""
        return None if x.address % self.align else self.there


def _is_dense(side: _Side) -> bool:
    axes = sorted((s, n) for n, s in zip(side.shape, side.strides, strict=True) if n > 1)
    return all(s == prod(n for _, n in axes[:k]) for k, (s, _) in enumerate(axes))


def prepare_fourier(letter: str, x: Layout, result_letter: str, out: Layout, axes: Ints,
                    forward: bool, factor: float) -> Function:
    """Prepare ``out <- factor * the transform of x`` over `axes`, as a function of both."""
    rank, ndim = len(axes), len(out.shape)
    order = (*(k for k in range(ndim) if k not in axes), *axes)
    source = _Side(letter, x, order, rank, False)
    target = _Side(result_letter, out, order, rank, True)
    if letter.isupper() and result_letter.islower():
        source.there = None  # cuFFT overwrites it
    lengths = tuple(map(max, source.shape[-rank:], target.shape[-rank:]))
    types = DATA[letter], DATA[result_letter], DATA[letter.upper()]
    count, direction = prod(target.shape[:-rank]), FORWARD if forward else INVERSE
    load = prepare_moves(source.shape, source.own, source.strides, source.item)
    store = prepare_moves(target.shape, target.strides, target.own, target.item)
    scale = factor != 1 and prepare_scale(result_letter, (out.size,), (1,), at=0,
                                          number=0).bind((0,), (1,))

    def fourier(x: DeviceOperand, to: DeviceOperand, *_: object) -> None:
        read, written = source.lies(x), target.lies(to)
        plan = plan_for(to.gpu, TransformForm(lengths, read or source.packed,
                                              written or target.packed, *types, count))
        with areas(to.gpu, max(plan.room, 1), 0 if read else source.nbytes,
                   0 if written else target.nbytes) as (room, given, found):
            if not read:
                load(x, given)
            result = to if written else found
            plan((x if read else given).address, result.address, direction, room.address)
            if scale:
                scale(result, factor)
            if not written:
                store(found, to)

    return fourier
