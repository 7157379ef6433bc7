"""The examples of docs/from-cupy-kernels.md as loops that numba compiles, for several threads, with
sums in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from numba import prange
except ImportError:
    prange = range

N = Any  # an array, or a number


def squared_difference(x: N, z: N, y: N) -> None:
    """Example 1, and 2."""
    for k in prange(x.size):
        d = x[k] - z[k]
        y[k] = d * d


def mixed_types(s: N, z: N, y: N) -> None:
    """Example 3."""
    for k in prange(z.size):
        y[k] = s[k] * s[k] + z[k]


def reversed_sum(x: N, z: N, y: N) -> None:
    """Example 4."""
    for k in prange(x.size):
        y[k] = x[k] + z[x.size - 1 - k]


def table(x: N, points: N, y: N) -> None:
    """Example 5."""
    for k in prange(x.size):
        t = x[k] * (points.size - 1)
        j = min(int(t), points.size - 2)
        y[k] = points[j] + (t - j) * (points[j + 1] - points[j])


def norms_of_rows(a: N, norms: N) -> None:
    """Example 6."""
    for k in prange(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[k, j] * a[k, j]
        norms[k] = t**0.5


def first_above(x: N, limit: N) -> int:
    """Example 7: as numba's users write it, up to the first one, in one thread."""
    for k in range(x.size):
        if x[k] > limit:
            return k
    return int(x.size)


def vector_sum(x: N, z: N, y: N) -> None:
    """Example 8."""
    for k in prange(x.size):
        y[k] = x[k] + z[k]


def complex_product(u: N, v: N, w: N) -> None:
    """Example 9."""
    for k in prange(u.size):
        w[k] = u[k] * v[k] + 1j


def polynomial(c: N, x: N, y: N) -> None:
    """Example 10."""
    for k in prange(x.size):
        t = 0.0
        for j in range(c.size - 1, -1, -1):
            t = t * x[k] + c[j]
        y[k] = t


def jacobi(a: N, b: N) -> None:
    """Example 11."""
    rows, columns = a.shape
    for k in prange(rows):
        above, below = max(k - 1, 0), min(k + 1, rows - 1)
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            b[k, j] = (a[above, j] + a[below, j] + a[k, left] + a[k, right]) / 4


def sum_of_products(x: N, z: N) -> float:
    """Example 12."""
    t = 0.0
    for k in prange(x.size):
        t += x[k] * z[k] + x[k]
    return t


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return one of these loops, compiled by numba."""
    import numba

    made: Callable[..., Any] = numba.njit(parallel=loop is not first_above,
                                          fastmath={"reassoc", "nsz"})(loop)
    return made
