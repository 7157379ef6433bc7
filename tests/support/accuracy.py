"""Accuracy of the vector mathematics: ``python -m tests.support.accuracy`` prints the table of
``docs/accuracy.md``.

An error is counted in ULP, units in the last place of the exact result, which mpmath computes in
120 bits, or the machine's long double where that has 64 bits, or, for float32, SciPy in float64.
The nearest number has an error of at most 0.5.
"""

import math
import sys

import mpmath
import numpy as np
import scipy.special

from mat.support.native import ffi, lib

from . import functions
from .functions import MATHEMATICS_OF_TWO as OF_TWO_BY_NAME

NAMES = ffi.string(lib.mat_vmath_names()).decode().split() if lib is not None else []
# the functions by their names in C, and those of two numbers among them
FUNCTIONS = {f.c_name or name: f for name, f in (functions.FUNCTIONS | OF_TWO_BY_NAME).items()
             if f.ulps is not None}
OF_TWO = [f.c_name or name for name, f in OF_TWO_BY_NAME.items()]
# What is promised, in ULP: float64, float32; on machines without fused multiply and add, too,
# which lose up to 0.5 in quotients
PROMISED = {name: f.ulps for name, f in FUNCTIONS.items()}
WIDE_ENOUGH = np.finfo(np.longdouble).nmant >= 63
EXACTLY = {"logistic": lambda x: 1 / (1 + mpmath.exp(-x)), "pow": mpmath.power,
           "exp2": lambda x: mpmath.power(2, x), "log2": lambda x: mpmath.log(x, 2),
           "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
           "logaddexp": lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))}


def kernel(name, x, y=None):
    """The result of `mat`'s function for arrays of one dtype."""
    x = np.ascontiguousarray(x)
    y = x if y is None else np.ascontiguousarray(y, x.dtype)
    out = np.empty_like(x)
    kind, pointer = {"d": ("f64", "double *"), "f": ("f32", "float *")}[x.dtype.char]
    function = getattr(lib, f"mat_vmath_{kind}")
    function(NAMES.index(name), x.size, *(ffi.cast(pointer, a.ctypes.data) for a in (x, y, out)))
    return out


def exact(name, *operands):
    """The exact results, rounded to float64, and what is left of them, in float64's ULP."""
    with mpmath.workprec(160):
        function = np.vectorize(EXACTLY.get(name) or getattr(mpmath, name), otypes=[object])
        found = function(*(np.array([mpmath.mpf(float(v)) for v in x], object) for x in operands))
        high = found.astype(np.float64)
        low = np.array([float((v - mpmath.mpf(float(h))) / mpmath.mpf(float(u))) if math.isfinite(h)
                        else 0.0
                        for v, h, u in zip(found, high, unit(high, np.float64), strict=True)])
    return high, low


def wide(name, *operands):
    """The same, fast: from long double for float64, from float64 for float32."""
    if operands[0].dtype.char == "f":
        return _reference(name, *(x.astype(np.float64) for x in operands)), 0.0
    if not WIDE_ENOUGH or name == "erf":
        return exact(name, *(x[:2000] for x in operands))
    found = _reference(name, *(x.astype(np.longdouble) for x in operands))
    high = found.astype(np.float64)
    return high, np.where(np.isfinite(high), (found - high) / unit(high, np.float64),
                          0).astype(np.float64)


def _reference(name, *x):
    if name == "logistic":
        e = np.exp(-np.abs(x[0]))
        return np.where(x[0] < 0, e, 1) / (1 + e)
    return scipy.special.erf(*x) if name == "erf" else FUNCTIONS[name].reference(*x)


def unit(x, dtype):
    """One unit in the last place that numbers of `dtype` near `x` have."""
    limits = np.finfo(dtype)
    _, exponent = np.frexp(np.where(np.isfinite(x), x, 1))
    return np.ldexp(1.0, np.maximum(exponent - 1, limits.minexp) - limits.nmant)


def ulps(got, high, low=0.0):
    """How far `got` is from `high` and `low`, in units of its dtype's last place; infinite for a
    wrong infinity or NaN.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = high.astype(got.dtype)
        error = np.abs((got.astype(np.float64) - high) / unit(high, got.dtype) - low)
    alike = (nearest == got) | (np.isnan(nearest) & np.isnan(got))
    return np.where(np.isfinite(nearest) & np.isfinite(got), error, np.where(alike, 0, np.inf))


def arguments(name, dtype, count, rng):
    """`count` numbers, or pairs of them for functions of two, of each kind: all exponents, and
    ranges where the function does its work.
    """
    limits = np.finfo(dtype)
    sign = rng.choice([-1, 1], count)
    every = np.ldexp(rng.uniform(1, 2, count),
                     rng.integers(limits.minexp - limits.nmant, limits.maxexp - 1, count))
    if name == "pow":
        base, wide_base = rng.uniform(0.5, 2, count), np.exp(rng.uniform(-80, 80, count))
        top = math.log(float(limits.max))
        pairs = [(every, rng.uniform(-2, 2, count)),
                 (wide_base, rng.uniform(-1, 1, count) * top / np.log(wide_base)),
                 (base, rng.uniform(-1, 1, count) * top / np.abs(np.log(base))),
                 (rng.uniform(0, 100, count), 2 * sign),
                 (1 + rng.uniform(-1, 1, count) * 2.0 ** -rng.integers(2, 20, count),
                  rng.uniform(-1e4, 1e4, count))]
        return [tuple(x.astype(dtype) for x in pair) for pair in pairs]
    if name in OF_TWO:
        other = rng.permutation(every) * rng.choice([-1, 1], count)
        half = every / 4
        near = half * rng.uniform(-3, 3, count)
        pairs = [(every * sign, other), (near, half), (half, near),
                 *((rng.uniform(-w, w, count), rng.uniform(-w, w, count)) for w in (1, 9, 200))]
        with np.errstate(over="ignore"):
            pairs = [tuple(x.astype(dtype) for x in pair) for pair in pairs]
        # where sums cancel, or results are smaller than normal numbers, no digits are promised
        return [tuple(np.abs(x) for x in pair) for pair in pairs] if name == "logaddexp" else pairs
    width = 4 * limits.maxexp  # beyond the largest argument of exp
    kinds = [every * sign, rng.uniform(-1, 1, count), rng.uniform(-4, 4, count),
             rng.uniform(-40, 40, count),
             rng.uniform(-0.75, 0.75, count) * limits.maxexp, rng.uniform(-width, width, count),
             rng.uniform(0.5, 1.5, count),
             rng.uniform(-1, 1, count) * 2.0 ** -rng.integers(0, 60, count),
             rng.uniform(-4e5, 4e5, count)]
    if name == "acosh":
        kinds = [1 + np.abs(x) if np.abs(x).max() < limits.max / 4 else np.abs(x) for x in kinds]
    return [((np.abs(x) if name in ("log", "log2", "log10") else x).astype(dtype),)
            for x in kinds]


def worst(name, dtype, function, count=100_000, seed=1):
    """The largest error of `function` over `arguments`, and where it is."""
    found = (0.0, ())
    for operands in arguments(name, dtype, count, np.random.default_rng(seed)):
        with np.errstate(all="ignore"):
            high, low = wide(name, *operands)
            operands = tuple(x[:high.size] for x in operands)
            error = ulps(function(*operands), high, low)
        k = int(np.argmax(error))
        found = max(found, (float(error[k]), tuple(float(x[k]) for x in operands)),
                    key=lambda pair: pair[0])
    return found


def rivals(name):
    """The functions of NumPy or SciPy, and of torch where it is installed."""
    theirs = {"erf": scipy.special.erf, "logistic": scipy.special.expit}
    found = {"NumPy, SciPy": theirs.get(name) or FUNCTIONS[name].reference}
    torch = sys.modules.get("torch")
    if torch and name != "cbrt":
        function = torch.sigmoid if name == "logistic" else getattr(torch, name)
        found["torch"] = lambda *x: function(*map(torch.from_numpy, x)).numpy()
    return found


def main():
    try:
        __import__("torch")
    except ImportError:
        print("torch is not installed\n")
    print("| function | dtype | promised | mat | at | NumPy, SciPy | torch "
          "|\n|---|---|---|---|---|---|---|")
    for name in PROMISED:
        for dtype, promised in zip((np.float64, np.float32), PROMISED[name], strict=True):
            error, where = worst(name, dtype, lambda *x, name=name: kernel(name, *x))
            others = {who: worst(name, dtype, f)[0] for who, f in rivals(name).items()}
            cells = [f"{others[who]:.3g}" if who in others else ""
                     for who in ("NumPy, SciPy", "torch")]
            print(f"| {name} | {dtype.__name__} | {promised} | {error:.3g} | "
                  f"{', '.join(f'{w:.6g}' for w in where)} | "
                  f"{' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
