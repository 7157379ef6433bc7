"""How to draw calls of the standard's products, linear algebra and transforms."""

import math

import numpy as np
from hypothesis import strategies as st

from .array_api_draw import D


def matrices(kinds="fc", square=False, low=2):
    """A stack of matrices."""
    def row(d):
        rows = d.one(1, 2, 3)
        shape = (*d.one((), (2,), (0,), (2, 1)), rows, rows if square else d.one(1, 2, 4))
        return (d.array(kinds, shape),)

    return row


def regular(d):
    """A stack of matrices that are far from singular, Hermitian and positive definite."""
    (x,) = matrices(square=True)(d)
    wide = x.astype("complex128" if x.dtype.kind == "c" else "float64")
    return (wide @ np.conj(wide.mT) + 4 * np.eye(x.shape[-1])).astype(x.dtype)


def matmul(d):
    k, n = d.one(0, 1, 3), d.one(0, 1, 2)
    left, right = d.one(((k,), (k,)), ((n, k), (k,)), ((k,), (2, k, n)), ((n, k), (k, 2)),
                        ((2, n, k), (k, 4)),
                        ((2, 1, 2, k), (3, k, n)))
    x = d.array("iufc", left)
    return x, d.array("", right, dtype=d.wider(x.dtype))


def tensordot(d):
    first, second, axes = d.one(((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3,), 0),
                                ((0, 3), (3, 2), 1), ((), (2,), 0),
                                ((2, 3, 4), (4, 2), ((0, 2), (1, 0))))
    x = d.array("iufc", first)
    return (x, d.array("", second, dtype=str(x.dtype))), {"axes": axes}


def vecdot(d):
    first, second, axis = d.one(((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 4), (1, 2, 4), -2),
                                ((0,), (0,), -1))
    x = d.array("iufc", first)
    return (x, d.array("", second, dtype=str(x.dtype))), {"axis": axis}


def cross(d):
    first, second, axis = d.one(((3,), (3,), -1), ((2, 3), (2, 3), -1), ((3, 2), (3, 2), -2))
    x = d.array("iufc", first)
    return (x, d.array("", second, dtype=str(x.dtype))), {"axis": axis}


def solve(d):
    x = regular(d)
    return x, d.array("", d.one((x.shape[-1],), (*x.shape[:-1], 2)), dtype=str(x.dtype))


def outer(d):
    x = d.array("iufc", d.shape(1, 1))
    return x, d.array("", d.shape(1, 1), dtype=str(x.dtype))


def vector_norm(d):
    x = d.array("fc", d.shape(1, side=1))
    return (x,), {"axis": d.axes(x.ndim), "keepdims": d.flag(),
                  "ord": d.one(2, 1, 0, 3, 0.5, math.inf, -math.inf)}


def matrix_norm(d):
    return matrices()(d), {"keepdims": d.flag(),
                           "ord": d.one("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)}


def trace(d):
    x = d.array("iufc", d.shape(2))
    return (x,), {"offset": d.one(-1, 0, 1), **({"dtype": D(d.wider(x.dtype))} if d.flag() else {})}


PRODUCTS = {"matmul": matmul, "tensordot": tensordot, "vecdot": vecdot}
LINALG = {
    **PRODUCTS, "matrix_transpose": lambda d: (d.array("biufc", d.shape(2)),), "cross": cross,
    "outer": outer, "trace": trace,
    "diagonal": lambda d: ((d.array("biufc", d.shape(2)),), {"offset": d.one(-1, 0, 1)}),
    "cholesky": lambda d: ((regular(d),), {"upper": d.flag()}), "inv": lambda d: (regular(d),),
    "solve": solve,
    "det": lambda d: (regular(d),), "slogdet": lambda d: (regular(d),),
    **dict.fromkeys(("eigh", "eigvalsh", "eig", "eigvals"), lambda d: (regular(d),)),
    "matrix_power": lambda d: (regular(d), d.one(0, 1, 2, 5, -2)), "matrix_rank": matrices(),
    "matrix_norm": matrix_norm,
    "vector_norm": vector_norm, "pinv": lambda d: (regular(d),), "svdvals": matrices(),
    "qr": lambda d: (matrices()(d), {"mode": d.one("reduced", "complete")}),
    "svd": lambda d: (matrices()(d), {"full_matrices": d.flag()}),
}

# Transforms

NORMS = ("backward", "ortho", "forward")


def transform(kinds):
    def row(d):
        x = d.array(kinds, d.shape(1, side=2))
        return (x,), {"n": d.one(None, 2, 5), "axis": d.axis(x.ndim), "norm": d.one(*NORMS)}

    return row


def transforms(kinds):
    def row(d):
        x = d.array(kinds, d.shape(1, side=2))
        axes = d(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True).map(tuple))
        return (x,), {"s": d.one(None, tuple(3 for _ in axes)), "axes": axes, "norm": d.one(*NORMS)}

    return row


def shift(d):
    x = d.array("fc", d.shape(1))
    return (x,), {"axes": d.axes(x.ndim)}


def frequencies(d):
    return (d.one(1, 4, 5),), {"d": d.one(1.0, 0.5, 3)}


FFT = {
    "fft": transform("c"), "ifft": transform("c"), "rfft": transform("f"), "irfft": transform("c"),
    "hfft": transform("c"),
    "ihfft": transform("f"), "fftn": transforms("c"), "ifftn": transforms("c"),
    "rfftn": transforms("f"),
    "irfftn": transforms("c"), "fftshift": shift, "ifftshift": shift, "fftfreq": frequencies,
    "rfftfreq": frequencies,
}
