"""What programs call beside arithmetic: sorting, scans, selections, factorisations, transforms; and
whole expressions, in `mat.fused` blocks and in users' kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mat

from ..bench.fused import adam, gelu, linear
from .item import BEST, COPY, TORCH, Item, Section, Thunk
from .setting import Setting, peers, random, required

# (name, bytes that an expression reads and writes for each element, the expression)
EXPRESSIONS = (("gelu", 8, gelu), ("2x+3y-zw", 20, linear), ("Adam", 28, adam))


def library(at: Setting) -> Section:
    """Operations of vectors of 16 million elements, and of matrices."""
    n = at.size(1 << 24, 4096)
    given = Operands(at, n)
    for name, function in CALLS.items():
        yield given.item(f"{name}, {n:,}", function)
    yield from _drawn(at, n)
    yield from matrices(at)


def _drawn(at: Setting, n: int) -> Section:
    """Random numbers."""
    x, t = mat.zeros(n, dtype="float32"), at.torch and at.torch.empty(n, device="cuda")
    rng = at.cupy and at.cupy.random.default_rng(0)
    for name, ours, torch, cupy in (("uniform", x.uniform_, "uniform_", "random"),
                                    ("normal", x.normal_, "normal_", "standard_normal")):
        yield Item(f"{name} numbers, {n:,} float32", ours, peers(
            torch=t is not None and (lambda f=torch: getattr(t, f)),
            cupy=rng and (lambda f=cupy: partial(getattr(rng, f), n, dtype="float32"))), BEST,
            x.nbytes)


class Operands:
    """Vectors of each library: `x` of float32, `i` of integers below 256, `at` of positions and
    `mask` of truth.
    """

    def __init__(self, at: Setting, n: int) -> None:
        self.at = at
        arrays = {"x": random(n, "float32"), "i": random(n, "int64", 1) % 256,
                  "at": random(n, "int64", 2) * (n // 100), "mask": random(n, "float32", 3) > 0.5}
        self.ours = {name: mat.array(a) for name, a in arrays.items()}
        self.torch = at.torch and {name: at.torch.from_numpy(a).cuda()
                                   for name, a in arrays.items()}
        self.cupy = at.cupy and {name: at.cupy.asarray(a) for name, a in arrays.items()}

    def item(self, name: str, function: Callable[..., object]) -> Item:
        """Return the call of a function of a namespace and the vectors."""
        def call(xp: Any, given: Any) -> Any:
            return given and (lambda: partial(function, xp, **given))

        return Item(name, partial(function, mat, **self.ours), peers(
            torch=call(self.at.torch, self.torch), cupy=call(self.at.cupy, self.cupy)), BEST)


def _sorted(xp: Any, x: Any, **_: Any) -> object:
    return xp.sort(x)


def _argsorted(xp: Any, x: Any, **_: Any) -> object:
    return xp.argsort(x)


def _running(xp: Any, x: Any, **_: Any) -> object:
    return xp.cumsum(x, 0)


def _summed(xp: Any, x: Any, **_: Any) -> object:
    return xp.sum(x)


def _binned(xp: Any, i: Any, **_: Any) -> object:
    return xp.bincount(i)


def _taken(xp: Any, x: Any, at: Any, **_: Any) -> object:
    return xp.take(x, at)


def _selected(xp: Any, x: Any, mask: Any, **_: Any) -> object:
    return x[mask]


def _chosen(xp: Any, x: Any, mask: Any, **_: Any) -> object:
    return xp.where(mask, x, 0.0)


def _joined(xp: Any, x: Any, **_: Any) -> object:
    return xp.concatenate([x, x])


def _largest(xp: Any, x: Any, **_: Any) -> object:
    return xp.argmax(x)


CALLS = {"sort": _sorted, "argsort": _argsorted, "cumsum": _running, "bincount of 256": _binned,
         "take": _taken, "x[mask]": _selected, "where": _chosen, "concatenate": _joined,
         "argmax": _largest}


def beside_cub(at: Setting) -> Section:
    """What NVIDIA's CUB has for vectors, as CuPy and torch call it."""
    for n in [4096] if at.small else [1 << 27, 1 << 22]:
        for dtype in ("float32", "int64", "float64"):
            x = random(n, dtype)
            ours, c = mat.array(x), at.cupy and at.cupy.asarray(x)
            t = at.torch and at.torch.from_numpy(x).cuda()
            for name, function in (("sort", _sorted), ("argsort", _argsorted), ("cumsum", _running),
                                   ("sum", _summed)):
                yield Item(f"{name}, {n:,} {dtype}", partial(function, mat, ours), {} if at.alone
                           else required(
                               CUB_in_CuPy=(c, lambda f=function, c=c: partial(f, at.cupy, c)),
                               CUB_in_torch=(t, lambda f=function, t=t: partial(f, at.torch, t))),
                           {"CUB in CuPy": 1.0, "CUB in torch": 1.0}, x.nbytes)


def matrices(at: Setting) -> Section:
    """Products of stacks, transforms and factorisations."""
    k, m = at.size(64, 2), at.size(256, 8)
    yield _of_matrices(at, f"{k} products of {m} x {m}", (k, m, m), lambda xp, a: xp.matmul(a, a))
    m = at.size(1024, 16)
    yield _of_matrices(at, f"fft of {m} rows of {m}", (m, m), lambda xp, a: xp.fft.fft(a))
    yield _of_matrices(at, f"svd, {m // 2}", (m // 2, m // 2), lambda xp, a: xp.linalg.svd(a))
    yield _of_matrices(at, f"inverse, {m}", (m, m), lambda xp, a: xp.linalg.inv(a))
    yield _of_matrices(at, f"qr, {m}", (m, m), lambda xp, a: xp.linalg.qr(a))
    yield _of_matrices(at, f"eigh of a a^T, {m // 2}", (m // 2, m // 2),
                       lambda xp, a: xp.linalg.eigh(a @ a.T))
    yield _of_matrices(at, f"solve, {m}", (m, m), lambda xp, a: xp.linalg.solve(a, a))


def _of_matrices(at: Setting, name: str, shape: tuple[int, ...],
                 function: Callable[[Any, Any], object]) -> Item:
    size = 1
    for length in shape:
        size *= length
    a = random(size, "float32").reshape(shape)
    t, c = at.torch and at.torch.from_numpy(a).cuda(), at.cupy and at.cupy.asarray(a)
    return Item(f"{name}, float32", partial(function, mat, mat.array(a)), peers(
        torch=at.torch and (lambda: partial(function, at.torch, t)),
        cupy=at.cupy and (lambda: partial(function, at.cupy, c))), BEST)


def expressions(at: Setting) -> Section:
    """Expressions of 67 million float32 in one pass, beside the same statements one by one."""
    n = at.size(1 << 26, 4096)
    for name, each, function in EXPRESSIONS:
        arrays = [random(n, "float32", k) + 0.5 for k in range(4)]
        ours = [mat.array(a) for a in arrays]
        fused = mat.fused(function)
        others = peers(copy=lambda each=each: at.copying(each * n),
                       torch=at.torch and (lambda f=function, a=arrays: _compiled(at, f, a)))
        others["mat, one by one"] = partial(function, mat, *ours)
        yield Item(f"{name}, fused, {n:,} float32", partial(fused, mat, *ours), others,
                   {COPY: 0.85, TORCH: 1.0}, each * n)
    yield from _rows(at)


def _compiled(at: Setting, function: Callable[..., object], arrays: list[Any]) -> Thunk:
    """Return the function by torch's compiler."""
    torch = at.torch
    given = [torch.from_numpy(a).cuda() for a in arrays]
    return partial(torch.compile(function), torch, *given)


def _rows(at: Setting) -> Section:
    """Functions of rows, by operations one by one."""
    rows, wide = at.size(16384, 8), at.size(1024, 16)
    a = random(rows * wide, "float32").reshape(rows, wide)
    x = mat.array(a)
    t = at.torch and at.torch.from_numpy(a).cuda()

    def softmax() -> object:
        e = mat.exp(x - x.max(axis=1, keepdims=True))
        e /= e.sum(axis=1, keepdims=True)
        return e

    def layer_norm() -> object:
        d = x - x.mean(axis=1, keepdims=True)
        d /= mat.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
        return d

    for name, ours, theirs in (
            ("softmax", softmax, lambda: at.torch.softmax(t, 1)),
            ("layer norm", layer_norm, lambda: at.torch.nn.functional.layer_norm(t, (wide,)))):
        yield Item(f"{name} of {rows} rows of {wide}, float32", mat.fused(ours), peers(
            copy=lambda: at.copying(2 * a.nbytes), torch=at.torch and (lambda f=theirs: f)),
            {COPY: 0.85, TORCH: 1.0}, 2 * a.nbytes)
