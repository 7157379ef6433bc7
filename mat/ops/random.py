"""Random numbers: uniform, normal, Bernoulli, orthogonal matrices and vectors with given
covariances.

Draws are made in float32 and float64 by kernels that get the generator's words as numbers; other
dtypes are made of those.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.cube import OUTPUT
from ..errors import DTypeError, LinAlgError, SettingError, ShapeError
from ..layout.strided import Layout
from ..matrix.generator import Rng, generator
from ..matrix.mat import Mat, new_like
from ..matrix.methods import method
from ..support.dtypes import BLAS_TYPES, BY_CHAR, REAL_TYPES, check_number, is_integer
from ..support.native import compiled
from . import philox
from .blas_level23 import gemv
from .linalg import cholesky
from .operation import Input, Op, Output, Scalar, op

PER_BLOCK = {char: 16 // BY_CHAR[char].size for char in BLAS_TYPES}  # elements of a block
EACH = {"uniform": PER_BLOCK, "normal": PER_BLOCK, "bernoulli": dict.fromkeys(REAL_TYPES, 4)}


def blocks(name: str, dtype: np.dtype[Any], size: int) -> int:
    """How many blocks of words so many elements take."""
    return -(-size // EACH[name][dtype.char])


def only_packed(layout: Layout) -> bool:
    """No other layout than contiguous ones, about which nobody asks."""
    return False


def check_dtype(name: str, x: Mat) -> None:
    """`DTypeError` unless the kernels can draw elements of x's dtype."""
    if x.dtype.char not in EACH[name]:
        raise DTypeError(f"random words do not become {x.dtype}")


@op(method="", by_form=True, name="uniform_")
def uniform(limit: Scalar, below: Scalar, key_low: Scalar, key_high: Scalar, low: Scalar,
            high: Scalar, x: Output) -> None:
    """``x <- u * limit``, at most `below`, for `u` of 24 or 53 bits"""
    check_dtype("uniform", x)


@op(method="", by_form=True, name="normal_")
def normal(mean: Scalar, stddev: Scalar, key_low: Scalar, key_high: Scalar, low: Scalar,
           high: Scalar, x: Output) -> None:
    """``x <- z * stddev + mean``"""
    check_dtype("normal", x)


@op(method="", by_form=True, name="bernoulli_")
def bernoulli(last: Scalar, one: Scalar, key_low: Scalar, key_high: Scalar, low: Scalar,
              high: Scalar, x: Output) -> None:
    """``x <- one`` where a word is not above `last`, else 0"""
    check_dtype("bernoulli", x)


def _bodies(operation: Op, name: str, reference: Callable[..., None]) -> None:
    """The compiled bodies and the one in NumPy."""
    @operation.prepare("cuda", dtypes="".join(EACH[name]), fits=only_packed)
    @operation.prepare("foreign", dtypes=compiled("".join(EACH[name])), fits=only_packed)
    def _(engine: Any, x: Mat) -> Any:
        return engine.prepare_random(name, blocks(name, x.dtype, x.size), x)

    @operation.on("array")
    def _(np: Any, *values: Any) -> None:
        *numbers, x = values
        flat = x.reshape(-1) if x.flags.c_contiguous else np.empty(x.size, x.dtype)
        reference(flat.view(flat.real.dtype), *numbers)
        if not x.flags.c_contiguous:
            x[...] = flat.reshape(x.shape)


_bodies(uniform, "uniform", philox.uniform)
_bodies(normal, "normal", philox.normal)
_bodies(bernoulli, "bernoulli", philox.bernoulli)


# What is common to the methods

SINGLE = np.dtype(np.float32)


def _checked(name: str, x: Any, label: str, number: Any) -> str:
    """The dtype character of the real numbers to draw for `x`, which must be writable; `number`
    must be a real one.
    """
    if not isinstance(x, Mat):
        raise DTypeError(f"{name} writes a Mat, got {type(x).__name__}; mat.from_numpy(a) wraps an "
                         "array")
    x.allowed(OUTPUT)
    check_number(number, np.dtype(np.float64), label)
    return "d" if x.storage.dtype.char in "dD" else "f"


def _check_not_integer(name: str, x: Mat) -> None:
    if is_integer(x.dtype):
        raise DTypeError(f"{name} gives real numbers, which {x.dtype} cannot hold; draw in "
                         f"float32, then astype('{x.dtype}')")


@functools.lru_cache(256)
def _rounded(value: float, char: str) -> float:
    """The number as one of the dtype; infinite if it is too large."""
    with np.errstate(all="ignore"):
        return float(np.dtype(char).type(value))


def _drawn(operation: Op, x: Mat, numbers: tuple[float, float], rng: Rng) -> Mat:
    """Overwrite `x` with draws, beside if the kernels cannot have it; return it."""
    name, dtype = operation.check.__name__, x.storage.dtype
    if dtype.char not in EACH[name] or not x.layout.contiguous:
        drawn = _drawn(operation, new_like(x, x.shape, dtype if dtype.char in EACH[name]
                                           else SINGLE), numbers, rng)
        return x.assign_(drawn)  # ops/ adds it
    return operation(*numbers,
                     *rng.take(blocks(name, dtype, x.layout.size)),  # type: ignore[no-any-return]
                     x)


# Uniform


@method("uniform_")
def uniform_(self: Mat, limit: Any = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with independent numbers that are uniform on ``[0, limit)``; return self.

    They have 24 bits in float32 and 53 in float64, in steps of ``limit / 2**24`` and ``limit /
    2**53``, and never reach `limit`. Complex elements have two parts, each so; 16-bit floats are
    float32 draws, rounded. Which numbers they are is settled by the generator and the element's
    place in row-major order. `DTypeError` for integers, `SettingError` unless `limit` is finite and
    above 0. Source: Philox4x32-10.

    >>> import mat
    >>> mat.zeros(2, 2).uniform_(10, rng=mat.Rng(1)).to_numpy()
    array([[8.90259173, 5.85725948],
           [6.71998269, 4.75593226]])
    """
    char = _checked("uniform_", self, "limit", limit)
    _check_not_integer("uniform_", self)
    return _drawn(uniform, self, _bounds(float(limit), char, self.storage.dtype), generator(rng))


@functools.lru_cache(256)
def _bounds(limit: float, char: str, dtype: np.dtype[Any]) -> tuple[float, float]:
    """The limit for draws, and the largest number below it that elements can be, so that rounding
    them does not reach it.
    """
    kind = dtype if dtype.itemsize == 2 else np.dtype(char)
    found = _rounded(limit, char)
    with np.errstate(all="ignore"):
        top = np.array(found).astype(kind)
    if not 0 < float(top) < math.inf:
        raise SettingError(f"limit must be above 0 and finite, in {dtype}, got {limit!r}")
    return found, float(top if float(top) < found else np.nextafter(top, np.zeros((), kind)))


# Normal


@method("normal_")
def normal_(self: Mat, mean: Any = 0, stddev: Any = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with independent normal numbers of this mean and standard deviation; return
    self.

    The farthest that there are lie 6.7 standard deviations from the mean in float32, 9.4 in
    float64. Of complex elements, the parts are independent, and ``|x - mean|**2`` is ``stddev**2``
    on average. 16-bit floats are float32 draws, rounded. Which numbers they are is settled by the
    generator and the element's place in row-major order. `DTypeError` for integers, `SettingError`
    if `stddev` is below 0. Source: Box and Muller's method on Philox4x32-10.

    >>> import mat
    >>> mat.zeros(2, 2).normal_(100, 5, rng=mat.Rng(1)).to_numpy()
    array([[ 97.93051093,  98.76333205],
           [ 99.31901114, 104.40581773]])
    """
    char = _checked("normal_", self, "stddev", stddev)
    check_number(mean, self.dtype, "mean")
    _check_not_integer("normal_", self)
    if not 0 <= stddev < math.inf:
        raise SettingError(f"stddev must be finite and not below 0, got {stddev!r}")
    source = generator(rng)
    if self.storage.dtype.kind == "c":
        _drawn(normal, self, (0.0, _rounded(stddev * math.sqrt(0.5), char)), source)
        return self if mean == 0 else self.add_(mean)
    # + 0.0: of -0.0, too, there is a rounded one at hand, that of 0.0
    return _drawn(normal, self, (_rounded(mean + 0.0, char), _rounded(stddev + 0.0, char)), source)


# Bernoulli


@method("bernoulli_")
def bernoulli_(self: Mat, p: Any, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with independent elements that are 1 with probability `p`, else 0; return
    self. For all dtypes.

    An element is 1 where a random word, as a multiple of ``2**-32``, is below `p`; the words are
    the same in all dtypes. `SettingError` unless `p` is from 0 to 1. Where probabilities differ,
    ``x.uniform_().less_(p)`` does it for a Mat of them.

    >>> import mat
    >>> mat.zeros(8, dtype="int8").bernoulli_(0.5, rng=mat.Rng(2)).to_numpy()
    array([1, 1, 0, 1, 1, 1, 0, 1], dtype=int8)
    """
    _checked("bernoulli_", self, "p", p)
    if not 0 <= p <= 1:
        raise SettingError(f"p must be from 0 to 1, got {p!r}")
    ones = math.ceil(float(p) * 2**32)  # how many of the words
    return _drawn(bernoulli, self, (float(max(ones - 1, 0)), float(ones > 0)), generator(rng))


# Matrices and vectors


@op(method="", by_form=True, name="orthogonal_")
def orthonormal(scale: Scalar, a: Input, out: Output) -> None:
    """``out <- scale * Q``, or its transpose if that is the shape of `out`, with ``a = Q R`` and
    the diagonal of R positive
    """


@orthonormal.on("array")
def _(np: Any, scale: Any, a: Any, out: Any) -> None:
    q, r = np.linalg.qr(a)
    d = np.diagonal(r, axis1=-2, axis2=-1)
    size = np.abs(d)
    q = q * np.where(size > 0, d / np.where(size > 0, size, 1), 1)[..., None, :]
    np.multiply(q if q.shape == out.shape else q.swapaxes(-1, -2), scale, out=out,
                casting="same_kind")


@method("orthogonal_")
def orthogonal_(self: Mat, scale: Any = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with `scale` times a random orthogonal (complex: unitary) matrix; return self.

    It is Haar-distributed: no rotation makes it more or less likely. If self is not square, its
    columns, or its rows if these are fewer, are orthonormal, times `scale`. A stack of matrices is
    one of independent ones. `ShapeError` unless self is a matrix, `DTypeError` for integers.
    Source: Mezzadri, "How to generate random matrices from the classical compact groups" (2007): QR
    of a normal matrix, its signs settled by R.

    >>> import mat
    >>> q = mat.zeros(3, 3).orthogonal_()
    >>> mat.allclose(q @ q.T, mat.eye(3))
    True
    """
    _checked("orthogonal_", self, "scale", 0)
    _check_not_integer("orthogonal_", self)
    check_number(scale, self.dtype, "scale")
    if self.ndim < 2:
        raise ShapeError(f"orthogonal_ wants a matrix, got shape {self.shape}")
    rows, columns = self.shape[-2:]
    dtype = self.dtype if self.dtype.char in PER_BLOCK else SINGLE
    a = new_like(self, (*self.shape[:-2], max(rows, columns), min(rows, columns)), dtype)
    _drawn(normal, a, (0.0, 1.0), generator(rng))
    if dtype == self.dtype:
        return orthonormal(scale, a, self)  # type: ignore[no-any-return]
    drawn = orthonormal(scale, a, new_like(self, self.shape, dtype))
    return self.assign_(drawn)  # ops/ adds it


def multivariate_normal(means: Mat, covariances: Mat, *, rng: Rng | None = None) -> Mat:
    """A vector of normal numbers with these means and covariances: a new Mat of the shape and dtype
    of `means`.

    It is ``means + L z`` with the Cholesky factor L of `covariances`, of which only the lower
    triangle is read, and standard normal numbers z. `LinAlgError` unless `covariances` is positive
    definite, `ShapeError` unless there is a row and a column for each mean. Source: LAPACK ?POTRF.

    >>> import mat
    >>> mat.multivariate_normal(mat.zeros(2), mat.array([[2, 1], [1, 2]]), rng=mat.Rng(1)).to_numpy()
    array([-0.5853399, -0.5955905])
    """
    for name, value in (("means", means), ("covariances", covariances)):
        if not isinstance(value, Mat):
            raise DTypeError(f"{name} must be a Mat, got {type(value).__name__}; mat.from_numpy(a) "
                             "wraps an array")
    _check_dtypes(means, covariances)
    n = means.size
    if means.shape not in ((n,), (n, 1)) or covariances.shape != (n, n):
        raise ShapeError("multivariate_normal wants means of shape (n,) or (n, 1) and covariances "
                         "of shape (n, n), "
                         f"got {means.shape} and {covariances.shape}")
    source = generator(rng)
    try:
        factor = cholesky(covariances)
    except LinAlgError:
        raise LinAlgError(f"multivariate_normal: the covariances {covariances.label()} are not "
                          "positive definite") from None
    draws = normal_(new_like(means, (n,), means.dtype), rng=source)
    found: Mat = means.copy()
    gemv(1.0, factor, draws, 1.0, found.reshape(n))
    return found


def _check_dtypes(means: Mat, covariances: Mat) -> None:
    if means.dtype.char not in REAL_TYPES or covariances.dtype != means.dtype:
        raise DTypeError("multivariate_normal wants means and covariances both of float32 or both "
                         "of float64, got "
                         f"{means.dtype} and {covariances.dtype}; convert with x.astype(dtype)")
