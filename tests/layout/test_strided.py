"""`Layout` against NumPy's own strides, and what engines ask of it against brute force."""

import sys
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mat.errors import DTypeError, IndexOutOfRange, IndexTypeError, MatError, ShapeError
from mat.layout.shapes import as_axes, as_axis, as_shape, broadcast_shapes
from mat.layout.strided import Layout, packed, packed_strides

from ..support.views import factorings, on_array, on_views, shapes, steps


def check_same(layout, a):
    """`a` has its storage indices as elements."""
    assert layout.shape == a.shape
    assert layout.size == a.size
    assert layout.ndim == a.ndim
    assert list(layout.indices()) == a.ravel().tolist()


def check_strides(layout, a):
    seen = [(s * a.itemsize, t) for n, s,
            t in zip(a.shape, layout.strides, a.strides, strict=True) if n > 1]
    assert not a.size or all(mine == theirs for mine, theirs in seen)


@st.composite
def chains(draw, length=4):
    """A layout and an array that went through the same views."""
    shape = draw(shapes)
    front = draw(st.integers(0, 3))
    a = np.arange(front + prod(shape))[front:].reshape(shape)
    layout = packed(shape, front)
    for _ in range(draw(st.integers(0, length))):
        step = draw(steps(a.shape))
        if step[0] == "broadcast_to" and a.size > 200:
            continue
        a, layout = on_array(np, a, step), on_views(layout, step)
    return layout, a


@st.composite
def any_layouts(draw, ndim=None):
    """Layouts with strides that no chain of views has to have made."""
    lengths = st.integers(0, 4)
    shape = tuple(draw(st.lists(lengths, max_size=3) if ndim is None
                       else st.tuples(*[lengths] * ndim)))
    strides = tuple(draw(st.lists(st.integers(-7, 7), min_size=len(shape), max_size=len(shape))))
    return Layout(shape, strides, draw(st.integers(80, 90)))


@given(chains())
def test_a_chain_of_views_sees_what_numpy_sees(chain):
    layout, a = chain
    check_same(layout, a)
    check_strides(layout, a)
    assert layout.contiguous == a.flags.c_contiguous


@given(chains(), st.data())
def test_every_single_view_sees_what_numpy_sees(chain, data):
    layout, a = chain
    axes = st.integers(-a.ndim, a.ndim - 1)
    if a.ndim:
        i, j = data.draw(axes), data.draw(axes)
        order = list(range(a.ndim))
        order[i], order[j] = order[j], order[i]
        check_same(layout.permute(order), np.swapaxes(a, i, j))
    ones = [k for k, n in enumerate(a.shape) if n == 1]
    for k in ones:
        check_same(layout.squeeze(k - a.ndim), np.squeeze(a, k))
    check_same(layout.squeeze(tuple(ones)), np.squeeze(a))


@given(chains(), st.data())
def test_reshape_succeeds_exactly_where_numpy_needs_no_copy(chain, data):
    layout, a = chain
    shape = data.draw(factorings(a.size))
    wanted = a.reshape(shape)
    if a.size == 0 or np.may_share_memory(a, wanted):
        check_same(layout.reshape(shape), wanted)
        check_strides(layout.reshape(shape), wanted)
    else:
        with pytest.raises(ShapeError, match="no view"):
            layout.reshape(shape)


@given(st.one_of(any_layouts(), chains().map(lambda c: c[0])))
def test_bounds_injective_and_contiguous_against_brute_force(layout):
    seen = list(layout.indices())
    start = layout.displacement
    assert len(seen) == layout.size
    assert layout.bounds == ((min(seen), max(seen) + 1) if seen else (start, start))
    assert layout.injective == (len(set(seen)) == len(seen))
    assert layout.contiguous == (seen == list(range(start, start + len(seen))))


@given(st.one_of(any_layouts(), chains().map(lambda c: c[0])))
def test_vector_is_one_blas_vector_in_row_major_order(layout):
    seen = list(layout.indices())
    steps_between = {b - a for a, b in pairwise(seen)}
    if len(seen) < 2:
        assert layout.vector == (layout.displacement, 1)
    elif len(steps_between) == 1 and steps_between != {0}:
        assert layout.vector == (min(seen), steps_between.pop())
    else:
        assert layout.vector is None


def _is_matrix(layout, ld, transposed):
    rows, columns = layout.shape
    down, across = (1, ld) if transposed else (ld, 1)
    wanted = [layout.displacement + i * down + j * across for i in range(rows)
              for j in range(columns)]
    return list(layout.indices()) == wanted


@given(st.one_of(any_layouts(ndim=2), chains().map(lambda c: c[0])))
def test_matrix_is_what_blas_can_address(layout):
    if layout.ndim != 2:
        assert layout.matrix is None
        return
    rows, columns = layout.shape
    possible = [(ld, t) for t in (False, True) for ld in range(max(1, rows if t else columns), 60)
                if layout.size and _is_matrix(layout, ld, t)]
    if not layout.size:
        assert layout.matrix == (max(1, columns), False)
    elif possible:
        assert layout.matrix in possible
    else:
        assert layout.matrix is None


def test_matrix_prefers_row_major_and_sees_a_transposed_one():
    assert packed((3, 4)).matrix == (4, False)
    assert packed((3, 4)).permute((1, 0)).matrix == (4, True)
    assert packed((3, 4))[:, 1:3].matrix == (4, False)
    assert packed((3, 4))[:, ::2].matrix is None
    assert packed((3, 4))[::-1].matrix is None
    assert packed((1, 4)).broadcast_to((3, 4)).matrix is None


def test_an_injective_layout_whose_axes_interleave_is_recognised():
    assert Layout((2, 2), (3, 2), 0).injective
    assert not Layout((3, 2), (2, 4), 0).injective
    assert not Layout((2,), (0,), 0).injective
    assert Layout((1,), (0,), 0).injective
    assert not Layout((1000, 1000), (2, 3), 0).injective  # too large to list: said to overlap


@given(st.lists(shapes, max_size=3))
def test_broadcast_shapes_is_numpys(given_shapes):
    try:
        wanted = np.broadcast_shapes(*given_shapes)
    except ValueError:
        with pytest.raises(ShapeError, match="broadcast"):
            broadcast_shapes(given_shapes)
    else:
        assert broadcast_shapes(given_shapes) == wanted


@given(shapes, shapes)
def test_broadcast_to_refuses_what_numpy_refuses(shape, wanted):
    a = np.arange(prod(shape)).reshape(shape)
    try:
        b = np.broadcast_to(a, wanted)
    except ValueError:
        with pytest.raises(ShapeError, match="broadcast"):
            packed(shape).broadcast_to(wanted)
    else:
        check_same(packed(shape).broadcast_to(wanted), b)


@given(shapes)
def test_packed_strides_are_numpys_of_a_new_array(shape):
    a = np.zeros(shape, np.int8)
    check_strides(packed(shape), a)
    assert packed(shape).strides == packed_strides(shape)
    assert packed(shape).contiguous


@given(any_layouts(), st.integers(0, 120))
def test_check_within(layout, size):
    seen = list(layout.indices())
    inside = layout.displacement <= size and all(0 <= k < size for k in seen)
    if inside:
        assert layout.check_within(size) is layout
    else:
        with pytest.raises(ShapeError, match=f"storage of {size} elements"):
            layout.check_within(size)


def test_repr_says_it_all():
    assert repr(packed((2, 3), 1)) == "Layout(shape=(2, 3), strides=(3, 1), displacement=1)"


@pytest.mark.parametrize(("shape", "wanted"), [
    (3, (3,)), ((), ()), ([2, 3], (2, 3)), (np.array([2, 3]), (2, 3)), ((np.int8(2), 0), (2, 0)),
    (range(2, 4), (2, 3)),
    (True, (1,)),
])
def test_as_shape(shape, wanted):
    found = as_shape(shape)
    assert found == wanted
    assert all(type(n) is int for n in found)


@pytest.mark.parametrize(("shape", "message"), [
    (-1, r"\(-1,\)"), ((2, -3), r"\(2, -3\)"), (2.0, "2.0"), ("3", "'3'"), (None, "None"),
    ((2, "3"), "'3'"),
    ((2, None), "None"),
    ((2**62, 4), "64 bits"), (((1, 2), 3), r"\(1, 2\)"),
])
def test_as_shape_refuses(shape, message):
    with pytest.raises(ShapeError, match=message):
        as_shape(shape)


def test_axes():
    assert as_axis(-1, 3) == 2
    assert as_axes((0, -1), 3) == (0, 2)
    assert as_axes(1, 3) == (1,)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: as_axis(3, 3), ShapeError, "axis 3 is out of bounds for array of dimension 3"),
    (lambda x: as_axis(-4, 3), ShapeError, "axis -4"),
    (lambda x: as_axis(1.0, 3), ShapeError, "1.0"),
    (lambda x: as_axes((0, -3), 3), ShapeError, "twice"),
    (lambda x: x.reshape((5,)), ShapeError, r"6 elements.*\(5\).*view"),
    (lambda x: x.permute((0,)), ShapeError, "each of 2 axes"),
    (lambda x: x.permute((0, 0)), ShapeError, "twice"),
    (lambda x: x.permute((0, 2)), ShapeError, "axis 2"),
    (lambda x: x.squeeze(0), ShapeError, "length 1"),
    (lambda x: x.squeeze(5), ShapeError, "axis 5"),
    (lambda x: x.expand_dims(3), ShapeError, "axis 3"),
    (lambda x: x.diagonal(0, 0, 0), ShapeError, "twice"),
    (lambda x: x.diagonal(0.5, 0, 1), ShapeError, "0.5"),
    (lambda x: x[0].diagonal(0, 0, 1), ShapeError, "two dimensions"),
    (lambda x: x[2], IndexOutOfRange, "index 2 is out of range for axis 0 of length 2"),
    (lambda x: x[0, -4], IndexOutOfRange, "index -4 is out of range for axis 1 of length 3"),
    (lambda x: x[0, 0, 0], IndexOutOfRange, "too many"),
    (lambda x: x[..., ...], IndexOutOfRange, "too many"),
    (lambda x: x[::0], ShapeError, "zero"),
    (lambda x: x[1.5:], IndexTypeError, "1.5"),
    (lambda x: x["a"], DTypeError, "'a'"),
    (lambda x: x[1.0], DTypeError, "1.0"),
])
def test_bad_input(call, error, message):
    assert issubclass(error, MatError)
    with pytest.raises(error, match=message):
        call(packed((2, 3)))


def test_two_slices_of_two_axes():
    a = np.arange(12).reshape(3, 4)
    layout = packed((3, 4))
    ends = (None, 0, 1, 2, 4, 9, -1, -3, -9, 10**30, -10**30)
    for down in (slice(i, k) for i in ends for k in ends):
        for across in (slice(i, k) for i in ends for k in ends[:7]):
            found, wanted = layout[down, across], a[down, across]
            assert found.shape == wanted.shape
            assert list(found.indices()) == wanted.ravel().tolist()


@pytest.mark.parametrize("index", [(1, slice(-10**30, 10**30, 10**30)), (..., slice(10**30, 0, -2)),
                                   (None, slice(0, 10**30), 1), (slice(10**30, None), ...)])
def test_indices_with_bounds_beyond_64_bits(index):
    a = np.arange(12).reshape(3, 4)
    found, wanted = packed((3, 4))[index], a[index]
    assert found.shape == wanted.shape
    assert list(found.indices()) == wanted.ravel().tolist()


@pytest.mark.parametrize(("index", "message"), [
    (10**30, f"index {10**30} is"), ((0, 10**30), f"index {10**30} is"),
    ((..., -10**30), f"index -{10**30} is"), ((..., 0, ...), "too many"), ((0, 0, 0), "too many")])
def test_positions_out_of_range(index, message):
    with pytest.raises(IndexOutOfRange, match=message):
        packed((3, 4))[index]


def test_a_view_of_all_is_the_layout_itself_and_is_freed():
    layout = packed((3, 4))
    count = sys.getrefcount(layout)
    for index in ((slice(None), slice(None)), (..., slice(None)), (slice(0, 3), ...)):
        found = layout[index]
        assert (found.shape, found.strides, found.displacement) == ((3, 4), (4, 1), 0)
        del found
    assert sys.getrefcount(layout) == count


def test_an_index_that_comes_again_gives_the_same_view():
    layout, index = packed((3, 4, 5), 7), (..., 2)
    found = layout.selected(index, True)
    assert layout.selected(index, True) is found
    assert (found.shape, found.strides, found.displacement) == ((3, 4), (20, 5), 9)
    assert layout.selected((..., 3), True).displacement == 10
    assert layout.diagonal(0, 0, 1) is layout.diagonal(0, 0, 1)
    count = sys.getrefcount(layout)
    for index in ((...,), (), (None, ..., 1), (1, 2)):
        assert layout.selected(index, True) == layout.selected(index, True)
    assert sys.getrefcount(layout) == count  # none of them keeps the layout
