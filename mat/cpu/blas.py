"""BLAS on the CPU: SciPy's own library, called through its function pointers by cffi, which
releases the GIL.

Nothing to find and nothing to build. SciPy is loaded at the first call. Functions are named as in
BLAS, take operands in its order, and are column-major; vectors are `ForeignArray`-like (``letter``,
``low``, ``pointer``, ``increment``), matrices are pointers with a leading dimension. Nothing here
checks: who calls has done that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core.observers import OBSERVERS
from ..support import blas_library
from ..support.blas_library import COMPLEX, FLAGS, INTS, REALS, BlasRoutine, routine_name, scalar


def _tell(verb: str, letter: str, **arguments: object) -> None:
    for observer in tuple(OBSERVERS):
        observer.called(routine_name(verb, letter), **arguments)


# Level 1

_axpy = BlasRoutine("axpy", "ippipi")
_copy = BlasRoutine("copy", "ipipi")
_swap = BlasRoutine("swap", "ipipi")
_scal = BlasRoutine("scal", "ippi")
_dot = BlasRoutine("dot", "ipipi", "T")
_vdot = BlasRoutine("vdot", "ipipi", "T")
_nrm2 = BlasRoutine("nrm2", "ipi", "R")
_asum = BlasRoutine("asum", "ipi", "R")
_iamax = BlasRoutine("iamax", "ipi", "int")


def used(x: Any, n: int | None, inc: int) -> int:
    """How many elements of `x`, `inc` apart, are meant."""
    if n is not None:
        return n
    return (x.size - 1) // abs(inc) + 1 if x.size else 0


def at(x: Any, n: int, inc: int) -> tuple[Any, int]:
    """Address and increment for BLAS of `n` elements of `x`, `inc` apart; a negative one begins at
    the far end.
    """
    step = x.increment
    if step > 0:
        return x.low, inc * step
    return x.pointer + (n - 1) * abs(inc) * step, inc * step


def pieces(n: int, *vectors: tuple[Any, int]) -> Iterator[tuple[int, list[tuple[Any, int]]]]:
    """Lengths that a 32-bit BLAS can count, and where each vector's piece begins."""
    longest = max(1, blas_library.LIMIT // max(abs(inc) for _, inc in vectors))
    for start in range(0, n, longest):
        count = min(longest, n - start)
        yield count, [(p + (start * inc if inc > 0 else (n - start - count) * -inc), inc) for p,
                      inc in vectors]


def _two(verb: str, x: Any, y: Any, n: int | None, incx: int,
         incy: int) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
    """What BLAS is told of two vectors, piece by piece: count, address and increment, address and
    increment.
    """
    n = used(x, n, incx)
    one, other = at(x, n, incx), at(y, n, incy)
    if OBSERVERS:
        _tell(verb, x.letter, n=n, incx=one[1], incy=other[1])
    for count, ((px, ix), (py, iy)) in pieces(n, one, other):
        yield INTS[count], px, INTS[ix], py, INTS[iy]


def _one(verb: str, x: Any, n: int | None, incx: int) -> Iterator[tuple[int, Any, int]]:
    """The pieces of one vector whose order does not matter: counted upwards, as BLAS wants it."""
    n, inc = used(x, n, incx), abs(incx * x.increment)
    low = x.low if x.increment > 0 else at(x, n, abs(incx))[0]
    if OBSERVERS:
        _tell(verb, x.letter, n=n, incx=inc)
    for count, [(p, _)] in pieces(n, (low, inc)):
        yield count, p, inc


# The first lines of the next three are for what is nearly always asked: all elements.


def axpy(alpha: Any, x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``y <- alpha x + y``"""
    letter = y.letter
    factor = REALS[letter][alpha] if alpha and letter in REALS else scalar(letter, alpha)
    if n is None and incx == 1 and incy == 1 and y.size <= blas_library.LIMIT and not OBSERVERS:
        _axpy[letter](y.int_size, factor, x.low, x.int_increment, y.low, y.int_increment)
        return
    for count, px, ix, py, iy in _two("axpy", x, y, n, incx, incy):
        _axpy[letter](count, factor, px, ix, py, iy)


def scal(alpha: Any, x: Any, n: int | None = None, incx: int = 1) -> None:
    """``x <- alpha x``"""
    letter = x.letter
    factor = scalar(letter, alpha)
    if n is None and incx == 1 and x.increment > 0 and x.size <= blas_library.LIMIT and not OBSERVERS:
        _scal[letter](x.int_size, factor, x.low, x.int_increment)
        return
    for count, p, inc in _one("scal", x, n, incx):
        _scal[letter](INTS[count], factor, p, INTS[inc])


def dot(x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> Any:
    """``sum x_i y_i``, unconjugated."""
    letter = x.letter
    if n is None and incx == 1 and incy == 1 and letter in "fd" and x.size <= blas_library.LIMIT and not OBSERVERS:
        return _dot[letter](x.int_size, x.low, x.int_increment, y.low, y.int_increment)
    return _total(letter,
                  [_dot[letter](*arguments) for arguments in _two("dot", x, y, n, incx, incy)])


def vdot(x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> Any:
    """``sum conj(x_i) y_i``"""
    letter = x.letter
    if letter not in COMPLEX:
        return dot(x, y, n, incx, incy)
    return _total(letter,
                  [_vdot[letter](*arguments) for arguments in _two("vdot", x, y, n, incx, incy)])


def _total(letter: str, parts: list[Any]) -> Any:
    if letter in COMPLEX:
        return sum((complex(part.re, part.im) for part in parts), 0j)
    return sum(parts, 0.0)


def copy(x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``y <- x``"""
    for arguments in _two("copy", x, y, n, incx, incy):
        _copy[x.letter](*arguments)


def swap(x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``x, y <- y, x``"""
    for arguments in _two("swap", x, y, n, incx, incy):
        _swap[x.letter](*arguments)


def nrm2(x: Any, n: int | None = None, incx: int = 1) -> float:
    """``sqrt(sum |x_i|^2)``"""
    return math.hypot(*(_nrm2[x.letter](INTS[count], p, INTS[inc]) for count, p,
                        inc in _one("nrm2", x, n, incx)))


def asum(x: Any, n: int | None = None, incx: int = 1) -> float:
    """``sum |re x_i| + |im x_i|``"""
    return float(sum(_asum[x.letter](INTS[count], p, INTS[inc]) for count, p,
                     inc in _one("asum", x, n, incx)))


def iamax(x: Any, n: int | None = None, incx: int = 1) -> int:
    """The first index, from 0, of the largest ``|re x_i| + |im x_i|``; the increment is above 0."""
    best, largest, start = 0, -1.0, 0
    for count, p, inc in _one("iamax", x, n, incx):
        k = int(_iamax[x.letter](INTS[count], p, INTS[inc])) - 1
        value = p[k * inc]
        size = abs(value.real) + abs(value.imag)
        if size > largest or start == 0:
            best, largest = start + k, size
        start += count
    return best


# Levels 2 and 3, column-major as BLAS has it

_gemv = BlasRoutine("gemv", "ciippipippi")
_ger = BlasRoutine("ger", "iippipipi")
_gemm = BlasRoutine("gemm", "cciiippipippi")
_syrk = BlasRoutine("syrk", "cciippippi")
_trsm = BlasRoutine("trsm", "cccciippipi")


def gemv(letter: str, trans: str, m: int, n: int, alpha: Any, a: Any, lda: int, x: Any, beta: Any,
         y: Any) -> None:
    """``y <- alpha op(A) x + beta y`` for the column-major m x n matrix A."""
    (px, ix), (py, iy) = at(x, x.size, 1), at(y, y.size, 1)
    if OBSERVERS:
        _tell("gemv", letter, trans=trans, m=m, n=n, lda=lda, incx=ix, incy=iy)
    _gemv[letter](FLAGS[trans], INTS[m], INTS[n], scalar(letter, alpha), a, INTS[lda], px, INTS[ix],
                  scalar(letter, beta), py, INTS[iy])


def ger(m: int, n: int, alpha: Any, x: Any, y: Any, a: Any, lda: int) -> None:
    """``A <- alpha x y^T + A`` for the column-major m x n matrix A; nothing is conjugated."""
    letter = x.letter
    (px, ix), (py, iy) = at(x, m, 1), at(y, n, 1)
    if OBSERVERS:
        _tell("ger", letter, m=m, n=n, lda=lda, incx=ix, incy=iy)
    _ger[letter](INTS[m], INTS[n], scalar(letter, alpha), px, INTS[ix], py, INTS[iy], a, INTS[lda])


def prepare_gemm(letter: str, trans_a: str, trans_b: str, m: int, n: int, k: int, lda: int,
                 ldb: int, ldc: int,
                 swap: bool) -> Callable[..., None]:
    """`gemm` for these sizes, as a function of what changes: ``call(alpha, a, b, beta, c)``,
    operands as presented.

    With `swap`, b is BLAS's first operand.
    """
    routine, flag_a, flag_b = _gemm[letter], FLAGS[trans_a], FLAGS[trans_b]
    # a zero beta of either sign says that C is not read
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    rows, columns, inner, step_a, step_b, step_c = map(INTS.__getitem__, (m, n, k, lda, ldb, ldc))

    def call(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
        if OBSERVERS:
            _tell("gemm", letter, trans=trans_a + trans_b, m=m, n=n, k=k, lda=lda, ldb=ldb, ldc=ldc)
        if swap:
            a, b = b, a
        routine(flag_a, flag_b, rows, columns, inner,
                known[alpha] if alpha and known else scalar(letter, alpha),
                a.pointer, step_a, b.pointer, step_b,
                zero if not beta else known[beta] if known else scalar(letter, beta), c.pointer,
                step_c)

    return call


def gemm(letter: str, trans_a: str, trans_b: str, m: int, n: int, k: int, alpha: Any, a: Any,
         lda: int, b: Any, ldb: int,
         beta: Any, c: Any, ldc: int) -> None:
    """``C <- alpha op(A) op(B) + beta C``; C is m x n, the inner axis k long."""
    if OBSERVERS:
        _tell("gemm", letter, trans=trans_a + trans_b, m=m, n=n, k=k, lda=lda, ldb=ldb, ldc=ldc)
    _gemm[letter](FLAGS[trans_a], FLAGS[trans_b], INTS[m], INTS[n], INTS[k], scalar(letter, alpha),
                  a, INTS[lda],
                  b, INTS[ldb], scalar(letter, beta), c, INTS[ldc])


def syrk(letter: str, uplo: str, trans: str, n: int, k: int, alpha: Any, a: Any, lda: int,
         beta: Any, c: Any, ldc: int) -> None:
    """``C <- alpha A A^T + beta C`` (``trans`` T: ``A^T A``) in one triangle of C."""
    if OBSERVERS:
        _tell("syrk", letter, uplo=uplo, trans=trans, n=n, k=k, lda=lda, ldc=ldc)
    _syrk[letter](FLAGS[uplo], FLAGS[trans], INTS[n], INTS[k], scalar(letter, alpha), a, INTS[lda],
                  scalar(letter, beta), c, INTS[ldc])


def trsm(letter: str, side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: Any,
         a: Any, lda: int, b: Any,
         ldb: int) -> None:
    """``B <- alpha op(A)^-1 B`` (side R: ``B op(A)^-1``) for a triangular A."""
    if OBSERVERS:
        _tell("trsm", letter, side=side, uplo=uplo, trans=trans, diag=diag, m=m, n=n, lda=lda,
              ldb=ldb)
    _trsm[letter](FLAGS[side], FLAGS[uplo], FLAGS[trans], FLAGS[diag], INTS[m], INTS[n],
                  scalar(letter, alpha), a,
                  INTS[lda], b, INTS[ldb])
