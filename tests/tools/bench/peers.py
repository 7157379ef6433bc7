"""The library against the best one for each task, one thread each by CPU time; the everyday ones
with two threads each, too.

A peer that is not installed is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from time import process_time
from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.special

import mat

from . import everyday
from .peer_libraries import Libraries
from .row import BEST, Row
from .timing import Pace, Thunk

# all threads of the process count, since some libraries compute in one of their own
ALONE = Pace(5e-3, 0, 1, process_time)
Group = Callable[[Libraries, int], Iterator[Row]]


def rows(n: int = 1_000_000, libraries: Libraries | None = None) -> Iterator[Row]:
    """All rows; those of a million elements have `n`."""
    found = Libraries() if libraries is None else libraries
    if found.missing:
        print(f"left out: {', '.join(found.missing)} (not installed)")
    with threads(1, found):
        for group in (selections, functions, reductions, memory, products, transforms,
                      everyday.rows):
            yield from (row._replace(pace=ALONE) for row in group(found, n))
    with threads(2, found):
        yield from (row._replace(name=f"{row.name}, two threads")
                    for row in everyday.rows(found, n))


@contextmanager
def threads(count: int, libraries: Libraries) -> Iterator[None]:
    """Have all libraries use so many threads."""
    before = mat.settings.threads
    libraries.use_threads(count)
    mat.configure(threads=count)
    try:
        yield
    finally:
        mat.configure(threads=before)


def _row(name: str, limit: float, ours: Thunk, numpys: Thunk, others: dict[str, Thunk]) -> Row:
    return Row(name, {"mat": ours, "numpy": numpys, **others}, BEST, limit)


def selections(found: Libraries, n: int) -> Iterator[Row]:
    """Masks, choices, integers as indices, counting, values that differ."""
    rng = np.random.default_rng(0)
    a, b, m = rng.standard_normal(n), rng.standard_normal(n), rng.random(n) < 0.5
    x, y, w = mat.array(a), mat.array(b), mat.array(m)
    yield _row("x[mask]", 1.1, lambda: x[w], lambda: a[m], found.thunks(
        torch=lambda t: _of(t, "masked_select", a, m),
        polars=lambda p: _polars_filter(p, a, m)))
    yield _row("where", 1.1, lambda: np.where(w, x, y), lambda: np.where(m, a, b), found.thunks(
        torch=lambda t: _of(t, "where", m, a, b), jax=lambda j: _jitted(j, "where", m, a, b)))
    for order, i in (("random", rng.integers(0, n, n)), ("sorted", np.arange(n))):
        k = mat.array(i)
        yield _row(f"take, {order}", 1.1, lambda k=k: x.take(k), lambda i=i: a.take(i),
                   found.thunks(torch=lambda t, i=i: _of(t, "take", a, i)))
    small = rng.integers(0, 1000, n)
    c = mat.array(small)
    yield _row("bincount", 1.1, lambda: np.bincount(c), lambda: np.bincount(small),
               found.thunks(torch=lambda t: _of(t, "bincount", small)))
    yield _row("unique, of 1,000", 1.1, lambda: np.unique(c), lambda: np.unique(small),
               found.thunks(polars=lambda p: _polars_unique(p, small)))
    yield _row("sort", 1.1, lambda: np.sort(x), lambda: np.sort(a),
               found.thunks(polars=lambda p: p.Series(a).sort))


def functions(found: Libraries, n: int) -> Iterator[Row]:
    """Functions of every element, into a given place."""
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        a, b, c = (rng.uniform(0.1, 4, n).astype(dtype) for _ in range(3))
        x, y, z = mat.array(a), mat.array(b), mat.array(c)
        yield _row(f"pow, {dtype}", 1.1, lambda x=x, y=y, z=z: mat.pow(x, y, out=z),
                   lambda a=a, b=b, c=c: np.power(a, b, out=c), found.thunks(
                       torch=lambda t, a=a, b=b: _of(t, "pow", a, b),
                       mkl=lambda m, a=a, b=b, c=c: m("power", a, b, c)))
        for name in ("tanh", "erf", "exp", "log", "sin", "sqrt"):
            numpys, ours = getattr(np, name, scipy.special.erf), getattr(mat, name)
            more = {} if name == "erf" else found.thunks(
                numexpr=lambda e, f=name, a=a, c=c: _evaluated(e, f, a, c))
            yield _row(f"{name}, {dtype}", 1.1, lambda f=ours, x=x, z=z: f(x, out=z),
                       lambda f=numpys, a=a, c=c: f(a, out=c), {**more, **found.thunks(
                           torch=lambda t, f=name, a=a: _of(t, f, a),
                           mkl=lambda m, f=name, a=a, c=c: m(f, a, c))})


def reductions(found: Libraries, n: int) -> Iterator[Row]:
    """Sums, maxima and their places, variances, scans, and sums of products."""
    rng = np.random.default_rng(0)
    for side in (100, max(2, int(n ** 0.5))):
        for dtype in ("float32", "float64", "int64"):
            a = (100 * rng.standard_normal((side, side))).astype(dtype)
            x = mat.array(a)
            for name in ("sum", "max", "argmax"):
                yield _row(f"{name}, {side} x {side}, {dtype}", 1.1, getattr(x, name),
                           getattr(a, name), found.thunks(
                               torch=lambda t, f=name, a=a: _of(t, f, a)))
    a, b = rng.standard_normal((2, n))
    x, y = mat.array(a), mat.array(b)
    yield _row("var", 1.1, x.var, a.var, {
        **found.thunks(torch=lambda t: _of(t, "var", a), jax=lambda j: _jitted(j, "var", a))})
    yield Row("var, beside our sum", {"mat": x.var, "our sum": x.sum}, "our sum", 1.5)
    yield _row("cumsum", 1.1, x.cumsum, a.cumsum,
               found.thunks(torch=lambda t: _of(t, "cumsum", a, dim=0)))
    yield _row("sum(x * y)", 1.2, lambda: mat.sum(x * y), lambda: np.sum(a * b), found.thunks(
        numba=lambda m: _sum_of_products(m, a, b), torch=lambda t: _dot(t, a, b)))
    few = mat.array(a[:10])
    yield _row("dot, 10", 1.1, lambda: mat.dot(few, few), lambda: np.dot(a[:10], a[:10]), {})


def memory(found: Libraries, n: int) -> Iterator[Row]:
    """Copies in other orders, clips, and joins."""
    rng = np.random.default_rng(0)
    side = max(2, int(n ** 0.5))
    a, b = rng.standard_normal((2, side, side))
    x, y = mat.array(a), mat.array(b)

    def assign(to: Any, of: Any) -> None:
        to[...] = of.T

    yield _row("y[...] = x.T", 1.1, lambda: assign(y, x), lambda: assign(b, a), found.thunks(
        opencv=lambda v: lambda: v.transpose(a, b)))
    yield _row("blas.copy(x.T, y)", 1.1, lambda: mat.blas.copy(x.T, y), lambda: np.copyto(b, a.T),
               found.thunks(opencv=lambda v: lambda: v.transpose(a, b)))
    yield _row("clip", 1.1, lambda: x.clip(-0.5, 0.5), lambda: a.clip(-0.5, 0.5),
               found.thunks(torch=lambda t: _of(t, "clip", a, -0.5, 0.5)))
    yield _row("concat", 1.1, lambda: mat.concat([x, y]), lambda: np.concatenate([a, b]),
               found.thunks(torch=lambda t: _joined(t, a, b)))
    four = rng.standard_normal((max(2, int(n ** 0.25)),) * 4)
    z = mat.array(four)
    yield _row("reversed axes of four, copied", 1.0, lambda: z.T.copy(),
               lambda: np.ascontiguousarray(four.T), found.thunks(
                   hptt=lambda h: lambda: h.transpose(four, (3, 2, 1, 0))))


def products(found: Libraries, n: int) -> Iterator[Row]:
    """Products, distances, factorisations, and stacks of small matrices."""
    rng = np.random.default_rng(0)
    side = max(4, int(n ** 0.5))
    a = rng.standard_normal((side, side))
    positive = a @ a.T + side * np.eye(side)
    x, s, v = mat.array(a), mat.array(positive), mat.array(a[0])
    for name in ("inv", "cholesky"):
        yield _row(f"{name}, {side}", 1.03, lambda f=name: getattr(np.linalg, f)(s),
                   lambda f=name: getattr(np.linalg, f)(positive), {})
    yield _row(f"solve, {side}", 1.03, lambda: np.linalg.solve(x, v),
               lambda: np.linalg.solve(a, a[0]), {"scipy": lambda: scipy.linalg.solve(a, a[0])})
    m = max(2, int(n ** 0.3))  # 63 of a million
    cube, square = rng.standard_normal((m, m, m)), rng.standard_normal((m, m))
    c, q, rule = mat.array(cube), mat.array(square), "ijk,kl->ijl"
    yield _row(f"einsum {rule}, {m}", 1.2, lambda: np.einsum(rule, c, q),
               lambda: np.einsum(rule, cube, square), {"tensordot": lambda: cube @ square})
    yield from _distances(found, rng.standard_normal((2, 2 * side, 64)))
    for k in (4, 8):
        stack = rng.standard_normal((max(2, n // 1000), k, k))
        z = mat.array(stack)
        yield _row(f"products of {len(stack)} of {k} x {k}", 1.1, lambda z=z: z @ z,
                   lambda stack=stack: stack @ stack, found.thunks(
                       torch=lambda t, stack=stack: _of(t, "matmul", stack, stack)))
        yield from _systems(found, stack)


def _distances(found: Libraries, points: Any) -> Iterator[Row]:
    """The distances of two sets of points, by a product, and statements in place or a kernel, where
    kernels can be compiled.
    """
    fused = mat.kernel("T s = p + q - 2 * d; d = sqrt(s > 0 ? s : 0);", p="input", q="input",
                       d="io")

    def by_statements(m: Any, a: Any, b: Any) -> Any:
        d = a @ b.T
        d *= -2.0
        d += (a * a).sum(1, keepdims=True)
        d += (b * b).sum(1)
        return m.sqrt(m.maximum(d, 0.0, out=d), out=d)

    for dtype in ("float32", "float64"):
        a, b = points.astype(dtype)
        x, y = mat.array(a), mat.array(b)
        peers = {"numpy": lambda a=a, b=b: by_statements(np, a, b), **found.thunks(
            torch=lambda t, a=a, b=b: _of(t, "cdist", a, b))}
        name = f"distances, {len(a)} x {len(b)} x {a.shape[1]}, {dtype}"
        yield Row(name, {"mat": lambda x=x, y=y: by_statements(mat, x, y), **peers}, BEST, 1.2)
        ours = partial(_by_kernel, fused, x, y)
        try:
            ours()
        except mat.KernelError:
            continue
        yield Row(f"{name}, kernel", {"mat": ours, **peers}, BEST, 1.2)


def _by_kernel(fused: Any, x: Any, y: Any) -> Any:
    return fused((x * x).sum(1, keepdims=True), (y * y).sum(1), x @ y.T)


def _systems(found: Libraries, stack: Any) -> Iterator[Row]:
    """Inverses of the matrices of a stack, and solutions with one right side each."""
    right = stack[..., :1].copy()
    x, y = mat.array(stack), mat.array(right)
    of = f"of {len(stack)} of {stack.shape[1]} x {stack.shape[1]}"
    yield _row(f"inverses {of}", 1.1, lambda: np.linalg.inv(x), lambda: np.linalg.inv(stack),
               found.thunks(torch=lambda t: _of(t, "linalg.inv", stack)))
    yield _row(f"solutions {of}", 1.1, lambda: np.linalg.solve(x, y),
               lambda: np.linalg.solve(stack, right), found.thunks(
                   torch=lambda t: _of(t, "linalg.solve", stack, right)))


def transforms(found: Libraries, n: int) -> Iterator[Row]:
    """Fourier transforms, and filters of an image."""
    rng = np.random.default_rng(0)
    side = max(32, int(n ** 0.5) // 2 * 2)
    for shape in ((1024,), (side, side)):
        a = rng.standard_normal(shape)
        x = mat.array(a)
        yield _row(f"fftn, {' x '.join(map(str, shape))}", 1.1, lambda x=x: np.fft.fftn(x),
                   lambda a=a: np.fft.fftn(a), {
                       "scipy": lambda a=a: scipy.fft.fftn(a),
                       **found.thunks(ducc=lambda d, a=a: lambda: d.fft.c2c(a))})
    image, taps = (rng.standard_normal((k, k)).astype("float32") for k in (side, 31))
    x, w, y = mat.array(image), mat.array(taps), mat.array(image)
    yield Row(f"convolve {side} x {side} with 31 x 31", {
        "mat": lambda: mat.nn.convolve(x, w, y, anchor=15),
        **found.thunks(opencv=lambda v: lambda: v.filter2D(image, -1, taps, borderType=0))}, BEST,
        1.1)


# What the others are called


def _of(torch: Any, name: str, *operands: Any, **settings: Any) -> Thunk:
    """Return a call of torch's function."""
    given = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in operands]
    function = attrgetter(name)(torch)
    return lambda: function(*given, **settings)


def _dot(torch: Any, a: Any, b: Any) -> Thunk:
    s, t = torch.from_numpy(a), torch.from_numpy(b)
    return lambda: torch.sum(s * t)


def _joined(torch: Any, *arrays: Any) -> Thunk:
    parts = [torch.from_numpy(a) for a in arrays]
    return lambda: torch.concat(parts)


def _jitted(jax: Any, name: str, *operands: Any) -> Thunk:
    """Return a call of JAX's function, compiled."""
    function, given = jax.jit(getattr(jax.numpy, name)), [jax.numpy.asarray(a) for a in operands]
    return lambda: function(*given).block_until_ready()


def _polars_filter(polars: Any, a: Any, m: Any) -> Thunk:
    values, chosen = polars.Series(a), polars.Series(m)
    return lambda: values.filter(chosen)


def _polars_unique(polars: Any, a: Any) -> Thunk:
    values = polars.Series(a)
    return lambda: values.unique().sort()


def _evaluated(numexpr: Any, name: str, a: Any, c: Any) -> Thunk:
    return lambda: numexpr.evaluate(f"{name}(a)", local_dict={"a": a}, out=c)


def _sum_of_products(numba: Any, a: Any, b: Any) -> Thunk:
    @numba.njit(fastmath=True)
    def dot(a: Any, b: Any) -> float:
        total = 0.0
        for k in range(a.size):
            total += a[k] * b[k]
        return total

    return lambda: dot(a, b)
