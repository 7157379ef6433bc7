"""Calls of everything in NumPy that a Mat can be given to: each function and ufunc at least once.

A call takes NumPy's function and a set of operands, which are arrays or, laid out in some way, Mats
with the same elements.
"""

import functools
import io
import tempfile
from pathlib import Path

import numpy as np

STRUCT = np.array([(1, 2.0), (3, 4.0)], [("i", "i8"), ("x", "f8")])
DAYS = np.array(["2026-11-20", "2026-11-23"], "M8[D]")


@functools.cache
def elements(dtype):
    """The elements of each operand, by its name."""
    rng = np.random.default_rng(7)

    def numbers(*shape):
        if dtype.kind in "iub":
            values = rng.integers(0 if dtype.kind in "ub" else -5, 2 if dtype.kind == "b" else 6,
                                  shape)
        else:
            values = np.round(rng.standard_normal(shape), 2)
            values = values + 1j * np.round(rng.standard_normal(shape),
                                            2) if dtype.kind == "c" else values
        return np.asarray(values).astype(dtype)

    shapes = {"v": 5, "w": 5, "a": (3, 4), "b": (3, 4), "row": 4, "column": (3, 1), "c": (2, 3, 4),
              "tall": (4, 3),
    "none": (0, 3),
              "point": (), "one": 1, "sq": (3, 3), "sq2": (3, 3), "box": (2, 2, 2, 2)}
    square = np.arange(9).reshape(3, 3) % 4
    made = {
        "spd": square @ square.T + 9 * np.eye(3),
        # whose eigenvalues differ, as singular values, in each dtype, also of truth
        "path": np.array([[0, 1, 0], [1, 0, 1], [0, 1, 1]]),
        "up": np.arange(5) if dtype.kind != "b" else [0, 0, 0, 1, 1],
        "wide": np.arange(16).reshape(4, 4), "change": np.arange(12).reshape(3, 4)}
    others = {
        "i": np.array([2, 0, 1]), "i2": np.array([[2, 0, 1, 1], [0, 0, 1, 2], [1, 2, 0, 2]]),
        "k": np.array([0, 2, 2, 1, 0]),
        "m": np.arange(12).reshape(3, 4) % 3 == 0, "mv": np.arange(5) % 2 == 0,
        "f": np.linspace(0, 1, 5)}
    return {n: numbers(*np.atleast_1d(s)) if s != () else numbers() for n, s in shapes.items()} | {
        n: np.asarray(x).astype(dtype) for n, x in made.items()} | others


class Operands:
    """Operands of one dtype; `wrap` makes of an array what the call is given."""

    def __init__(self, dtype, wrap):
        self.dtype, self.wrap = np.dtype(dtype), wrap
        self.arrays = []

    def __getattr__(self, name):
        found = self.__dict__[name] = self.wrap(elements(self.dtype)[name])
        return found

    def out(self, shape, dtype=None):
        """Somewhere to write."""
        return self.wrap(np.zeros(shape, dtype or self.dtype))

    def array(self, shape, dtype="f8"):
        """An array to write to."""
        self.arrays.append(np.zeros(shape, dtype))
        return self.arrays[-1]


def each(*names):
    """The function called with each of these operands."""
    return [lambda f, o, n=n: f(getattr(o, n)) for n in names]


def without_signs(f, x, *names):
    """A factorisation of x, of whose vectors each may have another sign from another library."""
    found = f(x)
    return found._replace(**{name: abs(getattr(found, name)) for name in names})


def then(change):
    """A call for what it does to its first operand."""
    def call(f, o):
        return change(f, o, o.change), o.change
    return [call]


def _saved(f, o, *arrays, **more):
    file = io.BytesIO()
    f(file, *arrays, **more)
    file.seek(0)
    found = np.load(file)
    return repr(found if isinstance(found, np.ndarray) else dict(found))


def _text(f, o):
    file = io.StringIO()
    f(file, o.a)
    return file.getvalue()


def _from_file(f, o):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        np.arange(3.0).tofile(path)
        return f(path, like=o.v)


ANY = each("a", "v", "c", "none", "point", "one")
FULL = each("a", "v", "c", "point", "one")  # some elements
AXES = [lambda f, o: f(o.a, axis=0), lambda f, o: f(o.c, axis=(0, 2), keepdims=True),
        lambda f, o: f(o.a, axis=-1)]
AXIS = [lambda f, o: f(o.a, axis=0), lambda f, o: f(o.a, 1), lambda f, o: f(o.c, axis=-1)]
REDUCE = [*FULL, *AXES, lambda f, o: f(o.a, 0, out=o.out(4, f(np.zeros((1, 1), o.dtype)).dtype))]
WHERE = [lambda f, o: f(o.a, where=o.m, initial=1), lambda f, o: f(o.a, axis=1, keepdims=True)]
PAIR = [lambda f, o: f(o.a, o.b), lambda f, o: f(o.a, o.row)]
VECTORS = [lambda f, o: f(o.v, o.w)]
SETS = [lambda f, o: f(o.v, o.w), lambda f, o: f(o.a, o.b)]
POLY = [lambda f, o: f(o.v, o.w)]
NAN = [*FULL, *AXES]
SQUARE = [lambda f, o: f(o.spd)]
LIKE = [*ANY, lambda f, o: f(o.a, dtype="float32"), lambda f, o: f(o.a, shape=(2, 5))]
JOIN = [lambda f, o: f([o.a, o.b]), lambda f, o: f((o.v, o.w)), lambda f, o: f([o.a, o.m]),
lambda f, o: f([o.c, o.c], dtype="c16")]
LINES = ["1 2 3", "4 5 6"]
NOTHING = []

FUNCTIONS = {
    "all": REDUCE, "any": REDUCE,
    "sum": [*REDUCE, *WHERE, lambda f, o: f(o.a, dtype="float64"), *each("none")],
    "prod": [*REDUCE, *WHERE, *each("none")], "mean": [*REDUCE, lambda f, o: f(o.a, where=o.m),
        lambda f, o: f(o.a, None, "f8")],
    "max": [*REDUCE, *WHERE, *each("none")], "min": [*REDUCE, *WHERE, *each("none")],
    "amax": REDUCE, "amin": REDUCE,
    "argmax": [*FULL, *AXIS, lambda f, o: f(o.a, axis=1, keepdims=True)],
    "argmin": [*FULL, *AXIS, *each("none")],
    "std": [*REDUCE, lambda f, o: f(o.a, 0, ddof=1), lambda f, o: f(o.v, ddof=7)],
    "var": [*REDUCE, lambda f, o: f(o.a, axis=(0, 1), ddof=1, keepdims=True),
            lambda f, o: f(o.a, correction=1)],
    "ptp": REDUCE, "median": [*FULL, *AXES, lambda f, o: f(o.a, 0, o.out(4, "f8")),
                              lambda f, o: f(o.a, None, None, True)],
    "average": [*FULL, lambda f, o: f(o.a, axis=1, weights=o.row),
                lambda f, o: f(o.a, 0, returned=True)],
    "percentile": [lambda f, o: f(o.a, 30), lambda f, o: f(o.a, [20, 50], axis=0),
                   lambda f, o: f(o.v, o.f * 100)],
    "quantile": [lambda f, o: f(o.a, 0.3), lambda f, o: f(o.a, o.f, 1),
                 lambda f, o: f(o.a, 0.5, 0, None, True)],
    "count_nonzero": [*ANY, lambda f, o: f(o.a, axis=0)],
    "cumsum": [*FULL, *AXIS, lambda f, o: f(o.v, 0, None, o.out(5))],
    "cumprod": [*FULL, *AXIS], "cumulative_sum": [*AXIS, lambda f, o: f(o.v, include_initial=True)],
    "cumulative_prod": AXIS,
    "nanargmax": [*FULL, *AXIS], "nanargmin": [*FULL, *AXIS], "nancumprod": AXIS, "nancumsum": AXIS,
    "nanmax": NAN,
    "nanmin": NAN, "nanmean": NAN, "nanmedian": NAN, "nanprod": NAN, "nansum": NAN, "nanstd": NAN,
    "nanvar": NAN,
    "nanpercentile": [lambda f, o: f(o.a, 30)], "nanquantile": [lambda f, o: f(o.a, 0.3, axis=1)],
    "trace": [*each("sq", "c", "a"), lambda f, o: f(o.c, 1, 0, 2),
              lambda f, o: f(o.sq, dtype="c16"), *each("v")],
    # Element by element
    "clip": [lambda f, o: f(o.a, 1, 2), lambda f, o: f(o.a, o.b, None), lambda f, o: f(o.a, max=1),
             lambda f, o: f(o.a, -0.5, 0.5, out=o.out((3, 4), "f8")),
             lambda f, o: f(o.a, o.row, 2.5), each("a")[0]],
    "round": [*ANY, lambda f, o: f(o.a, 1), lambda f, o: f(o.a, out=o.out((3, 4)))],
    "around": [*ANY, lambda f, o: f(o.a, 1)],
    "fix": ANY, "nan_to_num": [*ANY, *then(lambda f, o, x: f(x, copy=False, nan=1.0))], "real": ANY,
    "imag": ANY,
    "angle": ANY, "iscomplex": ANY, "isreal": ANY, "isneginf": ANY, "isposinf": ANY, "sinc": ANY,
    "i0": ANY,
    "real_if_close": ANY, "iscomplexobj": ANY, "isrealobj": ANY,
    "isclose": [*PAIR, lambda f, o: f(o.a, 2.0), lambda f, o: f(o.a, o.a, equal_nan=True),
                lambda f, o: f(o.a, o.b, 0.5, 1)],
    "where": [lambda f, o: f(o.m, o.a, o.b), lambda f, o: f(o.a), lambda f, o: f(o.m, o.a, 0)],
    "select": [lambda f, o: f([o.m, ~np.asarray(o.m)], [o.a, o.b])],
    "choose": [lambda f, o: f(o.i2, [o.row, o.row, o.row])],
    "piecewise": [lambda f, o: f(o.v, [o.mv], [1, 0])],
    "unwrap": [*each("v"), lambda f, o: f(o.a, axis=0)],
    "interp": [lambda f, o: f(o.f, o.up, o.w)],
    "gradient": [*each("v", "a"), lambda f, o: f(o.a, axis=1), lambda f, o: f(o.a, 2.0),
                 lambda f, o: f(o.v, o.up), lambda f, o: f(o.v, edge_order=2),
                 lambda f, o: f(o.point)],
    "diff": [*each("v", "a"), lambda f, o: f(o.a, 2, 0), lambda f, o: f(o.v, prepend=o.one)],
    "ediff1d": each("v"),
    "trapezoid": [*each("v"), lambda f, o: f(o.a, axis=0), lambda f, o: f(o.v, o.up),
                  lambda f, o: f(o.a, dx=0.5)],
    "convolve": VECTORS, "correlate": VECTORS, "cross": [lambda f, o: f(o.sq, o.sq2)],
    "kron": [*VECTORS, lambda f, o: f(o.sq, o.a), lambda f, o: f(o.v, o.a)],
    "corrcoef": [*each("a"), lambda f, o: f(o.v, o.w), lambda f, o: f(o.a, rowvar=False)],
    "cov": [*each("a", "v"), lambda f, o: f(o.v, o.w), lambda f, o: f(o.a, None, False),
            lambda f, o: f(o.a, bias=True), lambda f, o: f(o.a, ddof=0)], "vander": each("v"),
    # Copies and conversions
    "copy": [*ANY, lambda f, o: f(o.a, "F")],
    "astype": [lambda f, o: f(o.a, "float32"), lambda f, o: f(o.a, "c8"),
             lambda f, o: f(o.a, np.int16), lambda f, o: f(o.a, "S3")],
    "copyto": [*then(lambda f, o, x: f(x, o.a)), *then(lambda f, o, x: f(x, o.row)),
               *then(lambda f, o, x: f(x, 1)),
               *then(lambda f, o, x: f(x, o.a, where=o.m)),
               *then(lambda f, o, x: f(x, 2.5, "unsafe")),
               *then(lambda f, o, x: f(x, o.v)), *then(lambda f, o, x: f(dst=x, src=[1, 0, 1, 0]))],
    "concatenate": [*JOIN, lambda f, o: f((o.a, o.b), 1), lambda f, o: f((o.a, o.v), None),
                    lambda f, o: f((o.a, o.b), 0, o.out((6, 4))), lambda f, o: f([o.a, o.v])],
    "stack": [*JOIN, lambda f, o: f((o.a, o.b), 1),
              lambda f, o: f((o.a, o.b), -1, o.out((3, 4, 2)))],
    "hstack": JOIN, "vstack": JOIN, "dstack": JOIN,
    "column_stack": [lambda f, o: f([o.v, o.w]), lambda f, o: f((o.a, o.b))],
    "block": [lambda f, o: f([[o.a, o.b], [o.b, o.a]])],
    "append": [lambda f, o: f(o.a, o.b), lambda f, o: f(o.a, o.b, 0), lambda f, o: f(o.a, 1)],
    "insert": [lambda f, o: f(o.v, 1, 0), lambda f, o: f(o.a, o.i, 1, axis=0),
               lambda f, o: f(o.v, -1, o.v), lambda f, o: f(o.a, 2, 1), lambda f, o: f(o.v, 99, 1)],
    "delete": [lambda f, o: f(o.v, 1), lambda f, o: f(o.v, [1, 3]), lambda f, o: f(o.a, -1, 1),
               lambda f, o: f(o.a, slice(1, 3), 1), lambda f, o: f(o.v, slice(None, None, 2)),
               lambda f, o: f(o.v, slice(0, 0)), lambda f, o: f(o.v, 99)],
    "pad": [lambda f, o: f(o.a, 1), lambda f, o: f(o.v, (2, 1), "edge"),
            lambda f, o: f(o.a, ((1, 2), (0, 3)), constant_values=3),
            lambda f, o: f(o.a, 1, constant_values=((1, 2), (3, 4))),
            lambda f, o: f(o.a, 2, "wrap"), lambda f, o: f(o.a, ((2, 1), (3, 0)), "reflect"),
            lambda f, o: f(o.a, (3, 2), "symmetric"), lambda f, o: f(o.v, 9, "reflect"),
            lambda f, o: f(o.a, 1, "mean"), lambda f, o: f(o.none, 2), lambda f, o: f(o.v, -1),
            lambda f, o: f(o.none, 1, "edge"), lambda f, o: f(o.a, 1.5)],
    "repeat": [lambda f, o: f(o.a, 2, axis=0), lambda f, o: f(o.a, 2), lambda f, o: f(o.a, 3, -1),
               lambda f, o: f(o.a, 0), lambda f, o: f(o.a, [1, 0, 2], 0), lambda f, o: f(o.v, -1),
               lambda f, o: f(o.a, 2, 5)],
    "tile": [lambda f, o: f(o.a, (2, 1)), lambda f, o: f(o.a, 2), lambda f, o: f(o.a, (2, 1, 3)),
             lambda f, o: f(o.c, (2,)), lambda f, o: f(o.v, 0), lambda f, o: f(o.v, -1)],
    "roll": [lambda f, o: f(o.a, 1), lambda f, o: f(o.a, 1, axis=1), lambda f, o: f(o.a, -7),
             lambda f, o: f(o.c, (1, 2), (0, 2)), lambda f, o: f(o.a, (1, 2), 0),
             lambda f, o: f(o.a, 2, (0, 1)), lambda f, o: f(o.none, 1), lambda f, o: f(o.a, 1, 7),
             lambda f, o: f(o.a, 0, 0)],
    "resize": [lambda f, o: f(o.a, (2, 3))], "tril": [*each("sq"), lambda f, o: f(o.c, 1)],
    "triu": each("sq", "a"),
    "diagflat": each("v"), "trim_zeros": each("v"),
    "meshgrid": [lambda f, o: f(o.v, o.row), lambda f, o: f(o.v, o.w, o.row, indexing="ij"),
                 lambda f, o: f(o.v, o.row, sparse=True), lambda f, o: f(o.v, copy=False)],
    "ix_": [lambda f, o: f(o.i, o.i)],
    "apply_along_axis": [lambda f, o: f(lambda x: x[:2], 0, o.a)],
    "apply_over_axes": [lambda f, o: f(np.sum, o.c, [0, 2])],
    # Views
    "reshape": [lambda f, o: f(o.a, (4, 3)), lambda f, o: f(o.a, -1),
                lambda f, o: f(o.c, (6, 4), order="F"),
                lambda f, o: f(o.none, (3, 0)), lambda f, o: f(o.a, 5),
                lambda f, o: f(o.a, (2, 6), copy=True)],
    "ravel": [*ANY, lambda f, o: f(o.a, "F")],
    "transpose": [*ANY, lambda f, o: f(o.c, (1, 2, 0)), lambda f, o: f(o.a, (0, 0))],
    "permute_dims": [lambda f, o: f(o.a, (1, 0))], "matrix_transpose": each("a", "c", "v"),
        "linalg.matrix_transpose": each("c"),
    "swapaxes": [lambda f, o: f(o.c, 0, 2), lambda f, o: f(o.a, 0, 5)],
    "moveaxis": [lambda f, o: f(o.c, 0, -1)],
    "rollaxis": [lambda f, o: f(o.c, 2)],
    "squeeze": [*each("one", "column"), lambda f, o: f(o.column, 1)],
    "expand_dims": [lambda f, o: f(o.a, (0, 2)), lambda f, o: f(o.a, 1)],
    "broadcast_to": [lambda f, o: f(o.row, (3, 4))],
    "broadcast_arrays": [lambda f, o: f(o.a, o.row), lambda f, o: f(o.column, o.row, o.point)],
    "atleast_1d": [*ANY, lambda f, o: f(o.point, o.a)], "atleast_2d": ANY,
    "atleast_3d": [*ANY, lambda f, o: f(o.v, [1, 2])],
    "split": [lambda f, o: f(o.a, 2, axis=1), lambda f, o: f(o.v, [1, 3]), lambda f, o: f(o.a, 2)],
    "array_split": [lambda f, o: f(o.v, 3)], "hsplit": [lambda f, o: f(o.a, 2)],
    "vsplit": [lambda f, o: f(o.a, [1])],
    "dsplit": [lambda f, o: f(o.c, 2)], "unstack": [*each("a"), lambda f, o: f(o.c, axis=1)],
    "diagonal": [*each("a", "c", "v"), lambda f, o: f(o.c, 1, 0, 2)],
    "linalg.diagonal": each("a", "c"),
    "diag": [*each("a", "v"), lambda f, o: f(o.a, -1)], "flip": [*ANY, lambda f, o: f(o.a, 1)],
    "fliplr": each("a", "v"),
    "flipud": each("a", "v"), "rot90": [*each("a"), lambda f, o: f(o.c, 3, (1, 2))],
    "lib.stride_tricks.sliding_window_view": [lambda f, o: f(o.v, 2), lambda f, o: f(o.a, (2, 2))],
    # Choosing and searching
    "take": [lambda f, o: f(o.v, o.i), lambda f, o: f(o.a, o.i, 1),
             lambda f, o: f(o.v, o.i, None, o.out(3)),
        lambda f, o: f(o.v, 9)],
    "take_along_axis": [lambda f, o: f(o.a, o.i2, 0)],
    "compress": [lambda f, o: f([True, False, True], o.a, 0)],
    "extract": [lambda f, o: f(o.m, o.a)], "nonzero": each("a", "v"), "argwhere": each("a"),
    "flatnonzero": each("a"),
    "searchsorted": [lambda f, o: f(o.up, o.v), lambda f, o: f(o.up, 1)],
    "digitize": [lambda f, o: f(o.v, o.up)],
    "sort": [*each("v", "a"), lambda f, o: f(o.a, axis=None)],
    "argsort": [*each("v"), lambda f, o: f(o.a, 0, kind="stable")],
    "sort_complex": each("v"), "lexsort": [lambda f, o: f((o.v, o.w))],
    "partition": [lambda f, o: f(o.v, 2)],
    "argpartition": [lambda f, o: f(o.up, 2)], "unique": [*each("v"),
        lambda f, o: f(o.v, return_index=True, return_counts=True)],
    "unique_all": each("v"), "unique_counts": each("v"), "unique_inverse": each("v"),
    "unique_values": [lambda f, o: np.sort(f(o.v))],  # NumPy's order is that of a hash table
    "isin": SETS, "intersect1d": SETS, "setdiff1d": SETS, "setxor1d": SETS, "union1d": SETS,
    "bincount": [lambda f, o: f(o.k), lambda f, o: f(o.k, o.f)],
    "histogram": [*each("v"), lambda f, o: f(o.v, o.up)],
    "histogram2d": VECTORS, "histogramdd": each("a"), "histogram_bin_edges": each("v"),
    "packbits": each("m"), "unpackbits": each("v"),
    "ravel_multi_index": [lambda f, o: f((o.i, o.i), (3, 4))],
    "unravel_index": [lambda f, o: f(o.i, (2, 2))],
    "diag_indices_from": each("sq"), "tril_indices_from": each("sq"),
    "triu_indices_from": each("a"),
    # Writing
    "put": [*then(lambda f, o, x: f(x, o.i, o.v)), *then(lambda f, o, x: f(x, 99, 1)),
        *then(lambda f, o, x: f(a=x, ind=[1], v=[0]))],
    "place": then(lambda f, o, x: f(x, o.m, [1])), "putmask": then(lambda f, o, x: f(x, o.m, o.b)),
    "fill_diagonal": [*then(lambda f, o, x: f(x, 1)), *then(lambda f, o, x: f(x, o.v, wrap=True))],
    "put_along_axis": then(lambda f, o, x: f(x, o.i2, 1, 1)),
    # Like another
    "zeros_like": LIKE, "ones_like": LIKE,
    "empty_like": [lambda f, o: np.shape(f(o.a)), lambda f, o: f(o.none)],
    "full_like": [lambda f, o: f(o.a, 2), lambda f, o: f(o.a, 2.5), lambda f, o: f(o.a, o.row),
                  lambda f, o: f(o.a, 1.5, "f4"),
                  lambda f, o: f(o.a, 1.0, shape=3)],
    "zeros": [lambda f, o: f((2, 3), like=o.a)], "ones": [lambda f, o: f(3, "int8", like=o.a)],
    "empty": [lambda f, o: np.shape(f((2, 0), like=o.a))],
    "full": [lambda f, o: f((2, 2), 5, like=o.a)], "eye": [lambda f, o: f(3, k=1, like=o.a)],
    "identity": [lambda f, o: f(2, like=o.a)], "tri": [lambda f, o: f(3, like=o.a)],
    "arange": [lambda f, o: f(2, 9, 3,
        like=o.a)],
    "array": [lambda f, o: f([1, 2], like=o.a), lambda f, o: f(o.a, like=o.a)],
    "require": [lambda f, o: f([1.0], like=o.a)],
    "asarray": [lambda f, o: f(o.a, like=o.a), lambda f, o: f([1, 2], "f4", like=o.a),
                lambda f, o: f(o.a, "c16", like=o.a)],
    "asanyarray": [lambda f, o: f(o.a, like=o.a)],
    "ascontiguousarray": [lambda f, o: f(o.a, like=o.a)],
    "asfortranarray": [lambda f, o: f(o.a, like=o.a)],
    "fromfunction": [lambda f, o: f(lambda i, j: i + j, (2, 3), like=o.a)],
    "fromiter": [lambda f, o: f([1, 2], "f8",
        like=o.a)],
    "frombuffer": [lambda f, o: f(b"abcdefgh", "u1", like=o.a)],
    "fromstring": [lambda f, o: f("1 2", sep=" ", like=o.a)],
    "fromfile": [_from_file], "loadtxt": [lambda f, o: f(LINES, like=o.a)],
    "genfromtxt": [lambda f, o: f(LINES, like=o.a)],
    "linspace": [lambda f, o: f(o.v, o.w, 3), lambda f, o: f(0, o.point, 4)],
    "logspace": [lambda f, o: f(o.v, o.w, 3)],
    "geomspace": [lambda f, o: f(o.spd, o.spd, 3)],
    # Products and linear algebra
    "dot": [lambda f, o: f(o.a, o.tall), lambda f, o: f(o.v, o.w), lambda f, o: f(o.point, o.a),
            lambda f, o: f(o.c, o.row),
            lambda f, o: f(o.sq, o.c), lambda f, o: f(o.a, o.b),
            lambda f, o: f(o.a, o.tall, o.out((3, 3))),
            lambda f, o: f(o.a, 2)],
    "inner": [lambda f, o: f(o.a, o.b), lambda f, o: f(o.v, o.w), lambda f, o: f(o.point, o.a),
              lambda f, o: f(o.c, o.a)],
    "outer": [lambda f, o: f(o.v, o.a), lambda f, o: f(o.v, o.w, o.out((5, 5)))],
    "vdot": [*VECTORS, lambda f, o: f(o.a, o.b)],
    "tensordot": [lambda f, o: f(o.a, o.b), lambda f, o: f(o.c, o.b, 1),
                  lambda f, o: f(o.c, o.b, np.int8(1)),
                  lambda f, o: f(o.c, o.a, ([1, 2], [0, 1])),
                  lambda f, o: f(o.v, o.w, 0), lambda f, o: f(o.a, o.b, (0, 0)),
                  lambda f, o: f(o.none, o.sq, 1),
                  lambda f, o: f(o.c, o.c, ([0, 2], [0, -1]))],
    "einsum": [lambda f, o: f("ij,kj->ik", o.a, o.b), lambda f, o: f("ii->i", o.sq),
               lambda f, o: f("i,i", o.v, o.w)],
    "einsum_path": [lambda f, o: f("ij,jk,kl->il", o.a, o.tall, o.a)],
    "linalg.matmul": [lambda f, o: f(o.a, o.tall)],
    "linalg.multi_dot": [lambda f, o: f([o.a, o.tall, o.sq]),
                         lambda f, o: f([o.row, o.tall, o.sq])],
    "linalg.outer": [*VECTORS, *PAIR], "linalg.tensordot": [lambda f, o: f(o.a, o.b, axes=2)],
    "linalg.trace": [*each("sq", "c", "v"), lambda f, o: f(o.c, offset=1)], "linalg.vecdot": PAIR,
    "linalg.inv": [*SQUARE, *each("box", "a")],
    "linalg.solve": [lambda f, o: f(o.spd, o.column), lambda f, o: f(o.spd, o.sq),
                     lambda f, o: f(o.spd, o.i), lambda f, o: f(o.spd, o.v)],
    "linalg.cholesky": [*SQUARE, lambda f, o: f(o.spd, upper=True)], "linalg.det": SQUARE,
    "linalg.slogdet": SQUARE,
    "linalg.norm": [*each("v", "a", "none"), lambda f, o: f(o.a, 1), lambda f, o: f(o.a, axis=0)],
    "linalg.vector_norm": each("v", "a"), "linalg.matrix_norm": each("a"), "linalg.cond": SQUARE,
    "linalg.cross": [lambda f, o: f(o.sq, o.sq2)],
    "linalg.eig": [lambda f, o: without_signs(f, o.path, "eigenvectors")],
    "linalg.eigh": [lambda f, o: without_signs(f, o.spd, "eigenvectors")],
    "linalg.eigvals": SQUARE, "linalg.eigvalsh": SQUARE,
    "linalg.lstsq": [lambda f, o: f(o.spd, o.sq, rcond=None)],
    "linalg.matrix_power": [lambda f, o: f(o.spd, 3)], "linalg.matrix_rank": SQUARE,
    "linalg.pinv": SQUARE,
    "linalg.qr": SQUARE, "linalg.svd": [lambda f, o: without_signs(f, o.path, "U", "Vh")],
    "linalg.svdvals": SQUARE,
    "linalg.tensorinv": [lambda f, o: f(o.spd, ind=1)],
    "linalg.tensorsolve": [lambda f, o: f(o.spd, o.i)],
    "poly": each("v"), "polyadd": POLY, "polysub": POLY, "polymul": POLY,
    "polydiv": [lambda f, o: f(o.up, o.row)],
    "polyder": each("v"), "polyint": each("v"), "polyval": VECTORS, "roots": each("up"),
    "polyfit": [lambda f, o: f(o.f, o.v, 1), lambda f, o: f(o.f, o.v, 1, full=True)],
    # Asking
    "shape": ANY, "ndim": ANY, "size": [*ANY, lambda f, o: f(o.a, 1)],
    "result_type": [lambda f, o: f(o.a, "f4"), *PAIR],
    "can_cast": [lambda f, o: f(o.a, "f4"), lambda f, o: f(o.a, "int16", "unsafe")],
    "common_type": PAIR,
    "min_scalar_type": each("a", "point"),
    "array_equal": [*PAIR, lambda f, o: f(o.a, o.a), lambda f, o: f(o.a, o.a, True)],
    "array_equiv": PAIR,
    "allclose": [*PAIR, lambda f, o: f(o.a, o.a), lambda f, o: f(o.a, o.b, 5, o.one)],
    "shares_memory": [lambda f, o: f(o.a, o.b), lambda f, o: f(o.a, np.ones(2))],
    "may_share_memory": [lambda f, o: f(o.a, o.b)],
    "array2string": each("a"), "array_repr": each("a"), "array_str": each("v"),
    # Files
    "save": [lambda f, o: _saved(f, o, o.a)],
    "savez": [lambda f, o: _saved(f, o, o.a, out=o.v, where=o.w)],
    "savez_compressed": [lambda f, o: _saved(f, o, x=o.a)], "savetxt": [_text],
    # What is for other dtypes
    "busday_count": [lambda f, o: f(DAYS, DAYS + 5, out=o.out(2, "i8")), lambda f, o: f(o.v, o.w)],
    "busday_offset": [lambda f, o: f(DAYS, o.i[:2], roll="forward")],
    "is_busday": [lambda f, o: f(DAYS, out=o.out(2, "?"))],
    "datetime_as_string": each("v"),
    "lib.recfunctions.append_fields": [lambda f, o: f(STRUCT, "new", o.i[:2], usemask=False)],
    "lib.recfunctions.apply_along_fields": [lambda f, o: f(np.mean, o.v)],
    "lib.recfunctions.assign_fields_by_name": [lambda f, o: f(STRUCT.copy(), o.v)],
    "lib.recfunctions.drop_fields": [lambda f, o: f(o.v, "a")],
    "lib.recfunctions.find_duplicates": [lambda f, o: f(o.v)],
    "lib.recfunctions.join_by": [lambda f, o: f("a", o.v, o.w)],
    "lib.recfunctions.merge_arrays": [lambda f, o: f((o.v, o.w))],
    "lib.recfunctions.rec_append_fields": [lambda f, o: f(STRUCT, "new", o.i[:2])],
    "lib.recfunctions.rec_drop_fields": [lambda f, o: f(o.v, "a")],
    "lib.recfunctions.rec_join": [lambda f, o: f("a", o.v,
        o.w)],
    "lib.recfunctions.recursive_fill_fields": [lambda f, o: f(o.v, STRUCT.copy())],
    "lib.recfunctions.rename_fields": [lambda f, o: f(o.v, {"a": "b"})],
    "lib.recfunctions.repack_fields": [lambda f, o: f(o.v)],
    "lib.recfunctions.require_fields": [lambda f, o: f(o.v, STRUCT.dtype)],
    "lib.recfunctions.stack_arrays": [lambda f, o: f((o.v, o.w), usemask=False)],
    "lib.recfunctions.structured_to_unstructured": [lambda f, o: f(o.v)],
    "lib.recfunctions.unstructured_to_structured": [lambda f, o: f(o.a)],
}
for _name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"):
    FUNCTIONS[f"lib.scimath.{_name}"] = each("v", "a")
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    FUNCTIONS[f"fft.{_name}"] = [*each("v", "a"), lambda f, o: f(o.a, 3, axis=0),
                                 lambda f, o: f(o.v, norm="ortho")]
for _name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2", "fftshift",
              "ifftshift"):
    FUNCTIONS[f"fft.{_name}"] = [*each("a", "c"), lambda f, o: f(o.c, axes=(0, 1))]
for _name in ("polyval2d", "polygrid2d"):
    FUNCTIONS[f"polynomial.polynomial.{_name}"] = [lambda f, o: f(o.v, o.w, o.sq)]
FUNCTIONS |= {"polynomial.polynomial.polyvalnd": [lambda f, o: f((o.v, o.w), o.sq)]}
FUNCTIONS |= {"lib.scimath.logn": [lambda f, o: f(2, o.v)],
              "lib.scimath.power": [lambda f, o: f(o.v, 2)]}
