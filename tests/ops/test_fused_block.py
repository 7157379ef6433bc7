"""`mat.fused`: blocks whose element-wise operations are computed in one pass."""

import numpy as np
import pytest

import mat

N = 100_000


@pytest.fixture
def pair():
    a = np.random.default_rng(1).uniform(0.5, 2, N).astype("f4")
    with mat.fused():
        yield mat.array(a), a


def gelu(m, x):
    return 0.5 * x * (1.0 + m.tanh(0.8 * (x + 0.04 * x * x * x)))


def same(x, a):
    np.testing.assert_array_equal(x.to_numpy(), a, strict=True)


def test_a_result_is_pending_until_it_is_read(pair):
    x, _ = pair
    y = gelu(mat, x)
    assert not y.fresh
    assert y.to_numpy().size == N
    assert y.fresh


def test_the_bits_are_those_without_the_block():
    x = mat.array(np.random.default_rng(1).uniform(0.5, 2, N).astype("f4"))
    expected = gelu(mat, x)
    with mat.fused():
        y = gelu(mat, x)
    same(y, expected.to_numpy())


def test_what_is_read_is_what_was_there_at_the_statement(pair):
    x, a = pair
    y = x + 1
    x += 1
    z = x * 2
    x[:10] = 0
    same(y, a + 1)
    same(z, (a + 1) * 2)
    same(x[10:], (a + 1)[10:])


def test_a_whole_expression_is_cut_into_tiles():
    x = mat.zeros(500_000).normal_()
    expected = gelu(mat, x).to_numpy()
    with mat.debug.trace() as t:
        with mat.use_device("emulated", pool_bytes=1_000_000), mat.fused():
            y = gelu(mat, x)
        same(y, expected)
    assert t.bytes <= 8_800_000


def test_a_mat_is_updated_in_its_own_memory():
    x = mat.zeros(N)
    with x.facet("foreign") as p:
        before = p.pointer
    with mat.fused():
        x += 1
        x *= 3
    with x.facet("foreign", "input") as p:
        assert p.pointer == before
    same(x, np.full(N, 3.0))


REDUCTIONS = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(), "max": lambda x: x.max(axis=0),
    "std": lambda x: x.std(), "any": lambda x: (x > 1.9).any(), "rows": lambda x: x.sum(axis=1),
    "prod": lambda x: x.prod(axis=1), "argmax": lambda x: x.argmax(),
    "middle": lambda x: x.reshape(-1, 10, 10).min(axis=(0, 2)),
    "count": lambda x: mat.count_nonzero(x > 1.5)}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("rows", [200, 3001])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_a_reduction_has_the_bits_without_the_block(name, rows, dtype):
    a = np.random.default_rng(1).uniform(-2, 2, (rows, 100))
    x = mat.array((a * 9).astype(dtype))
    expected = np.asarray(REDUCTIONS[name](x * 2 + x))
    with mat.fused():
        y = x * 2 + x
        found = np.asarray(REDUCTIONS[name](y))
    np.testing.assert_array_equal(found, expected, strict=True)


def test_a_reduction_does_not_keep_its_operand():
    x = mat.ones(N)
    with mat.fused():
        y = x * 2 + 1
        assert y.sum() == 3 * N
        assert not y.fresh
        assert y.max() == 3
        assert y.fresh
