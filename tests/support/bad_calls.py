"""The table of bad input: for each public operation a call that works, and every way to spoil one
of its arguments.

`rows` gives (label, name, arguments, error, what the message must say); ``test_bad_input.py`` makes
the calls.
"""

import inspect
import math
import re

import numpy as np

import mat
from mat import AliasError, DirectionError, DTypeError, ShapeError

from ..package.test_surface import REDUCTIONS
from .functions import PUBLIC, PUBLIC_OF_TWO


class Spec:
    """A call that works, as arguments by name, and what they are."""

    def __init__(self, make, *, written="", numbers=(), flags=(), counts=(), arrays=False,
                 one_dtype=True, rigid=None,
                 overlap=True):
        # new arguments, in the order of the signature; the optional ones are given by
        # name
        self.make = make
        self.written = written.split()  # operands that are written; the last one is returned
        self.numbers, self.flags, self.counts = numbers, flags, counts
        self.arrays = arrays  # ndarrays and numbers are operands too
        self.one_dtype = one_dtype  # of the dtypes of BLAS
        self.rigid = rigid  # operands whose shape another one fixes; None: all
        self.overlap = overlap  # an output that overlaps an input is refused

    def positional(self, function):
        """The arguments that are not given by name."""
        known = inspect.signature(function).parameters
        return [n for n in self.make() if known[n].kind is not inspect.Parameter.KEYWORD_ONLY]

    def mats(self):
        return [n for n, v in self.make().items() if isinstance(v, mat.Mat)]


def m(*shape, dtype="float64"):
    size = math.prod(shape)
    return mat.array(np.arange(1.0, size + 1).reshape(shape).astype(dtype))


N, INC = ("n",), ("incx",)
WITH_DTYPE = ("sum", "prod", "mean")
SPECS = {
    "axpy": Spec(lambda: {"alpha": 2.0, "x": m(4), "y": m(4)}, written="y", numbers=("alpha",),
                 counts=("n", "incx", "incy")),
    "scal": Spec(lambda: {"alpha": 2.0, "x": m(4)}, written="x", numbers=("alpha",),
                 counts=("n", "incx"), rigid=()),
    "copy": Spec(lambda: {"x": m(4), "y": m(4)}, written="y", counts=("n", "incx", "incy")),
    "swap": Spec(lambda: {"x": m(4), "y": m(4)}, written="x y", counts=("n", "incx", "incy")),
    "dot": Spec(lambda: {"x": m(4), "y": m(4)}, counts=("n", "incx", "incy")),
    "vdot": Spec(lambda: {"x": m(4), "y": m(4)}, counts=("n", "incx", "incy")),
    "nrm2": Spec(lambda: {"x": m(4)}, counts=("n", "incx"), rigid=()),
    "asum": Spec(lambda: {"x": m(4)}, counts=("n", "incx"), rigid=()),
    "iamax": Spec(lambda: {"x": m(4)}, counts=("n", "incx"), rigid=()),
    "gemv": Spec(lambda: {"alpha": 1.0, "a": m(2, 3), "x": m(3), "beta": 1.0, "y": m(2)},
                 written="y",
                 numbers=("alpha", "beta"), flags=("transpose",)),
    "ger": Spec(lambda: {"alpha": 1.0, "x": m(2), "y": m(3), "a": m(2, 3)}, written="a",
                numbers=("alpha",)),
    "gemm": Spec(lambda: {"alpha": 1.0, "a": m(2, 3), "b": m(3, 4), "beta": 1.0, "c": m(2, 4)},
                 written="c",
                 numbers=("alpha", "beta"), flags=("transpose_a", "transpose_b"),
                 counts=("m", "n", "k", "lda", "ldb", "ldc")),
    "gemm_batched": Spec(lambda: {"alpha": 1.0, "a": m(5, 2, 3), "b": m(5, 3, 4), "beta": 1.0,
                                  "c": m(5, 2, 4)}, written="c",
                         numbers=("alpha", "beta"), flags=("transpose_a", "transpose_b")),
    "syrk": Spec(lambda: {"alpha": 1.0, "a": m(2, 3), "beta": 1.0, "c": m(2, 2)}, written="c",
                 numbers=("alpha", "beta"),
                 flags=("transpose", "lower"), rigid=("c",)),
    "trsm": Spec(lambda: {"alpha": 1.0, "a": m(2, 2), "b": m(2, 3)}, written="b",
                 numbers=("alpha",),
                 flags=("lower", "transpose", "unit"), rigid=("a",)),
    "geem": Spec(lambda: {"alpha": 2.0, "a": m(2, 3), "b": m(2, 3), "beta": 1.0, "c": m(2, 3)},
                 written="c",
                 numbers=("alpha", "beta"), overlap=False),
    "geerv": Spec(lambda: {"alpha": 2.0, "a": m(2, 3), "x": m(3), "beta": 1.0, "b": m(2, 3)},
                  written="b",
                  numbers=("alpha", "beta"), overlap=False),
    "add_sign": Spec(lambda: {"alpha": 2.0, "a": m(2, 3), "beta": 1.0, "b": m(2, 3)}, written="b",
                     numbers=("alpha", "beta"),
                     overlap=False),
    "matmul": Spec(lambda: {"a": m(2, 3), "b": m(3, 4), "out": m(2, 4)}, written="out",
                   flags=("transpose_a", "transpose_b"),
                   arrays=True, one_dtype=False, overlap=False),
    "solve": Spec(lambda: {"a": mat.eye(3), "b": m(3)}, one_dtype=False),
    "inv": Spec(lambda: {"a": mat.eye(3)}, one_dtype=False),
    "cholesky": Spec(lambda: {"a": mat.eye(3)}, one_dtype=False),
    "slogdet": Spec(lambda: {"a": mat.eye(3)}, one_dtype=False),
    "scale_rows": Spec(lambda: {"scales": m(2), "a": m(2, 3), "out": m(2, 3)}, written="out"),
    "scale_columns": Spec(lambda: {"scales": m(3), "a": m(2, 3), "out": m(2, 3)}, written="out"),
    "convolve": Spec(lambda: {"x": m(4, 5), "w": m(2, 3), "y": m(4, 5)}, written="y",
                     rigid=("x", "y")),
    "max_pool": Spec(lambda: {"x": m(4, 5), "y": m(4, 5), "pool_shape": 2}, written="y"),
    "derive_max_pool": Spec(lambda: {"x": m(4, 5), "xd": m(4, 5), "y": m(4, 5), "yd": m(4, 5),
                                     "pool_shape": 2}, written="xd"),
    **{name: Spec(lambda: {"x": m(2, 3), "out": m(2, 3)}, written="out", arrays=True,
                  one_dtype=False, overlap=False,
                  rigid=("out",)) for name in PUBLIC},
    **{name: Spec(lambda: {"x": m(2, 3), "y": m(2, 3), "out": m(2, 3)}, written="out", arrays=True,
                  one_dtype=False,
                  overlap=False) for name in PUBLIC_OF_TWO},
    **{name: Spec(lambda name=name: {"a": m(2, 3), "axis": 0,
                                     **({"dtype": None} if name in WITH_DTYPE else {}),
                                     "out": m(3)}, written="out", arrays=True,
                  one_dtype=False, rigid=("out",), overlap=False) for name in REDUCTIONS},
}
ONE_DTYPE_OF_ANY_KIND = ("scale_rows", "scale_columns", "geem", "geerv", "add_sign", "convolve",
                         "max_pool",
                         "derive_max_pool")  # integers too
TAKE_INTEGERS = {"matmul", "solve", "inv", "cholesky", "slogdet", *PUBLIC,
                 *PUBLIC_OF_TWO, *REDUCTIONS,
                 *ONE_DTYPE_OF_ANY_KIND}

TAKE_SEQUENCES = {"matmul", *PUBLIC, *PUBLIC_OF_TWO, *REDUCTIONS}

RANK_COUNTS = {"gemv", "ger", "gemm", "syrk", "trsm", "geem", "geerv", "add_sign", "scale_rows",
               "scale_columns"}


def like(value, dtype=None):
    """A Mat of the same shape in another dtype."""
    return mat.array(value.to_numpy().astype(dtype or value.dtype))


def read_only(value):
    a = value.to_numpy()
    a.flags.writeable = False
    return mat.from_numpy(a)


def longer(value):
    return mat.ones(value.shape[0] + 1, *value.shape[1:], dtype=value.dtype)


def operands_of_other_types(key, spec, name):
    """Values that are no Mats, where a Mat is wanted."""
    for wrong in ([1.0, 2.0], "text", None, {1: 2}, object):
        if type(wrong) is list and key in TAKE_SEQUENCES and name not in spec.written:
            continue
        if wrong is not None or not (name == "out" or key in ("equal", "not_equal")):
            yield wrong, DTypeError, re.escape("None" if wrong is None else type(wrong).__name__)
    if not spec.arrays or name in spec.written:
        yield np.ones(3), DTypeError, "ndarray"
        yield 3, DTypeError, "int"


def operands_that_do_not_fit(key, spec, name):
    value = spec.make()[name]
    if spec.rigid is None or name in spec.rigid:
        yield longer(value), ShapeError, re.escape(str(value.shape[0] + 1))
        if value.ndim > 1 and key in RANK_COUNTS:
            yield value[None, None, None], ShapeError, re.escape(str((1, 1, 1))[:-1])
    if key not in TAKE_INTEGERS:
        yield like(value, "int32"), DTypeError, "int32"
    if spec.one_dtype and len(spec.mats()) > 1:
        yield like(value, "float32"), DTypeError, "float32"
    if name == "out" and key not in TO_BOOLS:
        yield like(value, "bool"), DTypeError, "bool" if key not in COMPARISONS else "-"


TO_BOOLS = ("sum", "prod", "mean", "max", "min", "argmax", "argmin")  # as NumPy's reductions
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def operands_that_cannot_be_written(spec, name):
    value = spec.make()[name]
    yield read_only(value), DirectionError, "read-only"
    yield value[:1].broadcast_to(value.shape), AliasError, "overlap"


def bad_operands(key, spec):
    for name in spec.mats():
        for wrong, error, text in (*operands_of_other_types(key, spec, name),
                                   *operands_that_do_not_fit(key, spec, name)):
            if text != "-":
                yield {name: wrong}, error, text
        if name in spec.written:
            for wrong, error, text in operands_that_cannot_be_written(spec, name):
                yield {name: wrong}, error, text


def overlapping_operands(spec):
    """Each output together with each input in one storage, one element apart."""
    for out in spec.written if spec.overlap else ():
        for name in spec.mats():
            if name != out:
                values = spec.make()
                storage = mat.ones(100)
                yield ({out: storage.view(values[out].shape, 0),
                        name: storage.view(values[name].shape, 1)}, AliasError,
                       "overlaps its input")


def bad_numbers(key, spec):
    for name in spec.numbers:
        for wrong in ("2", None, [1.0], mat.ones(1), np.ones(1), object):
            yield {name: wrong}, DTypeError, re.escape(repr(wrong))
        yield {name: 1 + 2j}, DTypeError, re.escape("(1+2j)")
        yield {name: np.complex64(1j)}, DTypeError, "complex"
        yield {name: 10**400}, DTypeError, "too large"


def bad_keywords(key, spec):
    for name in spec.flags:
        for wrong in (1, 0, "yes", None, 1.0, [True]):
            yield {name: wrong}, DTypeError, f"{name}.*{re.escape(repr(wrong))}"
    for name in spec.counts:
        for wrong in (math.nan, 1.5, "2", [1], 2.0):
            yield {name: wrong}, ShapeError, re.escape(repr(wrong))
        for wrong in (-1, 99) if not name.startswith("inc") else (0,):
            yield {name: wrong}, ShapeError, str(wrong)
    if "axis" in spec.make():
        for wrong in (2, -3, math.nan, "0", 1.0, (0, 0), (0, 5)):
            yield {"axis": wrong}, ShapeError, re.escape(str(wrong if not isinstance(wrong, tuple)
                                                             else wrong[1]))


def rows():
    """(label, name, arguments, error, pattern) for all of `SPECS`."""
    for key, spec in SPECS.items():
        for changes in (bad_operands(key, spec), overlapping_operands(spec), bad_numbers(key, spec),
                        bad_keywords(key, spec)):
            for change, error, text in changes:
                label = f"{key} {' '.join(change)} {' '.join(short(v) for v in change.values())}"
                yield label, key, change, error, text


def short(value):
    """A few characters that tell values apart in the name of a test."""
    return f"{type(value).__name__}-{str(value)[:24]}"
