"""Every function that `mat` has from NumPy, called as one of `mat`: with Mats, arrays, sequences,
numbers and mixtures of them. The result is NumPy's.
"""

import functools
import warnings

import numpy as np
import pytest

import mat
from mat import Mat
from mat.numpy.namespace.lookup import FUNCTION, UFUNC, WRAPPED, kinds, numpy_object, public_names
from mat.support.dtypes import SUPPORTED

from ..support.namespace_calls import CALLS, OTHER_NAMES, covered, spelled
from ..support.numpy_calls import FUNCTIONS, Operands
from ..support.numpy_outcomes import ARBITRARY, TOLERANCE, check_same, outcome
from ..support.numpy_ufunc_calls import calls_of

if np.lib.NumpyVersion(np.__version__) < "2.3.0":
    pytest.skip("the calls are written for the functions of NumPy 2.3 and newer",
                allow_module_level=True)
MODULES = ("", "linalg", "fft", "emath", "lib.stride_tricks")
NAMES = {f"{module}.{name}".lstrip("."): (module, name)
         for module in MODULES for name in public_names(module)
         if kinds(module)[name] in (FUNCTION, UFUNC, WRAPPED)}
NO_CALLS = {"emath", "fft", "lib", "linalg", "random", "testing", "ufunc",
            "__array_namespace_info__"}
SUBMODULES = {"stride_tricks"}
# which differ by their meaning: they say where the data is, or take what is `mat`'s own
OURS = {"load", "save", "savez", "savez_compressed", "from_dlpack"}


def attribute(root, dotted):
    return functools.reduce(getattr, dotted.split("."), root)


def alternating():
    """Return a wrapper that makes a Mat, an array and nested lists in turn."""
    turn = iter(range(10**9))
    return lambda a: (mat.array(a), np.array(a), a.tolist())[next(turn) % 3]


REFUSED = "out must be a Mat"  # an array, where NumPy takes it
# how operands are made, for `mat` and for NumPy
WAYS = {"mats": (mat.array, np.array), "arrays": (np.array, np.array),
        "lists": (lambda a: a.tolist(), lambda a: a.tolist()), "mixed": (alternating, None)}


class Outputs(Operands):
    """Operands, with somewhere to write that is a Mat or an array, never a list."""

    def __init__(self, dtype, wrap, out):
        super().__init__(dtype, wrap)
        self._out = out

    def __getattr__(self, name):
        found = super().__getattr__(name)
        self.arrays += [found] if isinstance(found, np.ndarray) else []
        return found

    def out(self, shape, dtype=None):
        return self._out(np.zeros(shape, dtype or self.dtype))


def operands(way, dtype):
    """Return the operands for `mat`, and those for NumPy."""
    ours, numpys = WAYS[way]
    if way == "mixed":
        turn = iter(range(10**9))
        numpys = lambda a: (np.array(a), np.array(a), a.tolist())[next(turn) % 3]  # noqa: E731
        ours = alternating()
    return Outputs(dtype, ours, mat.array), Outputs(dtype, numpys, np.array)


def has_others(wanted):
    """Return whether a result has elements that Mats cannot have."""
    if isinstance(wanted, np.ndarray):
        return wanted.dtype.name not in SUPPORTED
    return isinstance(wanted, list | tuple) and any(map(has_others, wanted))


def check(call, ours, numpys, way, dtype, tolerance=1e-12):
    mine, theirs = operands(way, dtype)
    wanted, got = outcome(call, numpys, theirs), outcome(call, ours, mine)
    if has_others(wanted) and isinstance(got, mat.DTypeError):
        return
    if isinstance(got, mat.DTypeError) and (REFUSED in str(got) or "got 'text'" in str(got)):
        return
    if type(wanted) in (bool, int, float, complex) and isinstance(got, Mat) and not got.ndim:
        got = got.item()  # of a number, `real`, `imag` and `isreal` give a number
    if way in ("lists", "mixed") and isinstance(wanted, AttributeError | TypeError):
        return  # of arrays and scalars, NumPy takes in some places lists as well, in others not
    if way in ("lists", "mixed") and "Unable to avoid copy" in str(wanted):
        return  # `copy=False` allows to change a Mat; of a list, `mat` changes a copy
    try:
        check_same(got, wanted, tolerance, mine.arrays)
    except AssertionError as error:
        raise AssertionError(f"{way}, {dtype}: {error}\n{got!r}\n{wanted!r}") from None


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_every_name_is_called():
    uncalled = {n for n, (module, name) in NAMES.items()
                if kinds(module)[name] != UFUNC} - covered() - NO_CALLS - OURS
    assert not uncalled


def calls(dotted):
    """Return the calls of a function of NumPy's, or of a ufunc."""
    module, name = NAMES[dotted]
    if kinds(module)[name] == UFUNC:
        return calls_of(numpy_object(module, name))
    return FUNCTIONS.get(OTHER_NAMES.get(dotted, dotted), [])


WITH_CALLS = sorted(n for n in NAMES if calls(n) and n not in OURS)


@pytest.mark.parametrize("dotted", WITH_CALLS)
def test_functions_give_what_numpys_give(dotted):
    module, name = NAMES[dotted]
    ours = attribute(mat, dotted)
    for way in WAYS:
        for dtype in ("float64", "int64") if way == "mats" else ("float64",):
            tolerance = 1e-9 if dotted in ARBITRARY else TOLERANCE.get(dtype, 1e-12)
            for call in calls(dotted):
                check(call, ours, numpy_object(module, name), way, dtype, tolerance)


@pytest.mark.parametrize("name", [n for n in CALLS if n in NAMES and n not in OURS])
def test_other_functions_give_what_numpys_give(name):
    for way in WAYS:
        for call in CALLS[name]:
            check(call, mat, np, way, "float64")


@pytest.mark.parametrize("text", list(spelled()))
def test_spellings(text):
    code = compile(f"m.{text}", "<call>", "eval")

    def call(m, o):
        x = m.array([1.0, 2.0, 3.0])
        return eval(code, {"m": m, "x": x, "f": x.astype("float32")})

    check(call, mat, np, "lists", "float64")


def test_results_are_mats():
    assert isinstance(mat.median([1, 2]), Mat)
    assert isinstance(mat.hypot([3], 4), Mat)
    assert type(mat.hypot(3, 4)) is type(mat.median(3)) is np.float64
    assert all(isinstance(p, Mat) for p in mat.meshgrid([1], [2]))
