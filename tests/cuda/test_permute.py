"""The device's permute against NumPy: the planner's launches, run on the CPU, for any rank, length,
stride, offset and unit.
"""

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mat.cuda.kernels import permute
from mat.cuda.kernels.permute import alignment, divisor, merged_upwards, plan, program_of, programs
from mat.layout.merged_axes import CopyAxis

from ..support import selection
from ..tools.mock_driver import harness

pytestmark = pytest.mark.skipif(harness.compiler() is None, reason="kernels for the device are "
                                                                   "compiled by a C++ compiler "
                                                                   "here")
SIZES = {1: "int8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}
TEXTS = programs()


def strided(data, shape, itemsize, room=lambda size: np.full(size, 77, np.uint8)):
    """Bytes, and a view of `shape` on them: axes in any order, of steps that leave gaps or go
    backwards, at any offset.
    """
    order = data.draw(st.permutations(range(len(shape))))
    dense = data.draw(st.booleans())
    steps, step = [0] * len(shape), 1
    for axis in reversed(order):
        gap = 1 if dense else data.draw(st.sampled_from((1, 1, 2)))
        steps[axis] = step * gap * (1 if dense else data.draw(st.sampled_from((1, 1, 1, -1))))
        step *= shape[axis] * gap or 1
    before = sum((n - 1) * -s for n, s in zip(shape, steps, strict=True) if s < 0 < n)
    offset = data.draw(st.sampled_from((0, 0, 1, 2, 4, 8, 3))) + before
    bytes_ = room((step + 20) * itemsize)
    return bytes_, np.ndarray(shape, SIZES[itemsize], bytes_, offset * itemsize,
                              [s * itemsize for s in steps])


def axes_of(x, out):
    return [CopyAxis(n, d, s) for n, d,
            s in zip(out.shape, out.strides, np.broadcast_to(x, out.shape).strides, strict=True)]


def offset_of(a):
    """Where an array begins in the memory that it is a view of, which the harness puts at a
    multiple of 256.
    """
    low = a
    while isinstance(low.base, np.ndarray):
        low = low.base
    return a.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(low)[0]


def run(x, out, seed=0):
    """Copy one array to the other as planned; the kernels that did it."""
    steps = plan(axes_of(x, out), out.itemsize, read=alignment(offset_of(x)),
                 written=alignment(offset_of(out)))
    for kernel, frame, blocks, threads in steps:
        harness.run(TEXTS[program_of(kernel)], f"permute_{kernel}", frame, [x, out], grid=blocks,
                    block=threads, seed=seed)
    return [step.kernel for step in steps]


def check(x, out, seed=0):
    """The kernels must leave the same bytes as NumPy, in the whole memory."""
    room = out
    while isinstance(room.base, np.ndarray):
        room = room.base
    wanted = room.copy()
    start = out.__array_interface__["data"][0] - room.__array_interface__["data"][0]
    np.copyto(np.ndarray(out.shape, out.dtype, wanted.view(np.uint8).reshape(-1), start,
                         out.strides), x)
    kernels = run(x, out, seed)
    assert_array_equal(room.view(np.uint8), wanted.view(np.uint8))
    return kernels


def transposed(shape, order, dtype, seed=0):
    """Transpose a packed array of that shape into another one; the kernels that did it."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, prod(shape) * np.dtype(dtype).itemsize,
                     np.uint8).view(dtype).reshape(shape)
    room = np.full(x.size, 7, x.dtype)
    return check(x.transpose(order), room.reshape(x.transpose(order).shape), seed)


@given(st.data())
@settings(max_examples=selection.most(300, 30), deadline=None)
def test_any_layout(data):
    rank = data.draw(st.integers(0, 7))
    longest = (1, 9000, 140, 40, 14, 9, 6, 5)[rank]
    shape = tuple(data.draw(st.lists(st.integers(0, longest) | st.integers(1, 5)
                                     | st.sampled_from((16, 32, 64)),
                                     min_size=rank, max_size=rank)))
    if prod(n or 1 for n in shape) > 20_000:
        shape = tuple(min(n, 4) for n in shape)
    itemsize = data.draw(st.sampled_from(list(SIZES)))
    repeated = tuple(1 if data.draw(st.integers(0, 9)) == 0 else n for n in shape)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    _, x = strided(data, repeated, itemsize, lambda size: rng.integers(0, 256, size, np.uint8))
    _, out = strided(data, shape, itemsize)
    check(x, out, data.draw(st.integers(0, 3)))


@pytest.mark.parametrize(("shape", "order", "dtype", "kernel"), [
    ((256, 320), (1, 0), "float32", "tile_4_16_16"), ((254, 318), (1, 0), "float32", "tile_4_8_32"),
    ((255, 319), (1, 0), "float32", "tile_4_4_64"),
    ((2, 96, 128), (0, 2, 1), "float64", "tile_8_16_16"),
    ((95, 127), (1, 0), "float64", "tile_8_8_32"), ((128, 256), (1, 0), "int16", "tile_2_16_8"),
    ((126, 186), (1, 0), "int16", "tile_2_4_32"), ((127, 121), (1, 0), "int16", "tile_2_2_64"),
    ((256, 128), (1, 0), "int8", "tile_1_16_8"), ((252, 124), (1, 0), "int8", "tile_1_4_32"),
    ((127, 250), (1, 0), "int8", "tile_1_1_128"), ((64, 96), (1, 0), "complex128", "tile_16_16_32"),
    ((64, 3, 128), (2, 1, 0), "float32", "tile_4_16_16"),
    ((64, 3, 2, 128), (3, 1, 2, 0), "float32", "tile_4_16_16"),
    ((128, 96, 2), (1, 0, 2), "float32", "tile_8_16_16"),
    ((64, 96, 4), (1, 0, 2), "float32", "tile_16_16_32"),
    ((3, 5000, 40), (0, 2, 1), "complex128", "tile_16_16_16"),
    ((2, 1030, 1100), (0, 2, 1), "int8", "tile_1_1_128"),
    ((2, 128, 192), (0, 2, 1), "float64", "tile_8_16_32"),
    ((10, 32, 28), (0, 2, 1), "float32", "tile_4_16_8"),
    ((10, 27, 29), (0, 2, 1), "float32", "tile_4_4_32"),
    ((20, 16, 48), (0, 2, 1), "float64", "tile_8_16_8"),
    ((9, 15, 31), (0, 2, 1), "float64", "tile_8_8_16"),
    ((30, 32, 16), (0, 2, 1), "complex128", "tile_16_16_16"),
    ((20, 30, 16), (1, 0, 2), "float32", "gather_16_16"),
    ((4, 5, 6, 32), (0, 2, 1, 3), "float32", "gather_16_16"),
    ((4, 5, 67), (1, 0, 2), "float32", "gather_4_4"),
    ((4, 5, 667), (1, 0, 2), "float32", "rows_32"),
    ((3, 2, 1667), (1, 0, 2), "float32", "rows_256"),
    ((7, 6, 301), (1, 0, 2), "int8", "rows_32"), ((300, 400), (0, 1), "int8", "rows_256"),
    ((40, 44, 3), (2, 0, 1), "int8", "unzip_1_16_3"),
    ((3, 40, 44), (1, 2, 0), "int8", "zip_1_16_3"),
    ((5, 10, 10, 4), (0, 3, 1, 2), "float32", "unzip_4_16_4"),
    ((5, 2, 9, 9), (0, 2, 3, 1), "float64", "zip_8_8_2"),
    ((10, 10, 10, 10), (3, 2, 1, 0), "float32", "loose_4"),
    ((5,) * 6, (5, 4, 3, 2, 1, 0), "int16", "loose_2"),
    ((1000, 17), (1, 0), "float32", "loose_4"), ((70, 60, 3), (1, 0, 2), "float32", "loose_4"),
    ((13, 11, 7), (2, 1, 0), "complex128", "loose_16"),
    ((40, 20, 20), (0, 2, 1), "float64", "loose_8"),
    ((9, 9, 9, 9), (2, 3, 1, 0), "int8", "loose_1"),
])
@pytest.mark.sample(4)
def test_which_kernel_moves(shape, order, dtype, kernel):
    for seed in (0, 1):
        assert transposed(shape, order, dtype, seed) == [kernel]


@pytest.mark.parametrize("dtype", SIZES.values())
@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.sample(2)
def test_channels(dtype, channels):
    for places in (16, 64, 333, 1024 + 48):
        x = np.arange(2 * places * channels).astype(dtype).reshape(2, places, channels)
        check(x.transpose(0, 2, 1), np.zeros((2, channels, places), dtype))
        check(x.reshape(2, channels, places).transpose(0, 2, 1),
              np.zeros((2, places, channels), dtype))


@pytest.mark.parametrize("dtype", SIZES.values())
def test_runs_of_any_alignment(dtype):
    x, room = np.arange(9000).astype(dtype), np.zeros(9100, dtype)
    for first, at, n in itertools.product((0, 1, 3), (0, 1, 2, 5), (0, 1, 15, 600, 8990)):
        check(x[first:first + n], room[at:at + n])
    check(x[:8000].reshape(10, 800)[:, 1:], room[:7990].reshape(10, 799))


@pytest.mark.parametrize("dtype", SIZES.values())
def test_broadcast_sources(dtype):
    x = np.arange(64).astype(dtype)
    for out in (np.zeros((40, 64), dtype), np.zeros((64, 40), dtype).T,
                np.zeros((3, 64, 70), dtype).transpose(0, 2, 1)):
        check(x, out)
    check(x[:, None], np.zeros((64, 48), dtype))
    check(x[:1], np.zeros((5, 77), dtype))


@pytest.mark.parametrize(("unit", "vector", "lines", "threads"),
                         [(u, *t) for u, tiles in permute.TILES.items() for t in tiles])
def test_threads_of_tiles_do_not_meet_in_banks(unit, vector, lines, threads):
    """By the places that permute_tile gives vectors: as many at once as 128 bytes hold touch each
    bank once.
    """
    each, spread = vector // unit, max(1, 4 // vector)
    for first in range(0, threads, min(32, 128 // vector)):
        for m in range(lines * lines // threads):
            t = first + np.arange(min(32, 128 // vector))
            column, row = t % lines, t // lines + m * (threads // lines)
            for c in range(each):
                written = ((column * each + c) * lines
                           + (row ^ (column * spread & lines - 1))) * vector
                assert len(np.unique(written // 4 % 32)) == len(np.unique(written // 4))
                line = row * each + c
                read = (line * lines + (column ^ (line // each * spread & lines - 1))) * vector
                assert len(np.unique(read // 4 % 32)) == len(np.unique(read // 4))


def test_what_is_too_much_for_one_launch_goes_in_parts(monkeypatch):
    monkeypatch.setattr(permute, "MOST", 500)
    assert len(transposed((60, 70), (1, 0), "float32")) > 8
    assert len(transposed((6, 7, 11, 13), (3, 1, 0, 2), "int8")) > 8
    assert len(transposed((40000,), (0,), "int8")) > 4
    x = np.arange(9000, dtype=np.int16)
    check(x[::-3], np.zeros(3000, np.int16))


@pytest.mark.parametrize("itemsize", SIZES)
def test_more_axes_than_kernels_are_told_of(itemsize):
    order = (9, 2, 7, 0, 5, 10, 3, 8, 1, 6, 11, 4)
    x = np.arange(2**12).astype(SIZES[itemsize]).reshape((2,) * 12)
    kernels = check(x.transpose(order), np.zeros((2,) * 12, x.dtype))
    assert 1 < len(kernels) <= 4


def test_offsets_of_more_than_32_bits(monkeypatch):
    steps = plan([CopyAxis(3, 2**33, 4), CopyAxis(5, 4, 2**34)], 4, read=16, written=16)
    assert [s.kernel for s in steps] == ["gather_4_4_wide"]
    assert [s.kernel for s in plan([CopyAxis(3, 2**29, 2**29), CopyAxis(5, 4, 8)], 4, read=16,
                                   written=16)] == ["gather_4_4"]
    monkeypatch.setattr(permute, "FAR", 1)
    for dtype in SIZES.values():
        x = np.arange(5 * 6 * 32).astype(dtype).reshape(5, 6, 32)
        (kernel,) = check(x.transpose(1, 0, 2)[:, ::-1, ::2], np.zeros((6, 5, 16), dtype))
        assert kernel.endswith("_wide")


def test_dividing_by_multiplying():
    places = np.concatenate([np.arange(300), 2**31 - 1 - np.arange(300),
                             np.random.default_rng(0).integers(0, 2**31, 300)])
    for n in (*range(1, 130), 1000, 65535, 65536, 65537, 10**6 + 3, 2**30, 2**30 + 1, 2**31 - 1):
        factor, shift = divisor(n) & 0xFFFFFFFF, divisor(n) >> 32
        found = [(int(x) * factor // 2**32 + int(x)) >> shift
                 for x in (*places, *(n * places % 2**31))]
        assert found == [int(x) // n for x in (*places, *(n * places % 2**31))]


def test_axes_that_stay_together_are_one():
    assert merged_upwards([CopyAxis(2, 60, 60), CopyAxis(3, 20, 20), CopyAxis(1, 7, 9),
                   CopyAxis(5, 4, 4)]) == [CopyAxis(30, 4, 4)]
    assert merged_upwards([CopyAxis(2, 60, 4), CopyAxis(3, 20, 40),
                   CopyAxis(5, 4, 8)]) == [CopyAxis(2, 60, 4), CopyAxis(15, 4, 8)]
    assert merged_upwards([CopyAxis(4, 8, 0), CopyAxis(2, 4, 0)]) == [CopyAxis(8, 4, 0)]
    assert merged_upwards([CopyAxis(3, -4, 4)]) == [CopyAxis(3, 4, -4)]


def test_nothing_to_copy():
    assert plan([CopyAxis(3, 4, 4), CopyAxis(0, 4, 4)], 4, read=16, written=16) == []
