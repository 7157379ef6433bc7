"""Every public name of `numpy.ndarray` is one of `Mat` with the same meaning: compared with NumPy
on arrays of many dtypes and layouts.
"""

import copy
import ctypes
import io
import math
import operator
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import ConflictError, DTypeError, MatError, SettingError, ShapeError

from ..conftest import DEVICE
from ..support.layouts import numbers, place, tolerance

# protocols of subclasses, and of arrays whose memory is always on the host: `__array__` and
# `__buffer__` export that, under a lease; pickles go by `__reduce_ex__`
NOT_OURS = {"__array_finalize__", "__array_interface__", "__array_struct__", "__array_wrap__",
            "__setstate__", "__class_getitem__"}
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64",
          "complex128"]
LAYOUTS = ["packed", "strided", "negative"]


def test_every_name_of_ndarray_is_one_of_mat():
    private = {n for n in dir(np.ndarray) if n.startswith("_") and not n.startswith("__")}
    assert {n for n in dir(np.ndarray) if not hasattr(mat.Mat, n)} <= NOT_OURS | private
    assert all(n.startswith("__") for n in NOT_OURS)


def same(got, wanted):
    """Compare what a method returns."""
    if isinstance(wanted, np.ndarray | np.generic):
        wanted = np.asarray(wanted)
        if isinstance(got, mat.Mat):
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if DEVICE.startswith("cuda") and wanted.dtype.kind in "fc":  # sums in another order
            assert_allclose(np.asarray(got), wanted, **tolerance(wanted.dtype))
        else:
            assert_array_equal(np.asarray(got), wanted)
    elif isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    else:
        assert type(got) is type(wanted)
        assert got == wanted


READING = [  # of a matrix of three rows and four columns
    lambda x: x.dot(2),
    lambda x: x.conjugate(), lambda x: x.conj(), lambda x: x.real, lambda x: x.imag,
    lambda x: x.tobytes(), lambda x: x.tobytes("F"), lambda x: x.tobytes(order="C"),
    lambda x: x.byteswap(), lambda x: x.compress([True, False, True], axis=0),
    lambda x: x.compress([0, 1, 1, 0, 1]), lambda x: x.compress([1, 0, 1, 1], 1),
    lambda x: np.sort(x.argpartition(2), axis=None), lambda x: x.argpartition(1, axis=0).shape,
    lambda x: x.flat[3], lambda x: x.flat[2:7], lambda x: x.flat[[1, 5, -1]], lambda x: len(x.flat),
    lambda x: x.flat[np.arange(12) % 3 == 0], lambda x: list(x.flat)[5], lambda x: x.flat.copy(),
    lambda x: x.flat[...], lambda x: x.T.flat[1:4], lambda x: np.asarray(x.flat),
    lambda x: x.flat[-2], lambda x: x.T[::-1].flat[5], lambda x: np.array([*x.T.flat, *x.flat]),
    lambda x: x.flags.c_contiguous or x.flags["F_CONTIGUOUS"] or x.flags.owndata,
    lambda x: x.T.flags.f_contiguous, lambda x: x.flags.writeable, lambda x: x.flags["ALIGNED"],
    lambda x: x[:, :1].T.flags.num & ~4, lambda x: x[:, ::2].flags.forc, lambda x: x.flags.carray,
    lambda x: x.copy("F"), lambda x: x.copy("F").flags.f_contiguous, lambda x: x.copy(order="K"),
    lambda x: x.T.copy("K").flags.f_contiguous, lambda x: x.T.copy("A").flags.c_contiguous,
    lambda x: x.T.copy().flags.c_contiguous, lambda x: x.copy("F").base is None,
    lambda x: x.astype("complex128"), lambda x: x.astype("complex128", "F").flags.f_contiguous,
    lambda x: x.T.astype("complex128", copy=True).flags.f_contiguous,
    lambda x: x.astype(x.dtype, copy=False) is x, lambda x: x.astype(dtype=x.dtype) is x,
    lambda x: x.astype("complex128", casting="safe", subok=False),
    lambda x: x.squeeze(), lambda x: x[None].squeeze(0), lambda x: x[:, None].squeeze(axis=1),
    lambda x: x.diagonal(), lambda x: x.diagonal(1, 0, 1), lambda x: x.swapaxes(0, 1),
    lambda x: x.take([1, 2]), lambda x: x.take([0, 2], 0), lambda x: x.nonzero(),
    lambda x: x.repeat(2), lambda x: x.repeat([1, 0, 2], 0), lambda x: x.tolist(),
    lambda x: x.searchsorted(x[0]) if x.ndim == 1 else None, lambda x: x.item(5),
    lambda x: x.argsort(kind="stable"), lambda x: x.argsort(0, "mergesort"),
    lambda x: x.argsort(axis=None, kind="stable"), lambda x: x.mT, lambda x: x.T,
    lambda x: x.nbytes, lambda x: x.itemsize, lambda x: x.size, lambda x: x.ndim, lambda x: x.shape,
    lambda x: x.to_device("cpu").shape, lambda x: divmod(abs(x.real) + 1, 2),
    lambda x: x.clip(0, 1), lambda x: x.round(1), lambda x: x.ravel("K") if x.ndim == 1 else None,
    lambda x: x.cumsum(), lambda x: x.cumsum(1), lambda x: x.cumprod(0, dtype="complex128"),
    lambda x: x.trace(), lambda x: x.all(), lambda x: x.any(1), lambda x: 1 in x,
    lambda x: x.sum(0, "complex128"), lambda x: x.base is None]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning",
                            "ignore::RuntimeWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_reads_is_numpys(rng, dtype, layout):
    a = numbers(rng, (3, 4), dtype)
    for k, call in enumerate(READING):
        x = place(a, layout)
        try:
            wanted = call(a.copy() if layout == "packed" else x.to_numpy())
        except TypeError:
            with pytest.raises(TypeError):
                call(x)
            continue
        if k == len(READING) - 1 and layout != "packed":
            continue
        got = call(x)
        if type(wanted) is bool and layout != "packed" and got is not wanted:
            continue  # of a copy in another layout
        same(got, wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_numpys_but_for_rounding(rng, dtype, layout):
    """BLAS adds in another order for another layout: of `a` and its transpose it is given one."""
    x = place(numbers(rng, (3, 4), dtype), layout)
    a = x.to_numpy()
    for other, its in ((x.T, a.T), ([1, 2, 3, 4], [1, 2, 3, 4])):
        got, wanted = x.dot(other), a.dot(its)
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype
        rtol = 100 * np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol, rtol)


WRITING = [
    lambda x: x.fill(1), lambda x: x.fill(np.float64(0)), lambda x: x.sort(),
    lambda x: x.sort(0), lambda x: x.sort(axis=-1, kind="stable"), lambda x: x.sort(1, stable=True),
    lambda x: x.put([0, 5, -1], [1, 0, 1]), lambda x: x.put(3, 1),
    lambda x: x.put([1, 99], 0, "clip"), lambda x: x.byteswap(True),
    lambda x: x.byteswap(inplace=True), lambda x: operator.setitem(x.flat, 3, 1),
    lambda x: operator.setitem(x.flat, slice(2, 9), [1, 0]),
    lambda x: operator.setitem(x.flat, slice(2, 2), []), lambda x: operator.setitem(x.flat, [], []),
    lambda x: operator.setitem(x.flat, slice(1, 9, 3), 1.5), lambda x: setattr(x, "flat", True),
    lambda x: operator.setitem(x.flat, -2, 0.5), lambda x: operator.setitem(x.T.flat, 4, 1),
    lambda x: setattr(x, "flat", [1, 0, 1]), lambda x: operator.setitem(x.flat, [1, 4], 1),
    lambda x: setattr(x, "real", 1), lambda x: setattr(x, "real", x.real[::-1] * 1),
    lambda x: operator.setitem(x, ..., x[None, ::-1]), lambda x: operator.iadd(x.T, x.T)]
PARTITIONED = [lambda x: x.partition(2), lambda x: x.partition(1, 0), lambda x: x.partition([0, 2])]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_writes_is_numpys(rng, dtype, layout):
    a = numbers(rng, (3, 4), dtype)
    for call in WRITING:
        x, b = place(a, layout), a.copy()
        got, wanted = call(x), call(b)
        assert (got is None) == (wanted is None)
        assert_array_equal(x.to_numpy(), b)
    for call in PARTITIONED:
        x, b = place(a, layout), a.copy()
        call(x)
        call(b)
        assert_array_equal(np.sort(x.to_numpy(), axis=None), np.sort(b, axis=None))
        assert_array_equal(x.to_numpy()[:, 2] if call is PARTITIONED[0] else 0,
                           b[:, 2] if call is PARTITIONED[0] else 0)


def test_what_cannot_be_written_is_as_before():
    x = mat.array([[3.0, 1], [2, 0]])
    for call, kind in ((lambda: x.sort(2), mat.AxisError),
                       (lambda: x.partition(1, 5), mat.AxisError),
                       (lambda: x.sort(order="f"), DTypeError), (lambda: x.put([9], 1), IndexError),
                       (lambda: x.fill("a"), TypeError), (lambda: x.sort(kind="bad"), ValueError),
                       (lambda: operator.setitem(x.flat, 9, 1), IndexError),
                       (lambda: operator.setitem(x.flat, 2**70, 1), (IndexError, OverflowError)),
                       (lambda: operator.delitem(x.flat, 0), TypeError),
                       (lambda: operator.setitem(x.flat, slice(None), []), ValueError),
                       (lambda: setattr(x, "imag", 1), DTypeError),
                       (lambda: mat.zeros(2, dtype="int8").fill(1000), (TypeError, OverflowError))):
        with pytest.raises(kind):
            call()
        assert x.tolist() == [[3, 1], [2, 0]]
    read_only = mat.from_numpy(np.broadcast_to(1.0, 3))
    for call in (lambda x: x.sort(), lambda x: x.fill(2), lambda x: x.put(0, 2),
                 lambda x: x.byteswap(True), lambda x: setattr(x, "flat", 2)):
        with pytest.raises((mat.DirectionError, mat.AliasError)):
            call(read_only)


def test_parts_of_complex_numbers(rng):
    a = numbers(rng, (2, 3), "complex128")
    x = mat.array(a)
    x.imag = x.real
    x.real *= 2
    a.imag = a.real
    a.real *= 2
    assert_array_equal(x.to_numpy(), a)
    part, wanted = x.real, a.real
    part += 1
    wanted += 1
    assert_array_equal(x.to_numpy(), a)
    real = mat.ones(2)
    assert real.real is real
    assert real.imag.tolist() == [0, 0]
    real.imag[0] = 5
    assert real.tolist() == [1, 1]


def test_the_base_is_the_mat_of_which_it_is_a_view():
    x = mat.arange(6.0)
    assert x.base is None
    for view in (x[1:], x.reshape(2, 3), x.T, x[::-1][1:], x.reshape(3, 2)[1], x[...],
                 mat.Mat(2, displaced_to=x)):
        assert view.base is x
    assert (x + 1).base is None
    assert x.copy().base is None
    y = x[2:]
    del x, view
    base = y.base
    assert base.tolist() == list(range(6))
    assert y.base is base
    assert base.base is None


def test_a_mat_can_be_made_read_only():
    x = mat.zeros(2, 3)
    view = x[0]
    x.flags.writeable = False
    assert not x.flags.writeable
    for write in (lambda: x.fill_(1), lambda: view.fill_(1), lambda: mat.add(x, 1, out=x),
                  lambda: x.__setitem__(0, 1)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert (x + 1).flags.writeable
    x.flags["WRITEABLE"] = True
    x[0] = 1
    x.setflags(write=False)
    assert not view.flags.writeable
    assert x.sum() == 3
    alone = mat.arange(6.0).reshape(2, 3).T
    alone.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        alone[0] = 1


def test_flags_cannot_be_set_and_print():
    x = mat.zeros(2, 3)
    with pytest.raises(MatError, match="'ALIGNED'"):
        x.flags["ALIGNED"] = False
    x.setflags(write=True, align=True, uic=False)
    x[0].setflags(write=False)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(MatError, match="'writeable'"):
        mat.from_numpy(fixed).flags.writeable = True
    with pytest.raises(KeyError):
        x.flags["SQUARE"]
    assert repr(x.flags).split() == repr(np.zeros((2, 3)).flags).split()
    assert x.flags == mat.ones(2, 3).flags
    assert not mat.from_numpy(np.broadcast_to(1.0, 3)).flags.writeable
    assert not mat.ones(3).broadcast_to(2, 3).flags.writeable


def test_memory_is_lent_while_it_is_used():
    x = mat.array([1.0, 2.0])
    view = x.data
    assert view.tolist() == [1, 2]
    assert view.readonly
    with pytest.raises(ConflictError):
        x[0] = 3
    del view
    pointer = x.ctypes
    assert ctypes.cast(pointer.data, ctypes.POINTER(ctypes.c_double))[1] == 2
    with pytest.raises(ConflictError):
        x[0] = 3
    del pointer
    x[0] = 3
    assert x.tolist() == [3, 2]


def test_to_files_and_pickles(tmp_path, rng):
    a = numbers(rng, (2, 3), "float32")
    x = mat.array(a)
    x.T.tofile(tmp_path / "raw")
    assert_array_equal(np.fromfile(tmp_path / "raw", "float32"), a.T.ravel())
    x.tofile(tmp_path / "text", sep=",", format="%.3f")
    a.tofile(tmp_path / "wanted", sep=",", format="%.3f")
    assert (tmp_path / "text").read_text() == (tmp_path / "wanted").read_text()
    assert pickle.loads(x.dumps()).equals(x)
    x.dump(tmp_path / "pickle")
    with open(tmp_path / "pickle", "rb") as file:
        assert pickle.load(file).equals(x)
    file = io.BytesIO()
    x.dump(file)
    assert pickle.loads(file.getvalue()).equals(x)
    assert copy.copy(x).equals(x)
    assert copy.deepcopy(x).storage is not x.storage


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64", "bool"])
@pytest.mark.parametrize("before", [(), 3, (2, 3), (0,), (2, 0)])
@pytest.mark.parametrize("after", [(), 1, 7, (3, 2), (2, 2, 2), (0, 4), None])
def test_resize_keeps_elements_in_order_and_adds_zeros(before, after, dtype, device):
    a = np.arange(1, 1 + np.prod(before, dtype=int)).astype(dtype).reshape(before).copy()
    with mat.use_device(device):
        x = mat.array(a) * mat.ones((), dtype)  # computed there
        for shape in (after, (2, 5), 3):
            a.resize(shape, refcheck=False)
            x.resize(shape)
            assert_array_equal(x.to_numpy(), a, strict=True)
    x.resize()
    assert x.shape == a.shape


def test_resize_refuses_views_and_what_others_see():
    x = mat.arange(6.0)
    view = x[2:]
    for refused in (lambda: view.resize(7), lambda: x.resize(7),
                    lambda: mat.ones((2, 3)).T.resize(5)):
        with pytest.raises(ValueError, match=r"mat\.resize"):
            refused()
    x.resize(2, 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    x.resize((4, 2), refcheck=False)
    assert x.tolist() == [[0, 1], [2, 3], [4, 5], [0, 0]]
    assert view.tolist() == [2, 3, 4, 5]
    with x.facet("array", "input"), pytest.raises(mat.ConflictError):
        x.resize(9, refcheck=False)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        x.resize(9)
    assert x.shape == (4, 2)


def test_what_mats_do_not_have_names_the_way_out():
    x = mat.array(np.arange(4))
    with pytest.raises(DTypeError, match=r"x\.view\(dtype\)"):
        x.getfield("int8", 1)
    with pytest.raises(DTypeError, match=r"x\.real = v"):
        x.setfield(1, "int8")
    with pytest.raises(DTypeError, match="int64 does not become int8 by casting='safe'"):
        x.astype("int8", casting="safe")
    with pytest.raises(ShapeError, match=r"mat\.delete"):
        del x[1]
    with pytest.raises(SettingError, match="order"):
        x.copy("Q")


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex128"])
def test_matmul_in_place(rng, dtype):
    a, b = numbers(rng, (3, 3), dtype), numbers(rng, (3, 3), dtype)
    x = y = mat.array(a)
    x @= mat.array(b)
    a @= b
    assert x is y
    np.testing.assert_allclose(x.to_numpy(), a, rtol=1e-5)
    for wrong, kind in ((mat.ones(3), ShapeError), (mat.ones(3, 2), ShapeError)):
        with pytest.raises(kind):
            x @= wrong
    whole = mat.ones(2, 2, dtype="int64")
    with pytest.raises(DTypeError, match="x = x @ y"):
        whole @= mat.ones(2, 2)


# Mats without axes


SCALARS = [np.float64(2.5), np.float64(1 / 3), np.float32(0.1), np.int64(-7), np.uint8(200),
           np.bool_(True), np.complex128(1 + 2j), np.float64(np.nan), np.float64(-np.inf),
           np.float16(1.5), np.int8(3)]
TO_REAL = int, float, math.floor, math.ceil, math.sqrt, math.isnan
OF_SCALARS = [
    str, "{}".format, "{!s:>12}".format, lambda s: f"{s}", lambda s: f"{s:10.3f}",
    lambda s: f"{s:.2e}", bool, int, float, complex, math.floor, math.ceil,
    math.trunc, math.sqrt, math.isnan, round, lambda s: round(s, 1), lambda s: round(s, -1),
    lambda s: s > 1, lambda s: bool(s == s), lambda s: list(range(300))[s],
    operator.index, lambda s: range(s), lambda s: s[()], lambda s: s.item(),
    lambda s: max(s, 2), lambda s: abs(s), lambda s: -s, lambda s: s + 1, lambda s: divmod(s, 2),
    lambda s: s ** 2, lambda s: s // 2, lambda s: np.zeros((9, 9))[s, 1], lambda s: hex(s)]


def as_scalars(found):
    if isinstance(found, tuple):
        return tuple(map(as_scalars, found))
    return found.to_numpy()[()] if isinstance(found, mat.Mat) else found


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_a_mat_without_axes_is_as_a_scalar(scalar):
    x = mat.array(scalar)
    assert x.shape == ()
    for call in OF_SCALARS:
        try:
            wanted = call(scalar)
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            if "doesn't define" not in str(error):  # as rounding of bools
                with pytest.raises((TypeError, ValueError, OverflowError, IndexError)):
                    call(x)
            continue
        if scalar.dtype.kind == "c" and call in TO_REAL:  # NumPy warns and drops a part
            with pytest.raises(DTypeError, match=r"complex\(x\)"):
                call(x)
            continue
        got = call(x)
        if isinstance(wanted, str | int | range | list) and not isinstance(wanted, np.generic):
            assert type(got) in (type(wanted), mat.Mat) or wanted is got
        np.testing.assert_equal(as_scalars(got), wanted)


def test_it_shows_itself_and_hashes_as_the_number():
    x = mat.array(2.5)
    assert repr(x).startswith("<Mat () ")
    assert len({x, mat.array(2.5), 2.5}) == 1
    assert str(mat.array([1.0])).startswith("<Mat 1 ")
    assert f"{mat.array([1.0, 2.0]).sum()}" == "3.0"
    assert x[...].shape == ()


@pytest.mark.parametrize("function", [pickle.dumps, copy.copy, copy.deepcopy])
def test_flags_of_memory_have_no_copies(function):
    for x in (np.ones(3), mat.ones(3)):
        with pytest.raises(TypeError, match="pickle"):
            function(x.flags)
