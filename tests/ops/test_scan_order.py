"""Running sums and products of long lines of floating-point numbers: their order, which is the same
for any number of threads, layout, device and tile, in compiled kernels and in NumPy.
"""

import numpy as np
import pytest

import mat
from mat.ops.engine.operation import REGISTRY
from mat.ops.primitives.scan import _in_order

from ..support.in_tiles import in_tiles, same_bits
from ..support.scan_order import accumulated
from ..support.selection import part

SHAPES = ((4096,), (4097,), (4129,), (8193,), (70_001,), (3, 9000), (9000, 3), (2, 8200, 3),
          (17, 4500), (4136, 515))
DTYPES = ("float16", "float32", "float64", "complex64", "complex128")
RULES = {"cumsum": np.add, "cumprod": np.multiply}


def numbers(rng, shape, dtype):
    a = 1 + rng.standard_normal(shape) / 300
    return (a + 1j * rng.standard_normal(shape) / 300 if dtype[0] == "c" else a).astype(dtype)


def layouts(a):
    yield a
    if a.ndim == 1:
        yield np.repeat(a, 2)[::-2]
    else:
        yield a[::-1]
        yield a.T.copy().T


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_order_of_long_lines(dtype, name, threads, rng):
    for shape in part(SHAPES, f"{name} {threads} {dtype}", 2):
        a = numbers(rng, shape, dtype)
        axis = int(np.argmax(shape))
        for b in layouts(a):
            wanted, x = accumulated(RULES[name], b, axis), mat.array(b)
            with mat.settings(threads=threads):
                assert same_bits(getattr(mat, name)(mat.asarray(b), axis).to_numpy(), wanted)
                getattr(mat, name)(x, axis, out=x)
            assert same_bits(x.to_numpy(), wanted)


@pytest.mark.parametrize("device", [None, "emulated"])
@pytest.mark.parametrize("name", RULES)
def test_no_long_lines(name, device):
    for shape in ((0, 5000), (5000, 0), (2, 0, 9000)):
        with mat.use_device(device or "cpu"):
            found = getattr(mat, name)(mat.zeros(shape), axis=int(np.argmax(shape)))
        assert found.shape == shape


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", RULES)
def test_a_number_has_no_room_for_totals(name, axis):
    x, out = mat.array(3.0), mat.array(2.0)
    for options in ({}, {"dtype": "float32"}):
        with pytest.raises(mat.ShapeError):
            getattr(mat, name)(x, axis, out=out, **options)
        with pytest.raises(mat.ShapeError):
            getattr(mat, f"cumulative_{name[3:]}")(x, axis=axis, out=out, **options)
    assert (x.item(), out.item()) == (3, 2)
    assert getattr(mat, name)(x, axis).to_numpy().tolist() == [3]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_order_by_numpy(dtype, name, rng):
    for shape in SHAPES[:-1]:  # there are no blocks of columns
        a = np.moveaxis(numbers(rng, shape, dtype), int(np.argmax(shape)), -1)
        if a.shape[-1] > 4096:
            found = np.zeros_like(a)
            with np.errstate(over="ignore"):
                _in_order(RULES[name], a, found, False)
            assert same_bits(found, accumulated(RULES[name], a, a.ndim - 1))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30_000,), (3, 20_000), (20_000, 3)])
def test_the_order_in_tiles(dtype, name, shape, rng):
    a = numbers(rng, shape, dtype)
    axis = int(np.argmax(shape))
    wanted = accumulated(RULES[name], a, axis)
    op = REGISTRY[f"scan.{name}"]
    for budget in (1000, 40_000 * a.itemsize, 100_000 * a.itemsize):
        x, out = mat.array(a), mat.empty(*shape, dtype=dtype)
        in_tiles(op, (x, out, axis), {}, budget)
        assert same_bits(out.to_numpy(), wanted)
        in_tiles(op, (x, x, axis), {}, budget)
        assert same_bits(x.to_numpy(), wanted)


def test_sums_are_nearer_than_those_of_numpy(rng):
    a = rng.random(1_000_000).astype("float32")
    exact = np.cumsum(a, dtype="float64")
    error = np.abs(mat.cumsum(mat.asarray(a)).to_numpy() - exact).max()
    assert error < np.abs(np.cumsum(a) - exact).max() / 5
