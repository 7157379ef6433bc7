"""Products of several matrices in the order that takes the fewest multiplications."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...errors import ShapeError
from ...matrix.mat import Mat
from ..linear.matmul import matmul, product_shape
from .joining import check_are_mats


def multi_dot(mats: Sequence[Mat]) -> Mat:
    """Return the product of several matrices, bracketed for the fewest multiplications.

    Parameters
    ----------
    mats : sequence of Mat
        At least two matrices whose inner lengths are equal; the first may be a vector, a row, and
        the last, too, a column.

    Returns
    -------
    Mat
        The product; without the axis of an end that is a vector.

    Raises
    ------
    ShapeError
        If the lengths do not match.

    Notes
    -----
    Cormen et al., "Introduction to Algorithms": matrix-chain multiplication.

    Examples
    --------
    >>> import mat
    >>> mat.multi_dot([mat.ones(2, 3), mat.ones(3, 4), mat.ones(4, 1)])
    <Mat 2x1 F [[12.] [12.]]>
    """
    chain = check_are_mats("multi_dot", mats)
    if len(chain) < 2:
        raise ShapeError(f"multi_dot requires at least two matrices, got {len(chain)}")
    ends = {0, len(chain) - 1}
    if any(m.ndim != 2 and not (k in ends and m.ndim == 1) for k, m in enumerate(chain)):
        raise ShapeError("multi_dot requires matrices, vectors only at the ends, got "
                         f"{[m.shape for m in chain]}")
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = chain[0].expand_dims(0) if first else chain[0]
    chain[-1] = chain[-1].expand_dims(1) if last else chain[-1]
    for left, right in pairwise(chain):
        product_shape(left.shape, right.shape)
    split = _best_splits([chain[0].shape[0], *(m.shape[1] for m in chain)])
    result = _in_order(chain, split, 0, len(chain) - 1)
    return result.squeeze(tuple(k for k, gone in ((0, first), (1, last)) if gone))


def _best_splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each part of a chain of matrices ``lengths[k]`` x ``lengths[k+1]``."""
    count = len(lengths) - 1
    cost = {(k, k): 0 for k in range(count)}
    split: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            options = [(cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1],
                        k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def _in_order(chain: list[Mat], split: dict[tuple[int, int], int], i: int, j: int) -> Mat:
    if i == j:
        return chain[i]
    k = split[i, j]
    return matmul(_in_order(chain, split, i, k), _in_order(chain, split, k + 1, j))
