"""Stacks of blocks as libraries of Fourier transforms describe them."""

import itertools

import numpy as np
import pytest

from mat.layout.merged_axes import embedding


def places(shape, found):
    """Return where elements are by the manual's formula."""
    batch, lengths = shape[0], shape[1:]
    places = np.empty(shape, int)
    for block, *index in itertools.product(range(batch), *map(range, lengths)):
        at = 0
        for k, n in zip(index, found.lengths, strict=True):
            at = at * n + k
        places[block, *index] = at * found.step + block * found.distance
    return places


def by_strides(shape, strides):
    return sum(np.arange(n).reshape(-1, *(1,) * (len(shape) - k - 1)) * s
               for k, (n, s) in enumerate(zip(shape, strides, strict=True)))


@pytest.mark.parametrize(("shape", "strides", "rank"), [
    ((2, 3, 4), (12, 4, 1), 2), ((2, 3, 4), (1, 8, 2), 2), ((2, 3, 4), (50, 8, 2), 2),
    ((2, 3, 4), (12, 4, 1), 1), ((2, 3, 4), (6, 2, 7), 1), ((1, 3, 1, 4), (5, 4, 99, 1), 3),
    ((2, 3, 4, 1), (24, 8, 2, 7), 3), ((2, 2, 3, 4), (100, 40, 10, 2), 3), ((3, 1), (2, 1), 1)])
def test_blocks_that_can_be_described(shape, strides, rank):
    found = embedding(shape, strides, rank)
    outer = int(np.prod(shape[:-rank])), *shape[-rank:]
    np.testing.assert_array_equal(places(outer, found),
                                  by_strides(shape, strides).reshape(outer))


@pytest.mark.parametrize(("shape", "strides", "rank"), [
    ((2, 3, 4), (12, 1, 4), 1), ((2, 3, 4), (12, 1, 3), 2), ((2, 3, 4), (12, 6, 4), 2),
    ((4,), (-1,), 1), ((2, 4), (0, 1), 1), ((2, 4), (-4, 1), 1), ((2, 3, 4), (50, 4, 1), 1)])
def test_others(shape, strides, rank):
    assert embedding(shape, strides, rank) is None
