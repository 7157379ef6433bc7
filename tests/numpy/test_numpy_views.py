"""Outputs that NumPy writes, and views that it returns, as Mats."""

from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, ConflictError, DirectionError
from mat.numpy.registry import numpy_function

from ..support.layouts import LAYOUTS, check_hidden, numbers, place, state

# Writing


@pytest.mark.parametrize("layout", LAYOUTS)
def test_outputs_are_written_and_nothing_else(rng, layout):
    a = numbers(rng, (3, 4), "float64")
    x = place(a, layout)
    assert np.exp(x, out=x) is x
    np.arctan(x, x)
    np.add(x, 1, out=(x,), where=mat.array(a > 0))
    np.add.at(x, (0, [1, 1]), mat.ones(2))
    wanted = np.arctan(np.exp(a))
    wanted[a > 0] += 1
    np.add.at(wanted, (0, [1, 1]), 1)
    assert_allclose(x.to_numpy(), wanted)
    check_hidden(x)
    np.copyto(x, np.arange(4.0))
    np.put(x, [0], 7)
    np.fill_diagonal(x, 9)
    np.putmask(x, x > 8, 3)
    np.place(x, a < 0, [5])
    wanted[...] = np.arange(4.0)
    np.put(wanted, [0], 7)
    np.fill_diagonal(wanted, 9)
    np.putmask(wanted, wanted > 8, 3)
    np.place(wanted, a < 0, [5])
    assert_array_equal(x.to_numpy(), wanted)
    check_hidden(x)


def test_arrays_are_written_from_mats():
    a = np.zeros(3)
    assert np.copyto(a, mat.arange(3.0)) is None
    np.put(a, mat.array([0, 1], "int64"), mat.array([7.0, 8]))
    np.add.at(a, mat.array([0, 0], "int64"), mat.ones(2))
    assert a.tolist() == [9, 8, 2]
    assert np.exp(mat.zeros(3), out=a) is a
    assert np.median(mat.ones(2, 3), 0, a) is a
    assert a.tolist() == [1, 1, 1]


def test_reductions_into_an_output():
    x, out = mat.arange(6.0).reshape(2, 3), mat.zeros(3)
    assert np.sum(x, 0, None, out) is out
    assert out.tolist() == [3, 5, 7]
    assert np.median(x, 0, out) is out
    assert np.cumsum(x, out=mat.zeros(6)).tolist() == [0, 1, 3, 6, 10, 15]
    assert np.all(x, 1, out=mat.zeros(2, dtype="bool")).tolist() == [False, True]


def test_read_only_outputs_are_unchanged():
    fixed = np.ones(2)
    fixed.flags.writeable = False
    x, wide = mat.from_numpy(fixed), mat.ones(1).broadcast_to(3)
    for change in (lambda: np.add.at(x, 0, 1), lambda: np.arctan(x, out=x),
                   lambda: np.exp(x, out=x), lambda: np.put(x, 0, 1)):
        with pytest.raises(DirectionError):
            change()
    with pytest.raises(AliasError):
        np.copyto(wide, np.arange(3))
    y = mat.arange(3.0)
    before = state(y)
    for refused in (lambda: np.arctan2(y, [1, 2], out=y), lambda: np.put(y, 9, 1),
                    lambda: np.copyto(y, 1j), lambda: np.copyto(y, np.ones(4)),
                    lambda: np.left_shift(y, 1, out=y)):
        with pytest.raises((ValueError, IndexError, TypeError)):
            refused()
    assert state(y) == before


def test_an_export_keeps_writers_out():
    x = mat.arange(3.0)
    exported = np.asarray(x)
    for change in (lambda: np.exp(x, out=x), lambda: np.arctan(x, out=x), lambda: np.put(x, 0, 1)):
        with pytest.raises(ConflictError):
            change()
    assert np.exp(x).shape == exported.shape
    del exported
    assert np.exp(x, out=x) is x


# Views


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_are_views(layout):
    x = place(np.arange(12.0).reshape(3, 4), layout)
    views = {
        "transpose": np.transpose(x), "flip": np.flip(x, 1), "split": np.split(x, 2, axis=1)[1],
        "diagonal": np.diagonal(x, 1),
        "squeeze": np.squeeze(np.expand_dims(x, 1)), "moveaxis": np.moveaxis(x, 0, 1),
        "rot90": np.rot90(x),
        "windows": np.lib.stride_tricks.sliding_window_view(x, 2, 1), "real": np.real(x),
        "rows": np.unstack(x)[2]
        if hasattr(np, "unstack") else x, "wide": np.broadcast_to(x, (2, 3, 4)),
        "raised": np.atleast_3d(x), "diag": np.diag(x)}
    assert all(v.storage is x.storage for v in views.values())
    views["flip"][0, 0] = 99
    assert (x[0, 3], views["transpose"][3, 0], views["windows"][0, 2, 1]) == (99, 99, 99)
    with pytest.raises(AliasError):
        views["windows"].fill_(0)
    check_hidden(x)


SPLITS = [np.hsplit, np.vsplit, np.dsplit, *(
    partial(f, axis=axis) for f in (np.split, np.array_split) for axis in (0, 1, -1))]


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 0, -1, [1], (1, 3), [3, 1], [-1], [0, 9], [], 2.5,
                                   np.array([1, 2])], ids=repr)
def test_parts(parts):
    a = np.arange(24.0).reshape(2, 4, 3)[::-1]
    for x in (mat.from_numpy(a), mat.from_numpy(a)[:, :0]):
        for split in SPLITS:
            try:
                wanted = split(np.asarray(x), parts)
            except (ValueError, TypeError, ZeroDivisionError) as error:
                with pytest.raises(type(error)):
                    split(x, parts)
                continue
            found = split(x, parts)
            assert [p.shape for p in found] == [p.shape for p in wanted]
            for one, other in zip(found, wanted, strict=True):
                assert_array_equal(one.to_numpy(), other)
                assert one.storage is x.storage


STEPS = [np.transpose, np.ravel, np.flip, np.squeeze, np.atleast_2d, np.atleast_3d,
         lambda x: np.expand_dims(x, x.ndim // 2),
         lambda x: np.moveaxis(x, 0, -1), lambda x: np.reshape(x, (2, -1), order="F"),
         lambda x: np.reshape(x, (-1, 3)),
         lambda x: np.array_split(x, 2, axis=-1)[0], lambda x: np.broadcast_to(x, (2, *x.shape)),
         lambda x: np.rot90(x),
         lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=-1), np.diagonal,
         lambda x: x[..., ::-2],
         lambda x: x[:0]]


@given(st.sampled_from(list(LAYOUTS)), st.lists(st.sampled_from(STEPS), min_size=1, max_size=6))
def test_views_of_views(layout, steps):
    x = place(np.arange(24.0).reshape(2, 3, 4), layout)
    for step in steps:
        a = np.asarray(x)  # with its strides
        try:
            wanted = step(a)
        except (ValueError, IndexError):
            with pytest.raises((ValueError, IndexError)):
                step(x)
            return
        found = step(x)
        assert_array_equal(found.to_numpy(), wanted)
        assert not wanted.size or (found.storage is x.storage) == np.shares_memory(wanted, a)
        x = found


def test_copies_where_numpy_copies():
    x = mat.arange(6.0).reshape(2, 3)
    assert np.ravel(x).storage is np.reshape(x.T, (2, 3), order="F").storage is x.storage
    for copy in (np.ravel(x.T), np.real(x.astype("complex128")), np.resize(x, 3)):
        assert copy.storage is not x.storage
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.reshape(x, (3, 2), copy=True).storage is not x.storage
        with pytest.raises(ValueError, match="copy"):
            np.reshape(x.T, 6, copy=False)


def test_views_of_several():
    x, y = mat.arange(3.0), mat.ones(2, 1)
    left, right = np.broadcast_arrays(x, y)
    assert left.storage is x.storage
    assert right.storage is y.storage
    assert [m.shape for m in np.atleast_2d(x, mat.array(5.0))] == [(1, 3), (1, 1)]


def test_broadcast_arrays_exports_mats_among_arrays():
    x = mat.arange(3.0)
    exported, given = np.broadcast_arrays(x, np.zeros((2, 1)))
    assert (type(exported), exported.shape, type(given)) == (np.ndarray, (2, 3), np.ndarray)
    with pytest.raises(ConflictError):
        x.fill_(1)
    del exported, given
    x.fill_(1)


VIEWED = [*(f"{name}(a{axis})" for name in ("squeeze", "flip") for axis in
            ("", ", 1", ", -2", ", 0", ", 3", ", (1,)", ", True", ", axis=None")),
          *(f"expand_dims(a, {axis})" for axis in (0, 3, -1, -4, 4, -5, "(0, 1)")),
          *(f"{name}(a, {i}, {k})" for name in ("swapaxes", "moveaxis") for i, k in
            ((0, 2), (-1, 1), (1, 1), (0, 3), (-4, 0))), "moveaxis(a, (0, 1), (1, 2))",
          *(f"rot90(a, {k}, {axes})" for k in (-1, 0, 2, 3, 5) for axes in
            ((0, 1), (2, 0), (-1, 1))), "rot90(a)", "rot90(a, 1, (1, -2))", "rot90(a, 1, (0, 3))",
          *(f"diagonal(a, {k}, {axes})" for k in (-9, -1, 0, 2, 7) for axes in
            ("0, 2", "2, 1", "-1, 0")), "diagonal(a)", "diagonal(a, 0, 1, 1)", "diagonal(a[0, 0])",
          *(f"diag(a[:, 0], {k})" for k in (-9, -1, 0, 2)), "diag(a)", "diag(a[0, 0], 1)",
          "fliplr(a)", "flipud(a)", "fliplr(a[0, 0])", "flipud(a[0, 0, 0:0])", "flip(a[0:0])",
          *(f"broadcast_to(a, {shape})" for shape in
            ((3, 5, 4), (2, 3, 1, 4), (3, 0, 4), (3, 4), (1, 1, 4), (3, 1, -4), [3, 2, 4], 4))]


@pytest.mark.parametrize("call", VIEWED)
def test_views_are_those_of_numpy(call):
    whole = np.arange(144.0).reshape(6, 2, 12)
    for part in ((slice(3), slice(1), slice(4)),
                 (slice(None, None, 2), slice(1, None), slice(9, 1, -2))):
        a, x = whole[part], mat.array(whole)[part]
        try:
            wanted = eval(f"np.{call}", {"np": np, "a": a})
        except Exception as error:
            with pytest.raises(type(error)):
                eval(f"np.{call}", {"np": np, "a": x})
            continue
        found = eval(f"np.{call}", {"np": np, "a": x})
        assert type(found) is mat.Mat
        assert_array_equal(found.to_numpy(), wanted)
        assert found.storage is x.storage or "diag(a[0, 0]" in call
        assert [s for s, n in zip(found.element_strides, found.shape, strict=True) if n > 1] == [
            s // 8 for s, n in zip(wanted.strides, wanted.shape, strict=True) if n > 1]


SAME = [*(f"trim_zeros(a{sides})" for sides in ("", ", 'f'", ", 'B'", ", 'bf'")),
        "real_if_close(a)", "real_if_close(a + 1e-15j)", "real_if_close(a + 1j)"]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("call", SAME)
def test_views_of_some_elements_or_parts(call, device):
    wanted = eval(f"np.{call}", {"np": np, "a": np.array([0.0, 1, 0, 2, 0, 0])})
    with mat.use_device(device):
        x = mat.array([0.0, 1, 0, 2, 0, 0])
        found = eval(f"np.{call}", {"np": np, "a": x})
        assert_array_equal(found.to_numpy(), wanted, strict=True)
        assert found.storage is x.storage or "j)" in call
        assert np.trim_zeros(x[:1]).shape == np.trim_zeros(x[:0]).shape == (0,)


@pytest.mark.parametrize(("name", "args", "kwargs"), [
    ("swapaxes", (0, 1), {}), ("moveaxis", (-1, 0), {}), ("expand_dims", (1,), {}),
    ("flip", (), {}), ("flip", (), {"axis": 0}), ("flip", ((0, 1),), {}), ("rot90", (3,), {}),
    ("split", ([1, 3], 1), {}), ("hsplit", (2,), {}), ("array_split", (3,), {"axis": 1}),
    ("broadcast_to", ((2, 3, 4),), {}), ("diagonal", (1,), {}), ("atleast_3d", (), {}),
    ("unstack", (), {"axis": 1}), ("lib.stride_tricks.sliding_window_view", ((2, 2),), {})])
def test_layouts_of_views_are_found_once(name, args, kwargs):
    function = numpy_function(name)
    if function is None:
        pytest.skip("not in this version of NumPy")
    a = np.arange(48.0).reshape(4, 3, 4)
    x = mat.array(a)
    for k in range(4):  # the same layout at several places
        found = function(x[k], *args, **kwargs)
        wanted = function(a[k], *args, **kwargs)
        several = isinstance(wanted, list | tuple)
        assert not several or type(found) is type(wanted)
        for one, other in zip(found if several else (found,), wanted if several else (wanted,),
                              strict=True):
            assert one.strides == other.strides
            assert_array_equal(one.to_numpy(), other)
            assert one.storage is x.storage
    with pytest.raises((TypeError, ValueError)):
        np.swapaxes(x[0], 0, 1.0)


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
def test_ufuncs_with_masks(dtype, rng):
    a, b = ((9 * rng.standard_normal((3, 5))).astype(dtype) for _ in range(2))
    mask, out = rng.random((3, 5)) > 0.5, np.full((3, 5), 7, dtype)
    for xp in (np, mat):
        for function, operands in ((np.add, (a, b)), (np.negative, (a,)), (np.multiply, (2, b))):
            x = mat.array(out)
            call = function if xp is np else getattr(mat, function.__name__)
            found = call(*(mat.array(v) if isinstance(v, np.ndarray) else v for v in operands),
                         out=x, where=mat.array(mask))
            assert found is x
            assert_array_equal(x.to_numpy(), function(*operands, out=out.copy(), where=mask))
    x = mat.array(out)
    np.copyto(x, mat.array(a), where=mat.array(mask))
    assert_array_equal(x.to_numpy(), np.where(mask, a, out))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128"])
def test_products_by_ufuncs(dtype, rng):
    a, v = ((5 * rng.standard_normal(shape)).astype(dtype) for shape in ((4, 4), 4))
    x, y = mat.array(a), mat.array(v)
    for name, operands in (("vecdot", (v, v)), ("matvec", (a, v)), ("vecmat", (v, a)),
                           ("linalg.vecdot", (v, v)), ("vecdot", (a, a))):
        function = numpy_function(name)
        if function is not None:
            found = function(*(x if m is a else y for m in operands))
            wanted = np.asarray(function(*operands))
            assert np.asarray(found).dtype == wanted.dtype
            assert_allclose(np.asarray(found), wanted, 1e-5)


READ_ONLY = {
    "same shape": lambda m, x: m.broadcast_to(x, x.shape),
    "one more axis": lambda m, x: m.broadcast_to(x, (1, *x.shape)),
    "of it": lambda m, x: m.broadcast_to(x, x.shape)[1:].T,
    "windows": lambda m, x: m.lib.stride_tricks.sliding_window_view(x, (1, 1)),
    "written windows": lambda m, x: m.lib.stride_tricks.sliding_window_view(
        x, (1, 1), writeable=True),
    "flags": lambda m, x: frozen(x[...])}


def frozen(x):
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", READ_ONLY)
@pytest.mark.parametrize("m", [mat, np])
@pytest.mark.parametrize("block", [nullcontext, mat.fused])
def test_views_are_read_only_where_numpys_are(name, m, block, device):
    a, x = np.ones((2, 3)), mat.ones((2, 3))
    wanted = READ_ONLY[name](np, a)
    for found in (READ_ONLY[name](m, x) for _ in range(2)):  # the second from what is known
        assert found.flags.writeable is wanted.flags.writeable
        for write in (lambda v: v.__setitem__(..., 2), lambda v: v.__iadd__(1), lambda v: v.fill(4),
                      lambda v: np.exp(v, out=v), lambda v: np.add(v, v, out=v),
                      lambda v: v.__setitem__(..., v + 1), lambda v: np.add.at(v, (0, 0), 5),
                      lambda v: v.__setitem__(v == 1, 3), lambda v: v.sort(),
                      lambda v: np.putmask(v, v > 0, 1), lambda v: np.put(v, [0, 2], 7),
                      lambda v: np.place(v, v > 0, [0, 1]), lambda v: np.copyto(v, v + 1),
                      lambda v: np.copyto(v, True), lambda v: v.partition(0)):
            with mat.use_device(device), block():
                if wanted.flags.writeable:
                    write(found)
                else:
                    with pytest.raises(mat.DirectionError):
                        write(found)
        assert x.flags.writeable
        assert (x.sum() == 6) is not wanted.flags.writeable
        x[...] = 1  # by way of another view
        assert found.sum() == found.size


def test_known_views_of_what_becomes_read_only_cannot_be_written():
    x = mat.zeros(2, 300)
    view = x[0]
    view += 1
    x.flags.writeable = False
    with pytest.raises(mat.DirectionError):
        view += 1
    assert x.sum() == 300


ORDERS = {"by rows": lambda m: m.ones((2, 3)), "by columns": lambda m: m.ones((3, 2)).T,
          "reversed": lambda m: m.ones((3, 2)).T[::-1], "steps": lambda m: m.ones((6, 2)).T[:, ::2],
          "broadcast": lambda m: m.broadcast_to(m.ones(3), (2, 3)), "row": lambda m: m.ones((1, 3)),
          "nothing": lambda m: m.ones((0, 3)).T, "vector": lambda m: m.ones(3)}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ORDERS)
def test_the_order_is_that_of_the_operand(name, device):
    wanted = np.isfortran(ORDERS[name](np))
    with mat.use_device(device):
        x = ORDERS[name](mat)
        assert mat.isfortran(x) is np.isfortran(x) is wanted
