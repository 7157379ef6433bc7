"""Random numbers: uniform, normal, Bernoulli, orthogonal matrices, vectors with covariances.

Draws are made in float32 and float64 by kernels that get the generator's key and counter as
numbers; other dtypes are made of those.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from ...core.direction import OUTPUT
from ...errors import DTypeError, LinAlgError, SettingError, ShapeError
from ...layout.strided import Layout
from ...matrix.generator import Rng, generator
from ...matrix.mat import Mat, new_like
from ...matrix.methods import method
from ...support.dtypes import BLAS_TYPES, BY_CHAR, REAL_TYPES, check_number, conversion, is_integer
from ...support.native import compiled
from ...support.plugins import plugin
from ...support.types import Arguments, Array, DType, Engine, Function, Keywords, Number, Operand
from ..engine.functions import check_is_mat
from ..engine.operation import Input, Op, Output, Scalar, op
from ..tiles.tile import Cutter, Tile, TileTooLarge, by_stacks, nothing
from . import philox


def by_counters(operation: Op, each: Mapping[str, int]) -> Cutter:
    """Return the cutter of draws; `each`: how many elements a counter makes, by dtype."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        *numbers, low, high, x = args
        packed = x if x.layout.contiguous else new_like(x, x.shape, x.dtype)
        together = each[x.dtype.char]
        length = budget // (together * x.itemsize) * together
        if not length:
            raise TileTooLarge(together * x.itemsize)
        flat = packed.reshape(-1)
        for start in range(0, x.size, length):
            counter = (int(low) + (int(high) << 32) + start // together) % 2**64
            part = flat[start:start + length]
            yield Tile(partial(operation, *numbers, float(counter % 2**32), float(counter >> 32),
                               part), (), (part,), passed=nothing)
        if packed is not x:
            yield Tile(lambda: x.assign_(packed))

    return cut


PER_BLOCK = {char: 16 // BY_CHAR[char].size for char in BLAS_TYPES}  # elements of a block
EACH = {"uniform": PER_BLOCK, "normal": PER_BLOCK, "bernoulli": dict.fromkeys(REAL_TYPES, 4)}


def blocks(name: str, dtype: DType, size: int) -> int:
    """Return how many blocks of words so many elements take."""
    return -(-size // EACH[name][dtype.char])


def only_packed(layout: Layout) -> bool:
    """Return False: only contiguous layouts fit, and these are not tested."""
    return False


def _declare(name: str, reference: Function, doc: str) -> Op:
    """Declare draws by kernels, or by `reference` in NumPy: of two numbers, and the generator's."""
    # the signature is the kernel's: the last four numbers are the generator's state
    def check(first: Scalar, second: Scalar, key_low: Scalar, key_high: Scalar, low: Scalar,
              high: Scalar, x: Output) -> None:
        if x.dtype.char not in EACH[name]:
            raise DTypeError(f"random words do not become {x.dtype}")

    check.__name__, check.__doc__, check.__module__ = name, doc, __name__
    operation = op(check, method="", by_form=True, name=f"{name}_")
    operation.cut_by(by_counters(operation, EACH[name]))

    @operation.prepare("cuda", dtypes="".join(EACH[name]), fits=only_packed)
    @operation.prepare("foreign", dtypes=compiled("".join(EACH[name])), fits=only_packed)
    def random_kernel(engine: Engine, x: Mat) -> Engine:
        return engine.prepare_random(name, blocks(name, x.dtype, x.size), x)

    @operation.on("array", bare=True)
    def random_numpy(*values: Operand) -> None:
        *numbers, x = values
        flat = x.reshape(-1) if x.flags.c_contiguous else np.empty(x.size, x.dtype)
        reference(flat.view(flat.real.dtype), *numbers)
        if not x.flags.c_contiguous:
            x[...] = flat.reshape(x.shape)

    return operation


uniform = _declare("uniform", philox.uniform,
                   "Draw ``x <- u * first``, at most `second`, for `u` of 24 or 53 bits.")
normal = _declare("normal", philox.normal, "Draw ``x <- z * second + first``.")
bernoulli = _declare("bernoulli", philox.bernoulli,
                     "Draw ``x <- second`` where a word is not above `first`, else 0.")


# Common to the methods

SINGLE = np.dtype(np.float32)


def _real_char(x: Mat, label: str, number: Number) -> str:
    """Return the dtype character to draw for a writable Mat and a real number, or raise."""
    check_is_mat(x, "self").allowed(OUTPUT)
    check_number(number, np.dtype(np.float64), label)
    return "d" if x.element_type.char in "dD" else "f"


def _check_not_integer(name: str, x: Mat) -> None:
    if is_integer(x.dtype):
        raise DTypeError(f"{name} gives real numbers, which {x.dtype} cannot hold; draw in "
                         f"floats, such as mat.empty(3), then perhaps astype('{x.dtype}')")


@functools.lru_cache(256)
def _rounded(value: float, char: str) -> float:
    """Return the number rounded to the dtype; infinite if it is too large."""
    with np.errstate(all="ignore"):
        return float(np.dtype(char).type(value))


def _drawn(operation: Op, x: Mat, numbers: tuple[float, float], rng: Rng,
           finish: Callable[[Mat], Mat] | None = None) -> Mat:
    """Overwrite `x` with draws, and `finish` it; if anything raises, `rng` is as it was."""
    name, dtype = operation.check.__name__, x.element_type
    target = x
    if dtype.char not in EACH[name] or not x.layout.contiguous:
        target = new_like(x, x.shape, dtype if dtype.char in EACH[name] else SINGLE)
    count = blocks(name, target.element_type, x.layout.size)
    words = rng.take(count)
    try:
        result: Mat = operation(*numbers, *words, target)
        if target is not x:
            result = x.assign_(result)
        return result if finish is None else finish(result)
    except BaseException:
        rng.give_back(words, count)
        raise


# Uniform


@method("uniform_")
def uniform_(self: Mat, limit: Number = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with independent numbers that are uniform on ``[0, limit)``; return self.

    Parameters
    ----------
    limit : number, optional
        Upper limit, finite and above 0, which is never reached; default 1.
    rng : Rng, optional
        Generator; by default that of the context.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    DTypeError
        If self is of integers.
    SettingError
        If `limit` is not finite or not above 0.

    Notes
    -----
    Philox4x32-10: each number depends on the generator and the element's position in row-major
    order. It has 24 bits in float32 and 53 in float64, in steps of ``limit / 2**24`` and ``limit /
    2**53``. Complex elements have two such parts; 16-bit floats are float32 draws, rounded.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(2, 2).uniform_(10, rng=mat.Rng(1)).to_numpy()
    array([[8.90259173, 5.85725948],
           [6.71998269, 4.75593226]])
    """
    char = _real_char(self, "limit", limit)
    _check_not_integer("uniform_", self)
    return _drawn(uniform, self, _bounds(float(limit), char, self.element_type), generator(rng))


@functools.lru_cache(256)
def _bounds(limit: float, char: str, dtype: DType) -> tuple[float, float]:
    """Return the limit for draws, and the largest element below it, where rounding ends."""
    kind = dtype if dtype.itemsize == 2 else np.dtype(char)
    found = _rounded(limit, char)
    with np.errstate(all="ignore"):
        top = np.array(found).astype(kind)
    if not 0 < float(top) < math.inf:
        raise SettingError(f"limit must be above 0 and finite, in {dtype}, got {limit!r}")
    return found, float(top if float(top) < found else np.nextafter(top, np.zeros((), kind)))


# Normal


@method("normal_")
def normal_(self: Mat, mean: Number = 0, stddev: Number = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with independent normal numbers, and return self.

    Parameters
    ----------
    mean, stddev : number, optional
        Mean and standard deviation, which is finite and not below 0; default 0 and 1. Of complex
        elements, the parts are independent, and ``|x - mean|**2`` is ``stddev**2`` on average.
    rng : Rng, optional
        Generator; by default that of the context.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    DTypeError
        If self is of integers.
    SettingError
        If `stddev` is below 0 or not finite.

    Notes
    -----
    Box and Muller's method on Philox4x32-10: each number depends on the generator and the element's
    position in row-major order. None is farther from the mean than 6.7 standard deviations in
    float32, 9.4 in float64. 16-bit floats are float32 draws, rounded.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(2, 2).normal_(100, 5, rng=mat.Rng(1)).to_numpy()
    array([[ 97.93051093,  98.76333205],
           [ 99.31901114, 104.40581773]])
    """
    char = _real_char(self, "stddev", stddev)
    check_number(mean, self.dtype, "mean")
    _check_not_integer("normal_", self)
    if not 0 <= stddev < math.inf:
        raise SettingError(f"stddev must be finite and not below 0, got {stddev!r}")
    source = generator(rng)
    if self.element_type.kind == "c":
        return _drawn(normal, self, (0.0, _rounded(stddev * math.sqrt(0.5), char)), source,
                      None if mean == 0 else lambda x: x.add_(mean))
    # + 0.0: -0.0 and 0.0 share an entry of the cache, and have to be one number
    return _drawn(normal, self, (_rounded(mean + 0.0, char), _rounded(stddev + 0.0, char)), source)


# Bernoulli


@method("bernoulli_")
def bernoulli_(self: Mat, p: Number, *, rng: Rng | None = None) -> Mat:
    """Overwrite self, of any dtype, with elements that are 1 with probability `p`, else 0.

    Parameters
    ----------
    p : number
        Probability, from 0 to 1. For a Mat of probabilities, use ``x.uniform_().less_(p)``.
    rng : Rng, optional
        Generator; by default that of the context.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    SettingError
        Unless `p` is from 0 to 1.

    Notes
    -----
    Philox4x32-10: an element is 1 where a random word, as a multiple of ``2**-32``, is below `p`;
    the words are the same in all dtypes.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(8, dtype="int8").bernoulli_(0.5, rng=mat.Rng(2)).to_numpy()
    array([1, 1, 0, 1, 1, 1, 0, 1], dtype=int8)
    """
    _real_char(self, "p", p)
    if not 0 <= p <= 1:
        raise SettingError(f"p must be from 0 to 1, got {p!r}")
    ones = math.ceil(float(p) * 2**32)  # how many of the words
    return _drawn(bernoulli, self, (float(max(ones - 1, 0)), float(ones > 0)), generator(rng))


# Matrices and vectors


@op(method="", by_form=True, name="orthogonal_")
def orthonormal(scale: Scalar, a: Input, out: Output) -> None:
    """Compute ``out <- scale * Q``, or Q's transpose, with ``a = Q R`` and R's diagonal > 0."""


orthonormal.cut_by(by_stacks(orthonormal, "it is factored"))


@orthonormal.on("array")
def orthonormal_numpy(np: Engine, scale: Number, a: Array, out: Array) -> None:
    q, r = np.linalg.qr(a)
    d = np.diagonal(r, axis1=-2, axis2=-1)
    size = np.abs(d)
    q = q * np.where(size > 0, d / np.where(size > 0, size, 1), 1)[..., None, :]
    np.multiply(q if q.shape == out.shape else q.swapaxes(-1, -2), scale, out=out,
                casting="same_kind")


@method("orthogonal_")
def orthogonal_(self: Mat, scale: Number = 1, *, rng: Rng | None = None) -> Mat:
    """Overwrite self with `scale` times a random orthogonal (complex: unitary) matrix; return self.

    If self is not square, its columns, or its rows if these are fewer, are orthonormal, times
    `scale`. The matrices of a stack are independent.

    Parameters
    ----------
    scale : number, optional
        Factor, default 1.
    rng : Rng, optional
        Generator; by default that of the context.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    ShapeError, DTypeError
        If self has fewer than two axes, or is of integers.

    Notes
    -----
    It is Haar-distributed: no rotation makes it more or less likely. Mezzadri, "How to generate
    random matrices from the classical compact groups" (2007): QR of a normal matrix, with the signs
    of R.

    Examples
    --------
    >>> import mat
    >>> q = mat.zeros(3, 3).orthogonal_()
    >>> mat.allclose(q @ q.T, mat.eye(3))
    True
    """
    _real_char(self, "scale", 0)
    _check_not_integer("orthogonal_", self)
    check_number(scale, self.dtype, "scale")
    if self.ndim < 2:
        raise ShapeError(f"orthogonal_ requires a matrix, got shape {self.shape}")
    rows, columns = self.shape[-2:]
    dtype = self.dtype if self.dtype.char in PER_BLOCK else SINGLE
    a = new_like(self, (*self.shape[:-2], max(rows, columns), min(rows, columns)), dtype)

    def orthogonalized(a: Mat) -> Mat:
        target = self if dtype == self.dtype else new_like(self, self.shape, dtype)
        result: Mat = orthonormal(scale, a, target)
        return result if result is self else self.assign_(result)

    return _drawn(normal, a, (0.0, 1.0), generator(rng), orthogonalized)


def multivariate_normal(means: Mat, covariances: Mat, *, rng: Rng | None = None) -> Mat:
    """Return a vector of normal numbers with these means and covariances.

    Parameters
    ----------
    means : Mat
        Means, of shape (n,) or (n, 1), of float32 or float64.
    covariances : Mat
        Positive definite matrix of shape (n, n) and means' dtype, of which only the lower triangle
        is read.
    rng : Rng, optional
        Generator; by default that of the context.

    Returns
    -------
    Mat
        A new Mat of the shape and dtype of `means`.

    Raises
    ------
    LinAlgError
        Unless `covariances` is positive definite.
    ShapeError, DTypeError
        If the operands do not match.

    Notes
    -----
    ``means + L z`` with the Cholesky factor L of `covariances` (LAPACK ?POTRF) and standard normal
    numbers z.

    Examples
    --------
    >>> import mat
    >>> covariances = mat.array([[2.0, 1], [1, 2]])
    >>> mat.multivariate_normal(mat.zeros(2), covariances, rng=mat.Rng(1)).to_numpy()
    array([-0.5853399, -0.5955905])
    """
    _check_dtypes(check_is_mat(means, "means"), check_is_mat(covariances, "covariances"))
    n = means.size
    if means.shape not in ((n,), (n, 1)) or covariances.shape != (n, n):
        raise ShapeError("multivariate_normal requires means of shape (n,) or (n, 1) and "
                         f"covariances of shape (n, n), got {means.shape} and {covariances.shape}")
    source = generator(rng)
    try:
        factor = plugin("ops.linear.linalg").cholesky(covariances)
    except LinAlgError:
        raise LinAlgError(f"multivariate_normal: the covariances {covariances.label()} are not "
                          "positive definite") from None

    def moved(draws: Mat) -> Mat:
        found = means.copy()
        plugin("ops.linear.blas_level23").gemv(1.0, factor, draws, 1.0, found.reshape(n))
        return found

    return _drawn(normal, new_like(means, (n,), means.dtype), (0.0, 1.0), source, moved)


def _check_dtypes(means: Mat, covariances: Mat) -> None:
    if means.dtype.char not in REAL_TYPES or covariances.dtype != means.dtype:
        raise DTypeError("multivariate_normal requires means and covariances both of float32 or "
                         f"both of float64, got {means.dtype} and {covariances.dtype}; "
                         f"{conversion(means.dtype, covariances.dtype)}")
