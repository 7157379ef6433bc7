"""BLAS level 1: vectors. Names, argument order and meaning are those of BLAS; the last operand is
written and returned.

Operands of any shape count as vectors of their visible elements in row-major order. ``n`` is how
many elements to use, ``incx`` and ``incy`` how far apart; a negative increment walks backwards from
the far end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..cpu import blas
from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, Layout, integer
from ..matrix.mat import Mat
from ..support import blas_library
from ..support.dtypes import BLAS_TYPES as BLAS
from .operation import InOut, Input, Op, Output, Scalar, op
from .overlap import check_disjoint


def vector(layout: Layout) -> bool:
    """Whether BLAS can take the elements as one vector, with an increment that it can count."""
    return layout.vector is not None and abs(layout.vector[1]) <= blas_library.LIMIT


def forward(layout: Layout) -> bool:
    """Whether BLAS can take them as a vector that counts upwards, where the order matters."""
    return vector(layout) and device_forward(layout)


def device_vector(layout: Layout) -> bool:
    """Whether they are one vector, for cuBLAS, which counts with 64 bits."""
    return layout.vector is not None


def device_forward(layout: Layout) -> bool:
    """Likewise, one that counts upwards."""
    return layout.vector is not None and layout.vector[1] > 0


def blas_dtype(*mats: Mat) -> None:
    """`DTypeError` unless all are of one dtype that BLAS knows."""
    first = mats[0].storage.dtype
    if first.char not in BLAS:
        raise DTypeError(f"BLAS knows float32, float64, complex64 and complex128, got {first}; "
                         "convert with x.astype(dtype)")
    for other in mats[1:]:
        if other.storage.dtype is not first and other.storage.dtype != first:
            raise DTypeError(f"BLAS takes one dtype, got {first} and {other.dtype}; convert with "
                             "x.astype(dtype)")


def count(x: Mat, n: int | None, inc: int) -> int:
    """How many elements of `x`, `inc` apart, an operation uses; `ShapeError` if there are not so
    many.
    """
    if n is None and type(inc) is int and inc == 1:
        return x.layout.size
    step = integer(inc, "an increment")
    if step == 0:
        raise ShapeError("an increment of 0 would use one element over and over; broadcast_to does "
                         "that, for reading")
    most = blas.used(x, None, step)
    if n is None:
        return most
    if integer(n, "n") < 0 or n > most:
        raise ShapeError(f"n = {n} elements {step} apart do not fit in {x.size}; at most {most} do")
    return n


def pair(x: Mat, y: Mat, n: int | None, incx: int, incy: int) -> int:
    """How many elements of both are used; they must be equally many."""
    blas_dtype(x, y)
    used, other = count(x, n, incx), count(y, n, incy)
    if used != other:
        raise ShapeError(f"vectors must be equally long, got {used} elements of shape {x.shape} "
                         f"and {other} of {y.shape}; "
                         f"n= uses fewer")
    return used


def elements(x: Any, n: int | None, inc: int) -> Any:
    """The elements that BLAS would use of the array `x`, as a 1-d view where there is one."""
    flat, step = x.reshape(-1), abs(inc)
    n = blas.used(flat, n, inc)
    used = flat[:(n - 1) * step + 1:step] if n else flat[:0]
    return used if inc > 0 else used[::-1]


def write_elements(x: Any, n: int | None, inc: int, values: Any) -> None:
    """Put `values` where `elements` reads; also where a flat view of `x` does not exist."""
    places = np.arange(blas.used(x, n, inc)) * abs(inc)
    x.flat[places if inc > 0 else places[::-1]] = values


def on_vectors(operation: Op) -> None:
    """Give `operation` the engine's routine of its name: in one call by value where that can be,
    else piece by piece.
    """
    verb = operation.__name__
    on_device(operation)

    def prepare(engine: Any, *vectors: Mat, n: int | None = None,
                **incs: int) -> Callable[..., Any]:
        used, steps, starts = walks(vectors, n, **incs)
        letter, otherwise = vectors[0].dtype.char, partial(getattr(engine, verb), n=n, **incs)
        if engine.is_long(letter, used, *steps):
            return engine.long_vectors(verb, letter, used,
                                       len(vectors),  # type: ignore[no-any-return]
                                       otherwise)
        if engine.one_call(used, *steps):
            # a Prepared
            return engine.vectors(verb, letter, used, steps, starts)  # type: ignore[no-any-return]
        return otherwise

    operation.prepare("foreign", fits=vector, dtypes=BLAS)(prepare)


def on_device(operation: Op, fits: Callable[[Layout], bool] = device_vector) -> None:
    """Give `operation` cuBLAS's routine of its name; what is no vector is packed."""
    verb = operation.__name__

    def prepare(engine: Any, *vectors: Mat, n: int | None = None,
                **incs: int) -> Callable[..., Any]:
        return engine.vectors(verb, vectors[0].dtype.char,  # type: ignore[no-any-return]
                              *walks(vectors, n, **incs))

    operation.prepare("cuda", fits=fits, dtypes=BLAS, pack=True)(prepare)


def walks(vectors: tuple[Mat, ...], n: int | None, incx: int = 1,
          incy: int = 1) -> tuple[int, Ints, Ints]:
    """How many elements are used of each, and, as `walk` has them, the steps and where they
    begin.
    """
    given = (incx, incy)[:len(vectors)]
    used = blas.used(vectors[0], n, incx)
    starts, steps = zip(*(walk(x.layout, used, inc) for x, inc in zip(vectors, given, strict=True)),
                        strict=True)
    return used, steps, starts


def walk(layout: Layout, n: int, inc: int) -> tuple[int, int]:
    """Where, from the first visible element, BLAS's first of `n` elements `inc` apart is, and the
    step to the next.
    """
    assert layout.vector is not None, "fits has let it through"
    step = layout.vector[1]
    return (max(n - 1, 0) * -inc * step if inc < 0 else 0), inc * step


# Updates


@op(by_form=True)
def axpy(alpha: Scalar, x: Input, y: InOut, *, n: int | None = None, incx: int = 1,
         incy: int = 1) -> None:
    """``y <- alpha * x + y``

    `x` and `y` are of one dtype that BLAS knows and, unless ``n`` says otherwise, equally long.
    `ShapeError`, `DTypeError`, or `AliasError` if they overlap without being the same elements.
    Source: BLAS ?AXPY.

    >>> import mat
    >>> mat.axpy(2, mat.ones(3), mat.arange(3))
    <Mat 3 AF [2. 3. 4.]>
    """
    pair(x, y, n, incx, incy)
    if x.storage is y.storage:
        check_disjoint("axpy", y, x, same=incx == incy)


on_vectors(axpy)


@axpy.on("array")
def _(np: Any, alpha: Any, x: Any, y: Any, n: int | None = None, incx: int = 1,
      incy: int = 1) -> None:
    write_elements(y, n, incy, elements(y, n, incy) + y.dtype.type(alpha) * elements(x, n, incx))


@op(by_form=True)
def scal(alpha: Scalar, x: InOut, *, n: int | None = None, incx: int = 1) -> None:
    """``x <- alpha * x``. Source: BLAS ?SCAL.

    >>> import mat
    >>> mat.scal(3, mat.ones(2))
    <Mat 2 F [3. 3.]>
    """
    blas_dtype(x)
    count(x, n, incx)


on_vectors(scal)


@scal.on("array")
def _(np: Any, alpha: Any, x: Any, n: int | None = None, incx: int = 1) -> None:
    write_elements(x, n, incx, x.dtype.type(alpha) * elements(x, n, incx))


@op(by_form=True)
def copy(x: Input, y: Output, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``y <- x``: the elements of `x`, whatever the shapes. Source: BLAS ?COPY.

    Unlike ``y[...] = x`` it converts no dtype and broadcasts nothing.

    >>> import mat
    >>> mat.copy(mat.arange(4), mat.zeros(2, 2))
    <Mat 2x2 F [[0. 1.] [2. 3.]]>
    """
    pair(x, y, n, incx, incy)
    if x.storage is y.storage:
        check_disjoint("copy", y, x, same=incx == incy)


on_vectors(copy)


@copy.on("array")
def _(np: Any, x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    write_elements(y, n, incy, elements(x, n, incx))


@op(by_form=True)
def swap(x: InOut, y: InOut, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``x, y <- y, x``; returns `y`. Source: BLAS ?SWAP.

    >>> import mat
    >>> x, y = mat.zeros(2), mat.ones(2)
    >>> mat.swap(x, y), x
    (<Mat 2 F [0. 0.]>, <Mat 2 F [1. 1.]>)
    """
    pair(x, y, n, incx, incy)
    if x.storage is y.storage:
        check_disjoint("swap", y, x, same=incx == incy)


on_vectors(swap)


@swap.on("array")
def _(np: Any, x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    kept = elements(x, n, incx).copy()
    write_elements(x, n, incx, elements(y, n, incy))
    write_elements(y, n, incy, kept)


# Reductions to a Python number


@op(by_form=True)
def dot(x: Input, y: Input, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``sum x_i * y_i`` as a Python number; nothing is conjugated. Source: BLAS ?DOT, ?DOTU.

    >>> import mat
    >>> mat.dot(mat.arange(3), mat.ones(3))
    3.0
    """
    pair(x, y, n, incx, incy)


@op(by_form=True)
def vdot(x: Input, y: Input, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    """``sum conj(x_i) * y_i`` as a Python number. Source: BLAS ?DOTC.

    >>> import mat
    >>> mat.vdot(mat.array([1j], "complex128"), mat.array([1j], "complex128"))
    (1+0j)
    """
    pair(x, y, n, incx, incy)


on_vectors(dot)


@dot.on("array")
def _(np: Any, x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> Any:
    return np.dot(elements(x, n, incx), elements(y, n, incy)).item()


on_vectors(vdot)


@vdot.on("array")
def _(np: Any, x: Any, y: Any, n: int | None = None, incx: int = 1, incy: int = 1) -> Any:
    return np.vdot(elements(x, n, incx), elements(y, n, incy)).item()


@op(by_form=True)
def nrm2(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    """The Euclidean norm, ``sqrt(sum |x_i|^2)``, without overflow, as a Python float. Source: BLAS
    ?NRM2.

    >>> import mat
    >>> mat.nrm2(mat.array([3, 4]))
    5.0
    """
    blas_dtype(x)
    count(x, n, incx)


on_vectors(nrm2)


@nrm2.on("array")
def _(np: Any, x: Any, n: int | None = None, incx: int = 1) -> float:
    used = elements(x, n, incx)
    largest = np.abs(used).max() if used.size else 0.0
    if largest == 0 or not np.isfinite(largest):
        return float(largest)
    return float(largest * np.linalg.norm(used / largest))


@op(by_form=True)
def asum(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    """``sum |re x_i| + |im x_i|`` as a Python float. Source: BLAS ?ASUM.

    >>> import mat
    >>> mat.asum(mat.array([3, -4]))
    7.0
    """
    blas_dtype(x)
    count(x, n, incx)


on_vectors(asum)


@asum.on("array")
def _(np: Any, x: Any, n: int | None = None, incx: int = 1) -> float:
    used = elements(x, n, incx)
    return float(np.abs(used.real).sum() + np.abs(used.imag).sum())


@op(by_form=True)
def iamax(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    """The first index, from 0, of the largest ``|re x_i| + |im x_i|``. Source: BLAS I?AMAX, which
    counts from 1.

    `ShapeError` if there is no element.

    >>> import mat
    >>> mat.iamax(mat.array([3, -4, 1]))
    1
    """
    blas_dtype(x)
    if count(x, n, incx) == 0:
        raise ShapeError("iamax of no elements is undefined")
    if incx < 0:
        raise ShapeError(f"iamax counts upwards, got incx = {incx}; x[::-1] walks the other way")


iamax.on_engine("foreign", fits=forward, dtypes=BLAS)
on_device(iamax, device_forward)


@iamax.on("array")
def _(np: Any, x: Any, n: int | None = None, incx: int = 1) -> int:
    used = elements(x, n, incx)
    return int(np.argmax(np.abs(used.real) + np.abs(used.imag)))
