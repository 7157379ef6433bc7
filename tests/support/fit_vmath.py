"""The polynomials of ``mat/native/shared/vmath_*_inline.h`` and ``trig_inline.h`` beside them,
fitted anew: ``python -m tests.support.fit_vmath [name]`` prints them, and the coefficients that
are not in these files.

A minimax fit by Remez's exchange (E. Remez, 1934) on a dense grid, in 50 digits of mpmath.
Coefficients are rounded to the type one after another, the lowest first, and the rest is fitted
again around those that are rounded already.
"""

import itertools
import re
import sys
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np

NATIVE = Path(__file__).parents[2] / "mat" / "native"
HEADERS = (*NATIVE.glob("shared/vmath_*_inline.h"), NATIVE / "shared" / "trig_inline.h")

mp.mp.dps = 50


def exchange(error, count):
    """Return `count` indices of largest errors with alternating signs."""
    found = []
    for k, e in enumerate(error):
        if not found or (e > 0) != (error[found[-1]] > 0):
            found.append(k)
        elif abs(e) > abs(error[found[-1]]):
            found[-1] = k
    while len(found) > count:
        found.pop(0 if abs(error[found[0]]) < abs(error[found[-1]]) else -1)
    return found


def remez(values, basis, weight):
    """Return coefficients with the least ``max |weight * (values - sum c_k basis_k)|``."""
    n, last = len(basis), len(values) - 1
    at = [round(last * (1 - np.cos(np.pi * k / n)) / 2) for k in range(n + 1)]
    for _ in range(30):
        rows = mp.matrix([[weight[i] * b[i] for b in basis] + [(-1) ** k] for k,
                          i in enumerate(at)])
        found = list(mp.lu_solve(rows, mp.matrix([weight[i] * values[i] for i in at])))
        error = [w * (v - mp.fdot(found[:n], [b[i] for b in basis])) for i,
                 (v, w) in enumerate(zip(values, weight,
                                          strict=True))]
        new = exchange(error, n + 1)
        if len(new) <= n or new == at:
            break
        at = new
    return found[:n]


def least_squares(values, basis, weight):
    """Return nearly the same coefficients as `remez`, by least squares.

    There is no exchange where the whole basis is 0 at a point of the grid.
    """
    rows = [[w * b[i] for b in basis] for i, w in enumerate(weight)]
    return list(mp.lu_solve(mp.matrix(rows),
                            mp.matrix([w * v for w, v in zip(weight, values, strict=True)])))


def fit(function, powers, low, high, *, weight=lambda x: 1, fixed=(), single=False):
    """Return rounded coefficients of `function` on [low, high], and the weighted error.

    `powers` are those of x; `fixed` has the given coefficients of the first ones.
    """
    points = 24 * len(powers) + 50
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / points)
            for k in range(points)]
    weights = [mp.mpf(weight(x)) for x in grid]
    rest = [mp.mpf(function(x)) for x in grid]
    done = []
    for k, p in enumerate(powers):
        if k < len(fixed):
            c = mp.mpf(fixed[k])
        else:
            solve = least_squares if powers[k] and low < 0 < high else remez
            c = solve(rest, [[x ** q for x in grid] for q in powers[k:]], weights)[0]
        c = mp.mpf(float(np.float32(float(c)) if single else float(c)))
        done.append(c)
        rest = [r - c * x ** p for r, x in zip(rest, grid, strict=True)]
    return done, max(abs(w * r) for w, r in zip(weights, rest, strict=True))


def exp_tail(r):
    """``(exp(r) - 1 - r) / r**2``"""
    return mp.nsum(lambda k: r ** k / mp.factorial(k + 2),
                   [0, 40]) if abs(r) < 1 else (mp.exp(r) - 1 - r) / r ** 2


def log_tail(z):
    """``(log((1 + s) / (1 - s)) / s - 2) / z`` for ``z = s * s``"""
    return mp.fsum(2 * z ** k / (2 * k + 3) for k in range(60))


def log_cubic(f):
    """``(log(1 + f) - f + f**2 / 2) / f**3``"""
    return mp.fsum((-f) ** k / (k + 3) for k in range(150))


def sin_tail(z):
    """``(sin(r) / r - 1) / z`` for ``z = r * r``"""
    return mp.fsum((-1) ** (k + 1) * z ** k / mp.factorial(2 * k + 3) for k in range(30))


def cos_tail(z):
    """``(cos(r) - 1 + z / 2) / z**2`` for ``z = r * r``"""
    return mp.fsum((-1) ** k * z ** k / mp.factorial(2 * k + 4) for k in range(30))


def erf_tail(z):
    """``erf(x) / x - 1`` for ``z = x * x``"""
    return mp.fsum((-z) ** k / (mp.factorial(k) * (2 * k + 1))
                   for k in range(40)) * 2 / mp.sqrt(mp.pi) - 1


def log_erfc(t):
    """``log(erfc(1 + t))``"""
    return mp.log(mp.erfc(1 + t))


def log2_ratio(r):
    """``log2(1 + r) / r``"""
    return mp.fsum((-r) ** k / (k + 1) for k in range(60)) / mp.log(2)


def log_cubic_ratio(r):
    """``(log(1 + r) / r - 1 + r / 2) / r**2``"""
    return mp.fsum((-r) ** k / (k + 3) for k in range(60))


def exp2_ratio(r):
    """``(2**r - 1) / r``"""
    return mp.fsum(mp.log(2) ** k * r ** (k - 1) / mp.factorial(k) for k in range(1, 40))


def asin_tail(z):
    """``(asin(x) / x - 1) / z`` for ``z = x * x``"""
    return mp.fsum(mp.binomial(2 * k, k) / (mp.mpf(4) ** k * (2 * k + 1)) * z ** (k - 1)
                   for k in range(1, 100))


def atan_tail(z):
    """``(atan(x) / x - 1) / z`` for ``z = x * x``"""
    if z > 1e-3:
        return (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
    return mp.fsum((-1) ** k * z ** (k - 1) / (2 * k + 1) for k in range(1, 40))


def tanh_tail(z):
    """``(tanh(x) / x - 1) / z`` for ``z = x * x``"""
    if z > 1e-5:
        return (mp.tanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
    return mp.fsum(c * z ** k for k, c in enumerate(
        (mp.mpf(-1) / 3, mp.mpf(2) / 15, mp.mpf(-17) / 315, mp.mpf(62) / 2835)))


def inverse_cbrt(x):
    """``x ** (-1 / 3)``"""
    return 1 / mp.cbrt(x)


HALF_LN2, QUARTER_PI = mp.mpf("0.3467"), mp.mpf("0.7855")
ATAN_Z = (mp.sqrt(2) - 1) ** 2 * (1 + mp.mpf("1e-6"))
POW_R, SIXTEENTH = mp.mpf("0.022706078125"), mp.mpf("0.031251")  # half of 1 / 16
LOG_Z = mp.mpf("0.02945")  # of ((sqrt(2) - 1) / (sqrt(2) + 1))**2
FITS = {
    "exp_f64": lambda: fit(exp_tail, range(10), -HALF_LN2, HALF_LN2, weight=lambda r: r * r,
                           fixed=(0.5,)),
    "exp_f32": lambda: fit(exp_tail, range(5), -HALF_LN2, HALF_LN2, weight=lambda r: r * r,
                           fixed=(0.5,), single=True),
    "exp_f32_double": lambda: fit(exp_tail, range(6), -HALF_LN2, HALF_LN2, weight=abs,
                                  fixed=(0.5,)),
    "log_f64": lambda: fit(log_tail, range(7), mp.mpf(0), LOG_Z, weight=lambda z: z),
    "log_f32_double": lambda: fit(log_tail, range(4), mp.mpf(0), LOG_Z, weight=lambda z: z),
    "log_f32": lambda: fit(log_cubic, range(8), mp.mpf(-1) / 3 - mp.mpf("1e-4"),
                           mp.mpf(1) / 3 + mp.mpf("1e-4"),
                           weight=lambda f: f * f, single=True),
    "sin_f64": lambda: fit(sin_tail, range(6), mp.mpf(0), QUARTER_PI ** 2, weight=lambda z: z),
    "cos_f64": lambda: fit(cos_tail, range(6), mp.mpf(0), QUARTER_PI ** 2, weight=lambda z: z * z),
    "sin_f32_double": lambda: fit(sin_tail, range(4), mp.mpf(0), mp.mpf("1.5709") ** 2,
                                  weight=lambda z: z),
    "sin_quarter_f32_double": lambda: fit(sin_tail, range(4), mp.mpf(0), QUARTER_PI ** 2,
                                          weight=lambda z: z),
    "cos_quarter_f32_double": lambda: fit(cos_tail, range(3), mp.mpf(0), QUARTER_PI ** 2,
                                          weight=lambda z: z * z),
    "erf_f64": lambda: fit(erf_tail, range(13), mp.mpf(0), mp.mpf(1)),
    "erfc_f64": lambda: fit(log_erfc, range(18), mp.mpf("-0.001"), mp.mpf("5"),
                            weight=lambda t: mp.erfc(1 + t)),
    "erf_f32_double": lambda: fit(erf_tail, range(7), mp.mpf(0), mp.mpf(1)),
    "erfc_f32_double": lambda: fit(log_erfc, range(7), mp.mpf("-0.001"), mp.mpf("3"),
                                   weight=lambda t: mp.erfc(1 + t)),
    "asin_f64": lambda: fit(asin_tail, range(13), mp.mpf(0), mp.mpf("0.25"), weight=lambda z: z),
    "asin_f32": lambda: fit(asin_tail, range(5), mp.mpf(0), mp.mpf("0.25"), weight=lambda z: z,
                            single=True),
    "atan_f64": lambda: fit(atan_tail, range(11), mp.mpf(0), ATAN_Z, weight=lambda z: z),
    "atan_f32": lambda: fit(atan_tail, range(5), mp.mpf(0), ATAN_Z, weight=lambda z: z,
                            single=True),
    "tanh_f64": lambda: fit(tanh_tail, range(12), mp.mpf(0), mp.mpf("0.7") ** 2,
                            weight=lambda z: z),
    "tanh_f32": lambda: fit(tanh_tail, range(6), mp.mpf(0), mp.mpf("0.75") ** 2,
                            weight=lambda z: z, single=True),
    "inverse_cbrt": lambda: fit(inverse_cbrt, range(5), mp.mpf(1), mp.mpf(2), weight=mp.cbrt),
    "inverse_cbrt_f32": lambda: fit(inverse_cbrt, range(5), mp.mpf(1), mp.mpf(2), weight=mp.cbrt,
                                    single=True),
    "pow_log_f32": lambda: fit(log2_ratio, range(6), -POW_R, POW_R),
    "pow_exp_f32": lambda: fit(exp2_ratio, range(6), mp.mpf("-0.5001"), mp.mpf("0.5001"),
                               weight=abs),
    "pow_log_f64": lambda: fit(log_cubic_ratio, range(8), -POW_R, POW_R, weight=lambda r: r * r),
    "pow_exp_f64": lambda: fit(exp2_ratio, range(6), -SIXTEENTH, SIXTEENTH, weight=abs),
}


def pow_inverse(low, high):
    """Return 1 / c, a multiple of 1 / 64, for numbers z between `low` and `high`, on one side of 1.

    All r = z / c - 1 are small, and numbers of float32, so that their rounding error is 0; for
    float64 the same follows. Where 1 is inside, it is 1.
    """
    if low < 1 < high:
        return Fraction(1)
    places = 24 if high <= 1 else 23  # of z behind the point
    largest = {inverse: max(abs(low * inverse - 1), abs(high * inverse - 1))
               for inverse in (Fraction(k, 64) for k in range(32, 128))}
    return min((r, inverse) for inverse, r in largest.items()
               if r * 2**places * inverse.denominator <= 2**24)[1]


def pow_tables():
    """Return the tables of ``pow`` by name, for the 32 intervals of z, and 16 powers of 2."""
    edges = [Fraction(float(np.uint32(0x3f3e0000 + (k << 18)).view(np.float32)))
             for k in range(33)]
    inverse = [pow_inverse(low, high) for low, high in itertools.pairwise(edges)]
    logs = [-mp.log(mp.mpf(c.numerator) / c.denominator, 2) for c in inverse]
    high = [mp.nint(v * 65536) / 65536 for v in logs]
    low = [v - h for v, h in zip(logs, high, strict=True)]
    powers = [mp.mpf(2) ** (mp.mpf(j) / 16) for j in range(16)]
    root = [mp.mpf(float(v)) for v in powers]
    single = [float(np.float32(float(v))) for v in low]
    return {"pow_inverse_f64": inverse, "pow_high_f64": high, "pow_low_f64": low,
            "pow_log_table_f32": [h + v for h, v in zip(high, single, strict=True)],
            "pow_root_f64": root,
            "pow_root_rest_f64": [(v - h) / h for v, h in zip(powers, root, strict=True)]}


def written():
    """Return the magnitudes of all hexadecimal constants in the headers."""
    text = "".join(path.read_text(encoding="utf-8") for path in HEADERS)
    found = re.findall(r"0x[0-9a-f]\.?[0-9a-f]*p[-+]\d+", text)
    return {float.fromhex(c) for c in found} | {0.5, 0}


def main(names):
    known, tables = written(), pow_tables()
    for name in names or (*FITS, *tables):
        found, error = (tables[name], 0) if name in tables else FITS[name]()
        print(f"{name}: " + (f"error 2**{float(mp.log(error, 2)):.1f}" if error else "a table"))
        print("    "
              + ", ".join(float(c).hex() + ("f" if name.endswith("_f32") else "") for c in found))
        missing = [float(c).hex() for c in found if abs(float(c)) not in known]
        print("    " + (f"not in the headers: {missing}" if missing else "as in the headers"))


if __name__ == "__main__":
    main(sys.argv[1:])
