"""Vectors for BLAS: the used elements of an operand, and level 1 on each engine.

Operands of any shape count as vectors of their visible elements in row-major order. ``n`` is how
many elements to use, ``incx`` and ``incy`` how far apart; with a negative increment they begin at
the far end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from ...cpu import blas
from ...errors import ShapeError
from ...layout.shapes import Ints, integer
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support import blas_library
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.types import Array, Function
from ..engine.operation import Op
from .blas_checks import blas_dtype


class VectorEngine(Protocol):
    """Level 1 of BLAS as an engine has it: prepared for vectors of a length and these steps."""

    def vectors(self, verb: str, letter: str, n: int, steps: Ints, starts: Ints) -> Function: ...


class HostVectorEngine(VectorEngine, Protocol):
    """The host's engine: kernels for long vectors, one call by value, or piece by piece."""

    def is_long(self, letter: str, n: int, *steps: int) -> bool: ...
    def long_vectors(self, verb: str, letter: str, n: int, vectors: int,
                     otherwise: Function) -> Function: ...
    def one_call(self, n: int, *steps: int) -> bool: ...


def vector(layout: Layout) -> bool:
    """Return whether BLAS can take the elements as one vector, with a 32-bit increment."""
    return layout.vector is not None and abs(layout.vector[1]) <= blas_library.LIMIT


def forward(layout: Layout) -> bool:
    """Return whether BLAS can take them as a vector in ascending order, where the order matters."""
    return vector(layout) and device_forward(layout)


def device_vector(layout: Layout) -> bool:
    """Return whether they are one vector for cuBLAS, with a 64-bit increment."""
    return layout.vector is not None


def device_forward(layout: Layout) -> bool:
    """Return whether they are such a vector in ascending order."""
    return layout.vector is not None and layout.vector[1] > 0


def count(x: Mat, n: int | None, inc: int) -> int:
    """Return how many elements of `x`, `inc` apart, an operation uses.

    `ShapeError` if there are not so many.
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


def check_pair(x: Mat, y: Mat, n: int | None, incx: int, incy: int) -> None:
    """Raise unless vectors match.

    `DTypeError` unless both are of one BLAS dtype, `ShapeError` unless equally many elements are
    used.
    """
    blas_dtype(x, y)
    used, other = count(x, n, incx), count(y, n, incy)
    if used != other:
        raise ShapeError(f"vectors must be equally long, got {used} elements of shape {x.shape} "
                         f"and {other} of {y.shape}; "
                         f"n= uses fewer")


def elements(x: Array, n: int | None, inc: int) -> Array:
    """Return the elements that BLAS would use of `x`, as a 1-d view where there is one."""
    flat, step = x.reshape(-1), abs(inc)
    n = blas.used(flat, n, inc)
    used = flat[:(n - 1) * step + 1:step] if n else flat[:0]
    return used if inc > 0 else used[::-1]


def write_elements(x: Array, n: int | None, inc: int, values: Array) -> None:
    """Write `values` to the elements that `elements` reads; also where `x` has no flat view."""
    positions = np.arange(blas.used(x, n, inc)) * abs(inc)
    x.flat[positions if inc > 0 else positions[::-1]] = values


def on_vectors(operation: Op) -> None:
    """Give `operation` the engine's routine of its name.

    It is called once, by value, where that can be, else piece by piece.
    """
    verb = operation.__name__
    on_device(operation)

    def prepare_vectors(engine: HostVectorEngine, *vectors: Mat, n: int | None = None,
                        **incs: int) -> Function:
        used, steps, starts = strided_vectors(vectors, n, **incs)
        letter, otherwise = vectors[0].dtype.char, partial(getattr(engine, verb), n=n, **incs)
        if engine.is_long(letter, used, *steps):
            return engine.long_vectors(verb, letter, used, len(vectors), otherwise)
        if engine.one_call(used, *steps):
            return engine.vectors(verb, letter, used, steps, starts)
        return otherwise

    operation.prepare("foreign", fits=vector, dtypes=BLAS)(prepare_vectors)


def on_device(operation: Op, fits: Callable[[Layout], bool] = device_vector) -> None:
    """Give `operation` cuBLAS's routine of its name; operands that are no vectors are packed."""
    verb = operation.__name__

    def prepare_device_vectors(engine: VectorEngine, *vectors: Mat, n: int | None = None,
                               **incs: int) -> Function:
        return engine.vectors(verb, vectors[0].dtype.char, *strided_vectors(vectors, n, **incs))

    operation.prepare("cuda", fits=fits, dtypes=BLAS, pack=True)(prepare_device_vectors)


def strided_vectors(vectors: tuple[Mat, ...], n: int | None, incx: int = 1,
                    incy: int = 1) -> tuple[int, Ints, Ints]:
    """Return how many elements are used of each vector, and the steps and the starts.

    They are those of `strided_vector`.
    """
    given = (incx, incy)[:len(vectors)]
    used = blas.used(vectors[0], n, incx)
    starts, steps = zip(*(strided_vector(x.layout, used, inc)
                          for x, inc in zip(vectors, given, strict=True)), strict=True)
    return used, steps, starts


def strided_vector(layout: Layout, n: int, inc: int) -> tuple[int, int]:
    """Return where BLAS's first of `n` elements `inc` apart is, and the step to the next.

    It is counted from the first visible element.
    """
    assert layout.vector is not None, "fits has let it through"
    step = layout.vector[1]
    return (max(n - 1, 0) * -inc * step if inc < 0 else 0), inc * step
