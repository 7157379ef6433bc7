"""`mat` against array_api_strict, the reference implementation of the array API standard: names,
and results of drawn calls.

The public suite, which checks more, is not in a package index: ``tests/array_api/run.sh`` runs a
checkout of it.
"""

import importlib
import itertools
import operator
import pickle
import warnings

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
import mat as xp

from ..conftest import DEVICE
from ..support import selection
from ..support.array_api_cases import ROWS
from ..support.array_api_draw import D, Draw, Exactly
from ..support.layouts import LAYOUTS, place

DEVICES = dict.fromkeys(["cpu", "emulated", DEVICE])

NOT_OF_THE_STANDARD = {"ArrayAPIStrictFlags", "Device", "ModuleType", "get_array_api_strict_flags",
                       # the reference's own
                       "reset_array_api_strict_flags", "set_array_api_strict_flags"}
# of the standard, but not in the reference; of real numbers, NumPy's are real where they can be
ONLY_OURS = {"linalg.eig", "linalg.eigvals"}
BY_NUMPY = {*ONLY_OURS, "isin"}  # compared with NumPy: array_api_strict 2.6 gets `invert` wrong
CONSTANTS = {"e", "inf", "nan", "newaxis", "pi"}
DTYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float32", "float64", "complex64",
          "complex128"}
EXTENSIONS = {"linalg", "fft"}


def names_of_the_reference():
    found = {n for n in dir(strict) if not n.startswith("_")} - NOT_OF_THE_STANDARD - EXTENSIONS
    return found | {f"{ext}.{n}" for ext in EXTENSIONS for n in getattr(strict, ext).__all__}


FUNCTIONS = sorted(names_of_the_reference() - CONSTANTS - DTYPES)
find = operator.attrgetter


# Names


def test_the_versions_are_those_compared():
    assert xp.__array_api_version__ == strict.__array_api_version__ == "2025.12"


def test_every_name_of_the_reference_is_there_and_is_tested():
    for name in names_of_the_reference() | ONLY_OURS:
        assert find(name)(xp) is not None or name == "newaxis"
    assert set(ROWS) == {*FUNCTIONS, *ONLY_OURS}


def test_the_namespace_of_a_mat_is_mat():
    assert mat.ones(2).__array_namespace__() is mat
    assert mat.array_api is mat
    assert importlib.import_module("mat.array_api") is mat
    for name in EXTENSIONS:
        assert importlib.import_module(f"mat.array_api.{name}") is getattr(mat, name)
    assert pickle.loads(b"cmat.array_api\nsin\n.") is mat.sin  # as version 0.1 named it
    assert pickle.loads(pickle.dumps(mat.array_api.linalg.svd)) is mat.linalg.svd


def test_constants_and_dtypes():
    for name in CONSTANTS - {"nan", "newaxis"}:
        assert getattr(xp, name) == getattr(strict, name)
    assert np.isnan(xp.nan)
    assert xp.newaxis is None
    for name in DTYPES:
        assert getattr(xp, name) == np.dtype(name)
        assert getattr(xp, name) != None  # noqa: E711
        assert xp.zeros(1, dtype=getattr(xp, name)).dtype == getattr(xp, name)


# Results


def mapped(value, leaf):
    """Return the nested `value` with `leaf` applied to its items."""
    if isinstance(value, list | tuple):
        return type(value)(mapped(v, leaf) for v in value)
    if isinstance(value, dict):
        return {k: mapped(v, leaf) for k, v in value.items()}
    return leaf(value)


def for_strict(value):
    if isinstance(value, Exactly):
        return value.value
    if isinstance(value, D):
        return getattr(strict, value.name)
    return strict.asarray(value) if isinstance(value, np.ndarray) else value


def for_numpy(value):
    return np.dtype(value.name) if isinstance(value, D) else value


def for_mat(layouts):
    """Return a function that converts arguments to Mats, each in a layout of its own."""
    def leaf(value):
        if isinstance(value, Exactly):
            return value.value
        if isinstance(value, D):
            return getattr(xp, value.name)
        return laid_out(value, next(layouts)) if isinstance(value, np.ndarray) else value

    return leaf


def laid_out(a, layout):
    if layout == "broadcast":  # only what is the same along an axis can be
        if not a.ndim or not (a == a[:1]).all():
            return place(a, "packed")
        return place(a[:1], "packed").broadcast_to(a.shape)
    return place(a, layout)


def check(found, wanted, name):
    """Fail unless `found`, of `mat`, is the result of the reference."""
    if isinstance(wanted, tuple | list):
        assert isinstance(found, tuple | list)
        assert len(found) == len(wanted)
        assert name in BY_NUMPY or getattr(found, "_fields",
                                           None) == getattr(wanted, "_fields", None)
        if name == "linalg.svd":  # vectors may have other signs from another library
            assert [(f.dtype.name, f.shape) for f in found] == [(np.asarray(w).dtype.name, w.shape)
                                                                for w in wanted]
            found, wanted = ((a.S, product_of(a)) for a in (found, wanted))
        for f, w in zip(found, wanted, strict=True):
            check(f, w, name)
    elif name in ("finfo", "iinfo"):
        for field in ("bits", "max", "min", *(("eps", "smallest_normal") * (name == "finfo"))):
            assert getattr(found, field) == getattr(wanted, field)
        assert str(wanted.dtype).endswith(found.dtype.name)
    elif name == "result_type":
        assert str(wanted).endswith(found.name)
    elif isinstance(wanted, bool | int):
        assert found is wanted or (type(found) is int and found == wanted)
    else:
        check_array(found, np.asarray(wanted), name)


def product_of(svd):
    """Return the matrix of which `svd` has the singular values and vectors."""
    u, s, vh = map(np.asarray, svd)
    n = s.shape[-1]
    made = (u[..., :n] * s[..., None, :]) @ vh[..., :n, :]
    return mat.array(made) if isinstance(svd.S, mat.Mat) else made


def check_array(found, wanted, name):
    assert isinstance(found, mat.Mat)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if name.startswith("empty"):
        return
    if name == "unique_values":  # NumPy gives them in any order
        found, wanted = mat.sort(found), np.sort(wanted)
    if wanted.dtype.kind in "iub":
        assert_array_equal(found.to_numpy(), wanted)
        return
    tight = np.finfo(wanted.dtype).eps
    loose = name.startswith(("linalg.", "fft.")) or name in ("matmul", "tensordot", "vecdot")
    with np.errstate(all="ignore"):
        assert_allclose(found.to_numpy(), wanted, rtol=tight * (2000 if loose else 50),
                        atol=tight * (2000 if loose else 50))


def reference(name, arguments, keywords):
    """Return the result of the reference, or of NumPy."""
    space, convert = (np, for_numpy) if name in BY_NUMPY else (strict, for_strict)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty slices
        return find(name)(space)(*mapped(arguments, convert), **mapped(keywords, convert))


@pytest.mark.parametrize("name", sorted(ROWS))
@settings(max_examples=selection.most(15, 4), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_results(name, data):
    row = ROWS[name](Draw(data))
    arguments, keywords = row if len(row) == 2 and isinstance(row[1], dict) else (row, {})
    arguments = arguments if isinstance(arguments, tuple) else (arguments,)
    wanted = reference(name, arguments, keywords)
    chosen = data.draw(st.lists(st.sampled_from([*LAYOUTS, "broadcast"]), min_size=3, max_size=3))
    for device in DEVICES:
        leaf = for_mat(itertools.cycle(chosen))
        with mat.use_device(device), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which are NumPy's
            found = find(name)(xp)(*mapped(arguments, leaf), **mapped(keywords, leaf))
            check(found, wanted, name)
