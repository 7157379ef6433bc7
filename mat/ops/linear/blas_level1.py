"""BLAS level 1: operations on vectors.

Names, argument order and meaning are those of BLAS; the last operand is written and returned.

Operands of any shape count as vectors of their visible elements in row-major order. ``n`` is how
many elements to use, ``incx`` and ``incy`` how far apart; with a negative increment they begin at
the far end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy
import numpy as np

from ...errors import ShapeError
from ...facets import over
from ...layout.orders import in_one_order
from ...layout.shapes import Ints, integer
from ...layout.strided import Layout, packed
from ...matrix.mat import Mat
from ...support import blas_library
from ...support.c_pointers import ForeignArray
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.native import compiled
from ...support.plugins import at_first_use
from ...support.types import Array, DType, Engine, Function, Number, Presented
from ...support.unbound import documented
from ..engine.operation import InOut, Input, Op, Output, Scalar, number_op, op
from ..tiles.overlap import check_disjoint
from ..tiles.tile import made_later
from .blas_checks import blas_dtype

blas_kernels = at_first_use("cpu.blas_kernels")
signatures = at_first_use("ops.tiles.signatures")
# makes the result of the numbers of pieces
Combine: TypeAlias = Callable[[list[Any], DType], Any]


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


def used_of(x: Mat | Array, n: int | None, inc: int) -> int:
    """Return how many elements of `x`, `inc` apart, are used: `n`, or as many as there are."""
    if n is not None:
        return n
    return (x.size - 1) // abs(inc) + 1 if x.size else 0


def count(x: Mat, n: int | None, inc: int) -> int:
    """Return how many elements `inc` apart are used; `ShapeError` if there are fewer."""
    if n is None and type(inc) is int and inc == 1:
        return x.layout.size
    step = integer(inc, "an increment")
    if step == 0:
        raise ShapeError("an increment of 0 would use one element over and over; broadcast_to does "
                         "that, for reading")
    most = used_of(x, None, step)
    if n is None:
        return most
    if integer(n, "n") < 0 or n > most:
        raise ShapeError(f"n = {n} elements {step} apart do not fit in {x.size}; at most {most} do")
    return n


def check_pair(x: Mat, y: Mat, n: int | None, incx: int, incy: int, writes: str = "") -> None:
    """Raise unless vectors use equally many elements, apart or the same if it `writes`."""
    blas_dtype(x, y)
    used, other = count(x, n, incx), count(y, n, incy)
    if used != other:
        raise ShapeError(f"vectors must be equally long, got {used} elements of shape {x.shape} "
                         f"and {other} of {y.shape}; "
                         f"n= uses fewer")
    if writes and x.storage is y.storage:
        check_disjoint(writes, y, x, same=incx == incy)


def elements(x: Array, n: int | None, inc: int) -> Array:
    """Return the elements that BLAS would use of `x`, as a 1-d view where there is one."""
    flat, step = x.reshape(-1), abs(inc)
    n = used_of(flat, n, inc)
    used = flat[:(n - 1) * step + 1:step] if n else flat[:0]
    return used if inc > 0 else used[::-1]


def write_elements(x: Array, n: int | None, inc: int, values: Array) -> None:
    """Write `values` to the elements that `elements` reads; also where `x` has no flat view."""
    positions = np.arange(used_of(x, n, inc)) * abs(inc)
    x.flat[positions if inc > 0 else positions[::-1]] = values


def by_numpy(operation: Op, function: Function) -> None:
    """Let a function of the used elements compute the number that an operation returns."""
    @operation.on("array", bare=True)
    def compute(*vectors: Array, n: int | None = None, **incs: int) -> Number:
        steps = incs.get("incx", 1), incs.get("incy", 1)
        return function(*(elements(x, n, inc) for x, inc in zip(vectors, steps, strict=False)))


def on_vectors(operation: Op, combine: Callable[[], Combine] | None = None) -> None:
    """Give `operation` BLAS's routine of its name, and tiles whose numbers are combined."""
    verb = operation.__name__
    operation.reads_once = True
    operation.cut_by(made_later(lambda: signatures.by_pieces(
        operation, None if combine is None else combine())))

    def prepare_vectors(engine: Engine, *vectors: Mat, n: int | None = None,
                        **incs: int) -> Function:
        used, steps, starts = strided_vectors(vectors, n, **incs)
        letter, otherwise = vectors[0].dtype.char, _by_numpy(operation, n=n, **incs)
        if engine.is_long(letter, used, *steps):
            return engine.long_vectors(verb, letter, used, len(vectors), otherwise)
        if engine.one_call(used, *steps):
            return engine.vectors(verb, letter, used, steps, starts)
        return otherwise

    operation.prepare("foreign", fits=vector, dtypes=compiled(BLAS))(prepare_vectors)
    operation.prepare("foreign", dtypes=compiled(BLAS), when=are_in_one_order, plain=True)(
        lambda engine, *vectors: prepare_vectors(engine, *by_rows(vectors)))
    operation.prepare("cuda", dtypes=BLAS, when=are_in_one_order, plain=True)(
        lambda engine, *vectors: _prepare_device_vectors(verb, engine, *by_rows(vectors)))
    on_device(operation)


def are_in_one_order(*vectors: Mat) -> bool:
    """Return whether the elements of all are stored without gaps, in one order."""
    return in_one_order([x.layout for x in vectors]) is not None


def by_rows(vectors: Sequence[Mat]) -> list[Mat]:
    """Return views, of those that `are_in_one_order`, with their elements in that order by rows."""
    layouts = in_one_order([x.layout for x in vectors])
    assert layouts is not None
    return [x.over(layout) for x, layout in zip(vectors, layouts, strict=True)]


def _by_numpy(operation: Op, **given: int | None) -> Function:
    """Return NumPy's implementation, for sizes that one call of BLAS cannot count."""
    def call(*values: Presented) -> Number:
        found = operation.implementation_on("array")
        arrays = (over(v.handle, v.layout) if isinstance(v, ForeignArray) else v for v in values)
        return found.function(*(() if found.bare else (np,)), *arrays, **given)
    return call


def on_device(operation: Op, fits: Callable[[Layout], bool] = device_vector) -> None:
    """Give `operation` cuBLAS's routine of its name; operands that are no vectors are packed."""
    operation.prepare("cuda", fits=fits, dtypes=BLAS, pack=True)(
        partial(_prepare_device_vectors, operation.__name__))


def _prepare_device_vectors(verb: str, engine: Engine, *vectors: Mat, n: int | None = None,
                            **incs: int) -> Function:
    return engine.vectors(verb, vectors[0].dtype.char, *strided_vectors(vectors, n, **incs))


def strided_vectors(vectors: tuple[Mat, ...], n: int | None, incx: int = 1,
                    incy: int = 1) -> tuple[int, Ints, Ints]:
    """Return how many elements are used of each vector, with steps and starts."""
    given = (incx, incy)[:len(vectors)]
    used = used_of(vectors[0], n, incx)
    starts, steps = zip(*(strided_vector(x.layout, used, inc)
                          for x, inc in zip(vectors, given, strict=True)), strict=True)
    return used, steps, starts


def strided_vector(layout: Layout, n: int, inc: int) -> tuple[int, int]:
    """Return the offset of BLAS's first of `n` elements from the visible ones, and the step."""
    assert layout.vector is not None, "fits has let it through"
    step = layout.vector[1]
    return (max(n - 1, 0) * -inc * step if inc < 0 else 0), inc * step


# Updates


@op(by_form=True)
def axpy(alpha: Scalar, x: Input, y: InOut, *, n: int | None = None, incx: int = 1,
         incy: int = 1) -> None:
    """Compute ``y <- alpha * x + y`` and return `y`.

    Parameters
    ----------
    alpha : number
        Factor, converted to the dtype of the Mats.
    x, y : Mat
        Vectors, or the elements of Mats of any shape in row-major order; of one dtype that BLAS
        knows and, unless `n` says otherwise, equally long. `y` is overwritten.
    n : int, optional
        Number of elements to use; by default all.
    incx, incy : int, optional
        Step from one used element of `x` and `y` to the next, by default 1; with a negative one,
        the first is at the far end.

    Returns
    -------
    Mat
        `y`.

    Raises
    ------
    ShapeError, DTypeError
        If the vectors do not match.
    AliasError
        If they overlap without being the same elements.

    Notes
    -----
    BLAS ?AXPY.

    Examples
    --------
    >>> import mat
    >>> mat.axpy(2, mat.ones(3), mat.arange(3.0))
    <Mat 3 AF [2. 3. 4.]>
    """
    check_pair(x, y, n, incx, incy, "axpy")


on_vectors(axpy)


# the signature is the operation's
@axpy.on("array")
def axpy_numpy(np: Engine, alpha: Number, x: Array, y: Array, n: int | None = None, incx: int = 1,
               incy: int = 1) -> None:
    # by BLAS, which may round once, so that the bits are those of other layouts, and of tiles
    total = np.array(elements(y, n, incy), order="C")
    blas_kernels.axpy(alpha, _packed(elements(x, n, incx)), _packed(total))
    write_elements(y, n, incy, total)


def _packed(vector: Array) -> ForeignArray:
    return ForeignArray(numpy.ascontiguousarray(vector), packed(vector.shape))


@op(by_form=True)
def scal(alpha: Scalar, x: InOut, *, n: int | None = None, incx: int = 1) -> None:
    """Compute ``x <- alpha * x`` and return `x`.

    Parameters
    ----------
    alpha : number
        Factor, converted to the dtype of `x`.
    x : Mat
        Vector of a dtype that BLAS knows; it is overwritten.
    n, incx : int, optional
        Number of elements to use and step between them, as for `axpy`.

    Returns
    -------
    Mat
        `x`.

    Notes
    -----
    BLAS ?SCAL.

    Examples
    --------
    >>> import mat
    >>> mat.scal(3, mat.ones(2))
    <Mat 2 F [3. 3.]>
    """
    blas_dtype(x)
    count(x, n, incx)


on_vectors(scal)


@scal.on("array")
def scal_numpy(np: Engine, alpha: Number, x: Array, n: int | None = None, incx: int = 1) -> None:
    write_elements(x, n, incx, x.dtype.type(alpha) * elements(x, n, incx))


_MOVE = """{effect}, and return `y`.{more}

Parameters
----------
x, y : Mat
    Vectors of one dtype that BLAS knows and, unless `n` says otherwise, equally long; {written}
    overwritten.
n, incx, incy : int, optional
    Number of elements to use and steps between them, as for `axpy`.

Returns
-------
Mat
    `y`.

Notes
-----
BLAS ?{routine}.

Examples
--------
>>> import mat
>>> {example}
"""


@op(by_form=True)
@documented(_MOVE, effect="Copy the elements of `x` to `y`, whatever the shapes", more="""

Unlike ``y[...] = x`` it converts no dtype and broadcasts nothing.""", written="`y` is",
            routine="COPY", example="""\
mat.blas.copy(mat.arange(4.0), mat.zeros(2, 2))
<Mat 2x2 F [[0. 1.] [2. 3.]]>""")
def copy(x: Input, y: Output, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    check_pair(x, y, n, incx, incy, "copy")


on_vectors(copy)


# where elements stay where they are in the shape, and nothing overlaps
@copy.prepare("foreign", dtypes=compiled(BLAS), when=lambda x, y: (
    x.layout.shape == y.layout.shape and x.storage is not y.storage))
def copy_in_blocks(cpu: Engine, x: Mat, y: Mat, n: int | None = None, incx: int = 1,
                   incy: int = 1) -> Function:
    """Return the kernel for layouts that are no vectors, such as that of a transpose."""
    if n is None and incx == incy == 1:
        return cpu.prepare_copy(x, y)
    return lambda x, y: write_elements(over(y.handle, y.layout), n, incy,
                                       elements(over(x.handle, x.layout), n, incx))


@copy.on("array")
def copy_numpy(np: Engine, x: Array, y: Array, n: int | None = None, incx: int = 1,
               incy: int = 1) -> None:
    if n is None and incx == incy == 1 and x.shape == y.shape:
        np.copyto(y, x)  # in the order of their steps, not element by element
    else:
        write_elements(y, n, incy, elements(x, n, incx))


@op(by_form=True)
@documented(_MOVE, effect="Exchange the elements of `x` and `y`", more="", written="both are",
            routine="SWAP", example="""\
x, y = mat.zeros(2), mat.ones(2)
>>> mat.swap(x, y), x
(<Mat 2 F [0. 0.]>, <Mat 2 F [1. 1.]>)""")
def swap(x: InOut, y: InOut, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    check_pair(x, y, n, incx, incy, "swap")


on_vectors(swap)


@swap.on("array")
def swap_numpy(np: Engine, x: Array, y: Array, n: int | None = None, incx: int = 1,
               incy: int = 1) -> None:
    kept = elements(x, n, incx).copy()
    write_elements(x, n, incx, elements(y, n, incy))
    write_elements(y, n, incy, kept)


# Reductions to a Python number


_OF_TWO = """Return ``sum {terms}``{more}.

Parameters
----------
x, y : Mat
    Vectors of one dtype that BLAS knows and, unless `n` says otherwise, equally long.
n, incx, incy : int, optional
    Number of elements to use and steps between them, as for `axpy`.

Returns
-------
float or complex
    The sum, a Python number.

Notes
-----
BLAS {routines}.

Examples
--------
>>> import mat
>>> mat.blas.{example}
"""
_OF_ONE = """Return {what}.

Parameters
----------
x : Mat
    Vector of a dtype that BLAS knows.
n, incx : int, optional
    Number of elements to use and step between them, as for `axpy`.

Returns
-------
float
    The {noun}.

Notes
-----
BLAS {routine}.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@number_op(by_form=True)
@documented(_OF_TWO, terms="x_i * y_i", more="; nothing is conjugated", routines="?DOT, ?DOTU",
            example="dot(mat.arange(3.0), mat.ones(3))\n3.0")
def dot(x: Input, y: Input, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    check_pair(x, y, n, incx, incy)


@number_op(by_form=True)
@documented(_OF_TWO, terms="conj(x_i) * y_i", more="", routines="?DOTC", example="""\
vdot(mat.array([1j], "complex128"), mat.array([1j], "complex128"))
(1+0j)""")
def vdot(x: Input, y: Input, *, n: int | None = None, incx: int = 1, incy: int = 1) -> None:
    check_pair(x, y, n, incx, incy)


on_vectors(dot, lambda: signatures.added)


on_vectors(vdot, lambda: signatures.added)
by_numpy(dot, lambda x, y: np.dot(x, y).item())
by_numpy(vdot, lambda x, y: np.vdot(x, y).item())


@number_op(by_form=True)
@documented(_OF_ONE, what="the Euclidean norm ``sqrt(sum |x_i|^2)``, without overflow", noun="norm",
            routine="?NRM2", example="nrm2(mat.array([3.0, 4]))\n5.0")
def nrm2(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    blas_dtype(x)
    count(x, n, incx)


def _norm(x: Array) -> float:
    largest = np.abs(x).max() if x.size else 0.0
    if largest == 0 or not np.isfinite(largest):
        return float(largest)
    return float(largest * np.linalg.norm(x / largest))


on_vectors(nrm2, lambda: signatures.as_norm)
by_numpy(nrm2, _norm)


@number_op(by_form=True)
@documented(_OF_ONE, what="``sum |re x_i| + |im x_i|``", noun="sum", routine="?ASUM",
            example="asum(mat.array([3.0, -4]))\n7.0")
def asum(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    blas_dtype(x)
    count(x, n, incx)


on_vectors(asum, lambda: signatures.added)
by_numpy(asum, lambda x: float(np.abs(x.real).sum() + np.abs(x.imag).sum()))


@number_op(by_form=True)
def iamax(x: Input, *, n: int | None = None, incx: int = 1) -> None:
    """Return the first index of the largest ``|re x_i| + |im x_i|``.

    Parameters
    ----------
    x : Mat
        Vector of a dtype that BLAS knows, with an element at least.
    n, incx : int, optional
        Number of elements to use and step between them, as for `axpy`; the step is above 0.

    Returns
    -------
    int
        The index, from 0, among the elements that are used.

    Raises
    ------
    ShapeError
        If there is no element.

    Notes
    -----
    BLAS I?AMAX, which counts from 1.

    Examples
    --------
    >>> import mat
    >>> mat.iamax(mat.array([3.0, -4, 1]))
    1
    """
    blas_dtype(x)
    if count(x, n, incx) == 0:
        raise ShapeError("iamax of no elements is undefined")
    if incx < 0:
        raise ShapeError(f"iamax counts upwards, got incx = {incx}; x[::-1] counts the other way")


@iamax.prepare("foreign", fits=forward, dtypes=compiled(BLAS))
def prepare_iamax(engine: Engine, x: Mat, n: int | None = None, incx: int = 1) -> Function:
    used, (step,), _ = strided_vectors((x,), n, incx)
    if engine.one_call(used, step):
        return engine.prepare_iamax(x.dtype.char, used, step)
    return _by_numpy(iamax, n=n, incx=incx)


on_device(iamax, device_forward)
iamax.cut_by(made_later(lambda: signatures.by_first_of_largest(iamax, asum)))
by_numpy(iamax, lambda x: int(np.argmax(np.abs(x.real) + np.abs(x.imag))))
