"""`dot`, `vdot`, `copy`, `trace`, `convolve` and `allclose` as NumPy means them.

In version 0.1 these names had other meanings. A call that can only mean the old one raises an error
that says where that is now.
"""

from __future__ import annotations

import inspect
from typing import Any, Final, TypeVar

import numpy as np

from ..core.compiled import IN_USE
from ..errors import DTypeError
from ..matrix.creation import small_copied
from ..matrix.mat import Mat
from ..ops.engine.operands import as_mat, as_mats, decides, is_foreign, numpy_gives
from ..support.types import DTypeLike, Function, Operand
from .array_function import call_numpy
from .short_calls import matrix_product, vector_product

F = TypeVar("F", bound=Function)
_ABSENT: Final[Any] = object()  # an argument that is not given
_STEPS = frozenset(("n", "incx", "incy"))
_WINDOWS = frozenset(("start", "stride", "anchor", "batched"))


def _like_numpy(function: F) -> F:
    """Show the signature of NumPy: without the arguments that are caught to be refused."""
    shown = [p.replace(default=p.empty) if p.default is _ABSENT else p
             for p in inspect.signature(function).parameters.values()
             if p.kind is not p.VAR_KEYWORD]
    function.__dict__["__signature__"] = inspect.Signature(shown)
    return function


def _refuse(name: str, arguments: dict[str, Operand], old: frozenset[str], now: str) -> None:
    """Raise the error for arguments that NumPy's function `name` does not have."""
    if old & arguments.keys():
        raise _moved(name, ", ".join(f"{k}=" for k in arguments), now)
    raise DTypeError(f"{name}() has no argument {next(iter(arguments))!r}")


def _moved(name: str, given: str, now: str) -> DTypeError:
    return DTypeError(f"mat.{name} is NumPy's function, got {given}; what had this name in version "
                      f"0.1 is {now}")


def _called(function: Function, a: Operand, b: Operand, *more: Operand) -> Any:
    """Call NumPy's function of two operands."""
    if type(a) is Mat and type(b) is Mat:
        return call_numpy(function, (a, b, *more))
    if decides(a) or decides(b) or (is_foreign(a) and is_foreign(b)
                                    and not any(isinstance(v, Mat) for v in more)):
        return numpy_gives(function, (a, b, *more), {})
    return call_numpy(function, (as_mat(a, "an operand"), as_mat(b, "an operand"), *more))


@_like_numpy
def dot(a: Operand, b: Operand, out: Mat | None = None, **old: Operand) -> Mat:
    """Return NumPy's dot product: over the last axis of `a` and the last but one of `b`.

    Parameters
    ----------
    a, b : Mat or array_like
        Vectors give the sum of products, matrices the matrix product, numbers the product.
    out : Mat, optional
        Is overwritten with the result; of exactly its shape and dtype.

    Returns
    -------
    Mat
        `out`, or a new Mat; without axes for two vectors.

    Raises
    ------
    ShapeError
        If the lengths of these axes differ.

    See Also
    --------
    mat.blas.dot : the sum of products of all elements, as a Python number.

    Notes
    -----
    Source: `numpy.dot`.

    Examples
    --------
    >>> import mat
    >>> mat.dot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    <Mat 2 F [21. 43.]>
    """
    if old:
        _refuse("dot", old, _STEPS, "mat.blas.dot(x, y, n=, incx=, incy=)")
    a, b = small_copied(a), small_copied(b)
    product = matrix_product(a, b) if out is None else None
    if product is not None:
        return product
    return _called(np.dot, a, b, *(() if out is None else (out,)))


@_like_numpy
def vdot(a: Operand, b: Operand, /, **old: Operand) -> Mat:
    """Return the sum of ``conj(a) * b`` over all elements.

    Parameters
    ----------
    a, b : Mat or array_like
        Of equally many elements, which are taken in row-major order.

    Returns
    -------
    Mat
        The sum, without axes.

    Notes
    -----
    Source: `numpy.vdot`.

    Examples
    --------
    >>> import mat
    >>> mat.vdot([1j, 2], [1j, 2]).item()
    (5+0j)
    """
    if old:
        _refuse("vdot", old, _STEPS, "mat.blas.vdot(x, y, n=, incx=, incy=)")
    product = None if IN_USE else vector_product(a, b)
    return _called(np.vdot, a, b) if product is None else product


@_like_numpy
def copy(a: Operand, order: str = "K", subok: bool = False, **old: Operand) -> Mat:
    """Return a new Mat with the elements of `a`.

    Parameters
    ----------
    a : Mat or array_like
        Of any shape and dtype.
    order : {"K", "A", "C", "F"}
        How the copy is stored: like `a` ("K"; "A": by columns if `a` is, else by rows), by rows
        ("C") or by columns ("F").
    subok : bool
        Has no effect: the result is a `Mat`.

    Returns
    -------
    Mat
        Of the same shape and dtype.

    See Also
    --------
    mat.blas.copy : copies to a given Mat.

    Notes
    -----
    Source: `numpy.copy`.

    Examples
    --------
    >>> import mat
    >>> mat.copy([1.0, 2.0])
    <Mat 2 F [1. 2.]>
    """
    if old:
        _refuse("copy", old, _STEPS, "mat.blas.copy(x, y, n=, incx=, incy=)")
    if isinstance(order, Mat):
        raise _moved("copy", "a Mat for order", "mat.blas.copy(x, y)")
    if type(a) is Mat and order == "K":
        return a.copy(order)
    if is_foreign(a):
        return numpy_gives(np.copy, (a, order), {})
    return call_numpy(np.copy, (as_mat(a, "a"), order))


@_like_numpy
def trace(a: Operand = _ABSENT, offset: int = 0, axis1: int = 0, axis2: int = 1,
          dtype: DTypeLike = None, out: Mat | None = None) -> Mat:
    """Return the sum of a diagonal.

    Parameters
    ----------
    a : Mat or array_like
        Of two axes at least.
    offset : int
        The number of the diagonal: 0 for the main one, positive above it.
    axis1, axis2 : int
        The axes of the matrices; the sums of a stack have the others.
    dtype : dtype, optional
        That of the sum; by default as for `sum`.
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    See Also
    --------
    mat.debug.trace : records copies during a block.

    Notes
    -----
    Source: `numpy.trace`.

    Examples
    --------
    >>> import mat
    >>> mat.trace(mat.eye(3))
    <Mat () F 3.>
    """
    if a is _ABSENT:
        raise _moved("trace", "no matrix", "mat.debug.trace(), the record of copies")
    if is_foreign(a):
        given = {n: v for n, v in (("dtype", dtype), ("out", out)) if v is not None}
        return numpy_gives(np.trace, (a, offset, axis1, axis2), given)
    more = (offset, axis1, axis2) if dtype is None is out else (offset, axis1, axis2, dtype, out)
    return call_numpy(np.trace, (as_mat(a, "a"), *more))


@_like_numpy
def convolve(a: Operand, v: Operand, mode: str = "full", **old: Operand) -> Mat:
    """Return the convolution of two vectors.

    Parameters
    ----------
    a, v : Mat or array_like
        Vectors of one element at least.
    mode : {"full", "same", "valid"}
        Which elements: all where they overlap, as many as the longer vector has from the middle,
        or those where they overlap completely.

    Returns
    -------
    Mat
        A vector.

    See Also
    --------
    mat.nn.convolve : over any number of axes, adding to a given Mat.

    Notes
    -----
    Source: `numpy.convolve`.

    Examples
    --------
    >>> import mat
    >>> mat.convolve([1.0, 2.0, 3.0], [1.0, 10.0])
    <Mat 4 A [1. 12. 23. 30.]>
    """
    if old:
        _refuse("convolve", old, _WINDOWS,
                "mat.nn.convolve(x, w, y, start=, stride=, anchor=, batched=)")
    if isinstance(mode, Mat):
        raise _moved("convolve", "a Mat for mode", "mat.nn.convolve(x, w, y)")
    return _called(np.convolve, a, v, mode)


def allclose(a: Operand, b: Operand, rtol: Operand = 1e-5, atol: Operand = 1e-8,
             equal_nan: bool = False) -> bool:
    """Return whether ``|a - b| <= atol + rtol * |b|`` for all elements.

    Parameters
    ----------
    a, b : Mat or array_like
        Operands, which broadcast.
    rtol, atol : float
        Relative and absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    bool
        Whether all elements are close.

    Raises
    ------
    ValueError
        If the operands do not broadcast.

    Notes
    -----
    Source: `numpy.allclose`.

    Examples
    --------
    >>> import mat
    >>> mat.allclose(mat.ones(2), [1.0, 1 + 1e-9])
    True
    """
    if not (is_foreign(a) and is_foreign(b)):
        try:
            a, b = as_mats((a, b), "an operand")  # numbers adapt to the dtype of the other
        except OverflowError:  # they are out of its range, where NumPy compares other numbers
            return bool(_called(np.isclose, a, b, rtol, atol, equal_nan).all())
        if not IN_USE:
            return bool(call_numpy(np.isclose, (a, b, rtol, atol, equal_nan)).all())
    return _called(np.allclose, a, b, rtol, atol, equal_nan)
