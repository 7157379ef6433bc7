"""Expressions in `mat.fused` blocks, beside the same statements without a block, NumPy, and numexpr
if it is there.

The limits are what a block should reach, for float32 and the threads in use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.special

import mat

from .row import Row
from .timing import Thunk

with suppress(ImportError):
    import numexpr

SIZES = (10 ** 5, 10 ** 6, 10 ** 7)


class Expression(NamedTuple):
    """A function of a namespace and four vectors, the limits for each of the sizes, and numexpr's
    text of it, of the vectors x, y, z and w.
    """

    function: Callable[..., Any]
    limits: tuple[float, ...]
    text: str = ""


def linear(xp: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
    return 2 * x + 3 * y - z * w


def gelu(xp: Any, x: Any, *_: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(0.8 * (x + 0.04 * x * x * x)))


def black_scholes(xp: Any, s: Any, k: Any, t: Any, *_: Any) -> Any:
    erf = scipy.special.erf if xp is np else xp.erf
    root = xp.sqrt(t)
    d = (xp.log(s / k) + 0.065 * t) / (0.3 * root)
    e = d - 0.3 * root
    half = math.sqrt(0.5)
    return s * (0.5 + 0.5 * erf(d * half)) - k * xp.exp(-0.02 * t) * (0.5 + 0.5 * erf(e * half))


def stencil(xp: Any, x: Any, *_: Any) -> Any:
    return x[1:-1] + 0.1 * (x[2:] - 2.0 * x[1:-1] + x[:-2])


def count(xp: Any, x: Any, y: Any, *_: Any) -> Any:
    return xp.count_nonzero(xp.sqrt(x * x + y * y) > 1.0)


def clipped_sum(xp: Any, x: Any, m: Any, s: Any, *_: Any) -> Any:
    return ((x.reshape(-1, 100) - m[:100]) / s[:100]).clip(-3.0, 3.0).sum(axis=0)


def adam(xp: Any, p: Any, m: Any, v: Any, g: Any) -> None:
    """A step, in place."""
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * (g * g)
    p -= 0.001 * m / (xp.sqrt(v) + 1e-8)


EXPRESSIONS = (
    Expression(linear, (0.75, 0.85, 0.55), "2 * x + 3 * y - z * w"),
    Expression(gelu, (0.6, 0.6, 0.3), "0.5 * x * (1 + tanh(0.8 * (x + 0.04 * x * x * x)))"),
    Expression(black_scholes, (0.75, 0.65, 0.4)),
    Expression(stencil, (0.8, 0.8, 0.55)), Expression(count, (0.8, 0.8, 0.55)),
    Expression(clipped_sum, (0.8, 0.8, 0.55)), Expression(adam, (0.6, 0.6, 0.25)))


def rows() -> Iterator[Row]:
    """The expressions, for vectors of several lengths."""
    for one in EXPRESSIONS:
        for n, limit in zip(SIZES, one.limits, strict=True):
            name = f"{one.function.__name__}, {n:.0e}".replace("e+0", "e")
            yield Row(name, competitors(one, n), against="eager", limit=limit, group="fused")


def competitors(one: Expression, n: int) -> dict[str, Thunk]:
    """The same computation in a block, without one, and by the others, each of its own vectors."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.2, 2, n).astype("f4") for _ in range(4)]
    fused = partial(mat.fused(one.function), mat, *map(mat.array, arrays))
    found: dict[str, Thunk] = {"mat": fused,
                               "eager": partial(one.function, mat, *map(mat.array, arrays)),
                               "numpy": partial(one.function, np, *arrays)}
    if one.text and "numexpr" in globals():
        names = dict(zip("xyzw", arrays, strict=True))
        found["numexpr"] = partial(numexpr.evaluate, one.text, local_dict=names)
    return found
