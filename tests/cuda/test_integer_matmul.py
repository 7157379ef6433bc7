"""Our kernel for products that cuBLAS lacks, compiled for the CPU and run there: every type, odd
sizes, any strides.
"""

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mat.cpu.integer_matmul import takes
from mat.layout.matrix_operand import GemmSizes, MatmulForm, MatrixOperand

from ..support.launching import launch_all
from ..tools.mock_driver import harness

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import integer_matmul

pytestmark = pytest.mark.skipif(not harness.compiler(), reason="no C++ compiler")
HALVES = {"e": np.dtype(np.float16), "E": np.dtype(ml_dtypes.bfloat16),
          "4": np.dtype(ml_dtypes.float8_e4m3fn), "5": np.dtype(ml_dtypes.float8_e5m2)}
# how far a result may be from the exact one, relative to it
LEAST = {"4": 2.0**-10, "5": 2.0**-17}  # and near 0
GRAINS = {"e": 2.0**-11, "E": 2.0**-8, "4": 2.0**-4, "5": 2.0**-3, "f": 2.0**-24}


def dtype_of(char):
    return HALVES.get(char) or np.dtype(char)


def some(rng, shape, char):
    dtype = dtype_of(char)
    if dtype.kind == "b":
        return rng.random(shape) < 0.3
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.normal(size=shape).astype(dtype)


def operand(x, batch=()):
    """Return the steps of an array; leading axes may be broadcast."""
    steps = [s // x.itemsize for s in x.strides]
    own = x.ndim - 2
    along = [0 if n == 1 else s for n, s in zip(x.shape[:own], steps[:own], strict=True)]
    char = x.dtype.char
    return MatrixOperand(char, *steps[own:], (0,) * (len(batch) - own) + tuple(along))


def multiply(a, b, c, batch=(), factors=None, seed=0):
    m, k = a.shape[-2:]
    made = integer_matmul.prepare_integer_matmul(MatmulForm(
        GemmSizes(m, b.shape[-1], k), operand(a, batch), operand(b, batch), operand(c, batch),
        batch))
    if factors is None:
        launch_all(made._kernel(0, 0, 0), [a, b, c], seed=seed)
    elif made.integer:
        launch_all(made._kernel(2, *factors), [a, b, c], seed=seed)
    else:
        launch_all(made._kernel(1, 0, 0), [a, b, c], factors, seed)


def exact(a, b, dtype):
    """The product by NumPy, in the bits that the result has."""
    if dtype.kind == "b":
        return a @ b
    return np.matmul(a.astype(dtype), b.astype(dtype), dtype=dtype)


@pytest.mark.parametrize("char", [*"?bBhHiIqQ"])
@pytest.mark.parametrize(("m", "n", "k"),
                         [(65, 70, 33), (1, 1, 1), (3, 130, 17), (64, 64, 16), (5, 2, 0)])
def test_products_of_integers(rng, char, m, n, k):
    a, b = some(rng, (m, k), char), some(rng, (k, n), char)
    c = some(rng, (m, n), char)
    multiply(a, b, c)
    assert_array_equal(c, exact(a, b, a.dtype))


PAIRS = [("b", "B", "h"), ("?", "i", "i"), ("i", "i", "b"), ("q", "h", "I"), ("H", "b", "q"),
         ("i", "i", "q"), ("I", "I", "q"),
         ("b", "b", "i"), ("B", "B", "i"), ("h", "h", "i"), ("H", "H", "I"), ("b", "b", "q"),
         ("B", "?", "Q"), ("q", "q", "B")]


@pytest.mark.parametrize("chars", PAIRS, ids="".join)
@pytest.mark.sample(4)
def test_products_of_integers_of_several_types(rng, chars):
    one, other, out = chars
    a, b, c = some(rng, (35, 19), one), some(rng, (19, 66), other), some(rng, (35, 66), out)
    multiply(a, b, c)
    assert_array_equal(c, exact(a, b, c.dtype))


def test_a_sum_of_true_values_does_not_wrap(rng):
    a, b, c = np.ones((1, 300), bool), np.ones((300, 2), bool), np.zeros((1, 2), bool)
    multiply(a, b, c)
    assert c.all()


def near(found, a, b, k):
    """Whether `found` is the product of halves, summed in float32 and rounded once."""
    wide = np.matmul(a.astype(np.float64), b.astype(np.float64))
    bound = np.matmul(abs(a.astype(np.float64)), abs(b.astype(np.float64))) * 2.0**-23 * max(k, 1)
    grain = abs(wide) * GRAINS[found.dtype.char] + LEAST.get(found.dtype.char, 0)
    return (abs(found.astype(np.float64) - wide) <= bound + grain).all()


@pytest.mark.parametrize("char", [*"eE45"])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(65, 67, 40), (1, 3, 300), (2, 2, 0)])
@pytest.mark.sample(3)
def test_products_of_halves(rng, char, wide, m, n, k):
    a, b = some(rng, (m, k), char), some(rng, (k, n), char)
    c = np.full((m, n), np.nan, np.float32 if wide else HALVES[char])
    multiply(a, b, c)
    assert near(c, a, b, k)


@pytest.mark.parametrize("char", [*"eE"])
def test_halves_that_are_not_finite_or_small(char):
    values = np.array([[np.inf, 1], [np.nan, 1], [6e-8, 0], [65504, 65504], [-0.0, 0]],
                      np.float32).astype(HALVES[char])
    c = np.zeros((5, 2), HALVES[char])
    multiply(values, np.array([[1, 0], [1, 1]], np.float32).astype(HALVES[char]), c)
    with np.errstate(all="ignore"):
        wanted = (values.astype(np.float32)
                  @ np.array([[1, 0], [1, 1]], np.float32)).astype(HALVES[char])
    assert_array_equal(c.astype(np.float32), wanted.astype(np.float32))


def views(rng, m, n, char):
    """Matrices of that shape that lie in all sorts of ways, each with the memory around it."""
    yield some(rng, (m, n), char)
    yield some(rng, (n, m), char).T
    yield some(rng, (m, n + 5), char)[:, 2:n + 2]
    yield some(rng, (2 * m + 3, 3 * n), char)[3::2, ::3]
    yield some(rng, (m, n), char)[::-1, ::-1]
    yield some(rng, (3 * n, 2 * m), char).T[::-2, ::3]


@pytest.mark.parametrize("char", [*"bhiqe"])
def test_any_strides(rng, char):
    m, n, k = 37, 41, 23
    lefts, rights, outs = (list(views(rng, *shape, char)) for shape in ((m, k), (k, n), (m, n)))
    for one, other, out in zip(range(6), (1, 3, 2, 5, 0, 4), (2, 0, 3, 4, 1, 5), strict=True):
        a, b, c = lefts[one], rights[other], outs[out]
        whole = c if c.base is None else c.base
        before, mask = whole.copy(), np.zeros(whole.shape, bool)
        seen = np.lib.stride_tricks.as_strided(mask.ravel()[(c.ctypes.data - whole.ctypes.data)
                                                            // c.itemsize:][:1], c.shape,
                                               [s // c.itemsize for s in c.strides])
        seen[...] = True
        multiply(a, b, c)
        if char == "e":
            assert near(c, a, b, k)
        else:
            assert_array_equal(c, exact(a, b, c.dtype))
        assert_array_equal(whole[~mask], before[~mask])


@pytest.mark.parametrize("char", [*"bIqeE"])
@pytest.mark.parametrize(("one", "other", "batch"), [
    ((4, 5, 7), (4, 7, 3), (4,)), ((2, 3, 5, 7), (3, 7, 3), (2, 3)), ((5, 7), (3, 7, 4), (3,)),
    ((4, 5, 7), (7, 3), (4,)),
    ((2, 1, 3, 4), (1, 5, 4, 2), (2, 5)), ((0, 3, 4), (0, 4, 2), (0,)),
    ((1, 6, 7, 2), (3, 6, 2, 5), (3, 6))])
def test_stacks(rng, char, one, other, batch):
    a, b = some(rng, one, char), some(rng, other, char)
    c = some(rng, (*batch, one[-2], other[-1]), char)
    multiply(a, b, c, batch)
    if char in "eE":
        assert near(c, a, b, one[-1])
    else:
        assert_array_equal(c, exact(a, b, c.dtype))


@pytest.mark.parametrize("char", [*"bHiQq"])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (-3, 0), (0, 2), (2**62 + 1, -(2**61) - 3)])
def test_factors_of_integers(rng, char, alpha, beta):
    a, b, c = some(rng, (17, 5), char), some(rng, (5, 18), char), some(rng, (17, 18), char)
    bits = (1 << 8 * c.itemsize) - 1
    wanted = (exact(a, b, c.dtype).astype(object) * alpha + c.astype(object) * beta) & bits
    multiply(a, b, c, factors=(alpha, beta))
    assert_array_equal(c.astype(object) & bits, wanted)


@pytest.mark.parametrize("char", [*"eE"])
@pytest.mark.parametrize("wide", [False, True])
def test_factors_of_halves(rng, char, wide):
    a, b = some(rng, (17, 5), char), some(rng, (5, 18), char)
    c = some(rng, (17, 18), "f" if wide else char)
    for alpha, beta in ((0.5, -2.0), (1.5, 1.0)):
        product_ = np.matmul(a.astype(np.float32), b.astype(np.float32)) * np.float32(alpha)
        wanted = product_ + np.float32(beta) * c.astype(np.float32)
        multiply(a, b, c, factors=(alpha, beta))
        np.testing.assert_allclose(c.astype(np.float32), wanted, rtol=1e-6 if wide else 1e-2,
                                   atol=1e-5 if wide else 2e-2)
    c[...] = np.nan
    multiply(a, b, c, factors=(1.0, 0.0))
    assert near(c, a, b, 5)


@pytest.mark.parametrize("chars", ["bbb", "bbi", "HHH", "iii", "???", "eee", "EEf"])
@pytest.mark.sample(3)
def test_large_tiles(rng, chars, monkeypatch):
    monkeypatch.setattr(integer_matmul, "BUSY", 1)
    for m, n, k in ((130, 257, 21), (5, 129, 8)):
        a, b, c = some(rng, (m, k), chars[0]), some(rng, (k, n),
                                                    chars[1]), some(rng, (m, n), chars[2])
        multiply(a, b, c)
        if chars[0] in "eE":
            assert near(c, a, b, k)
        else:
            assert_array_equal(c, exact(a, b, c.dtype))


@pytest.mark.parametrize("chars", ["bbb", "bbi", "qqq", "???", "eee", "EEf", "bBh"])
@pytest.mark.parametrize(("one", "other", "batch"),
                         [((1, 1030), (1030, 1), ()), ((3, 700), (700, 70), ()),
                          ((2, 1, 513), (513, 3), (2,)), ((2, 3, 512), (2, 512, 2), (2,))])
@pytest.mark.sample(4)
def test_long_inner_axes_are_split(rng, chars, one, other, batch):
    a, b = some(rng, one, chars[0]), some(rng, other, chars[1])
    c, d = (some(rng, (*batch, one[-2], other[-1]), chars[2]) for _ in range(2))
    multiply(a, b, c, batch)
    multiply(a, b, d, batch, seed=5)
    assert_array_equal(c, d)
    if chars[0] in "eE":
        assert near(c, a, b, one[-1])
        multiply(a, b, d, batch, factors=(1.0, 1.0))
        np.testing.assert_allclose(d.astype(float), 2 * c.astype(float), rtol=2e-2, atol=1e-2)
    else:
        assert_array_equal(c, exact(a, b, c.dtype))
        if chars != "???":
            multiply(a, b, d, batch, factors=(1, 2))
            assert_array_equal(d, 3 * c)


def test_parts_of_the_inner_axis():
    for blocks in (1, 3, 127, 128, 1000):
        for k in (0, 1, 511, 512, 513, 5000, 10**7):
            splits, depth = integer_matmul._splits(blocks, k)
            assert splits == 1 or (splits <= 256 and depth >= 256 and depth % 16 == 0)
            assert (splits - 1) * depth < max(k, 1) <= splits * depth


@pytest.mark.parametrize("char", [*"?ie"])
def test_the_order_of_threads_does_not_matter(rng, char):
    a, b, c, d = some(rng, (70, 50), char), some(rng, (50, 70),
                                                 char), some(rng, (70, 70),
                                                             char), some(rng, (70, 70), char)
    multiply(a, b, c)
    for seed in (1, 2, 3):
        multiply(a, b, d, seed=seed)
        assert_array_equal(c, d)


# What is left of a product over an empty axis


@pytest.mark.parametrize("letter", [*"fdFD"])
@pytest.mark.parametrize("triangle", [0, -1, 1])
@pytest.mark.parametrize("beta", [0, 2, -1.5, 2 - 1j])
def test_scaling(rng, letter, triangle, beta):
    beta = beta if letter in "FD" else complex(beta).real
    whole = (rng.normal(size=(3, 20, 19)) + 1j
             * rng.normal(size=(3, 20, 19))).astype(letter) if letter in "FD" else rng.normal(
        size=(3, 20, 19)).astype(letter)
    x = whole[:, ::2, :10]
    lower = np.tri(10, dtype=bool)
    inside = np.ones_like(lower) if not triangle else lower if triangle < 0 else lower.T
    wanted = whole.copy()
    wanted[:, ::2, :10] = np.where(inside, x * x.dtype.type(beta), x)
    if beta == 0:
        x[np.broadcast_to(inside, x.shape)] = np.nan
    scale = integer_matmul.prepare_scale(letter, x.shape, tuple(s // x.itemsize for s in x.strides),
                                         at=0, number=0, triangle=triangle)
    launch_all(scale, [x], [beta])
    np.testing.assert_allclose(whole, wanted, rtol=1e-6)


def test_every_program_is_listed(rng):
    listed = set(integer_matmul.programs())
    for one in integer_matmul.TYPES:
        for other in integer_matmul.TYPES:
            for out in integer_matmul.TYPES:
                if takes(one, other, out):
                    for sizes in ((1, 1), (1 << 15, 1 << 15)):
                        made = integer_matmul.prepare_integer_matmul(MatmulForm(
                            GemmSizes(*sizes, 1), MatrixOperand(one, 1, 1),
                            MatrixOperand(other, 1, 1), MatrixOperand(out, 1, 1)))
                        assert made._kernel(0, 0, 0).program in listed
    assert len(listed) < 38
