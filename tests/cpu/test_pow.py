"""Powers are computed in groups, with a form for ordinary numbers and one for the others, and with
AVX-512 by other instructions: the bits do not depend on it.
"""

import subprocess

import cffi
import numpy as np
import pytest

import mat
from mat.native import build
from mat.support.native import lib

from ..support.accuracy import PROMISED, arguments, kernel, ulps, wide
from ..support.machine import LEVELS, runs

pytestmark = pytest.mark.skipif(lib is None, reason="the kernels are not compiled")
TYPES = {np.float32: ("f32", "float *"), np.float64: ("f64", "double *")}
dtypes = pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.__name__)


def special_pairs(dtype):
    limits = np.finfo(dtype)
    values = np.array([0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, np.inf, -np.inf, np.nan,
                       limits.smallest_subnormal, -limits.smallest_subnormal, limits.tiny / 3,
                       limits.tiny, limits.max, -limits.max, 1 + limits.eps, 1 - limits.epsneg,
                       2.0**24 - 1, 2.0**53 - 1, 1e17], dtype)
    return [a.ravel() for a in np.meshgrid(values, values)]


def pairs(dtype, count, rng):
    """Ordinary numbers, negative ones with whole and other exponents, and special ones."""
    kinds = [*arguments("pow", dtype, count, rng), special_pairs(dtype),
             (rng.standard_normal(count).astype(dtype), np.rint(rng.uniform(-40, 40, count))),
             (-rng.uniform(0, 9, count), rng.uniform(-9, 9, count)),
             (rng.uniform(0, 9, count), rng.uniform(-2000, 2000, count))]
    return [np.concatenate(x).astype(dtype) for x in zip(*kinds, strict=True)]


def same_bits(found, wanted, *operands):
    """All bits but those of NaN."""
    words = f"u{wanted.itemsize}"
    off = (found.view(words) != wanted.view(words)) & ~(np.isnan(found) & np.isnan(wanted))
    assert not off.any(), [x[off][:5] for x in (*operands, found, wanted)]


@dtypes
def test_bits_do_not_depend_on_what_is_computed_beside(dtype, rng):
    """Each number alone, and among others in any order."""
    x, y = pairs(dtype, 300, rng)
    with np.errstate(all="ignore"):
        alone = np.concatenate([kernel("pow", x[k:k + 1], y[k:k + 1]) for k in range(x.size)])
    same_bits(kernel("pow", x, y), alone, x, y)
    for _ in range(3):
        order = rng.permutation(x.size)
        same_bits(kernel("pow", x[order], y[order]), alone[order], x[order], y[order])


@dtypes
def test_one_operand_can_be_one_number(dtype, rng):
    x, y = pairs(dtype, 30, rng)
    for k in rng.permutation(x.size)[:50]:
        with np.errstate(all="ignore"):
            base, power = float(x[k]), float(y[k])
            rule = {2: np.square, 0.5: np.sqrt}.get(power)
            wanted = rule(x) if rule else kernel("pow", x, np.full_like(x, power))
            same_bits(mat.pow(mat.array(x), power).to_numpy(), wanted, x)
            wanted = np.where(y == 2, x[k] * x[k], kernel("pow", np.full_like(y, base), y))
            same_bits(mat.pow(base, mat.array(y)).to_numpy(), wanted, y)


@dtypes
@pytest.mark.parametrize("size", [1, 7, 8, 15, 33, 64, 257])
def test_squares_and_results_in_place(dtype, size, rng):
    """Where the exponent is 2, products; the result may replace either operand."""
    x, y = rng.standard_normal(size).astype(dtype), rng.integers(1, 4, size).astype(dtype)
    wanted = np.where(y == 2, x * x, kernel("pow", x, y))
    for which in range(3):
        operands = mat.array(x), mat.array(y)
        out = mat.zeros(size, dtype=dtype) if which == 2 else operands[which]
        same_bits(mat.pow(*operands, out=out).to_numpy(), wanted, x, y)


def compiled_for(level, folder):
    """Return the powers of a library of this one file for a level of x86-64."""
    target = folder / "pow.so"
    subprocess.run(["gcc", *build.FLAGS, *build.for_source("pow.c"), "-fvisibility=default",
                    f"-march={level}", "-DMAT_NO_CLONES", "-shared", "-fPIC", "-o", target, "pow.c",
                    *(f"-I{path}" for path in build.FOLDERS), "-lm"],
                   check=True, cwd=build.HERE / "cpu")
    types = cffi.FFI()
    types.cdef((build.HERE / "cpu" / "pow.h").read_text(encoding="ascii"))
    return types, types.dlopen(str(target))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.sample(1)
def test_code_for_every_machine(level, tmp_path, rng):
    """With fused multiply-add the bits are the same, without it the error is as promised."""
    if not runs(level):
        pytest.skip("not on this machine")
    types, other = compiled_for(level, tmp_path)
    for place, (dtype, (suffix, pointer)) in enumerate(reversed(TYPES.items())):
        x, y = pairs(dtype, 3000, rng)
        out = np.empty_like(x)
        getattr(other, f"mat_powers_{suffix}")(
            x.size, types.cast(pointer, x.ctypes.data), 1, types.cast(pointer, y.ctypes.data), 1,
            types.cast(pointer, out.ctypes.data), 0)
        if LEVELS[level]:
            same_bits(out, kernel("pow", x, y), x, y)
        with np.errstate(all="ignore"):
            error = ulps(out, *wide("pow", x, y))
        assert error.max() <= PROMISED["pow"][place], (x[error.argmax()], y[error.argmax()])
