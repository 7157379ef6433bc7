"""Stacks of blocks in memory, as libraries of Fourier transforms describe them."""

from __future__ import annotations

from typing import NamedTuple

from .merged_axes import merged
from .shapes import Ints


class Embedding(NamedTuple):
    """Blocks `distance` elements apart, each a part of a packed block of `lengths` whose elements
    are `step` apart. The first of the lengths says nothing.
    """

    lengths: Ints
    step: int
    distance: int


def embedding(shape: Ints, strides: Ints, rank: int) -> Embedding | None:
    """Return how blocks over the last `rank` axes lie in memory; None if it cannot be said so."""
    batch = len(shape) - rank
    (_, distance), *others = merged(zip(shape[:batch], strides[:batch], strict=True)) or [(1, 1)]
    if others or distance < 1:
        return None
    lengths = list(shape[batch:])
    step = below = 0  # of the innermost axis, and of the last one seen, of more than one element
    at = rank
    for k in reversed(range(rank)):
        n, stride = shape[batch + k], strides[batch + k]
        if n == 1:
            continue
        if stride < 1:
            return None
        if not step:
            step = stride
        elif stride % below or stride // below < lengths[at]:
            return None
        else:
            lengths[at] = stride // below
        at, below = k, stride
    return Embedding(tuple(lengths), step or 1, distance)
