"""Compiled element-wise kernels against NumPy and SciPy: every layout, size and special; and that
it is they that compute.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.cpu.elementwise import STREAM
from mat.ops.engine.operation import REGISTRY
from mat.ops.engine.planning import choose

from ..support.functions import (
    COMPARISONS,
    EXACT_OF_TWO,
    FUNCTIONS,
    MATHEMATICS,
    PUBLIC,
)
from ..support.layouts import INTEGERS, LAYOUTS, check_hidden, numbers, place
from ..support.needs import native

pytestmark = native
EXACT = [name for name in PUBLIC if FUNCTIONS[name].ulps is None]
SCALED = ("geem", "geerv", "add_sign")
FLOATS = ("float32", "float64")
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, -1e-40, 1e30, -1e30, 88.0,
            -104.0, 710.0, -746.0, 3e5, 1e7,
            np.inf, -np.inf, np.nan)
SIZES = (0, 1, 2, 3, 7, 8, 15, 16, 31, 33, 63, 65, 127, 511, 513, 1025, 4097)


def kernel(name):
    return REGISTRY[f"{'scaled' if name in SCALED else 'elementwise'}.{name}"]


def facet_for(name, *operands):
    return choose(kernel(name), kernel(name).implementations, operands)[0].facet_name


def allowed(dtype, name):
    """What a function may differ by: what NumPy and SciPy themselves are good for, and ours
    (docs/accuracy.md).
    """
    return {"rtol": 0 if name in EXACT else 8 * np.finfo(dtype).eps, "atol": 0}


def expected(function, *values):
    with np.errstate(all="ignore"):
        return function(*values)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*EXACT, *MATHEMATICS])
def test_functions_of_every_size(rng, name, dtype):
    for n in SIZES:
        for offset in (0, 1, 3):
            values = numbers(rng, n, dtype)
            x, out = mat.array(np.append(np.zeros(offset, dtype),
                                         values))[offset:], mat.empty(n, dtype=dtype)
            assert getattr(mat, name)(x, out=out) is out
            assert_allclose(out.to_numpy(), expected(FUNCTIONS[name].reference, values),
                            **allowed(dtype, name),
                            equal_nan=True)
            getattr(x, name + "_", lambda name=name, x=x: getattr(mat, name)(x, out=x))()
            assert_array_equal(x.to_numpy(), out.to_numpy())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*EXACT, *MATHEMATICS])
def test_functions_of_specials(name, dtype):
    with np.errstate(all="ignore"):
        values = np.array(SPECIALS, dtype)
    wanted = expected(FUNCTIONS[name].reference, values)
    found = getattr(mat, name)(mat.array(values)).to_numpy()
    assert_allclose(found, wanted, **allowed(dtype, name))
    numbers_only = ~np.isnan(wanted)
    assert_array_equal(np.signbit(found)[numbers_only], np.signbit(wanted)[numbers_only])
    for k, value in enumerate(values):  # one at a time, and so in another part of the loop
        assert_array_equal(getattr(mat, name)(mat.array([value], dtype)).to_numpy(), found[k:k + 1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*EXACT_OF_TWO, *COMPARISONS, "pow"])
def test_two_operands_with_specials(name, dtype):
    with np.errstate(all="ignore"):
        values = np.array(SPECIALS, dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    wanted = expected(getattr(np, name if name != "pow" else "power"), x, y)
    found = getattr(mat, name)(mat.array(x), mat.array(y)).to_numpy()
    assert found.dtype == wanted.dtype
    assert_allclose(found, wanted, rtol=1e-6 if name == "pow" and dtype == "float32" else 1e-14
                    if name == "pow" else 0)
    if name in COMPARISONS:
        place_ = mat.array(x)
        assert_array_equal(getattr(place_, name + "_")(mat.array(y)).to_numpy(),
                           wanted.astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*EXACT_OF_TWO, *COMPARISONS])
def test_two_operands_of_every_size_and_numbers(rng, name, dtype):
    function, reference = getattr(mat, name), getattr(np, name)
    for n in SIZES:
        a, b = numbers(rng, n, dtype), numbers(rng, n, dtype)
        x, y = mat.array(a), mat.array(b)
        for number in (0.1, -3, 2.5):
            assert_array_equal(function(x, number).to_numpy(), expected(reference, a, number))
            assert_array_equal(function(number, x).to_numpy(), expected(reference, number, a))
        assert_array_equal(function(x, y).to_numpy(), expected(reference, a, b))
        assert_array_equal(function(x, x).to_numpy(), expected(reference, a, a))
        assert_array_equal(getattr(x, name + "_")(y).to_numpy(),
                           expected(reference, a, b).astype(dtype))


BROADCASTS = (((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((2, 1, 4), (3, 4)),
              ((), (5,)), ((1, 1), (2, 3)),
              ((7, 600), (7, 1)), ((7, 600), (600,)), ((600, 1), (1, 7)), ((4, 1, 1, 5), (3, 1, 5)),
              ((0, 3), (1, 3)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_broadcasting_over_layouts(rng, layout, dtype):
    for one, other in BROADCASTS:
        a, b = numbers(rng, one, dtype), numbers(rng, other, dtype)
        for out_layout in ("packed", layout):
            out = place(np.zeros(np.broadcast_shapes(one, other), dtype), out_layout)
            mat.subtract(place(a, layout), place(b, layout), out=out)
            assert_array_equal(out.to_numpy(), a - b)
            check_hidden(out)
            flags = place(np.zeros(out.shape, bool), out_layout)
            assert_array_equal(mat.less(place(a, layout), place(b, layout), out=flags).to_numpy(),
                               a < b)
            check_hidden(flags)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("width", [1, 2, 3, 16, 17, 48, 64, 65])
def test_short_rows_are_done_together(rng, width, dtype):
    for others in ((30,), (2, 40), (50, 3), (9000,)):
        shape = *others, width
        a, b = (numbers(rng, 2 * np.prod(shape), dtype).reshape(2, *shape) for _ in range(2))
        mask = rng.random(shape) < 0.5
        x, y, m = mat.array(a), mat.array(b), mat.array(mask)
        for part in (np.s_[0], np.s_[0, ..., :1], np.s_[0, ..., ::-1], np.s_[0, :1],
                     (0,) * len(shape)):
            condition = mask[part[1:]] if isinstance(part, tuple) else mask
            for found, wanted in (
                    (x[1] * y[part], a[1] * b[part]), (y[part] - x[1], b[part] - a[1]),
                    (mat.where(mat.array(condition), x[1], y[part]),
                     np.where(condition, a[1], b[part])),
                    (x[1] + y[part].astype("int16"), a[1] + b[part].astype("int16")),
                    (mat.add(x[1], y[part], out=x[0, ..., ::-1]),
                     np.add(a[1], b[part], out=a[0, ..., ::-1]))):
                assert_array_equal(found.to_numpy(), wanted, strict=True)
        assert_array_equal(x.to_numpy(), a)
        assert_array_equal(m.to_numpy(), mask)


def steps(x):
    """Return the strides of axes with several elements: no other one is walked along."""
    return [s for n, s in zip(x.shape, x.strides, strict=True) if n > 1]


@pytest.mark.parametrize("shape", [(64, 64), (63, 65), (200, 301), (17, 1, 300), (20, 30, 40)])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool", "complex64"])
def test_operands_stored_by_columns(rng, shape, dtype):
    """The results are computed and stored by columns, too, unless an operand is not."""
    a, b = (numbers(rng, shape, dtype).T for _ in range(2))
    x, y = mat.array(a.T.copy()).T, mat.array(b.T.copy()).T
    whole = a.dtype.kind in "iub"
    for line in ("x + y", "x * y", "x == y", "x != 0", "abs(x)", "xp.where(x == y, x, y)",
                 "x + y[:1]", "x + y.copy()", *(["x & y"] if whole else ["xp.exp(x)"])):
        with np.errstate(all="ignore"):
            wanted = eval(line, {"xp": np, "x": a, "y": b})
        found = eval(line, {"xp": mat, "x": x, "y": y})
        assert found.dtype == wanted.dtype
        assert steps(found) == steps(wanted), line
        assert not found.is_view
        assert_allclose(found.to_numpy(), wanted, rtol=0 if whole else 1e-5, err_msg=line)


def test_both_operands_spread_along_a_row():
    x, y, out = mat.array([[1.0], [2]]), mat.array([[10.0], [20]]), mat.empty(2, 5)
    assert_array_equal(mat.add(x, y, out=out).to_numpy(), np.array([[11.0] * 5, [22] * 5]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_results_past_the_caches(rng, dtype):
    n = STREAM // np.dtype(dtype).itemsize + 1237
    a, b = rng.random(n + 3, dtype=dtype), rng.random(n + 3, dtype=dtype)
    x, y = mat.from_numpy(a), mat.from_numpy(b)
    for threads in (1, 3):
        with mat.settings(threads=threads):
            for start in (0, 1, 3):
                out = mat.zeros(n + 3, dtype=dtype)
                mat.add(x[start:start + n], y[:n], out=out[start:start + n])
                wanted = np.zeros(n + 3, dtype)
                wanted[start:start + n] = a[start:start + n] + b[:n]
                assert_array_equal(out.to_numpy(), wanted)


def test_threads_do_not_matter(rng):
    a = rng.standard_normal((301, 977))
    results = []
    for threads in (1, 2, 5):
        with mat.settings(threads=threads):
            x = mat.array(a)
            results.append([mat.exp(x).to_numpy(), mat.tanh(x.T).to_numpy(),
                            (x * x[:, :1]).to_numpy()])
    for others in results[1:]:
        for found, wanted in zip(others, results[0], strict=True):
            assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_kernels_do_it(dtype):
    x, y, out = (mat.ones(3, 4, dtype=dtype) for _ in range(3))
    flags = mat.zeros(3, 4, dtype="bool")
    for name in (*EXACT, *MATHEMATICS):
        assert facet_for(name, x, out) == facet_for(name, x,
                                                  x) == facet_for(name, x.T, out.T) == "foreign"
    for name in (*EXACT_OF_TWO, "pow"):
        assert facet_for(name, x, y, out) == facet_for(name, x, 2.0,
                                                     x) == facet_for(name, 2, y, out) == "foreign"
    for name in COMPARISONS:
        assert facet_for(name, x, y, flags) == facet_for(name, x, 0.5, out) == "foreign"
    assert facet_for("fill", 1, x) == facet_for("geem", 1, x, y, 0,
                                              out) == facet_for("add_sign", 1, x, 2,
                                                               out) == "foreign"
    assert facet_for("geerv", 1, x, y[0], 0, out) == "foreign"


def test_numpy_does_what_they_cannot():
    x, single = mat.ones(6), mat.ones(6, dtype="float32")
    waves, half = mat.ones(6, dtype="complex64"), mat.ones(6, dtype="float16")
    assert facet_for("sqrt", waves, waves) == facet_for("add", half, half, single) == (
        facet_for("add", x, 2**60, x)) == facet_for("add", single, np.float64(2), single) == "array"
    assert facet_for("add", x, np.float64(2), x) == facet_for("add", single, True, single) == (
        facet_for("add", half, 0.1, half)) == "foreign"
    assert facet_for("add", x[:5], 1, x[1:]) == facet_for("geem", 1, x[:5], x[:5], 1,
                                                        x[1:]) == "array"
    assert facet_for("less", x, 1, x[:]) == "foreign"  # the same elements through another Mat
    assert_array_equal(mat.add(x[:5], mat.arange(6.0)[1:], out=x[1:]).to_numpy(), [2, 3, 4, 5, 6])


def test_partial_overlap_is_as_if_copied(rng):
    a = rng.standard_normal(3000)
    x, wanted = mat.array(a), a.copy()
    mat.exp(x[:-1], out=x[1:])
    wanted[1:] = np.exp(a[:-1])
    assert_allclose(x.to_numpy(), wanted, rtol=1e-15)


def test_elements_of_other_dtypes_are_converted():
    x, single, whole = mat.ones(6), mat.ones(6, dtype="float32"), mat.ones(6, dtype="int32")
    assert facet_for("add", x, single, x) == facet_for("less", single, np.float64(2), x > 0) == (
        facet_for("exp", whole, x)) == facet_for("multiply", whole, 2.5, x) == "foreign"
    assert facet_for("add", whole, whole[:], mat.ones(6, dtype="int64")) == "array"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16",
                                   "bfloat16", "float32",
                                   "float64", "complex64", "complex128"])
@pytest.mark.sample(3)
def test_fill(dtype):
    special = {"bool": 1, "int64": 2**62 + 1, "uint64": 2**62 + 1}
    value = special.get(dtype, 1.5 - 2j if dtype.startswith("c") else 3)
    for shape in ((3, 4), (1031, 1033), ()):
        for layout in ("packed", "strided", "transposed", "negative"):
            x = place(np.zeros(shape, mat.zeros(1, dtype=dtype).dtype), layout)
            x.fill_(value)
            assert_array_equal(x.to_numpy(), np.full(shape, value, x.dtype))
            check_hidden(x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fused_with_nan_where_nothing_is_read(rng, dtype):
    a, b, v = numbers(rng, (40, 70), dtype), numbers(rng, (40, 70), dtype), numbers(rng, 70, dtype)
    tolerance = {"rtol": 8 * np.finfo(dtype).eps, "atol": 8 * np.finfo(dtype).eps}
    for layout in LAYOUTS:
        x, y, w = place(a, layout), place(b, layout), place(v, layout)
        for alpha, beta in ((2, 0), (1, 1), (-0.5, 2)):
            old = np.full_like(a, np.nan) if beta == 0 else b
            rest = 0 if beta == 0 else beta * b
            assert_allclose(mat.geem(alpha, x, y, beta, place(old, layout)).to_numpy(),
                            alpha * a * b + rest, **tolerance)
            assert_allclose(mat.geerv(alpha, x, w, beta, place(old, layout)).to_numpy(),
                            alpha * a * v + rest, **tolerance)
            assert_allclose(mat.add_sign(alpha, x, beta, place(old, layout)).to_numpy(),
                            alpha * np.sign(a) + rest, **tolerance)
        assert_array_equal(mat.scale_columns(w, x).to_numpy(), a * v)
        assert_array_equal(mat.scale_rows(place(v[:40], layout), x).to_numpy(), a * v[:40, None])
        assert_array_equal(x.scale_columns_(w).to_numpy(), a * v)


@pytest.mark.parametrize("dtype", INTEGERS)
@np.errstate(all="ignore")
def test_division_by_one_integer(rng, dtype):
    """It multiplies instead: by every divisor of 8 bits, by edges and powers of 2 of others."""
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        a, divisors = np.arange(limits.min, limits.max + 1).astype(dtype), range(limits.min,
                                                                                 limits.max + 1)
    else:
        edges = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, 2, 3]
        a = np.array([*rng.integers(limits.min, limits.max, 500, dtype, endpoint=True), *edges],
                     dtype)
        powers = [2**k + off for k in range(2, limits.bits - 1) for off in (-1, 0, 1)]
        divisors = [d for d in (*edges, *powers, *range(-9, 10), -limits.max)
                    if max(limits.min, -2**53) <= d <= min(limits.max, 2**53)]
    x = mat.from_numpy(a)
    for divisor in divisors:
        for rule in (np.floor_divide, np.remainder):
            assert_array_equal(rule(x, divisor).to_numpy(), rule(a, np.dtype(dtype).type(divisor)),
                               err_msg=f"by {divisor}")
    for divisor in np.unique([limits.min, limits.min + 1, *a[:9], limits.max - 1, limits.max]):
        for rule in (np.floor_divide, np.remainder):  # numbers beyond 2**53, too
            one = np.full(1, divisor, dtype)
            assert_array_equal(rule(x, mat.array(one)).to_numpy(), rule(a, one))


def pairs_to_divide(rng, dtype):
    """Yield pairs of vectors: any bits, edges, multiples of the divisors and their neighbours."""
    size, dtype = 600, np.dtype(dtype)
    bits = rng.integers(0, 256, 2 * size * dtype.itemsize, np.uint8).view(dtype)
    yield bits[:size], bits[size:]
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        edges = [0, -0.0, 1, -1, 0.1, 3, np.inf, -np.inf, np.nan, limits.max, limits.tiny,
                 -limits.smallest_subnormal, 2**21, 2**22, 2**50, 2**52]
        by = rng.standard_normal(size).astype(dtype)
        multiples = (by * rng.integers(-10**6, 10**6, size)).astype(dtype)
        near = np.nextafter(multiples, rng.choice(np.array([-np.inf, np.inf, 0], dtype), size))
        tiny = (rng.integers(-10**5, 10**5, size) * limits.smallest_subnormal).astype(dtype)
        yield near, by
        yield tiny, np.roll(tiny, 1)
    else:
        limits = np.iinfo(dtype)
        edges = [v for v in (0, 1, 2, 3, -1, -2, limits.min, limits.min + 1, limits.max, 2**31,
                             2**52 - 1, 2**52, 2**53 + 1) if limits.min <= v <= limits.max]
        by = rng.integers(1, min(limits.max, 2**26), size).astype(dtype)
        multiples = min(limits.max, 2**52 - 1) // by * by
        near = multiples - rng.integers(0, 2, size).astype(dtype)
        yield near, by
        yield near, by - by[::-1]  # of both signs
    yield rng.choice(np.array(edges, dtype), size), rng.choice(np.array(edges, dtype), size)


@pytest.mark.parametrize("rule", [np.floor_divide, np.remainder, np.fmod],
                         ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@np.errstate(all="ignore")
def test_quotients_of_vectors(rng, dtype, rule):
    """Vectors have them by a division of floating-point numbers, which is right next to integers,
    too.
    """
    for _ in range(5):
        for x, y in pairs_to_divide(rng, dtype):
            for a, b in ((x, y), (x, y[:1]), (x[:1], y), (x[::2], y[::-2])):
                found, wanted = rule(mat.array(a), mat.array(b)).to_numpy(), rule(a, b)
                assert_array_equal(found, wanted)
                if wanted.dtype.kind == "f":
                    assert_array_equal(np.signbit(found)[~np.isnan(wanted)],
                                       np.signbit(wanted)[~np.isnan(wanted)])


COMPLEX = {"add": 0, "subtract": 0, "multiply": 4, "divide": 8, "square": 4, "negative": 0,
           "conjugate": 0, "abs": 2}  # what parts may differ by, in eps of the modulus
WAVES = [complex(re, im) for re in (0.0, -0.0, 1.0, -3e18, np.inf, -np.inf, np.nan, 1e-40)
         for im in (0.0, -2.0, 1e15, np.inf, np.nan)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(rng, name, dtype):
    function, ours = getattr(np, name), getattr(mat, name, None) or getattr(np, name)
    a = np.concatenate([(rng.standard_normal(999) + 1j * rng.standard_normal(999)).astype(dtype),
                        np.array(WAVES).astype(dtype)])
    b = rng.permutation(a)
    for s, t in ((a, b), (a[::-2], b[1::2]), (a[:5], a[:1]), (a[:1], b), (a[:0], b[:0])):
        operands = (s, t) if function.nin == 2 else (s,)
        if function.nin == 2 and s.size != t.size and 1 not in (s.size, t.size):
            operands = (s[:t.size], t[:s.size])
        mats = [mat.array(a)[:0] if not v.size else mat.from_numpy(v) for v in operands]
        wanted, found = expected(function, *operands), np.asarray(ours(*mats))
        assert found.dtype == wanted.dtype
        tolerance = COMPLEX[name] * np.finfo(dtype).eps
        with np.errstate(all="ignore"):
            near = np.abs(found - wanted) <= tolerance * np.abs(wanted)
        assert_array_equal(np.isnan(found), np.isnan(wanted))
        assert (near | (found == wanted) | np.isnan(wanted) | np.isinf(wanted)).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_beside_python_ones(rng, dtype):
    a = (rng.standard_normal(70) + 1j * rng.standard_normal(70)).astype(dtype)
    x = mat.array(a)
    for ours, numpys in ((x * 2.0, a * 2.0), (1j - x, 1j - a), (x - 1.5, a - 1.5), (x + 3, a + 3),
                         (2 / x, 2 / a)):
        assert ours.dtype == dtype
        assert_allclose(np.asarray(ours), numpys, rtol=4 * np.finfo(dtype).eps)
    assert facet_for("multiply", x, 2.0, x) == facet_for("divide", x, x, x) == "foreign"


# Products of which the second has digits that one rounding for all of the sum would keep
FACTORS_OF_ONE = {"float32": 1 + 2.0**-12, "float64": 1 + 2.0**-30}


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_and_sums_are_rounded_separately(dtype):
    """So that every machine and device has the same bits: a fused instruction would leave the
    rounding error of a product here.
    """
    kind = np.dtype(dtype).type
    a = kind(FACTORS_OF_ONE[dtype])
    product = a * a  # rounded, so that it is off by the square of what is beside 1
    assert float(product) != float(FACTORS_OF_ONE[dtype])**2 or dtype == "float64"
    for n in (1, 3, 64, 1031):
        x, c = (mat.array(np.full(n, v, dtype)) for v in (a, -product))
        assert_array_equal(mat.geem(1, x, x, 1, c).to_numpy(), np.zeros(n, dtype))
        z = np.full(n, complex(a, a), f"complex{16 * np.dtype(dtype).itemsize}")
        w = np.full(n, complex(a, -a), z.dtype)
        found = [np.asarray(mat.array(v) * mat.array(u)) for v, u in ((z, z), (z, w), (w, z))]
        for got, wanted in zip(found, ((0, 2 * product), (2 * product, 0), (2 * product, 0)),
                               strict=True):
            assert_array_equal(got, np.full(n, complex(*wanted), z.dtype))
        assert_array_equal(np.asarray(mat.square(mat.array(z))), found[0])
