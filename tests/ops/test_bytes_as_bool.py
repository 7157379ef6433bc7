"""Views of other elements as bool, whose bytes may be any: NumPy takes all but 0 for true."""

from contextlib import nullcontext

import numpy as np
import pytest

import mat

BYTES = np.array([0, 3, -7, 1, 0, 64, -128, 2] * 5, "int8")
OF_ONE = {
    **{f"astype {to}": lambda m, x, to=to: x.astype(to)
       for to in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c16")},
    "x + 1": lambda m, x: x + 1, "x + 1.5": lambda m, x: x + 1.5, "3 * x": lambda m, x: 3 * x,
    "x + x": lambda m, x: x + x, "x & x": lambda m, x: x & x[::-1],
    "x | x": lambda m, x: x | x[::-1], "x ^ x": lambda m, x: x ^ x[::-1], "~x": lambda m, x: ~x,
    "x == x": lambda m, x: x == x[::-1], "x != x": lambda m, x: x != x[::-1],
    "x < x": lambda m, x: x < x[::-1], "x <= x": lambda m, x: x <= x[::-1],
    "maximum": lambda m, x: m.maximum(x, x[::-1]), "minimum": lambda m, x: m.minimum(x, x[::-1]),
    "logical_xor": lambda m, x: m.logical_xor(x, x[::-1]), "sum": lambda m, x: x.sum(),
    "sum of axis": lambda m, x: x.reshape(5, 8).sum(0), "mean": lambda m, x: x.mean(),
    "sum as f4": lambda m, x: m.sum(x, dtype="f4"), "std": lambda m, x: m.std(x),
    "cumsum": lambda m, x: x.cumsum(), "cumprod": lambda m, x: (x | True).cumprod(),
    "any": lambda m, x: x.reshape(5, 8).any(0), "all": lambda m, x: x.reshape(5, 8).all(1),
    "count": lambda m, x: m.count_nonzero(x), "argmax": lambda m, x: x.argmax(),
    "matmul": lambda m, x: m.matmul(x, x.astype(int)),
    "product": lambda m, x: m.matmul(x.reshape(5, 8), x.reshape(8, 5)),
    "times integers": lambda m, x: m.matmul(x.reshape(5, 8), m.ones((8, 5), "int8")),
    "where": lambda m, x: m.where(x, 1, 2), "index": lambda m, x: m.arange(40)[x],
    "sqrt": lambda m, x: m.sqrt(x), "diff": lambda m, x: m.diff(x),
    "concatenate": lambda m, x: m.concatenate([x.astype(int), x]),
    "isin": lambda m, x: m.isin(x, [True]), "tolist": lambda m, x: m.array(x.tolist()),
}


@pytest.mark.parametrize("device", ["host", "emulated"])
@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("name", OF_ONE)
def test_all_but_zero_is_true(name, imported, device):
    want = OF_ONE[name](np, BYTES.view(bool))
    with mat.use_device("emulated") if device == "emulated" else nullcontext():
        x = mat.from_numpy(BYTES.view(bool)) if imported else mat.array(BYTES).view(bool)
        got = np.asarray(OF_ONE[name](mat, x))
    assert got.dtype == want.dtype
    assert np.array_equal(np.add(got, 0), np.add(want, 0))
