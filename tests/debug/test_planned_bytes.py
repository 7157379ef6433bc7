"""The bytes that `mat.debug.plan` says, beside those of a trace, for functions, shapes, dtypes,
views and sizes of the device at random.
"""


import numpy as np
import pytest

import mat

from ..support import selection


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def standardised(x):
    return (x - x.mean(0)) / (x.std(0) + 1)


def fused(function):
    """Return a function whose statements are in a fused block."""
    def call(*operands):
        with mat.fused():
            return function(*operands)
    return call


# by the number of operands of one shape: Mats of real numbers with two axes
ONE = {
    "exp": np.exp, "negative": np.negative, "abs": abs, "in place": lambda x: x.__iadd__(1),
    "sum": lambda x: x.sum(), "sum 0": lambda x: x.sum(0), "sum 1": lambda x: x.sum(1),
    "max": lambda x: x.max(0), "argmin": lambda x: x.argmin(1), "mean": np.mean,
    "var": lambda x: np.var(x, 1), "std": lambda x: np.std(x, 0), "prod": lambda x: np.prod(x, 1),
    "ptp": lambda x: np.ptp(x, 0), "any": lambda x: (x > 2).any(1),
    "count": lambda x: np.count_nonzero(x, 0), "astype": lambda x: x.astype("d"),
    "converted": lambda x: x.astype("d").sum(), "rounded": lambda x: x.astype("f").sum(0),
    "cumsum": np.cumsum, "cumsum 0": lambda x: np.cumsum(x, 0),
    "cumprod 1": lambda x: np.cumprod(x, 1), "diff": lambda x: np.diff(x, axis=0),
    "sort": np.sort, "sort 0": lambda x: np.sort(x, 0), "argsort": np.argsort,
    "median": lambda x: np.median(x, 0), "nanmedian": lambda x: np.nanmedian(x, axis=1),
    "quantile": lambda x: np.quantile(x, 0.3, axis=0),
    "quantiles": lambda x: np.percentile(x, [10, 90], axis=1),
    "nansum": lambda x: np.nansum(x, 0), "nanmax": lambda x: np.nanmax(x, axis=1),
    "nanstd": lambda x: np.nanstd(x, axis=0), "nanmean": lambda x: np.nanmean(x),
    "transposed": lambda x: x.T.copy(), "plus transposed": lambda x: x.T + 1,
    "ravel": lambda x: x.T.reshape(-1) * 2, "slices": lambda x: x[::2] * 2,
    "columns": lambda x: x[:, 1:-1] + 1, "reversed": lambda x: np.flip(x, 0).copy(),
    "taken": lambda x: x[np.arange(0, x.shape[0], 3)],
    "taken columns": lambda x: np.take(x, [1, 0, 2], axis=1),
    "written": lambda x: x.__setitem__(slice(0, 5), 1) or x + 1,
    "roll": lambda x: np.roll(x, 1, 0), "tile": lambda x: np.tile(x, (2, 1)),
    "repeat": lambda x: np.repeat(x, 2, axis=0), "pad": lambda x: np.pad(x, 1),
    "tril": np.tril, "clip": lambda x: x.clip(1, 2), "where": lambda x: np.where(x > 1, x, 0),
    "softmax": softmax, "standardised": standardised, "norm": lambda x: np.linalg.norm(x, axis=1),
    "gram": lambda x: x[:, :99].T @ x[:, :99], "cov": lambda x: np.cov(x[:, :50], rowvar=False),
    "trace": np.trace, "nan_to_num": np.nan_to_num, "round": np.round,
    "fused chain": fused(lambda x: np.exp(x * 2 + 1)),
    "fused sum": fused(lambda x: (x * 2).sum(1)), "fused total": fused(lambda x: np.sqrt(x).sum()),
    "fused softmax": fused(softmax), "fused standardised": fused(standardised),
    "fused two": fused(lambda x: (x.mean(0), x.std(0))[1]),
    "fused stencil": fused(lambda x: x[2:] + x[:-2] - 2 * x[1:-1]),
    "i0": np.i0, "twice": lambda x: (x + 1, x * 2)[1], "kept": lambda x: [x + 1, x.sum(0)],
}
TWO = {
    "add": lambda x, y: x + y, "add turned": lambda x, y: x.T + y.T,
    "in place": lambda x, y: x.__imul__(y), "out": lambda x, y: np.maximum(x, y, out=x),
    "into": lambda x, y: np.add(x, y, out=mat.empty(x.shape, dtype=np.add(x[:1], y[:1]).dtype)),
    "rows": lambda x, y: x - y[0], "column": lambda x, y: x * y[:, :1],
    "product": lambda x, y: x[:99] @ y[:99].T,
    "turned product": lambda x, y: x[:, :99].T @ y[:, :99],
    "vector": lambda x, y: x @ y[0], "einsum": lambda x, y: np.einsum("ij,ij->i", x, y),
    "tensordot": lambda x, y: np.tensordot(x, y, 2),
    "outer": lambda x, y: np.outer(x[0, :99], y[0, :99]),
    "dot": lambda x, y: np.vdot(x[0], y[0]), "joined": lambda x, y: np.concatenate([x, y]),
    "stacked": lambda x, y: np.stack([x, y]).sum(0), "beside": lambda x, y: np.hstack([x, y]),
    "average": lambda x, y: np.average(x, axis=0, weights=y[:, 0] + 1),
    "averages": lambda x, y: np.average(x, axis=1, weights=y + 1),
    "where": lambda x, y: np.where(x > y, x, y), "less": lambda x, y: (x < y).sum(0),
    "copied": lambda x, y: x.__setitem__(slice(1, -1), y[:-2]) or x,
    "fused": fused(lambda x, y: x * y + x), "fused sum": fused(lambda x, y: (x * y).sum(1)),
    "fused columns": fused(lambda x, y: (x - y).sum(0)),
    "fused several": fused(lambda x, y: [x * y, (x + y) / 2]),
    "distances": lambda x, y: np.sqrt(((x - y) ** 2).sum(1)),
    "updates": lambda x, y: x.__iadd__(y).__imul__(2).__isub__(y),
    "parts": lambda x, y: (x[:9] + y[-9:], x * 2)[1],
    "interp": lambda x, y: np.interp(x, np.arange(4.0), np.arange(4.0)),
}
DTYPES = "ffdddihB"


def views(x, kind):
    """Return a view of a Mat with two axes."""
    if min(x.shape) < 10:
        return x
    if kind == "turned":
        return x.T
    if kind == "rows":
        return x[3:-2]
    if kind == "columns":
        return x[:, 1:-1]
    return x[::2] if kind == "steps" else x


def drawn(rng):
    """Return a call at random: its name and function, the arrays and kinds of its operands, and the
    bytes of the device.
    """
    table = ONE if rng.random() < 0.6 else TWO
    name = rng.choice(sorted(table))
    size = int(10 ** rng.uniform(3.5, 4.8))
    thin = int(rng.choice([3, 5, 20, 37, 100, 300]))
    shape = (size // thin, thin) if rng.random() < 0.7 else (thin, size // thin)
    kind = rng.choice(["plain", "plain", "plain", "turned", "rows", "columns", "steps"])
    dtype = np.dtype(str(rng.choice(list(DTYPES))))
    arrays = [(rng.random(shape) * 3).astype(dtype) for _ in range(1 if table is ONE else 2)]
    nbytes = sum(a.nbytes for a in arrays)
    pool_bytes = int(max(40_000, nbytes * 10 ** rng.uniform(-0.7, 0.7)))
    return name, table[name], arrays, str(kind), pool_bytes


def moved(function, operands):
    """Return the bytes that a call copies until its results are on the host; None if they do not
    fit.
    """
    with mat.debug.trace() as trace:
        try:
            results = function(*operands)
        except mat.OutOfDeviceMemory:
            return None
        for x in (*(results if isinstance(results, list) else [results]), *operands):
            np.asarray(x)
    return trace.bytes


def check(seed):
    """Compare the bytes of a plan with those of a trace for a call at random."""
    name, function, arrays, kind, pool_bytes = drawn(np.random.default_rng(seed))
    with mat.use_device("emulated", pool_bytes=pool_bytes):
        operands = [views(mat.array(a), kind) for a in arrays]
        planned = mat.debug.plan(function, *operands)
        traced = moved(function, operands)
    what = (f"{name} of {arrays[0].shape} {arrays[0].dtype} {kind} in {pool_bytes} bytes "
            f"(seed {seed}), {traced} copied: {planned}")
    if traced is None:
        assert any(call.problem for call in planned.calls), what
    else:
        assert planned.moved == traced, what
        assert planned.least <= traced, what


@pytest.mark.host
@pytest.mark.parametrize("part", range(selection.most(100, 3)))
def test_a_plan_at_random_has_the_bytes_of_a_trace(part):
    for seed in range(10 * part, 10 * part + 10):
        check(seed)


@pytest.mark.host
def test_at_least_the_bytes_that_are_not_on_the_device_are_copied():
    """Parts of an operand that are there already are none of them."""
    with mat.use_device("emulated", pool_bytes=41_713):
        x = mat.ones(25, 300) * 1
        planned = mat.debug.plan(np.exp, x)
        assert planned.least <= planned.moved == moved(np.exp, [x])


@pytest.mark.host
@pytest.mark.parametrize("seed", [1009, 2013])
def test_quantiles_whose_lines_have_no_room_together_are_planned_as_they_run(seed):
    """They are sorted, and what is between is taken, one operation after the other."""
    check(seed)
