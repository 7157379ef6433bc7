"""The names that `mat` has from NumPy: all of them, made at their first use, with signature and
documentation.
"""

import importlib
import importlib.util
import inspect
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.numpy.namespace import lookup
from mat.numpy.namespace.lookup import (
    ABSENT,
    FUNCTION,
    SAME,
    UFUNC,
    WAYS_OUT,
    kinds,
    numpy_module,
    public_names,
    usable_names,
)

# of NumPy's names, those that are no part of an interface of arrays, or that `mat` has itself
NOT_THERE = {"core", "f2py", "show_config", "__version__"}
MODULES = ("", "linalg", "fft", "random", "emath", "lib.stride_tricks")


def ours(module):
    return importlib.import_module(f"mat.{module}") if module not in ("", "emath") else (
        mat.emath if module else mat)


def numpys(module):
    found = numpy_module(module)
    listed = getattr(found, "__all__", None) or [n for n in dir(found) if n[0] != "_"]
    return {n for n in listed if not n.startswith("_") or n in kinds(module)} - NOT_THERE


@pytest.mark.parametrize("module", MODULES)
def test_the_table_has_all_names_of_the_installed_numpy(module):
    assert sorted(numpys(module) - kinds(module).keys()) == []


@pytest.mark.parametrize("module", MODULES)
def test_every_name_exists(module):
    assert [n for n in public_names(module) if not hasattr(ours(module), n)] == []
    assert set(usable_names(module)) <= set(dir(ours(module)))


@pytest.mark.parametrize("module", lookup.MODULES)
def test_each_name_has_one_kind(module):
    listed = [n for text in lookup._MODULES[module].values() for n in text.split()]
    assert sorted(listed) == sorted(set(listed))


def test_numpys_own_objects_are_the_same():
    for name in ("pi", "newaxis", "float32", "int64", "dtype", "finfo", "errstate", "s_"):
        assert getattr(mat, name) is getattr(np, name)
    assert mat.ndarray is mat.Mat
    assert all(getattr(mat, n) is getattr(np, n) for n in public_names("")
               if kinds("")[n] == SAME and n not in mat.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_made_functions_are_described(module):
    for name in public_names(module):
        if kinds(module)[name] not in (FUNCTION, UFUNC):
            continue
        function = getattr(ours(module), name)
        assert function.__doc__.splitlines()[0].endswith("."), name
        aliases = {function.__name__, getattr(numpy_module(module), name, np.sum).__name__}
        assert name in aliases or kinds(module)[name] == UFUNC or name not in mat.__all__, name


def test_made_functions_have_numpys_signatures():
    assert str(inspect.signature(mat.median)) == str(inspect.signature(np.median))
    assert list(inspect.signature(mat.float_power).parameters)[:3] == ["x1", "x2", "out"]


@pytest.mark.parametrize("name", sorted(n for n, k in kinds("").items() if k == ABSENT
                                        and n != "matrix"))  # which is a folder of ours
def test_absent_names_say_what_there_is(name):
    assert name in WAYS_OUT
    with pytest.raises(mat.DTypeError, match=f"mat has no {name}: "):
        getattr(mat, name)(1)


def test_unknown_names_are_attribute_errors():
    for module in MODULES:
        with pytest.raises(AttributeError, match="nonesuch"):
            _ = ours(module).nonesuch


def test_elements_that_mats_cannot_have_are_refused():
    with pytest.raises(mat.DTypeError, match="unique gives elements of <U1"):
        mat.unique(["a", "b"])


def test_ufuncs_have_their_methods():
    for name in ("add", "hypot", "logical_and", "matmul", "power"):
        function, ufunc = getattr(mat, name), getattr(np, name)
        assert (function.nin, function.nout, function.nargs) == (ufunc.nin, ufunc.nout, ufunc.nargs)
        for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            assert callable(getattr(function, method))
    x = mat.zeros(3)
    mat.add.at(x, [0, 0, 2], 1)
    assert x.tolist() == [2, 0, 1]
    assert mat.absolute is mat.abs
    assert mat.power is mat.pow


def test_what_is_ours_computes_on_the_device():
    with mat.use_device("emulated"), mat.debug.count_copies() as n:
        x = mat.ones((3, 4))
        mat.add.reduce(mat.concatenate([x, x]))
        mat.isnan(mat.exp([[1.0, 2.0]]))
        mat.hstack([x, x]).sum()
        mat.random.default_rng(1).random((3, 4)).sum()
        assert n.fallbacks == 0
        mat.i0(x)
        assert n.fallbacks == 1


def test_nothing_is_made_before_its_first_use():
    code = ("import sys, mat\n"
            "assert 'mat.numpy.namespace.lookup' not in sys.modules\n"
            "assert 'mat.random' not in sys.modules and 'mat.linalg' not in sys.modules\n"
            "assert 'median' not in vars(mat)\n"
            "assert mat.median([1, 2]).item() == 1.5 and 'median' in vars(mat)")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.host
def test_views_are_views():
    x = mat.arange(6.0)
    for view in (mat.lib.stride_tricks.sliding_window_view(x, 2), mat.flip(x), mat.split(x, 2)[0],
                 mat.lib.stride_tricks.as_strided(x, (2, 2), (8, 16))):
        assert mat.shares_memory(view, x)
    a = np.arange(3.0)
    mat.flip(a).fill_(7)
    assert a.tolist() == [7, 7, 7]
    with pytest.raises(mat.ShapeError, match="reach elements"):
        mat.lib.stride_tricks.as_strided(x, (9,), (8,))
    with pytest.raises(mat.ShapeError, match="multiple of 8"):
        mat.lib.stride_tricks.as_strided(x, (2,), (3,))


@pytest.mark.parametrize("turned", [
    lambda a: a, lambda a: a.T, lambda a: a.T * 2, lambda a: a[::-1],
    lambda a: a.transpose(1, 0, 2), lambda a: a[:, ::2, ::-1].T + 1])
def test_iterators_go_in_the_order_of_memory(turned):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = turned(mat.array(a))
    for more in ({}, {"order": "C"}, {"order": "F"}):
        assert [float(v) for v in mat.nditer(x, **more)] == [float(v) for v in
                                                            np.nditer(turned(a), **more)]
    x += 1  # nothing is exported any more


def doubled(m, x, **more):
    with m.nditer(x, op_flags=["readwrite"], **more) as it:
        for v in it:
            v[...] = 2 * v + v.size
    return [x]


def doubled_without_block(m, x):
    for v in m.nditer(x, op_flags=["readwrite"]):
        v[...] = 2 * v
    return [x]


def doubled_while_not_finished(m, x):
    it = m.nditer(x, [], ["readwrite"])
    while not it.finished:
        it[0][...] = 2 * it[0]
        it.iternext()
    return [x, m.array(it.finished)]


def written_by_index(m, x):
    y = m.zeros(x.shape)
    with m.nditer([x, y], ["multi_index"], [["readonly"], ["writeonly"]]) as it:
        for v, w in it:
            w[...] = v * sum(it.multi_index)
        assert it.operands[1] is y
    return [x, y]


def left_early(m, x):
    it = m.nditer(x, op_flags=["readwrite"])
    for v in it:
        v[...] = -1
        if it.iterindex == 2:
            break
    it.close()
    return [x]


def interrupted(m, x):
    with suppress(ZeroDivisionError), m.nditer(x, op_flags=["readwrite"]) as it:
        next(it)[...] = 7
        raise ZeroDivisionError
    return [x]


def overlapping(m, x):
    with m.nditer([x[1:], x[:-1]], ["copy_if_overlap"], [["writeonly"], ["readonly"]]) as it:
        for v, w in it:
            v[...] = w
    return [x]


ITERATIONS = {
    "block": doubled, "no block": doubled_without_block, "finished": doubled_while_not_finished,
    "index": written_by_index, "early": left_early, "interrupted": interrupted,
    "overlapping": overlapping,
    "chunks": lambda m, x: doubled(m, x, flags=["external_loop", "buffered"]),
    "dtype": lambda m, x: doubled(m, x, flags=["buffered"], op_dtypes=["float32"],
                                  casting="same_kind")}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("turned", [lambda x: x, lambda x: x.T, lambda x: x[::-1, 1:]])
@pytest.mark.parametrize("name", ITERATIONS)
def test_iterators_write_mats(name, turned, device):
    a, x = np.arange(12.0).reshape(3, 4), mat.arange(12.0).reshape(3, 4)
    with mat.use_device(device):
        x += 0  # fresh on the device only
        found = ITERATIONS[name](mat, turned(x))
        wanted = ITERATIONS[name](np, turned(a))
        for f, w in zip([*found, x], [*wanted, a], strict=True):
            assert_array_equal((f * 1).to_numpy(), w)  # also as the device sees it
        x += 1  # nobody accesses it
    with pytest.raises(mat.DirectionError):
        mat.nditer(mat.broadcast_to(x, x.shape), op_flags=["readwrite"])
    with pytest.raises(ValueError, match="no_such_flag"):
        mat.nditer(x, ["no_such_flag"], ["readwrite"])
    x += 1


def test_iterators_write_what_is_no_mat():
    with mat.nditer([mat.arange(3.0), None], [], [["readonly"], ["writeonly", "allocate"]]) as it:
        for v, w in it:
            w[...] = 2 * v
        assert it.operands[1].tolist() == [0, 2, 4]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0",
                    reason="the page lists the functions of newer NumPy")
def test_the_page_of_names_is_current():
    path = Path(__file__).parents[2] / "docs" / "numpy_names.py"
    spec = importlib.util.spec_from_file_location("numpy_names", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.page() == script.PAGE.read_text(encoding="utf-8"), "run docs/numpy_names.py"


# Imports of modules that are attributes


@pytest.mark.parametrize("name", [
    "testing", "typing", "exceptions", "polynomial", "ctypeslib", "char", "strings", "rec", "ma",
    "dtypes", "emath", "lib.format", "lib.scimath", "polynomial.polynomial", "lib.stride_tricks"])
def test_modules_can_be_imported_by_name(name):
    numpys = importlib.import_module(f"numpy.{name}") if name != "emath" else None
    code = f"""import mat.{name} as found, sys
from mat.{name} import __name__ as own
print(found.__name__, own, sys.modules['mat.{name}'] is found, found.__spec__.name)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, same, spec = done.stdout.split()
    assert first == second == spec
    assert same == "True"
    assert first.startswith("mat.") or first == numpys.__name__


def test_classes_of_imported_modules_are_numpys():
    def found(module, name):
        return getattr(importlib.import_module(f"mat.{module}"), name)

    assert found("polynomial", "Polynomial") is np.polynomial.Polynomial
    assert found("polynomial.polynomial", "polyval") is np.polynomial.polynomial.polyval
    assert found("exceptions", "AxisError") is np.exceptions.AxisError


@pytest.mark.parametrize("name", ["nonsense", "_nonsense", "array", "lib.nonsense", "sum.nonsense"])
def test_other_names_are_no_modules(name):
    with pytest.raises(ModuleNotFoundError, match="No module named 'mat"):
        importlib.import_module(f"mat.{name}")
