"""Products in tiles: the results of the whole operation, whatever the room, and the bytes that the
choice of blocks predicts.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.ops.linear.blas_gemm import gemm, gemm_batched
from mat.ops.linear.blas_level23 import gemv, ger, syrk, trsm
from mat.ops.linear.matmul import product
from mat.ops.tiles.cut_products import (
    ProductForm,
    ProductOperand,
    bytes_moved,
    bytes_of,
    least_room,
    product_blocks,
)

from ..support import selection
from ..support.in_tiles import in_tiles

pytestmark = pytest.mark.host
LENGTHS = st.integers(1, selection.most(40, 24))  # the smallest budgets make thousands of tiles
BUDGETS = st.integers(40, 20_000)
FACTORS = st.sampled_from([0, 1, 2.5])
NEAR = {"rtol": 1e-11, "atol": 1e-11}


def values(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def run_in_tiles(operation, args, budget, **kwargs):
    """Carry out a call in tiles of that many bytes; return their number, None if there is none."""
    operation.check(*args, **kwargs)
    done = in_tiles(operation, list(args), kwargs, budget)
    return None if done is None else done[1]


def stored(a, by_columns):
    """Return a Mat with the elements of `a`, stored by columns or by rows."""
    return mat.array(a.swapaxes(-1, -2).copy()).swapaxes(-1, -2) if by_columns else mat.array(a)


# The choice of blocks


@st.composite
def forms(draw):
    """Draw a product, with a square, long or flat shape."""
    lengths = tuple(draw(st.one_of(st.integers(1, 8), st.integers(100, 3000))) for _ in range(3))
    a, b, c = (ProductOperand(draw(st.sampled_from([1, 2, 4, 8])), draw(st.sampled_from(axes)),
                              draw(st.booleans())) for axes in ("mk", "kn", "mn"))
    return ProductForm(lengths, a, b, c._replace(copied=True), draw(st.booleans()),
                       draw(st.booleans()))


@given(forms(), st.integers(100, 10_000_000))
def test_blocks_fit_with_those_of_the_next_step(form, room):
    blocks = product_blocks(form, room)
    if blocks is None:
        assert room < least_room(form)
        return
    (m, n, k), (a, b, c) = form.lengths, (x.size * x.copied for x in (form.a, form.b, form.c))
    sizes = {"a": blocks.m * blocks.k * a, "b": blocks.k * blocks.n * b,
             "c": blocks.m * blocks.n * c}
    stays = {"c": "c", "m": "a", "n": "b"}[blocks.outer]
    assert 2 * sum(sizes.values()) - sizes[stays] <= room
    assert (1, 1, 1) <= blocks[:3] <= (m, n, k)
    assert form.inner or blocks.k == k
    assert blocks.moved == bytes_moved(form, blocks)


@given(forms(), st.integers(100, 10_000_000))
def test_no_less_than_each_operand_is_moved_and_all_of_it_where_there_is_room(form, room):
    blocks, sizes = product_blocks(form, room), bytes_of(form)
    least = sum(size * x.copied for size, x in zip(sizes, (form.a, form.b, form.c), strict=True))
    least += sizes[2] * form.reads_c
    assert blocks is None or blocks.moved >= least
    if room >= 2 * sum(sizes):
        assert blocks.moved == least


@pytest.mark.parametrize("pool", [0.5, 0.25, 0.1])
@pytest.mark.parametrize("columns", [(), ("a",), ("b",), ("a", "b")], ids=str)
def test_at_most_twice_the_bound_is_moved(pool, columns):
    n = 1024
    form = ProductForm((n, n, n), ProductOperand(8, "m" if "a" in columns else "k"),
                       ProductOperand(8, "k" if "b" in columns else "n"), ProductOperand(8, "n"),
                       False)
    elements = pool * n * n
    bound = 8 * max(3 * n * n, 2 * n**3 / elements**0.5)
    assert product_blocks(form, int(8 * elements)).moved <= 2 * bound


def test_what_is_on_the_device_stays_there():
    n = 1000
    form = ProductForm((n, n, n), ProductOperand(8, "k", False), ProductOperand(8, "n"),
                       ProductOperand(8, "n"), False)
    assert product_blocks(form, 8 * n * n // 2).moved == 2 * 8 * n * n


# Tiles


@given(LENGTHS, LENGTHS, LENGTHS, BUDGETS, st.tuples(*[st.booleans()] * 5), FACTORS, FACTORS)
def test_gemm(m, n, k, budget, flags, alpha, beta):
    transpose_a, transpose_b, *columns = flags
    a, b, c = values(1, m, k), values(2, k, n), values(3, m, n)
    out = stored(c, columns[2])
    x = stored(a.T if transpose_a else a, columns[0])
    y = stored(b.T if transpose_b else b, columns[1])
    count = run_in_tiles(gemm, (alpha, x, y, beta, out), budget, transpose_a=transpose_a,
                         transpose_b=transpose_b)
    assert count is not None
    if 2 * budget < 8 * (m * k + k * n + m * n) // 2:
        assert count > 1
    assert_allclose(out.to_numpy(), alpha * a @ b + beta * c, **NEAR)


@given(LENGTHS, LENGTHS, LENGTHS, BUDGETS)
def test_gemm_of_parts_by_leading_dimensions(m, n, k, budget):
    a, b, c = values(1, m + 1, k + 2), values(2, k, n + 3), values(3, m + 2, n + 1)
    out = mat.array(c)
    run_in_tiles(gemm, (2, mat.array(a).reshape(-1), mat.array(b), 0.5, out), budget, m=m, n=n,
                 k=k, lda=k + 2)
    wanted = c.copy()
    wanted[:m, :n] = 2 * a[:m, :k] @ b[:, :n] + 0.5 * c[:m, :n]
    assert_allclose(out.to_numpy(), wanted, **NEAR)


@pytest.mark.parametrize(("dtype", "to"), [
    ("int8", "int8"), ("int8", "int32"), ("uint8", "int64"), ("int16", "int16"), ("bool", "bool"),
    ("int64", "int64"), ("float16", "float16"), ("float16", "float32"), ("bfloat16", "bfloat16"),
    ("float8_e4m3fn", "float32"), ("float32", "float32"), ("complex64", "complex64"),
    ("complex128", "complex128")])
@pytest.mark.parametrize("budget", [100, 1000, 10_000])
def test_matmul_of_all_kinds_of_types(rng, dtype, to, budget):
    a, b = (mat.array(rng.integers(-8, 8, shape)).astype(dtype) for shape in ((40, 30), (30, 50)))
    wanted, out = (mat.full((40, 50), 1, dtype=to) for _ in range(2))
    product(a, b, wanted)
    count = run_in_tiles(product, (a, b, out), budget)
    if count is None:
        assert (budget, dtype in ("bool", "int64")) == (100, True)
    else:
        assert count > (budget < 10_000)
        assert_array_equal(out.to_numpy(), wanted.to_numpy())  # numbers are small: sums are exact


def test_sums_of_16_bit_floats_are_rounded_once(rng):
    a, b = (mat.array(rng.standard_normal((64, 64))).astype("float16") for _ in range(2))
    wanted, out = mat.empty(64, 64, dtype="float16"), mat.empty(64, 64, dtype="float16")
    product(a, b, wanted)
    assert run_in_tiles(product, (a, b, out), 1500) > 50
    near = np.spacing(np.abs(wanted.to_numpy()))
    assert (np.abs(out.to_numpy() - wanted.to_numpy()) <= near).all()


@given(st.sampled_from([
    ((7, 9, 8), (7, 8, 5)), ((7, 9, 8), (8, 5)), ((9, 8), (7, 8, 5)), ((2, 3, 4, 5), (3, 5, 6)),
    ((2, 1, 4, 5), (1, 3, 5, 6)), ((8,), (8, 5)), ((9, 8), (8,)), ((8,), (8,)), ((8,), (7, 8, 5)),
    ((7, 9, 8), (8,)), ((0, 4, 5), (5, 3)), ((4, 0), (0, 3)), ((3, 4, 0), (3, 0, 2))]),
    st.integers(200, 5000), st.booleans(), st.booleans())
def test_matmul_of_all_ranks(shapes, budget, columns_a, columns_b):
    a, b = values(1, *shapes[0]), values(2, *shapes[1])
    x = stored(a, columns_a and a.ndim > 1)
    y = stored(b, columns_b and b.ndim > 1)
    wanted = a @ b
    out = mat.full(wanted.shape, np.nan)
    assert run_in_tiles(product, (x, y, out), budget) is not None
    assert_allclose(out.to_numpy(), wanted, **NEAR)


@given(st.integers(200, 5000), st.booleans(), st.booleans(), FACTORS)
def test_gemm_batched(budget, transpose_a, transpose_b, beta):
    a, b, c = values(1, 4, 6, 7), values(2, 4, 7, 5), values(3, 4, 6, 5)
    out = mat.array(c)
    run_in_tiles(gemm_batched, (
        2, mat.array(a.swapaxes(1, 2) if transpose_a else a),
        mat.array(b.swapaxes(1, 2) if transpose_b else b), beta, out), budget,
        transpose_a=transpose_a, transpose_b=transpose_b)
    assert_allclose(out.to_numpy(), 2 * a @ b + beta * c, **NEAR)


@given(LENGTHS, LENGTHS, BUDGETS, st.booleans(), st.booleans(), FACTORS)
def test_gemv(m, n, budget, transpose, columns, beta):
    a = values(1, m, n)
    x, y = values(2, m if transpose else n), values(3, n if transpose else m)
    out = mat.array(np.repeat(y, 2))[::2]
    run_in_tiles(gemv, (2, stored(a, columns), mat.array(x[::-1])[::-1], beta, out), budget,
                 transpose=transpose)
    assert_allclose(out.to_numpy(), 2 * (a.T if transpose else a) @ x + beta * y, **NEAR)


@given(LENGTHS, LENGTHS, BUDGETS, st.booleans())
def test_ger(m, n, budget, columns):
    x, y, a = values(1, m), values(2, 1, n), values(3, m, n)
    out = stored(a, columns)
    run_in_tiles(ger, (2, mat.array(x), mat.array(y), out), budget)
    assert_allclose(out.to_numpy(), a + 2 * np.outer(x, y), **NEAR)


@given(LENGTHS, LENGTHS, BUDGETS, st.booleans(), st.booleans(), FACTORS)
def test_syrk_writes_one_triangle(n, k, budget, transpose, lower, beta):
    a, c = values(1, n, k), values(2, n, n)
    out = mat.array(c)
    count = run_in_tiles(syrk, (2, mat.array(a.T if transpose else a), beta, out), budget,
                         transpose=transpose, lower=lower)
    assert count is not None
    inside = np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T
    assert_allclose(out.to_numpy(), np.where(inside, 2 * a @ a.T + beta * c, c), **NEAR)


@given(LENGTHS, LENGTHS, st.integers(50, 20_000), st.booleans(), st.booleans(), st.booleans())
def test_trsm(n, count, budget, left, lower, transpose):
    a = values(1, n, n) / n + 8 * np.eye(n)
    b = values(2, n, count) if left else values(2, count, n)
    given = {"side": "left" if left else "right", "lower": lower, "transpose": transpose}
    out, wanted = mat.array(b), mat.array(b)
    trsm(2, mat.array(a), wanted, **given)
    assert run_in_tiles(trsm, (2, mat.array(a), out), budget, **given) is not None
    assert_allclose(out.to_numpy(), wanted.to_numpy(), **NEAR)


# On a device


@pytest.mark.parametrize("pool", [0.5, 0.25, 0.1])
@pytest.mark.parametrize("columns", [(False, False), (False, True), (True, False), (True, True)])
def test_a_device_is_given_what_the_blocks_predict(pool, columns):
    n = 512
    a, b, room = values(1, n, n), values(2, n, n), int(8 * pool * n * n)
    x, y = stored(a, columns[0]), stored(b, columns[1])
    with mat.use_device("emulated", pool_bytes=room), mat.debug.count_copies() as copies:
        found = x @ y
        moved = copies.bytes
    form = ProductForm((n, n, n), ProductOperand(8, "m" if columns[0] else "k"),
                       ProductOperand(8, "k" if columns[1] else "n"), ProductOperand(8, "n"), False)
    predicted = product_blocks(form, room - room // 64).moved
    assert predicted <= moved <= 1.02 * predicted
    assert moved <= 2 * 8 * max(3 * n * n, 2 * n**3 / (pool * n * n)**0.5)
    assert_allclose(found.to_numpy(), a @ b, **NEAR)


def test_a_matrix_is_given_to_a_device_once_for_a_vector():
    a, x = values(1, 600, 500), values(2, 500)
    with mat.use_device("emulated", pool_bytes=300_000), mat.debug.count_copies() as copies:
        found = mat.array(a) @ mat.array(x)
        assert copies.bytes <= 1.1 * a.nbytes
    assert_allclose(found.to_numpy(), a @ x, **NEAR)


def test_a_tile_without_room_is_not_done_twice():
    """Its parts that were done before there was no room would be added twice."""
    a, x = values(1, 600, 500), values(2, 600)
    for pool in range(200_000, 260_000, 7_000):
        with mat.use_device("emulated", pool_bytes=pool):
            found = mat.array(x) @ mat.array(a)
        assert_allclose(found.to_numpy(), x @ a, **NEAR)
