"""Views of a Mat, and changing what a Mat sees: the same storage, the same freshness, nothing
copied.
"""

import pickle
import weakref
from contextlib import suppress
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.errors import AliasError, ConflictError, DTypeError, IndexOutOfRange, ShapeError
from mat.layout.strided import packed

from ..support.views import factorings, on_array, on_views, shapes, steps


def host(x):
    with x.facet("array", "input") as a:
        return a.copy()


def whole(x):
    with x.facet("backing", "input") as a:
        return a.copy()


# Views against NumPy


@st.composite
def pairs(draw):
    """A Mat and an array over equal storages, both seen through the same chain of views."""
    shape = draw(shapes)
    front, slack = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    base = np.arange(front + prod(shape) + slack)
    a = base[front:front + prod(shape)].reshape(shape)
    x = mat.array(base).view(shape, front)
    for _ in range(draw(st.integers(0, 3))):
        step = draw(steps(a.shape))
        a, x = on_array(np, a, step), on_views(x, step)
    return x, a, base


@given(pairs())
def test_a_chain_of_views_shows_the_elements_numpy_shows(pair):
    x, a, base = pair
    assert (x.shape, x.size, x.ndim) == (a.shape, a.size, a.ndim)
    assert x.max_size == base.size
    with x.facet("array", "input") as seen:
        assert_array_equal(seen, a, strict=True)
        assert seen.base is not None
    assert_array_equal(x.to_numpy(), a, strict=True)
    assert_array_equal(x.contiguous().to_numpy(), a, strict=True)
    assert x.contiguous().is_contiguous
    assert (x.contiguous() is x) == x.is_contiguous == a.flags.c_contiguous


@given(pairs())
def test_writing_through_a_view_changes_exactly_what_it_sees(pair):
    x, a, base = pair
    before = base.copy()
    if len(set(a.ravel().tolist())) < a.size:
        with pytest.raises(AliasError, match="overlap"):
            x.fill_(-1)
        assert_array_equal(whole(x), before)
        return
    value = -1 - np.arange(a.size).reshape(a.shape)
    x.replace_(value)
    expected = before.copy()
    expected[a.ravel()] = value.ravel()
    assert_array_equal(whole(x), expected)


@given(pairs(), st.data())
def test_reshape_is_a_view_exactly_where_numpy_makes_one(pair, data):
    x, a, _ = pair
    shape = data.draw(factorings(a.size))
    wanted = a.reshape(shape)
    if a.size == 0 or np.may_share_memory(a, wanted):
        assert_array_equal(host(x.reshape(shape)), wanted)
        assert x.reshape(shape).storage is x.storage
    else:
        with pytest.raises(ShapeError, match="copy=False"):
            x.reshape(shape, copy=False)
        assert x.reshape(shape).storage is not x.storage
        assert_array_equal(x.reshape(shape).to_numpy(), wanted)


def test_the_views_by_name():
    x = mat.arange(24.0).reshape(2, 3, 4)
    a = np.arange(24.0).reshape(2, 3, 4)
    assert_array_equal(host(x.T), a.T)
    assert_array_equal(host(x.permute(2, 0, 1)), a.transpose(2, 0, 1))
    assert_array_equal(host(x.permute([-1, 0, 1])), a.transpose(2, 0, 1))
    assert_array_equal(host(mat.arange(3.0).permute(0)), np.arange(3.0))
    assert_array_equal(host(x.swapaxes(0, -1)), a.swapaxes(0, -1))
    assert_array_equal(host(x[:1].squeeze()), a[0])
    assert_array_equal(host(x[:1, :, :1].squeeze(-1)), a[:1, :, 0])
    assert mat.array(3.0).squeeze(0).shape == mat.array(3.0).squeeze(-1).shape == ()
    assert_array_equal(host(x[:1, :, :1].squeeze((0, 2))), a[0, :, 0])
    assert_array_equal(host(x.expand_dims(-1)), a[..., None])
    assert_array_equal(host(x.diagonal(1, 2, 1)), a.diagonal(1, 2, 1))
    assert_array_equal(host(x[:, :1].broadcast_to(2, 5, 4)), np.broadcast_to(a[:, :1], (2, 5, 4)))
    assert_array_equal(host(mat.full((), 3.0).broadcast_to((2, 2))), np.full((2, 2), 3.0))
    for y in (x.T, x.swapaxes(0, 1), x.expand_dims(0), x.diagonal(), x.reshape(6, -1), x.view(3, 2),
              x.displace(0)):
        assert y.storage is x.storage


@pytest.mark.parametrize(("given_shape", "wanted"), [
    ((6,), (6,)), ((-1,), (6,)), ((2, -1), (2, 3)), (((3, 2),), (3, 2)), (([-1, 1],), (6, 1)),
    ((1, 6, 1), (1, 6, 1)),
    ((np.int64(3), 2), (3, 2)), ((np.array([3, 2]),), (3, 2)), ((range(2, 4),), (2, 3)),
])
def test_reshape_takes_shapes_in_all_their_spellings(given_shape, wanted):
    x = mat.Mat((2, 3), displacement=2, max_size=9).fill_(1)
    assert x.reshape(*given_shape).shape == wanted
    assert x.reshape(*given_shape).displacement == 2
    assert mat.zeros(0, 3).reshape(-1).shape == (0,)
    assert mat.zeros(0, 3).reshape(5, -1).shape == (5, 0)


def test_the_diagonal_and_the_transpose_can_be_written():
    x = mat.zeros(3, 4)
    x.diagonal().fill_(1)
    x.T.diagonal(1).replace_([7, 8])
    assert_array_equal(host(x), [[1, 0, 0, 0], [7, 1, 0, 0], [0, 8, 1, 0]])


def test_view_and_displace_are_absolute_and_may_show_what_was_invisible():
    x = mat.arange(10.0).view((2, 2), 3)
    assert_array_equal(host(x), [[3, 4], [5, 6]])
    assert_array_equal(host(x.view(3)), [3, 4, 5])
    assert_array_equal(host(x.view((1, 2), 8)), [[8, 9]])
    assert_array_equal(host(x.displace(0)), [[0, 1], [2, 3]])
    assert_array_equal(host(x.displace(6)), [[6, 7], [8, 9]])
    assert x.view((0, 5), 10).size == 0
    assert x.view((), 9).item() == 9


# One storage


def test_views_share_freshness_facets_and_writes():
    x = mat.zeros(4, 4)
    y, z = x[1], x.T[2:]
    assert x.fresh == y.fresh == z.fresh == set()
    y.replace_([5, 5, 5, 5])
    assert x.fresh == y.fresh == z.fresh == {"host"}
    assert dict(z.facets).keys() == dict(x.facets).keys() == {"array"}
    with z.facet("foreign", "io") as p:
        p.pointer[0] = 7
    assert x[0, 2] == 7
    assert set(y.facets) == {"array", "foreign"}
    assert_array_equal(host(x)[1], [5, 5, 5, 5])
    assert x.storage.version == z.storage.version


def test_views_conflict_with_each_other():
    x = mat.zeros(4)
    y = x[2:]
    with x.facet("array", "io"):
        assert y.facets["array"].watchers[0][1] == "io"
        with pytest.raises(ConflictError, match="drop"):
            y.drop("host")


def test_views_of_views_keep_the_storage_alive():
    y = mat.arange(6.0)[2:][1:]
    assert_array_equal(host(y), [3, 4, 5])


def test_shaping_looks_at_nothing():
    x = mat.zeros(4, 4)
    for y in (x.T, x[1], x[::2, 1:], x.reshape(16), x.diagonal(), x.broadcast_to(2, 4, 4),
              x.view(3, 2), x.squeeze(),
              x.contiguous()):
        assert y.storage is x.storage
    assert x.fresh == set()
    assert x.storage.handles == {}


def test_writing_a_broadcast_is_refused_everywhere():
    x = mat.arange(3.0).broadcast_to(2, 3)
    for write in (lambda: x.fill_(1), lambda: x.exp_(), lambda: x.facet("array", "io"),
                  lambda: x.facet("backing", "output"),
                  lambda: x[0:2].fill_(1), lambda: x.__setitem__((0, 0), 1),
                  lambda: x.__setitem__(slice(None), 1),
                  lambda: x.__setitem__([0], 1), lambda: x.replace_(np.zeros((2, 3))),
                  lambda: x.__iadd__(1)):
        with pytest.raises(AliasError, match="overlap"):
            write()
    x[0].fill_(4)  # one row does not overlap itself
    assert_array_equal(host(x), np.full((2, 3), 4.0))


# Changing what a Mat sees


def test_reshape_view_displace_and_row_in_place():
    x = mat.arange(12.0)
    y = x.view(12)
    assert x.reshape_(3, 4) is x
    assert x.reshape_((4, -1)).shape == (4, 3)
    assert x.view_((2, 3), 5) is x
    assert_array_equal(host(x), [[5, 6, 7], [8, 9, 10]])
    assert x.displace_(1) is x
    assert_array_equal(host(x), [[1, 2, 3], [4, 5, 6]])
    assert x.row_(-1) is x
    assert x.shape == (1, 3)
    assert_array_equal(host(x), [[4, 5, 6]])
    x.fill_(0)
    assert_array_equal(host(y), [0, 1, 2, 3, 0, 0, 0, 7, 8, 9, 10, 11])


def test_row_of_a_strided_matrix():
    x = mat.arange(12.0).reshape(3, 4).T
    assert_array_equal(host(x[1:2]), [[1, 5, 9]])
    assert_array_equal(host(x.row_(1)), [[1, 5, 9]])


def test_shapes_changed_in_place_are_seen_by_every_facet():
    x = mat.arange(6.0)
    for facet in ("array", "backing", "foreign"):
        with x.facet(facet, "io"), x.facet(facet, "input"):
            pass
    x.view_((2, 2), 1)
    with x.facet("array", "input") as a:
        assert a.shape == (2, 2)
    with x.facet("foreign", "input") as p:
        assert (p.shape, p.pointer[0]) == ((2, 2), 1)
    x.fill_(0)  # planned before for another form
    assert_array_equal(whole(x), [0, 0, 0, 0, 0, 5])


@pytest.mark.parametrize("change", [
    lambda x: x.view_(2), lambda x: x.reshape_(3, 2), lambda x: x.displace_(0), lambda x: x.row_(0),
    lambda x: x.adjust_(100),
    lambda x: x.adjust_(2), lambda x: x.window(2).__enter__(),
])
@pytest.mark.parametrize("direction", ["input", "io"])
def test_nothing_changes_shape_while_its_storage_is_looked_at(change, direction):
    x = mat.arange(8.0).view((2, 3), 1)
    other = x.view(8, 0)
    with other.facet("array", direction), pytest.raises(ConflictError, match="test_views"):
        change(x)
    assert (x.shape, x.displacement, x.max_size) == ((2, 3), 1, 8)
    change(x)


def test_other_storages_being_looked_at_does_not_matter():
    x, y = mat.zeros(4), mat.zeros(4)
    with y.facet("array", "io"):
        assert x.reshape_(2, 2).shape == (2, 2)


def test_window_restores_also_after_errors_and_nested():
    x = mat.arange(8.0).reshape(2, 4)
    with x.window((2, 2), 3) as y:
        assert y is x
        assert_array_equal(host(x), [[3, 4], [5, 6]])
        with x.window(displacement=0):
            assert_array_equal(host(x), [[0, 1], [2, 3]])
        with x.window(1):
            assert_array_equal(host(x), [3])
        x.fill_(0)
    assert_array_equal(host(x), [[0, 1, 2, 0], [0, 0, 0, 7]])
    with pytest.raises(ZeroDivisionError), x.window(3):
        1 / 0  # noqa: B018
    assert x.shape == (2, 4)
    y = x.T
    with y.window(2):
        assert y.element_strides == (1,)
    assert (y.shape, y.element_strides) == ((4, 2), (1, 4))


def test_adjust_keeps_the_storage_when_it_is_large_enough():
    x = mat.arange(6.0)
    assert x.adjust_((2, 2), 1) is x
    assert_array_equal(host(x), [[1, 2], [3, 4]])
    assert x.max_size == 6
    assert_array_equal(host(x.adjust_(6)), np.arange(6))


@pytest.mark.parametrize("error", [None, ZeroDivisionError])
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_window_gives_back_the_storage_that_adjust_replaced(device, dtype, error):
    a = np.arange(12).reshape(3, 4).astype(dtype)
    x = mat.array(a)
    with mat.use_device(device), suppress(ZeroDivisionError), x.window(2, 1), x.window(1):
        larger = x.adjust_((5, 5), 2).fill_(3).view((5, 5))
        if error is not None:
            raise error
    assert (x.displacement, x.max_size) == (0, 12)
    assert_array_equal(host(x), a)
    assert_array_equal(host(larger), np.full((5, 5), 3))
    x.fill_(1)
    assert_array_equal(host(larger), np.full((5, 5), 3))


def test_a_window_ends_after_the_accesses_to_the_storage_that_adjust_made():
    x = mat.arange(6.0)
    window = x.window(2)
    window.__enter__()
    with x.adjust_(9).facet("array", "io"), pytest.raises(ConflictError, match="shape"):
        window.__exit__(None, None, None)
    assert x.size == 9
    window.__exit__(None, None, None)
    assert_array_equal(host(x), np.arange(6))


def test_adjust_grows_and_leaves_other_views_valid():
    x = mat.Mat(4, "float32", fill=2)
    y = x[1:]
    y.fill_(5)
    assert x.adjust_((3, 3), 2) is x
    assert (x.shape, x.displacement, x.max_size, x.dtype,
            x.fill_value) == ((3, 3), 2, 11, np.float32, 2)
    assert_array_equal(host(x), np.full((3, 3), 2.0))
    x.fill_(0)
    assert_array_equal(host(y), [5, 5, 5])
    assert x.storage is not y.storage


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: x.view(13), ShapeError, "storage of 12"),
    (lambda x: x.view(5, 8), ShapeError, "displacement 8"),
    (lambda x: x.view(1, -1), ShapeError, "-1"), (lambda x: x.view(1, 1.0), ShapeError, "1.0"),
    (lambda x: x.view((1, -2)), ShapeError, "-2"),
    (lambda x: x.view(["a"]), ShapeError, "'a'"), (lambda x: x.view("q8"), DTypeError, "q8"),
    (lambda x: x.view(0, 13), ShapeError, "13"),
    (lambda x: x.displace(1), ShapeError, "storage of 12"),
    (lambda x: x.displace("1"), ShapeError, "'1'"),
    (lambda x: x.reshape(5), ShapeError, r"12 elements.*\(5\).*view"),
    (lambda x: x.reshape(-1, -1), ShapeError, "-1"),
    (lambda x: x.reshape(5, -1), ShapeError, "infer"),
    (lambda x: x.reshape(0, -1), ShapeError, "infer"),
    (lambda x: x.reshape(-1, -1), ShapeError, "only one length"),
    (lambda x: x.reshape(-2, 6), ShapeError, "-2"),
    (lambda x: x.reshape(2.0, 6), ShapeError, "2.0"),
    (lambda x: x.reshape(None), ShapeError, "None"),
    (lambda x: x.reshape("ab"), ShapeError, "'ab'"),
    (lambda x: x.T.reshape(12, copy=False), ShapeError, "copy=None"),
    (lambda x: x.T.reshape_(12), ShapeError, "no view"),
    (lambda x: x.reshape_(5), ShapeError, "view"),
    (lambda x: x.view_(13), ShapeError, "storage of 12"),
    (lambda x: x.displace_(1), ShapeError, "storage of 12"),
    (lambda x: x.row_(3), IndexOutOfRange, "index 3"),
    (lambda x: x[0].row_(0), ShapeError, "matrix"),
    (lambda x: x.window(13).__enter__(), ShapeError, "storage of 12"),
    (lambda x: x.window(2, -1).__enter__(), ShapeError, "-1"),
    (lambda x: x.adjust_(-1), ShapeError, "-1"), (lambda x: x.adjust_(100, -1), ShapeError, "-1"),
    (lambda x: x.adjust_(2**62), ShapeError, "64 bits"),
    (lambda x: x.adjust_(2, 1.5), ShapeError, "1.5"),
    (lambda x: x.permute(0), ShapeError, "2 axes"),
    (lambda x: x.permute(0, 0), ShapeError, "twice"),
    (lambda x: x.permute(0, 2), ShapeError, "axis 2"),
    (lambda x: x.permute("ab"), ShapeError, "'ab'"),
    (lambda x: x.swapaxes(0, 2), ShapeError, "axis 2"),
    (lambda x: x.swapaxes(None, 1), ShapeError, "None"),
    (lambda x: x.squeeze(0), ShapeError, "length 1"),
    (lambda x: x.squeeze(2), ShapeError, "axis 2"),
    (lambda x: x.expand_dims(3), ShapeError, "axis 3"),
    (lambda x: x.expand_dims(-4), ShapeError, "axis -4"),
    (lambda x: x.broadcast_to(5, 4), ShapeError,
     r"\(3, 4\) does not broadcast to \(5, 4\)"),
    (lambda x: x.broadcast_to(4), ShapeError, "broadcast"),
    (lambda x: x.broadcast_to(-1, 3, 4), ShapeError, "-1"),
    (lambda x: x.diagonal(0, 0, 0), ShapeError, "twice"),
    (lambda x: x.diagonal(0, 0, 2), ShapeError, "axis 2"),
    (lambda x: x[0].diagonal(), ShapeError, "two dimensions"),
    (lambda x: x.diagonal("a"), ShapeError, "'a'"),
])
def test_bad_shaping_touches_nothing(call, error, message):
    x = mat.arange(12.0).reshape(3, 4)
    before = x.layout, x.storage, x.storage.version
    with pytest.raises(error, match=message):
        call(x)
    assert (x.layout, x.storage, x.storage.version) == before
    assert_array_equal(host(x), np.arange(12.0).reshape(3, 4))


def test_one_layout_over_several_storages():
    """What a layout keeps about its Mats holds for the storage that they see now."""
    read_only = np.zeros(4)
    read_only.flags.writeable = False
    mats = [mat.zeros(4), mat.zeros(8), mat.zeros(4, dtype="int64"), mat.from_numpy(read_only)]
    layout = packed((2,), 1)
    for x in (*mats, *mats):
        for shared in (layout, packed((4,))[1:3], x.layout[1:3], x.layout[:2], x.layout[2:4]):
            form = x.over(shared).form
            assert (form.shape, form.strides, form.dtype) == ((2,), (1,), x.dtype)
            assert (form.whole, form.writable) == (False, x.storage.writable)
    layout = packed((4,))
    assert [x.over(layout).form.whole for x in (*mats, *mats)] == [True, False, True, True] * 2
    layout = packed((3, 4))
    for shared in (layout[1], layout[-1], layout[:, 1][:4], layout.transposed()[2][:2]):
        assert mat.zeros(12).over(shared).form.strides == shared.strides


@pytest.mark.parametrize("index", [0, -2, 1, slice(None), slice(0, 1), ..., (0, ...), (1, 2),
                                   (slice(None), 3), (None, 1), (), 2**70, -2**70, 5, -3])
@pytest.mark.parametrize("value", [2.5, 3, "row", "all", [1, 2, 3, 4], True])
def test_assignment_to_every_kind_of_part(index, value):
    """As NumPy's; and nothing is written where NumPy refuses it."""
    x, expected = mat.zeros(2, 4), np.zeros((2, 4))
    chosen = {"row": np.arange(4.0), "all": np.arange(8.0).reshape(2, 4)}
    given = chosen[value] if isinstance(value, str) else value
    try:
        expected[index] = given
    except (IndexError, ValueError) as error:
        kinds = IndexError if isinstance(error, IndexError) else ValueError
        with pytest.raises(kinds):
            x[index] = mat.array(given) if isinstance(value, str) else given
    else:
        x[index] = mat.array(given) if isinstance(value, str) else given
    assert_array_equal(host(x), expected)


DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [(slice(1, None), slice(1, None)), (slice(None), slice(None, -1)),
                                   (..., slice(None, None, 2)), (1, slice(None, None, -1)),
                                   (slice(None, None, -2), 3), (None, ..., 0, slice(1, 2))])
@pytest.mark.parametrize("side", [5, 40])
def test_a_number_is_written_to_every_element_of_a_part(dtype, index, side):
    a = np.arange(2 * side * side).reshape(2, side, side).astype(dtype)
    for part in (a, a[1]):
        x, expected = mat.array(part), part.copy()
        x[index] = 1
        expected[index] = 1
        assert_array_equal(x.to_numpy(), expected, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_item_is_numpys(dtype):
    a = np.array([[0, 1, 2], [3, 100, 5]]).astype(dtype)
    if a.dtype.kind in "iu":
        a[1, 1], a[0, 2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = mat.array(a)
    for index in ((0,), (2,), (4,), (-2,), (-6,), (1, 1), ((1, -2),), ((4,),)):
        found, wanted = x.item(*index), a.item(*index)
        assert (type(found), found) == (type(wanted), wanted)
    assert x.T.item(3) == a.T.item(3)
    for k in (6, -7, 2**70):
        with pytest.raises(IndexOutOfRange, match=str(k)):
            x.item(k)


def test_a_view_as_the_same_dtype_is_another_mat():
    x = mat.arange(4.0)
    assert x.view("float64") is not x
    assert x.view("float64").form is x[:].form


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (1, 3, 2, 0), (3, 0, 4)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "complex64"])
def test_empty_views_of_another_size(shape, dtype):
    a = np.empty(shape, dtype)
    for other in ("uint8", "float32", "complex128"):
        if a.shape[-1] * a.itemsize % np.dtype(other).itemsize:
            with pytest.raises(ShapeError):
                mat.array(a).view(other)
            continue
        got = mat.array(a).view(other)
        assert (got.shape, got.dtype) == (a.view(other).shape, other)


def test_views_in_the_memory_of_earlier_ones():
    x = mat.arange(12.0).reshape(3, 4)
    for _ in range(3):
        views = [x[k % 3] for k in range(200)]  # more than are kept
        seen = [weakref.ref(v) for v in views]
        del views
        assert not any(ref() is not None for ref in seen)
    y = x[None]
    assert y.shape == (1, 3, 4)
    assert y.storage is x.storage
    assert_array_equal(y[0, 1], [4, 5, 6, 7])


def test_an_item_by_any_index():
    a = np.arange(6).reshape(2, 3)
    x, f, s = mat.array(a), mat.array(a / 2), mat.array(a)[:, ::2]
    for index in ((0,), (-1,), (5,), (1, 2), ((1, 2),), (np.int64(3),)):
        for one, other in ((x, a), (f, a / 2)):
            found, wanted = one.item(*index), other.item(*index)
            assert found == wanted
            assert type(found) is type(wanted)
    assert s.item(3) == 5
    for wrong in (6, -7, 1 << 70):
        with pytest.raises(IndexOutOfRange):
            x.item(wrong)
    with pytest.raises(ShapeError):
        x.item()
    for wrong in ((True,), (0, True), ((False, 1),), (0, None), ((0, 1.0),)):
        with pytest.raises(TypeError, match="integer"):
            x.item(*wrong)
    assert pickle.loads(pickle.dumps(mat.Mat.item)) is mat.Mat.item
