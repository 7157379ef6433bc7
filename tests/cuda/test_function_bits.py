"""Element-wise functions on the device, run by the C++ compiler, have the bits of the host's
kernels: functions of one and of two numbers, of every type that both compute in.
"""

import numpy as np
import pytest

import mat

from ..support.needs import native
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from .test_elementwise import BINARY, COMPARISONS, LINES, UNARY, dtype_of, operation, run, wide

pytestmark = [native, pytest.mark.skipif(not compiler(), reason="no C++ compiler")]
REAL = ("float32", "float64")
HALVES = ("float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
ARITHMETIC = ("add", "subtract", "multiply", "divide", "square", "negative", "conjugate", "abs")
FUSED = (("geem", 2), ("add_sign", 1))  # and how many operands they have beside numbers


def of_every_size(rng, dtype, count):
    """Numbers of all exponents, near 0, near 1 and of the sizes that functions take, and those that
    are special.
    """
    dtype = np.dtype(dtype)
    limits = np.finfo(dtype)
    sign = rng.choice([-1, 1], count)
    every = np.ldexp(rng.uniform(1, 2, count),
                     rng.integers(limits.minexp - limits.nmant, limits.maxexp - 1, count)) * sign
    kinds = [every, *(rng.uniform(-w, w, count) for w in (1, 4, 40, 800, 4e5, 1e8)),
             1 + rng.uniform(-1, 1, count) * 2.0**-rng.integers(0, limits.nmant + 1, count),
             np.round(rng.uniform(-40, 40, count)),
             np.arange(1, count + 1) * (np.pi / 4) * sign]
    special = [0, -0.0, 1, -1, 2, 0.5, -0.5, limits.max, -limits.max, limits.tiny,
               limits.smallest_subnormal, -limits.smallest_subnormal, 1 + limits.eps,
               1 - limits.epsneg, 2.0**19, 2.0**21, 1e9, np.inf, -np.inf, np.nan]
    with np.errstate(all="ignore"):
        return np.concatenate([*kinds, special]).astype(dtype)


def same_bits(found, wanted, *operands, parts=False):
    """All bits but those of NaN."""
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind == "c":
        return same_bits(found.view(found.real.dtype), wanted.view(wanted.real.dtype), *operands,
                         parts=True)
    words = f"u{wanted.itemsize}"
    off = found.view(words) != wanted.view(words)
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        off &= ~(np.isnan(wide(found)) & np.isnan(wide(wanted)))
    at = np.flatnonzero(off)
    where = at // 2 if parts else at
    assert not at.size, [(*(x[k] for x in operands), found[j], wanted[j])
                         for k, j in zip(where[:5], at[:5], strict=True)]
    return None


def on_host(name, *operands):
    """The result of the host's kernels, whatever computes on the device."""
    op = operation(name)
    found = op.result_of(*operands, None)[1]
    out = mat.empty(operands[0].shape, dtype=found)
    with np.errstate(all="ignore"), mat.use_device("cpu"):
        op(*operands, out)
    return out


def compare(name, *arrays):
    mats = [mat.array(a) for a in arrays]
    wanted = on_host(name, *mats)
    out = mat.zeros(wanted.shape, dtype=wanted.dtype)
    run(name, *mats, out)
    same_bits(out.to_numpy(), wanted.to_numpy(), *arrays)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", [n for n in UNARY if LINES[n].computes("f32")])
def test_functions_of_one_number(rng, name, dtype):
    compare(name, of_every_size(rng, dtype, 1000))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", [n for n in (*BINARY, *COMPARISONS) if LINES[n].computes("f32")])
def test_functions_of_two_numbers(rng, name, dtype):
    x = of_every_size(rng, dtype, 400)
    special = x[-20:]
    compare(name, x, rng.permutation(x))
    compare(name, np.repeat(special, 20), np.tile(special, 20))
    near = x[:-20]
    compare(name, near, near * np.asarray(rng.uniform(-2, 2, near.size), dtype) / 4)


def every_half(dtype):
    return np.arange(1 << 16, dtype=np.uint16).view(dtype_of(dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", [n for n in UNARY if LINES[n].computes("f16")])
def test_functions_of_every_16_bit_float(name, dtype):
    x = every_half(dtype)
    compare(name, x)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", [n for n in (*BINARY, *COMPARISONS)
                                  if LINES[n].computes("f16") and n != "nextafter"])
def test_functions_of_two_16_bit_floats(rng, name, dtype):
    x = every_half(dtype)
    compare(name, x, rng.permutation(x))
    with np.errstate(over="ignore"):
        x = np.concatenate([of_every_size(rng, "float32", 400)[-150:],
                            rng.uniform(-4, 4, 100)]).astype(dtype_of(dtype))
    compare(name, np.repeat(x, x.size), np.tile(x, x.size))


@pytest.mark.parametrize("dtype", [*REAL, *HALVES])
def test_clip(rng, dtype):
    with np.errstate(over="ignore"):
        x = of_every_size(rng, "float32", 300).astype(dtype_of(dtype))
    special = x[-20:]
    for low, high in ((x, rng.permutation(x)), (special[5], special[3])):
        compare("clip", x, *(np.broadcast_to(b, x.shape).copy() for b in (low, high)))
    compare("clip", np.repeat(special, 400), np.tile(np.repeat(special, 20), 20),
            np.tile(special, 400))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_complex_arithmetic(rng, name, dtype):
    """Products and sums are rounded separately on both sides."""
    parts = of_every_size(rng, np.finfo(dtype).dtype, 500), rng.standard_normal(6000)
    parts = np.concatenate(parts).astype(np.finfo(dtype).dtype)
    x, y = (np.stack([rng.permutation(parts) for _ in "ri"], -1).view(dtype)[:, 0] for _ in "xy")
    compare(name, *((x, y) if LINES[name].macro.startswith("BINARY") else (x,)))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("name", "count"), FUSED)
def test_fused(rng, name, count, dtype):
    operands = [of_every_size(rng, dtype, 300) for _ in range(count)]
    old = of_every_size(rng, dtype, 300)
    for alpha, beta in ((1.1, 0), (0.3, 1), (-0.7, 1 / 3)):
        wanted, out = mat.array(old), mat.array(old)
        mats = [mat.array(a) for a in operands]
        with np.errstate(all="ignore"):
            operation(name)(alpha, *mats, beta, wanted)
        run(name, alpha, *mats, beta, out)
        same_bits(out.to_numpy(), wanted.to_numpy(), *operands, old)
