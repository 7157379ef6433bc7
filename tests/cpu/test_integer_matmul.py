"""Products of integers and 16-bit floats, compared with exact integers and float64; with and
without the compiled kernel.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.cpu import integer_matmul
from mat.errors import AliasError, DTypeError, ShapeError
from mat.layout.matrix_operand import GemmSizes, MatmulForm, MatrixOperand
from mat.support.native import ffi, lib

from ..support.layouts import INTEGERS, LAYOUTS, check_hidden, place

ml_dtypes = pytest.importorskip("ml_dtypes")
HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
FLOAT8 = (np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2))
SIZES = ((1, 1, 1), (1, 7, 3), (5, 1, 9), (2, 3, 1), (4, 16, 8), (13, 33, 17), (12, 32, 64),
         (25, 31, 65), (37, 70, 41),
         (70, 69, 68))
LONG = ((3, 5, 1025), (14, 35, 2050))  # the inner axis in several blocks
compiled = pytest.mark.skipif(lib is None, reason="needs the compiled kernel")


def whole_range(rng, shape, dtype):
    """Draw numbers of all sizes that `dtype` holds, the extreme ones among them."""
    info = np.iinfo(dtype)
    found = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.1,
                    rng.choice(np.array([info.min, info.max], dtype), shape), found)


def wrapped(exact, dtype):
    """Return Python's integers in the bits of `dtype`."""
    bits = np.iinfo(dtype).bits
    low = np.asarray(exact, object) % (1 << bits)
    return low.astype(np.uint64).astype(f"uint{bits}").view(dtype)


def exact_product(a, b):
    return a.astype(object) @ b.astype(object)


def bound(a, b, dtype, more=0.0):
    """Return how far the product of halves may be from that in float64.

    It is the rounding of the result, and that of sums in float32.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    k = a.shape[-1]
    sums = (np.abs(a) @ np.abs(b) + more) * (k + 4) * 2.0**-24
    info = ml_dtypes.finfo(dtype)
    return sums + (np.abs(a @ b) + more
                   + sums) * float(info.eps) / 2 + float(info.smallest_subnormal)


# Integers


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("size", SIZES)
def test_integers_wrap_as_they_should(rng, dtype, size):
    m, n, k = size
    a, b = whole_range(rng, (m, k), dtype), whole_range(rng, (k, n), dtype)
    found = mat.array(a) @ mat.array(b)
    assert found.dtype == dtype
    assert_array_equal(found.to_numpy(), wrapped(exact_product(a, b), dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("size", LONG)
def test_a_long_inner_axis(rng, dtype, size):
    m, n, k = size
    a, b = whole_range(rng, (m, k), dtype), whole_range(rng, (k, n), dtype)
    assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(),
                       wrapped(exact_product(a, b), dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("size", SIZES)
def test_sums_in_a_wider_out_are_all_there(rng, dtype, size):
    m, n, k = size
    a, b = whole_range(rng, (m, k), dtype), whole_range(rng, (k, n), dtype)
    for wide in ("int32", "int64"):
        out = mat.Mat((m, n), wide, fill=None)
        mat.matmul(mat.array(a), mat.array(b), out=out)
        assert_array_equal(out.to_numpy(), wrapped(exact_product(a, b), wide))


def test_the_extremes_of_int8():
    for x, y in ((-128, -128), (127, -128), (-128, 127), (127, 127)):
        out = mat.zeros(3, 40, dtype="int32")
        mat.matmul(mat.full((3, 600), x, dtype="int8"), mat.full((600, 40), y, dtype="int8"),
                   out=out)
        assert_array_equal(out.to_numpy(), np.full((3, 40), 600 * x * y))
    out = mat.matmul(mat.full((3, 6), -32768, dtype="int16"),
                     mat.full((6, 4), -32768, dtype="int16"),
                     out=mat.zeros(3, 4, dtype="int32"))
    assert_array_equal(out.to_numpy(), np.full((3, 4), -2**31))  # 6 * 2^30, wrapped


@pytest.mark.parametrize("one", INTEGERS)
@pytest.mark.parametrize("other", [*INTEGERS, "bool"])
def test_integers_of_two_kinds(rng, one, other):
    if np.result_type(one, other).kind == "f":
        return
    a = whole_range(rng, (9, 21), one)
    b = whole_range(rng, (21, 35), other) if other != "bool" else rng.random((21, 35)) < 0.5
    found = mat.array(a) @ mat.array(b)
    assert found.dtype == np.result_type(one, other)
    assert_array_equal(found.to_numpy(), wrapped(exact_product(a, b), found.dtype))


@pytest.mark.parametrize("size", SIZES)
def test_booleans(rng, size):
    m, n, k = size
    a, b = rng.random((m, k)) < 0.1, rng.random((k, n)) < 0.2
    assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(),
                       (a.astype(int) @ b.astype(int)) > 0)
    # 512 is 0 in 8 bits
    many = mat.matmul(mat.full((2, 512), True, dtype="bool"),
                      mat.full((512, 2), True, dtype="bool"))
    assert many.to_numpy().all()


def test_a_narrower_out_gets_the_low_bits(rng):
    a, b = whole_range(rng, (5, 9), "int64"), whole_range(rng, (9, 7), "int64")
    out = mat.matmul(mat.array(a), mat.array(b), out=mat.zeros(5, 7, dtype="int16"))
    assert_array_equal(out.to_numpy(), wrapped(exact_product(a, b), "int16"))


# 16-bit floats


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("size", [*SIZES, *LONG])
def test_halves_are_rounded_once(rng, dtype, size):
    m, n, k = size
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    found = mat.array(a) @ mat.array(b)
    assert found.dtype == dtype
    error = np.abs(found.to_numpy().astype(np.float64) - a.astype(np.float64)
                   @ b.astype(np.float64))
    assert (error <= bound(a, b, dtype)).all()
    wide = mat.matmul(mat.array(a), mat.array(b),
                      out=mat.Mat((m, n), "float32", fill=None)).to_numpy()
    sums = (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))) * (k + 4) * 2.0**-24
    assert (np.abs(wide - a.astype(np.float64) @ b.astype(np.float64)) <= sums).all()


def bits(array):
    return np.where(np.isnan(array.astype(np.float32)), np.uint16(0x7fff), array.view(np.uint16))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("factor", [1.0, -0.75, 1.001, 3e-5, 6e-8, 60000.0])
@pytest.mark.parametrize("along", [0, 1])
def test_every_half_times_a_number(dtype, factor, along):
    every = np.arange(65536, dtype=np.uint16).view(dtype)
    one = np.array([[factor]], dtype)
    with np.errstate(all="ignore"):
        wanted = (every.astype(np.float32) * one.astype(np.float32)[0, 0]).astype(dtype)
    x = mat.array(every)
    found = mat.array(one) @ x.reshape(1, 65536) if along else x.reshape(65536, 1) @ mat.array(one)
    # -0 + 0 is 0
    assert_array_equal(bits(found.to_numpy().ravel() + np.zeros((), dtype)),
                       bits(wanted + np.zeros((), dtype)))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_specials_of_halves(dtype):
    a = mat.array(np.array([[np.inf, 1], [np.nan, 1], [np.inf, -np.inf], [0, 2]], dtype))
    found = (a @ mat.array(np.array([[1], [1]], dtype))).to_numpy().astype(np.float64)
    assert_array_equal(found, [[np.inf], [np.nan], [np.nan], [2]])
    big = float(ml_dtypes.finfo(dtype).max)
    assert_array_equal((mat.array(np.array([[big, big]], dtype))
                        @ mat.ones(2, 1, dtype=dtype)).to_numpy(), [[np.inf]])
    if dtype == np.float16:  # float32 holds all of the sum
        sums = mat.array(np.array([[big, big, -big]], dtype)) @ mat.ones(3, 1, dtype=dtype)
        assert_array_equal(sums.to_numpy(), [[big]])


# Layouts, ranks


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", *HALVES], ids=str)
@pytest.mark.parametrize("one", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
def test_layouts_of_operands(rng, dtype, one, other):
    dtype = np.dtype(dtype)
    a, b = (rng.integers(-5 if dtype.kind != "u" else 0, 6, shape).astype(dtype)
            for shape in ((19, 37), (37, 41)))
    x, y = place(a, one), place(b, other)
    for kind in {one, other}:
        out = place(np.zeros((19, 41), dtype), kind)
        mat.matmul(x, y, out=out)
        assert_array_equal(out.to_numpy().astype(np.int64),
                           (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype).astype(np.int64))
        check_hidden(out)
    z = mat.matmul(place(a.T, one), place(b.T, other), transpose_a=True, transpose_b=True)
    assert_array_equal(z.to_numpy(), out.to_numpy())


STACKS = (((3, 4, 5), (5, 6)), ((4, 5), (3, 5, 6)), ((2, 1, 4, 5), (3, 5, 6)),
          ((2, 3, 4, 5), (2, 3, 5, 6)), ((5,), (5, 6)),
          ((4, 5), (5,)), ((5,), (5,)), ((5,), (3, 5, 6)), ((3, 4, 5), (5,)), ((0, 4, 5), (5, 6)),
          ((3, 0, 5), (5, 6)),
          ((3, 4, 0), (0, 6)), ((0,), (0,)), ((2, 0), (0,)), ((1, 4, 5), (3, 5, 6)),
          ((3, 1, 1, 4, 5), (1, 7, 5, 2)))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", *HALVES], ids=str)
@pytest.mark.parametrize("shapes", STACKS)
def test_stacks_and_vectors(rng, dtype, shapes):
    a, b = (rng.integers(-9, 10, shape).astype(dtype) for shape in shapes)
    wanted = np.matmul(a.astype(np.int64), b.astype(np.int64))
    for make in (mat.array, lambda x: place(x, "negative")):
        found = mat.matmul(make(a), make(b))
        assert found.shape == wanted.shape
        assert_array_equal(found.to_numpy(), wanted.astype(dtype))


def test_a_broadcast_operand(rng):
    a = mat.array(rng.integers(-9, 10, 5).astype("int8")).broadcast_to((3, 5))
    b = mat.array(rng.integers(-9, 10, (5, 1)).astype("int8")).broadcast_to((5, 40))
    assert_array_equal((a @ b).to_numpy(), a.to_numpy() @ b.to_numpy())


@compiled
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", *HALVES], ids=str)
@pytest.mark.parametrize("shapes", [((300, 310), (310, 500)), ((40, 90, 80), (80, 70)),
                                    ((60, 60, 61), (60, 61, 62)),
                                    ((1100, 70), (70, 1050)), ((1, 2000), (2000, 1500)),
                                    ((3000, 700), (700,))])
@pytest.mark.sample(3)
def test_threads_change_nothing(rng, dtype, shapes):
    a, b = (rng.integers(-9, 10, shape).astype(dtype) for shape in shapes)
    wanted = np.matmul(a.astype(np.float64), b.astype(np.float64))  # exact: these sums are small
    if np.dtype(dtype).kind == "i":
        wanted = wanted.astype(np.int64)
    wanted = wanted.astype(dtype)
    for threads in (1, 2, 5):
        with mat.settings(threads=threads):
            assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(), wanted)


# gemm


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("size", [(3, 4, 5), (1, 70, 9), (37, 1, 70), (33, 65, 21), (4, 3, 0)])
@pytest.mark.sample(2)
def test_gemm_of_integers(rng, dtype, size):
    m, n, k = size
    a, b, c = (whole_range(rng, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    info = np.iinfo(dtype)
    for alpha, beta in ((1, 0), (2, 1), (0, 3), (info.max, info.min),
                        *rng.integers(info.min, info.max, (3, 2), dtype)):
        for ta, tb in ((False, False), (True, False), (False, True), (True, True)):
            z = place(c, "strided")
            x, y = place(a.T if ta else a, "block"), place(b.T if tb else b, "displaced")
            assert mat.gemm(alpha, x, y, beta, z, transpose_a=ta, transpose_b=tb) is z
            wanted = int(alpha) * exact_product(a, b) + int(beta) * c.astype(object)
            assert_array_equal(z.to_numpy(), wrapped(wanted, dtype))
            check_hidden(z)


def test_gemm_of_int8_into_int32(rng):
    a, b = whole_range(rng, (23, 70), "int8"), whole_range(rng, (70, 39), "int8")
    c = whole_range(rng, (23, 39), "int32")
    z = mat.array(c).gemm_(-70000, mat.array(a), mat.array(b), 3)
    assert_array_equal(z.to_numpy(),
                       wrapped(-70000 * exact_product(a, b) + 3 * c.astype(object), "int32"))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("size", [(3, 4, 5), (33, 65, 21), (7, 9, 1300), (4, 3, 0)])
def test_gemm_of_halves(rng, dtype, size):
    m, n, k = size
    a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
    for alpha, beta in ((1, 0), (0.5, 1), (-1.25, 0.3)):
        start = np.full_like(c, np.nan) if beta == 0 else c
        z = mat.array(start).gemm_(alpha, mat.array(a), mat.array(b), beta)
        product = a.astype(np.float64) @ b.astype(np.float64)
        add = beta * np.where(beta == 0, 0, start.astype(np.float64))
        error = np.abs(z.to_numpy().astype(np.float64) - (alpha * product + add))
        assert (error <= 2 * bound(a, b, dtype, np.abs(add))).all()
        wide = mat.array(start.astype(np.float32)).gemm_(alpha, mat.array(a), mat.array(b),
                                                         beta).to_numpy()
        assert (np.abs(wide - (alpha * product + add))
                <= (np.abs(a.astype(float)) @ np.abs(b.astype(float)) + np.abs(add) + 1)
                * (k + 8) * 2.0**-23).all()


def test_parts_of_operands(rng):
    a, b, c = (whole_range(rng, shape, "int32") for shape in ((6, 7), (7, 8), (6, 8)))
    z = mat.array(c)
    mat.gemm(1, mat.array(a), mat.array(b), 0, z, m=3, n=4, k=5)
    wanted = c.copy()
    wanted[:3, :4] = wrapped(exact_product(a[:3, :5], b[:5, :4]), "int32")
    assert_array_equal(z.to_numpy(), wanted)
    flat = mat.zeros(12, dtype="int32")
    mat.gemm(1, mat.array(a.ravel()), mat.array(b.ravel()), 0, flat, m=3, n=4, k=5, lda=7, ldb=8,
             ldc=4)
    assert_array_equal(flat.to_numpy().reshape(3, 4), wanted[:3, :4])


def test_what_is_refused():
    a, h = mat.ones(3, 3, dtype="int8"), mat.ones(3, 3, dtype="float16")
    wide = mat.zeros(3, 3, dtype="int32")
    for call, error in [
        (lambda: mat.gemm(1.5, a, a, 0, wide), DTypeError),
        (lambda: mat.gemm(1, a, a, 0.5, wide), DTypeError),
        (lambda: mat.gemm(200, a, a, 0, mat.zeros(3, 3, dtype="int8")), DTypeError),
        (lambda: mat.gemm(float("nan"), a, a, 0, wide), DTypeError),
        (lambda: mat.gemm(1j, h, h, 0, mat.zeros(3, 3, dtype="float16")), DTypeError),
        (lambda: mat.gemm(1, wide, wide, 0, mat.zeros(3, 3, dtype="int8")), DTypeError),
        (lambda: mat.gemm(1, a, wide, 0, mat.zeros(3, 3, dtype="int32")), DTypeError),
        (lambda: mat.gemm(1, h, h, 0, mat.zeros(3, 3)), DTypeError),
        (lambda: mat.gemm(1, h, h, 0, wide), DTypeError),
        (lambda: mat.gemm(1, mat.ones(3, 3, dtype="bool"), mat.ones(3, 3, dtype="bool"), 0, wide),
         DTypeError),
        (lambda: mat.gemm(1, a, a, 0, a), AliasError),
        (lambda: mat.gemm(1, a, a, 0, a.T), AliasError),
        (lambda: mat.matmul(a, mat.ones(4, 3, dtype="int8")), ShapeError),
        (lambda: mat.matmul(h, mat.ones(3, 3, dtype="bfloat16")), DTypeError),
    ]:
        with pytest.raises(error):
            call()
    assert_array_equal(a.to_numpy(), np.ones((3, 3)))
    assert_array_equal(wide.to_numpy(), np.zeros((3, 3)))
    # these floats are integers
    assert_array_equal(mat.gemm(2.0, a, a, 0.0, wide).to_numpy(), np.full((3, 3), 6))


# The kernel's frame


class Pointed:
    """An array as a facet presents it to the kernel."""

    def __init__(self, array):
        self.array, self.pointer = array, ffi.cast("char *", array.ctypes.data)
        steps = (s // array.itemsize for s in array.strides)
        self.operand = MatrixOperand(array.dtype.char, *steps)


@compiled
@pytest.mark.parametrize("options", [{"level": 0}, {"level": 1}, {"level": 2},
                                     {"block_m": 5, "block_k": 16}, {"height": 1},
                                     {"height": 4, "block_k": 32},
                                     {"level": 1, "height": 4, "block_k": 32}], ids=str)
@pytest.mark.parametrize("dtype", [*INTEGERS, *HALVES], ids=str)
def test_older_machines_and_other_blocks(rng, options, dtype):
    dtype = np.dtype(dtype)
    for m, n, k in ((1, 1, 1), (17, 45, 33), (70, 35, 300)):
        low = 0 if dtype.kind == "u" else -4
        a, b = rng.integers(low, 5,
                            (m, k)).astype(dtype), rng.integers(low, 5, (k, n)).astype(dtype)
        c = np.zeros((m, n), dtype)
        one, other, out = map(Pointed, (a, b, c))
        form = MatmulForm(GemmSizes(m, n, k), one.operand, other.operand, out.operand)
        integer_matmul.IntegerMatmul(form, **options)(one, other, out)
        assert_array_equal(c, (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype))


@compiled
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_machines_add_8_bit_floats_in_the_same_order(rng, dtype):
    """Pairs are added one after the other, so the bits do not depend on the machine."""
    dtype = np.dtype(dtype)
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    values = values[np.isfinite(values)].astype(dtype)
    for m, n, k in ((3, 40, 1), (17, 45, 33), (70, 35, 300), (5, 64, 1001)):
        for a, b in ((rng.choice(values, (m, k)), rng.choice(values, (k, n))),
                     (rng.choice(values, (k, m)).T, rng.choice(values, (n, k)).T)):
            found = []
            for options in ({}, {"level": 3}, {"level": 2}):
                c = np.zeros((m, n), np.float32)
                one, other, out = map(Pointed, (a, b, c))
                form = MatmulForm(GemmSizes(m, n, k), one.operand, other.operand, out.operand)
                integer_matmul.IntegerMatmul(form, **options)(one, other, out)
                found.append(c)
            assert_array_equal(found[0], found[1])
            assert_array_equal(found[0], found[2])
            exact = a.astype(np.float64) @ b.astype(np.float64)
            size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
            assert (np.abs(found[0] - exact) <= k * 2.0**-24 * size).all()


@pytest.mark.parametrize(("sizes", "workers", "parts"), [
    ((10, 10, 10, 1), 8, (1, 1)), ((512, 512, 512, 1), 1, (1, 1)), ((512, 512, 512, 1), 2, (2, 1)),
    ((512, 512, 512, 1), 4, (2, 2)), ((2000, 10, 100, 1), 1, (2, 1)),
    ((64, 64, 64, 100), 4, (1, 1)),
    ((1, 4096, 4096, 1), 4, (1, 4)), ((0, 5, 5, 1), 4, (1, 1))])
def test_how_work_is_cut(sizes, workers, parts):
    *lengths, batches = sizes
    assert integer_matmul.cut(GemmSizes(*lengths), batches, workers) == parts


@compiled
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", *HALVES], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_few_rows_and_few_columns(rng, dtype, transposed, rows):
    dtype = np.dtype(dtype)
    for k, n in ((1, 3), (33, 130), (300, 65), (5000, 37)):
        low = 0 if dtype.kind == "u" else -4
        a, b = rng.integers(low, 5,
                            (rows, k)).astype(dtype), rng.integers(low, 5, (k, n)).astype(dtype)
        wanted = (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
        x, y = mat.array(a), mat.array(b.T.copy()).T if transposed else mat.array(b)
        assert_array_equal((x @ y).to_numpy(), wanted)
        assert_array_equal((y.T @ x.T).to_numpy(), wanted.T)
        assert_array_equal((x[::-1] @ y[:, ::-1]).to_numpy(), wanted[::-1, ::-1])
        z = mat.ones(rows, n, dtype=dtype)
        three = (3 * (a.astype(np.int64) @ b.astype(np.int64)) + 2).astype(dtype)
        assert_array_equal(z.gemm_(3, x, y, 2).to_numpy(), three)
