"""BLAS by value: its routines as `CpuKernel` kernels, for operands that one call takes; no C object
is made for a call.

What is longer than BLAS can count, or where nothing is compiled, is left to ``blas.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..layout.strided import Layout
from ..support import blas_library
from ..support.blas_library import address, routine_name
from ..support.dtypes import BLAS_TYPES, COMPLEX_TYPES
from ..support.native import ffi, lib
from . import blas
from .kernel import CpuKernel

KINDS = {char: k for k, char in enumerate(BLAS_TYPES)}  # as blas.c numbers them
# elements of vectors, or eighths of multiplications, that take no longer than a few microseconds
LITTLE = 16384


def routine(verb: str, letter: str) -> int:
    """The address of BLAS's routine `verb` for elements of that dtype."""
    return address(routine_name(verb, letter))


def one_call(n: int, *steps: int) -> bool:
    """Whether BLAS can take vectors of `n` elements, so far apart, in one call of a compiled
    shim.
    """
    return lib is not None and n <= blas_library.LIMIT and all(0 < abs(step) <= blas_library.LIMIT
                                                               for step in steps)


@cache
def _kernels() -> dict[str, tuple[Any, str]]:
    """The shim of each verb, and what it results in: nothing, an element (T), or a real number
    (d).
    """
    return {"axpy": (lib.mat_blas_axpy, ""), "scal": (lib.mat_blas_scal, ""),
            "copy": (lib.mat_blas_copy, ""),
            "swap": (lib.mat_blas_swap, ""), "dot": (lib.mat_blas_dot, "T"),
            "vdot": (lib.mat_blas_dot, "T"),
            "nrm2": (lib.mat_blas_nrm2, "d"), "asum": (lib.mat_blas_asum, "d")}


def vectors(verb: str, letter: str, n: int, steps: tuple[int, ...],
            starts: tuple[int, ...]) -> CpuKernel:
    """``verb`` of one or two vectors of `n` elements, `steps` apart, that begin `starts` elements
    from their operands.
    """
    frame = ffi.new("struct mat_vectors *",
                    (routine(verb, letter), KINDS[letter], n, steps, starts))
    kernel, result = _kernels()[verb]
    incs = {"incx": abs(steps[0])} if len(steps) == 1 else {"incx": steps[0], "incy": steps[1]}
    gives = "D" if result == "T" and letter in COMPLEX_TYPES else result and "d"
    told: dict[str, object] = {"n": n, **incs}
    grain = LITTLE if n <= LITTLE else 0
    return CpuKernel(kernel, frame, n, grain, result=gives,
                     called=(routine_name(verb, letter), told))


def prepare_gemm(letter: str, trans_a: str, trans_b: str, m: int, n: int, k: int, lda: int,
                 ldb: int, ldc: int,
                 swap: bool) -> Callable[..., None]:
    """``call(alpha, a, b, beta, c)`` for a product of these sizes; with `swap`, b is BLAS's first
    operand.
    """
    if lib is None:
        return blas.prepare_gemm(letter, trans_a, trans_b, m, n, k, lda, ldb, ldc, swap)
    frame = ffi.new("struct mat_product *", (routine("gemm", letter), KINDS[letter], swap,
                                             (trans_a.encode(), trans_b.encode()),
                                             m, n, k, (lda, ldb, ldc)))
    told = {"trans": trans_a + trans_b, "m": m, "n": n, "k": k, "lda": lda, "ldb": ldb, "ldc": ldc}
    little = m * n * k <= 8 * LITTLE
    return CpuKernel(lib.mat_blas_gemm, frame, 1, int(little),
                     called=(routine_name("gemm", letter), told))


def prepare_gemv(letter: str, trans: str, m: int, n: int, lda: int, x: Layout,
                 y: Layout) -> Callable[..., None]:
    """``call(alpha, a, x, beta, y)`` for ``y <- alpha op(A) x + beta y``, with vectors that lie as
    `x` and `y` do.
    """
    if lib is None:
        return lambda alpha, a, x, beta, y: blas.gemv(letter, trans, m, n, alpha, a.pointer, lda, x,
                                                      beta, y)
    (one, incx), (other, incy) = _lowest(x), _lowest(y)
    frame = ffi.new("struct mat_matrix_vector *",
                    (routine("gemv", letter), KINDS[letter], (one, other), (trans.encode(), b"N"),
                     m, n, lda, (incx, incy)))
    told: dict[str, object] = {"trans": trans, "m": m, "n": n, "lda": lda, "incx": incx,
                               "incy": incy}
    return CpuKernel(lib.mat_blas_gemv, frame, 1, int(m * n <= 4 * LITTLE),
                     called=(routine_name("gemv", letter), told))


def prepare_scale_vector(letter: str, layout: Layout) -> Callable[..., None]:
    """``call(alpha, a, x, beta, y)`` for ``y <- beta y``, which BLAS leaves out where the product
    is over an empty axis.
    """
    source = np.zeros(1, letter)

    def scale(_alpha: Any, _a: Any, _x: Any, beta: Any, y: Any) -> None:
        if beta != 0:
            blas.scal(beta, y)
            return
        zero = type(y)(source, Layout((layout.size,), (0,), 0))
        zero.low, zero.increment = zero.pointer, 0
        blas.copy(zero, y)
    return scale


def _lowest(x: Layout) -> tuple[int, int]:
    """How far from its first element a vector's lowest address is, where BLAS wants it to begin,
    and its increment.
    """
    assert x.vector is not None, "fits has let it through"
    return x.vector[0] - x.displacement, x.vector[1]


def prepare_ger(_letter: str, m: int, n: int, lda: int, _x: Layout, _y: Layout,
                swap: bool) -> Callable[..., None]:
    """``call(alpha, x, y, a)`` for ``A <- alpha x y^T + A``, A being m x n; with `swap`, y is
    BLAS's first vector.
    """
    if swap:
        return lambda alpha, x, y, a: blas.ger(m, n, alpha, y, x, a.pointer, lda)
    return lambda alpha, x, y, a: blas.ger(m, n, alpha, x, y, a.pointer, lda)


def prepare_syrk(letter: str, uplo: str, trans: str, n: int, k: int, lda: int,
                 ldc: int) -> Callable[..., None]:
    """``call(alpha, a, beta, c)`` for ``C <- alpha A A^T + beta C`` (``trans`` T: ``A^T A``) in one
    triangle of C.
    """
    return lambda alpha, a, beta, c: blas.syrk(letter, uplo, trans, n, k, alpha, a.pointer, lda,
                                               beta, c.pointer, ldc)


def prepare_trsm(letter: str, side: str, uplo: str, trans: str, diag: str, m: int, n: int, lda: int,
                 ldb: int) -> Callable[..., None]:
    """``call(alpha, a, b)`` for ``B <- alpha op(A)^-1 B`` (side R: ``B op(A)^-1``), with a
    triangular A.
    """
    return lambda alpha, a, b: blas.trsm(letter, side, uplo, trans, diag, m, n, alpha, a.pointer,
                                         lda, b.pointer, ldb)
