"""How to draw a call of each function of the array API standard, for ``test_array_api.py`` to
compare with the reference.

A row is a function that gets a `Draw` and returns the arguments, and perhaps keywords: arrays are
NumPy's there, dtypes `D`.
"""


import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from .array_api_draw import KINDS, D, Exactly
from .array_api_linalg_cases import FFT, LINALG, PRODUCTS

# Element-wise


def unary(kinds, special=True):
    return lambda d: (d.array(kinds, special=special),)


def binary(kinds, *, numbers=True, low=None):
    """Two arrays that broadcast and promote, or an array and a number of its kind, on either
    side.
    """
    def row(d):
        first, second = d(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3,
                                                            max_side=4)).input_shapes
        x = d.array(kinds, first, special=low is None)
        if numbers and d.one(True, False, False):
            y = d.array("", (), dtype=str(x.dtype)).item()
            y = y if low is None else abs(y)
            return (x, y) if low is not None or d.flag() else (y, x)
        y = d.array(kinds, second, special=low is None, dtype=d.wider(x.dtype))
        return x, y if low is None else np.asarray(np.abs(y))

    return row


def clip(d):
    x = d.array("iuf")
    low, high = (d.array("", (), dtype=str(x.dtype)).item() for _ in range(2))
    low, high = sorted((low, high))
    if d.flag():
        low = np.full(d.one((), x.shape), low, x.dtype)
    return (x, d.one(None, low), d.one(None, high))


ELEMENTWISE = {
    **dict.fromkeys(("abs", "negative", "positive", "square"), unary("iufc")),
    "sign": unary("iufc", special=False),  # of infinite complex numbers they disagree
    **dict.fromkeys(("ceil", "floor", "round", "trunc"), unary("iuf")), "round": unary("iufc"),
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp",
                     "expm1", "log", "log10", "log1p",
                     "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"), unary("fc")),
    **dict.fromkeys(("isfinite", "isinf", "isnan"), unary("iufc")),
    "signbit": unary("f"), "conj": unary("iufc"), "imag": unary("c"), "real": unary("iufc"),
    "logical_not": unary("b"), "bitwise_invert": unary("biu"),
    **dict.fromkeys(("add", "subtract", "multiply"), binary("iufc")),
    **dict.fromkeys(("equal", "not_equal"), binary("biufc")),
    **dict.fromkeys(("greater", "greater_equal", "less", "less_equal", "maximum", "minimum"),
                    binary("iuf")),
    "divide": binary("fc"), "pow": binary("iuf", low=0),
    **dict.fromkeys(("floor_divide", "remainder"), binary("iuf")),
    **dict.fromkeys(("atan2", "copysign", "hypot", "logaddexp", "nextafter"), binary("f")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), binary("biu")),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), binary("iu", low=0)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), binary("b")),
    "clip": clip,
}

# Over axes


def reduction(kinds, *, dtypes="", side=0, one=False, low=0, special=True, **keywords):
    """An array, axes and `keepdims`; `dtypes` are what a sum may be computed in."""
    def row(d):
        x = d.array(kinds, d.shape(low, side=side), special=special and not one)
        axis = (d.one(None, d.axis(x.ndim)) if x.ndim else None) if one else d.axes(x.ndim)
        more = {name: d.one(*values) for name, values in keywords.items()}
        if dtypes and d.flag():
            more["dtype"] = D(d.one(*KINDS[x.dtype.kind]))
        return (x,), {"axis": axis, "keepdims": d.flag(), **more}

    return row


def running(d):
    x = d.array("iuf", d.shape(1))
    more = {"dtype": D(d.one(*KINDS[x.dtype.kind]))} if d.flag() else {}
    return (x,), {"axis": d.axis(x.ndim), "include_initial": d.flag(), **more}


def diff(d):
    x = d.array("iuf", d.shape(1))
    k = d.axis(x.ndim)
    ends = {}
    for name in ("prepend", "append"):
        if d.flag():
            shape = list(x.shape)
            shape[k] = d.one(1, 2)
            ends[name] = d.array("", tuple(shape), dtype=str(x.dtype))
    return (x,), {"axis": k, "n": d.one(0, 1, 2), **ends}


def mean(d):
    """NumPy divides complex infinities by complex numbers, a device by real ones, which leaves the
    other part as it was.
    """
    return reduction("f")(d) if d.flag() else reduction("c", special=False)(d)


STATISTICAL = {
    "sum": reduction("iufc", dtypes="all"), "prod": reduction("iufc", dtypes="all"), "mean": mean,
    "max": reduction("iuf", side=1), "min": reduction("iuf", side=1),
    "std": reduction("f", correction=(0, 1, 0.5)), "var": reduction("f", correction=(0, 1, 0.5)),
    "argmax": reduction("iuf", side=1, one=True), "argmin": reduction("iuf", side=1, one=True),
    "all": reduction("biufc"), "any": reduction("biufc"), "count_nonzero": reduction("biufc"),
    "cumulative_sum": running, "cumulative_prod": running, "diff": diff,
}

# Creation


def creation(*shape_first):
    def row(d):
        more = {"dtype": D(d.dtype("biufc"))} if d.flag() else {}
        return (d.shape(), *shape_first), more

    return row


def created_like(*more):
    return lambda d: ((d.array("biufc"), *more), {"dtype": D(d.dtype("biufc"))} if d.flag() else {})


def full(d):
    dtype = d.dtype("biufc")
    return (d.shape(), d.array("", (), dtype=dtype).item()), {"dtype": D(dtype)} if d.flag() else {}


def full_like(d):
    x = d.array("biufc")
    return x, d.array("", (), dtype=str(x.dtype)).item()


def eye(d):
    return (d.one(0, 1, 3), d.one(None, 0, 2, 4)), {"k": d.one(-1, 0, 2),
                                                    "dtype": D(d.dtype("iufc"))}


def arange(d):
    start, stop, step = d.one(0, -3, 1.5), d.one(None, 4, 7.5, -5), d.one(1, 2, 0.5, -1)
    return (start, stop, step) if stop is not None else (start,)


def linspace(d):
    return (d.one(0, -1.5, 1j), d.one(3, 7.25), d.one(0, 1, 5)), {"endpoint": d.flag()}


def meshgrid(d):
    dtype = d.dtype("iuf")
    arrays = [d.array("", d.shape(1, 1), dtype=dtype) for _ in range(d.one(1, 2, 3))]
    return tuple(arrays), {"indexing": d.one("xy", "ij")}


def triangle(d):
    return (d.array("iufc", d.shape(2)),), {"k": d.one(-1, 0, 1)}


CREATION = {
    "asarray": lambda d: (Exactly(d.array("biufc").tolist()),),
    "zeros": creation(), "ones": creation(), "empty": creation(), "full": full,
    "zeros_like": created_like(),
    "ones_like": created_like(), "empty_like": created_like(), "full_like": full_like, "eye": eye,
    "arange": arange,
    "linspace": linspace, "meshgrid": meshgrid, "tril": triangle, "triu": triangle,
    "from_dlpack": lambda d: (Exactly(d.array("iufc")),),
}

# Shapes


def broadcast(d):
    shapes = d(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=4)).input_shapes
    return tuple(d.array("biufc", s) for s in shapes)


def broadcast_to(d):
    first = d.shape()
    x = d.array("biufc", first)
    return x, (*d.one((), (2,), (3, 0)), *(d.one(2, 3) if n == 1 else n for n in first))


def alike(d, axis):
    """Arrays of one shape but for `axis`, and of one kind."""
    shape, dtype = d.shape(1), d.dtype("biufc")
    k = d.axis(len(shape))
    shapes = []
    for _ in range(d.one(1, 2, 3)):
        other = list(shape)
        other[k] = d.one(0, 1, 3) if axis else other[k]
        shapes.append(tuple(other))
    return [d.array("", s, dtype=d.wider(dtype)) for s in shapes], k


def concat(d):
    arrays, k = alike(d, True)
    return (arrays,), {"axis": d.one(None, k)}


def stack(d):
    arrays, _ = alike(d, False)
    same = [a.astype(arrays[0].dtype) for a in arrays]
    return (same,), {"axis": d.axis(same[0].ndim + 1)}


def repeat(d):
    x = d.array("biufc", d.shape(1))
    k = d.axis(x.ndim)
    if d.flag():
        return (x, d.one(0, 1, 3)), {"axis": d.one(None, k)}
    return (x, d.array("", (x.shape[k],), dtype="uint8").astype("int64")), {"axis": k}


def reshape(d):
    x = d.array("biufc")
    flat = d.one((x.size,), (1, x.size), (x.size, 1, 1), x.shape, x.shape[::-1])
    return (x, (-1,) if d.flag() and x.size else flat), {"copy": d.one(None, True)}


def roll(d):
    x = d.array("biufc", d.shape(1))
    some = d(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True).map(tuple))
    return d.one(((x, d.one(-7, 0, 2)), {}), ((x, 3), {"axis": d.axis(x.ndim)}),
                 ((x, tuple(range(1, len(some) + 1))), {"axis": some}), ((x, 2), {"axis": some}))


def squeeze(d):
    x = d.array("biufc", d(st.permutations([1, 1, 3])))
    ones = [k for k, n in enumerate(x.shape) if n == 1]
    return x, d.one(ones[0], ones[1] - 3, tuple(ones))


def expand_dims(d):
    x = d.array("biufc")
    return x, d.one(d.axis(x.ndim + 1), (0, -1), (1, 0))


def moveaxis(d):
    x = d.array("biufc", d.shape(1))
    some = tuple(d(st.permutations(range(x.ndim))))
    return d.one((x, d.axis(x.ndim), d.axis(x.ndim)), (x, tuple(range(x.ndim)), some))


def permute_dims(d):
    x = d.array("biufc")
    return x, tuple(d(st.permutations(range(x.ndim))))


MANIPULATION = {
    "broadcast_arrays": broadcast,
    "broadcast_shapes": lambda d: tuple(a.shape for a in broadcast(d)),
    "broadcast_to": broadcast_to, "concat": concat, "stack": stack, "repeat": repeat,
    "reshape": reshape, "roll": roll,
    "squeeze": squeeze, "expand_dims": expand_dims, "moveaxis": moveaxis,
    "permute_dims": permute_dims,
    "flip": lambda d: ((x := d.array("biufc"),), {"axis": d.axes(x.ndim)}),
    "tile": lambda d: (d.array("biufc"), d.one((), (2,), (1, 3), (2, 0, 1), (2, 1, 1, 2))),
    "unstack": lambda d: ((x := d.array("biufc", d.shape(1)),), {"axis": d.axis(x.ndim)}),
    "matrix_transpose": lambda d: (d.array("biufc", d.shape(2)),),
}

# Searching, sorting, sets, taking


def where(d):
    shapes = d(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=4)).input_shapes
    x = d.array("biufc", shapes[1], special=True)
    y = d.one(d.array("", shapes[2], dtype=d.wider(x.dtype)),
              d.array("", (), dtype=str(x.dtype)).item())
    return d.array("b", shapes[0]), x, y


def searchsorted(d):
    x = np.sort(d.array("iuf", d.shape(1, 1)))
    return (x, d.array("", dtype=str(x.dtype))), {"side": d.one("left", "right")}


def ordered(d):
    x = d.array("iuf", d.shape(1))
    return (x,), {"axis": d.axis(x.ndim), "descending": d.flag(), "stable": True}


def take(d):
    x = d.array("biufc", d.shape(1, side=1))
    k = d.axis(x.ndim)
    return (x, d(hnp.arrays("int64", d.shape(1, 1),
                            elements=st.integers(0, x.shape[k] - 1)))), {"axis": k}


def take_along_axis(d):
    x = d.array("biufc", d.shape(1, side=1))
    k = d.axis(x.ndim)
    shape = list(x.shape)
    shape[k] = d.one(1, 3)
    return (x, d(hnp.arrays("int64", tuple(shape),
                            elements=st.integers(0, x.shape[k] - 1)))), {"axis": k}


def isin(d):
    x = d.array("iu")
    return (x, d.array("", dtype=str(x.dtype))), {"invert": d.flag()}


SEARCHING = {
    "where": where, "searchsorted": searchsorted, "sort": ordered, "argsort": ordered, "take": take,
    "take_along_axis": take_along_axis, "isin": isin,
    "nonzero": lambda d: (d.array("biufc", d.shape(1)),),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"),
                    lambda d: (d.array("iuf"),)),
}

# Dtypes

DTYPES = [d for names in KINDS.values() for d in names]
WORDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
         "complex floating", "numeric")


def result_type(d):
    first = d.dtype("iufc")
    return d.one((D(first), D(d.wider(first))), (d.array("", dtype=first), D(d.wider(first))),
                 (d.array("", dtype=first), 1))


DATA_TYPES = {
    "astype": lambda d: ((d.array("biuf"), D(d.dtype("iuf"))), {"copy": d.flag()}),
    "can_cast": lambda d: (D(x := d.dtype("iufc")), D(d.wider(x))),
    "finfo": lambda d: (D(d.dtype("fc")),), "iinfo": lambda d: (D(d.dtype("iu")),),
    "isdtype": lambda d: (D(d.dtype("biufc")), d.one(*WORDS, WORDS[:2], (WORDS[4], WORDS[3]))),
    "result_type": result_type,
}

ROWS = {**ELEMENTWISE, **STATISTICAL, **CREATION, **MANIPULATION, **SEARCHING, **DATA_TYPES,
        **PRODUCTS,
        **{f"linalg.{n}": row for n, row in LINALG.items()},
        **{f"fft.{n}": row for n, row in FFT.items()}}
