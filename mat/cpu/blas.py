"""BLAS on the CPU: SciPy's own library, called through its function pointers by cffi.

cffi releases the GIL. The library is loaded at the first call. Functions are named as in BLAS, take
operands in its order, and are column-major; vectors are `ForeignArray`-like (``letter``, ``low``,
``pointer``, ``increment``), matrices are pointers. Nothing here checks: the caller has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ..core.observers import OBSERVERS
from ..layout.matrix_operand import GemmForm, GemvForm, GerForm, SyrkForm, TrsmForm
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..support import blas_library
from ..support.blas_library import COMPLEX, FLAGS, INTS, REALS, BlasRoutine, routine_name, scalar
from ..support.c_pointers import ForeignArray
from ..support.types import CData, Function, Number, Presented

Piece = tuple[CData, int]  # address and increment of a vector


def _notify(verb: str, letter: str, **arguments: object) -> None:
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


def used(x: Presented, n: int | None, inc: int) -> int:
    """Return how many elements of `x`, `inc` apart, are used: `n`, or as many as there are."""
    if n is not None:
        return n
    return (x.size - 1) // abs(inc) + 1 if x.size else 0


def at(x: ForeignArray, n: int, inc: int) -> Piece:
    """Return address and increment of `n` elements as BLAS takes them: the lowest address,
    also if the increment is negative.
    """
    step = x.increment
    if step > 0:
        return x.low, inc * step
    return x.pointer + (n - 1) * abs(inc) * step, inc * step


def pieces(n: int, *vectors: Piece) -> Iterator[tuple[int, list[Piece]]]:
    """Yield lengths that a 32-bit BLAS can count, and where each vector's piece begins."""
    longest = max(1, blas_library.LIMIT // max(abs(inc) for _, inc in vectors))
    for start in range(0, n, longest):
        count = min(longest, n - start)
        yield count, [(p + (start * inc if inc > 0 else (n - start - count) * -inc), inc)
                      for p, inc in vectors]


def _two(verb: str, x: ForeignArray, y: ForeignArray, n: int | None, incx: int,
         incy: int) -> Iterator[tuple[CData, CData, CData, CData, CData]]:
    """Yield BLAS's arguments for two vectors by pieces: count, address and increment of each."""
    n = used(x, n, incx)
    one, other = at(x, n, incx), at(y, n, incy)
    if OBSERVERS:
        _notify(verb, x.letter, n=n, incx=one[1], incy=other[1])
    for count, ((px, ix), (py, iy)) in pieces(n, one, other):
        yield INTS[count], px, INTS[ix], py, INTS[iy]


def _one(verb: str, x: ForeignArray, n: int | None,
         incx: int) -> Iterator[tuple[int, CData, int]]:
    """Yield the pieces of one vector whose order does not matter, counted upwards for BLAS."""
    n, inc = used(x, n, incx), abs(incx * x.increment)
    low = x.low if x.increment > 0 else at(x, n, abs(incx))[0]
    if OBSERVERS:
        _notify(verb, x.letter, n=n, incx=inc)
    for count, [(p, _)] in pieces(n, (low, inc)):
        yield count, p, inc


# The signatures of these are BLAS's. The first lines of the next three are for the usual call, of
# all elements.


def axpy(alpha: Number, x: ForeignArray, y: ForeignArray, n: int | None = None, incx: int = 1,
         incy: int = 1) -> None:
    """Compute ``y <- alpha x + y``."""
    letter = y.letter
    factor = REALS[letter][alpha] if alpha and letter in REALS else scalar(letter, alpha)
    if n is None and incx == 1 and incy == 1 and y.size <= blas_library.LIMIT and not OBSERVERS:
        _axpy[letter](y.int_size, factor, x.low, x.int_increment, y.low, y.int_increment)
        return
    for count, px, ix, py, iy in _two("axpy", x, y, n, incx, incy):
        _axpy[letter](count, factor, px, ix, py, iy)


def scal(alpha: Number, x: ForeignArray, n: int | None = None, incx: int = 1) -> None:
    """Compute ``x <- alpha x``."""
    letter = x.letter
    factor = scalar(letter, alpha)
    if (n is None and incx == 1 and x.increment > 0 and x.size <= blas_library.LIMIT
            and not OBSERVERS):
        _scal[letter](x.int_size, factor, x.low, x.int_increment)
        return
    for count, p, inc in _one("scal", x, n, incx):
        _scal[letter](INTS[count], factor, p, INTS[inc])


def dot(x: ForeignArray, y: ForeignArray, n: int | None = None, incx: int = 1,
        incy: int = 1) -> Number:
    """Return ``sum x_i y_i``, unconjugated."""
    letter = x.letter
    if (n is None and incx == 1 and incy == 1 and letter in "fd" and x.size <= blas_library.LIMIT
            and not OBSERVERS):
        return _dot[letter](x.int_size, x.low, x.int_increment, y.low, y.int_increment)
    return _total(letter,
                  [_dot[letter](*arguments) for arguments in _two("dot", x, y, n, incx, incy)])


def vdot(x: ForeignArray, y: ForeignArray, n: int | None = None, incx: int = 1,
         incy: int = 1) -> Number:
    """Return ``sum conj(x_i) y_i``."""
    letter = x.letter
    if letter not in COMPLEX:
        return dot(x, y, n, incx, incy)
    return _total(letter,
                  [_vdot[letter](*arguments) for arguments in _two("vdot", x, y, n, incx, incy)])


def dot_into(x: ForeignArray, y: ForeignArray, out: ForeignArray) -> None:
    """Compute ``out <- sum x_i y_i``, unconjugated."""
    out.pointer[0] = dot(x, y)


def _total(letter: str, parts: list[Number]) -> Number:
    if letter in COMPLEX:
        return sum((complex(part.re, part.im) for part in parts), 0j)
    return sum(parts, 0.0)


def copy(x: ForeignArray, y: ForeignArray, n: int | None = None, incx: int = 1,
         incy: int = 1) -> None:
    """Copy the elements of `x` to `y`."""
    for arguments in _two("copy", x, y, n, incx, incy):
        _copy[x.letter](*arguments)


def swap(x: ForeignArray, y: ForeignArray, n: int | None = None, incx: int = 1,
         incy: int = 1) -> None:
    """Exchange the elements of `x` and `y`."""
    for arguments in _two("swap", x, y, n, incx, incy):
        _swap[x.letter](*arguments)


def nrm2(x: ForeignArray, n: int | None = None, incx: int = 1) -> float:
    """Return ``sqrt(sum |x_i|^2)``."""
    return math.hypot(*(_nrm2[x.letter](INTS[count], p, INTS[inc])
                        for count, p, inc in _one("nrm2", x, n, incx)))


def asum(x: ForeignArray, n: int | None = None, incx: int = 1) -> float:
    """Return ``sum |re x_i| + |im x_i|``."""
    return float(sum(_asum[x.letter](INTS[count], p, INTS[inc])
                     for count, p, inc in _one("asum", x, n, incx)))


def iamax(x: ForeignArray, n: int | None = None, incx: int = 1) -> int:
    """Return the first index of the largest ``|re x_i| + |im x_i|``, from 0; `incx` is above 0."""
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


# the signature is BLAS's
def gemv(letter: str, form: GemvForm, alpha: Number, a: CData, x: ForeignArray, beta: Number,
         y: ForeignArray) -> None:
    """Compute ``y <- alpha op(A) x + beta y``."""
    trans, m, n, lda = form
    (px, ix), (py, iy) = at(x, x.size, 1), at(y, y.size, 1)
    if OBSERVERS:
        _notify("gemv", letter, **form._asdict(), incx=ix, incy=iy)
    _gemv[letter](FLAGS[trans], INTS[m], INTS[n], scalar(letter, alpha), a, INTS[lda], px, INTS[ix],
                  scalar(letter, beta), py, INTS[iy])


def ger(form: GerForm, alpha: Number, x: ForeignArray, y: ForeignArray, a: CData) -> None:
    """Compute ``A <- alpha x y^T + A``; nothing is conjugated."""
    m, n, lda, swap = form
    if swap:
        x, y = y, x
    letter = x.letter
    (px, ix), (py, iy) = at(x, m, 1), at(y, n, 1)
    if OBSERVERS:
        _notify("ger", letter, m=m, n=n, lda=lda, incx=ix, incy=iy)
    _ger[letter](INTS[m], INTS[n], scalar(letter, alpha), px, INTS[ix], py, INTS[iy], a, INTS[lda])


def prepare_gemm(letter: str, form: GemmForm) -> Function:
    """Prepare `gemm` for these sizes, as a function of ``(alpha, a, b, beta, c)``."""
    (trans_a, trans_b, sizes, leading, swap), reported = form, form.reported()
    routine, flag_a, flag_b = _gemm[letter], FLAGS[trans_a], FLAGS[trans_b]
    # a zero beta of either sign says that C is not read
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    rows, columns, inner, step_a, step_b, step_c = map(INTS.__getitem__, (*sizes, *leading))

    def call(alpha: Number, a: ForeignArray, b: ForeignArray, beta: Number,
             c: ForeignArray) -> None:
        if OBSERVERS:
            _notify("gemm", letter, **reported)
        if swap:
            a, b = b, a
        routine(flag_a, flag_b, rows, columns, inner,
                known[alpha] if alpha and known else scalar(letter, alpha),
                a.pointer, step_a, b.pointer, step_b,
                zero if not beta else known[beta] if known else scalar(letter, beta), c.pointer,
                step_c)

    return call


class _Part(NamedTuple):
    """A matrix of a stack."""

    pointer: CData


def prepare_gemm_batched(letter: str, form: GemmForm, batch: Ints,
                         steps: tuple[Ints, Ints, Ints]) -> Function:
    """Prepare `gemm` for each matrix of stacks, with these steps along their leading axes."""
    one = prepare_gemm(letter, form)
    starts = list(zip(*(Layout(batch, s, 0).indices() for s in steps), strict=True))

    def call(alpha: Number, a: ForeignArray, b: ForeignArray, beta: Number,
             c: ForeignArray) -> None:
        for at_a, at_b, at_c in starts:
            one(alpha, _Part(a.pointer + at_a), _Part(b.pointer + at_b), beta,
                _Part(c.pointer + at_c))

    return call


def syrk(letter: str, form: SyrkForm, alpha: Number, a: CData, beta: Number, c: CData) -> None:
    """Compute ``C <- alpha A A^T + beta C`` (``trans`` T: ``A^T A``) in one triangle of C."""
    uplo, trans, n, k, lda, ldc = form
    if OBSERVERS:
        _notify("syrk", letter, **form._asdict())
    _syrk[letter](FLAGS[uplo], FLAGS[trans], INTS[n], INTS[k], scalar(letter, alpha), a, INTS[lda],
                  scalar(letter, beta), c, INTS[ldc])


def trsm(letter: str, form: TrsmForm, alpha: Number, a: CData, b: CData) -> None:
    """Compute ``B <- alpha op(A)^-1 B`` (side R: ``B op(A)^-1``) for a triangular A."""
    side, uplo, trans, diag, m, n, lda, ldb = form
    if OBSERVERS:
        _notify("trsm", letter, **form._asdict())
    _trsm[letter](FLAGS[side], FLAGS[uplo], FLAGS[trans], FLAGS[diag], INTS[m], INTS[n],
                  scalar(letter, alpha), a, INTS[lda], b, INTS[ldb])
