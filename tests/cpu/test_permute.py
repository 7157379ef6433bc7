"""The permute kernel against NumPy: any rank, length, stride, offset, unit and combination of what
its planner may do.
"""

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.cpu import permute
from mat.cpu.permute import Switches, cut, prepare_axes
from mat.layout.merged_axes import CopyAxis
from mat.support.native import ffi, lib

from ..support import needs, selection
from ..support.layouts import NUMPY_DTYPES, SENTINEL, check_hidden, numbers, place

pytestmark = needs.native
SIZES = {1: "int8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}
FLAGS = [name for name in Switches._fields if isinstance(Switches._field_defaults[name], bool)]


@st.composite
def strided(draw, shape, itemsize):
    """Bytes, and a view of `shape` on them: axes in any order, of steps that leave gaps or go
    backwards, at any offset.
    """
    order = draw(st.permutations(range(len(shape))))
    gaps = draw(st.lists(st.integers(1, 2), min_size=len(shape), max_size=len(shape)))
    steps, step = [0] * len(shape), 1
    for axis in reversed(order):
        steps[axis] = step * gaps[axis] * draw(st.sampled_from((1, 1, -1)))
        step *= shape[axis] * gaps[axis] or 1
    offset = draw(st.integers(0, 9)) + sum((n - 1) * -s for n,
                                           s in zip(shape, steps, strict=True) if s < 0 < n)
    size = (step + 20) * itemsize
    room = np.full(size, SENTINEL, np.uint8)
    view = np.ndarray(shape, SIZES[itemsize], room, offset * itemsize,
                      [s * itemsize for s in steps])
    return room, view


@st.composite
def copies(draw):
    """A source and a destination of the same shape; sometimes the source is broadcast."""
    rank = draw(st.integers(0, 7))
    longest = (1, 9000, 140, 40, 14, 9, 6, 5)[rank]
    shape = draw(st.lists(st.integers(0, longest) | st.integers(1, 5), min_size=rank,
                          max_size=rank).map(tuple))
    if prod(n or 1 for n in shape) > 30_000:
        shape = tuple(min(n, 4) for n in shape)
    itemsize = draw(st.sampled_from(list(SIZES)))
    repeated = tuple(1 if draw(st.integers(0, 9)) == 0 else n for n in shape)
    source, target = draw(strided(repeated, itemsize)), draw(strided(shape, itemsize))
    source[0][:] = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 256, source[0].size)
    return source[1], target[0], target[1]


def run(x, out, switches=None, pieces=1):
    """Copy one array to another by the kernel, in so many pieces."""
    shape = out.shape
    axes = [CopyAxis(n, d, s) for n, d,
            s in zip(shape, out.strides, np.broadcast_to(x, shape).strides, strict=True)]
    plan = prepare_axes(axes, out.itemsize, switches or Switches())
    operands = ffi.new("char *[]",
                       [ffi.cast("char *", a.__array_interface__["data"][0]) for a in (x, out)])
    for k in range(pieces):
        lib.mat_permute(plan.frame, operands, ffi.NULL, ffi.NULL, plan.count * k // pieces,
                        plan.count * (k + 1) // pieces)
    return plan


def check(x, room, out, switches=None, pieces=1):
    """The kernel must leave the same bytes as NumPy, in the whole room."""
    wanted = room.copy()
    start = out.__array_interface__["data"][0] - room.__array_interface__["data"][0]
    np.copyto(np.ndarray(out.shape, out.dtype, wanted, start, out.strides), x)
    run(x, out, switches, pieces)
    assert_array_equal(room, wanted)


@given(copies(), st.integers(1, 3))
@settings(max_examples=selection.examples(400), deadline=None)
def test_any_layout(case, pieces):
    check(*case, pieces=pieces)


@given(copies(), st.data())
@settings(max_examples=selection.examples(400), deadline=None)
def test_any_combination_of_switches(case, data):
    flags = {name: data.draw(st.booleans()) for name in FLAGS}
    edge = data.draw(st.sampled_from((0, 32, 100, 256)))
    width = data.draw(st.sampled_from((8, 16, 32, 64)))
    check(*case, Switches(**flags, edge=edge, far_edge=edge or 64, width=min(width, permute.WIDTH)))


@pytest.fixture
def everything_is_large(monkeypatch):
    """Small copies go the ways of large ones."""
    monkeypatch.setattr(permute, "FAR", 1)
    monkeypatch.setattr(permute, "FAR_RUNS", 1)
    monkeypatch.setattr(permute, "STREAM", 1)
    monkeypatch.setattr(permute, "WIDEST_RUN", 64)


@pytest.mark.parametrize("itemsize", SIZES)
@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("edge", [64, 128, 512])
@pytest.mark.sample(5)
def test_copies_past_the_caches(itemsize, width, edge, everything_is_large):
    rng = np.random.default_rng(0)
    for rows, columns, offset in itertools.product((1, 63, 64, 130, 192), (64, 100, 256),
                                                   (0, 1, 16 // itemsize)):
        x = rng.integers(0, 256, (rows, columns * itemsize), np.uint8).view(SIZES[itemsize])
        room = np.full(x.nbytes + 2048, SENTINEL, np.uint8)
        start = -room.__array_interface__["data"][0] % 64 + offset * itemsize
        out = np.ndarray((columns, rows), x.dtype, room, start)
        check(x.T, room, out, Switches(width=min(width, permute.WIDTH), edge=edge, far_edge=edge),
              pieces=2)
        check(x.T[::-1], room, out)
        check(x.reshape(columns, rows), room, out)
        check(np.broadcast_to(x[0], x.shape), room, out.reshape(x.shape))  # runs


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("layout", ["packed", "displaced", "strided", "negative", "transposed",
                                    "column", "block"])
def test_operations_that_copy(dtype, layout, rng):
    values = numbers(rng, (5, 6, 7), "float32").astype(mat.zeros(1, dtype=dtype).dtype)
    x = place(values, layout)
    assert_array_equal(x.copy().to_numpy(), values)
    assert_array_equal(x.T.contiguous().to_numpy(), values.T)
    out = place(np.zeros_like(values.transpose(2, 0, 1)), layout)
    assert mat.transpose(x, (2, 0, 1), out=out) is out
    assert_array_equal(out.to_numpy(), values.transpose(2, 0, 1))
    check_hidden(out)
    out[1:, ::2] = x.permute(2, 0, 1)[0, ::2]
    assert_array_equal(out.to_numpy()[1:, ::2],
                       np.broadcast_to(values.transpose(2, 0, 1)[0, ::2], (6, 3, 6)))
    check_hidden(out)


@pytest.mark.parametrize("itemsize", SIZES)
@pytest.mark.parametrize("shape", [(600, 700), (1040, 520), (512, 1030)])
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_long_lines(itemsize, shape, offset, rng):
    """Low blocks, whose second tile of a line overlaps the first one."""
    count = prod(shape) + 2 * offset
    source = rng.integers(0, 256, count * itemsize).astype(np.uint8)
    room = np.full(count * itemsize, SENTINEL, np.uint8)
    x, out = (np.ndarray(s, SIZES[itemsize], a, offset * itemsize)
              for s, a in ((shape[::-1], source), (shape, room)))
    check(x.T, room, out, pieces=3)


def test_a_copy_within_one_storage(rng):
    values = numbers(rng, (300, 300), "float64")
    x, y = mat.array(values), values.copy()
    x[:100], y[:100] = x[200:].copy(), y[200:].copy()
    x[:150] = x[150:]  # apart
    y[:150] = y[150:]
    x[1:] = x[:-1]  # overlapping: as if copied before
    y[1:] = y[:-1].copy()
    x[:] = x.T
    y[:] = y.T.copy()
    assert_array_equal(x.to_numpy(), y)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_large_copies_are_shared(threads, rng):
    values = numbers(rng, (1401, 1033), "float32")
    with mat.settings(threads=threads):
        assert_array_equal(mat.array(values).T.copy().to_numpy(), values.T)
        assert_array_equal(mat.array(values)[::-1, ::-2].copy().to_numpy(), values[::-1, ::-2])
        assert_array_equal(mat.array(values).copy().to_numpy(), values)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining_large_parts(axis, rng):
    parts = [numbers(rng, (60, 70, 80), "float32") for _ in range(3)]
    mats = [place(p, layout) for p,
            layout in zip(parts, ("packed", "transposed", "strided"), strict=True)]
    assert_array_equal(mat.concat(mats, axis=axis).to_numpy(), np.concatenate(parts, axis=axis))
    assert_array_equal(mat.stack(mats, axis=axis).to_numpy(), np.stack(parts, axis=axis))
    out = place(np.zeros_like(np.concatenate(parts, axis=axis)), "block")
    assert mat.concat(mats, axis=axis, out=out) is out
    assert_array_equal(out.to_numpy(), np.concatenate(parts, axis=axis))
    check_hidden(out)


# The plan


def test_blocks_cover_an_axis():
    for n, size in itertools.product(range(1, 200), (1, 7, 16, 64)):
        blocks = cut(n, size)
        assert blocks.size * (blocks.number - 1) + blocks.last == n
        assert blocks.number == 1 or size / 2 <= blocks.last < 1.5 * size + 1


@pytest.mark.parametrize(("shape", "axes", "kind", "unit"), [
    ((40, 50), (1, 0), permute.TRANSPOSE, 4), ((40, 50, 2), (1, 0, 2), permute.TRANSPOSE, 8),
    ((40, 50, 4), (1, 0, 2), permute.TRANSPOSE, 16),
    ((40, 50, 3), (1, 0, 2), permute.RUNS, 12), ((40, 1, 50), (2, 1, 0), permute.TRANSPOSE, 4),
    ((40, 50, 3), (2, 0, 1), permute.UNZIP, 4), ((3, 40, 50), (1, 2, 0), permute.ZIP, 4),
    ((40, 50, 60), (0, 1, 2), permute.BYTES, 1),
    ((2, 8, 4, 64), (0, 2, 1, 3), permute.RUNS, 256), ((8, 9), (0, 1), permute.BYTES, 1),
])
def test_what_moves_as_one(shape, axes, kind, unit):
    x = np.zeros(shape, np.float32)
    plan = run(x.transpose(axes), np.empty_like(x.transpose(axes), order="C"))
    assert plan.frame.kind == kind
    assert plan.frame.unit == unit or kind == permute.BYTES


def test_axes_are_checked_also_if_like_those_before():
    x = mat.ones(2, 3)
    for _ in range(2):
        for axes in ((1, 0), [-1, 0], (-1, -2)):
            assert mat.transpose(x, axes).shape == (3, 2)
        for axes in ((1.0, 0), 1, (1, 1), (0, 2), "10"):
            with pytest.raises(mat.ShapeError):
                mat.transpose(x, axes)


@pytest.mark.parametrize("edge", [8, 32, 256])
def test_blocks_shorter_than_a_cache_line(edge):
    x = np.arange(1024 * 192, dtype=np.uint8).reshape(192, 1024)
    room = np.full(x.size + 128, SENTINEL, np.uint8)
    for offset in (0, 1, 63):
        out = np.ndarray((192, 1024), np.uint8, room,
                         -room.__array_interface__["data"][0] % 64 + offset)
        check(x.reshape(1024, 192).T, room, out, Switches(edge=edge))


def test_nothing_to_copy():
    x = mat.zeros(3, 0, 2)
    assert x.T.copy().shape == (2, 0, 3)
    assert mat.transpose(x, (1, 0, 2)).to_numpy().shape == (0, 3, 2)
