"""`mat.array_api` against the reference implementation, array_api_strict: names, signatures, and
results of drawn calls.

The public suite, which checks more, is not in a package index: ``tests/array_api/run.sh`` runs a
checkout of it.
"""

import inspect
import itertools
import operator
import warnings

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import array_api as xp

from ..conftest import DEVICE
from ..support import selection
from ..support.array_api_cases import ROWS
from ..support.array_api_draw import D, Draw, Exactly
from ..support.layouts import LAYOUTS, place

DEVICES = dict.fromkeys(["cpu", "emulated", DEVICE])

NOT_OF_THE_STANDARD = {"ArrayAPIStrictFlags", "Device", "ModuleType", "get_array_api_strict_flags",
                       # the reference's own
                       "reset_array_api_strict_flags", "set_array_api_strict_flags"}
ONLY_OURS = {"linalg.eig", "linalg.eigvals"}  # of the standard, but not in the reference
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
    ours = {n for n in xp.__all__ if not n.startswith("_")} - EXTENSIONS
    ours |= {f"{ext}.{n}" for ext in EXTENSIONS for n in getattr(xp, ext).__all__}
    assert ours == names_of_the_reference() | ONLY_OURS
    assert set(ROWS) == {*FUNCTIONS, *ONLY_OURS}


def test_all_names_are_bound_once():
    for module in (xp, xp.linalg, xp.fft):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, n) for n in module.__all__)


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *ONLY_OURS}))
def test_functions_have_the_standards_names(name):
    function = find(name)(xp)
    assert function.__name__ == name.rpartition(".")[2]
    assert function.__doc__
    assert function.__doc__.splitlines()[0].endswith((".", "``"))


# also takes by position what the standard has by keyword only, since clients pass it so
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "diff"])
def test_signatures(name):
    def parameters(namespace):
        found = inspect.signature(find(name)(namespace)).parameters.values()
        return [(p.name, p.kind, None if "UNDEF" in str(p.default) else p.default) for p in found]

    assert parameters(xp) == parameters(strict)


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
        for f, w in zip(found, wanted, strict=True):
            check(f, w, name)
    elif name in ("finfo", "iinfo"):
        for field in [f for f in found._fields if f != "dtype"]:
            assert getattr(found, field) == getattr(wanted, field)
        assert str(wanted.dtype).endswith(found.dtype.name)
    elif name == "result_type":
        assert str(wanted).endswith(found.name)
    elif isinstance(wanted, bool | int):
        assert found is wanted or (type(found) is int and found == wanted)
    else:
        check_array(found, np.asarray(wanted), name)


def check_array(found, wanted, name):
    assert isinstance(found, mat.Mat)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if name.startswith("empty"):
        return
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


def wanted_of(name, arguments, keywords):
    found = reference(name, arguments, keywords)
    if name not in ONLY_OURS:
        return found
    wide = np.result_type(arguments[0].dtype, "complex64")
    return found.astype(wide) if name == "linalg.eigvals" else tuple(v.astype(wide) for v in found)


@pytest.mark.parametrize("name", sorted(ROWS))
@settings(max_examples=selection.most(15, 4), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_results(name, data):
    row = ROWS[name](Draw(data))
    arguments, keywords = row if len(row) == 2 and isinstance(row[1], dict) else (row, {})
    arguments = arguments if isinstance(arguments, tuple) else (arguments,)
    wanted = wanted_of(name, arguments, keywords)
    chosen = data.draw(st.lists(st.sampled_from([*LAYOUTS, "broadcast"]), min_size=3, max_size=3))
    for device in DEVICES:
        leaf = for_mat(itertools.cycle(chosen))
        with mat.use_device(device):
            found = find(name)(xp)(*mapped(arguments, leaf), **mapped(keywords, leaf))
            check(found, wanted, name)


def test_einsum_is_available_beyond_the_standard():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    assert "einsum" not in xp.__all__
    np.testing.assert_array_equal(xp.einsum("ij,kj->ik", mat.array(x), y),
                                  np.einsum("ij,kj->ik", x, y))
