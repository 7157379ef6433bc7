"""Methods of NumPy's arrays that write self, convert it or give it away; those that return NumPy's
function of their name are in ``methods.py``.
"""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np

from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError, ShapeError
from ..layout.shapes import as_axis
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..ops.engine.functions import check_is_mat
from ..ops.engine.operands import is_operand
from ..ops.indexing.sorting import sort_in_place
from ..ops.linear.matmul import matmul
from ..support.types import File, Function, Number, Operand
from .operands import matrix_product

_np: Any = np  # for calls with Mats, which NumPy's stubs do not know

# Writing


@method("fill")
def fill(self: Mat, value: Number) -> None:
    """Overwrite every element with a number; `fill_` returns self.

    Parameters
    ----------
    value : number or Mat of one element
        The number.

    Raises
    ------
    DTypeError
        If the dtype cannot represent it.
    """
    plain: Number = value if np.isscalar(value) else np.asarray(value).reshape(()).item()
    self.fill_(plain)


def _write_by(function: Function, self: Mat, *args: object, **kwargs: object) -> None:
    """Write self by a method of NumPy's arrays."""
    delegate(function, (self, *args), kwargs, written=(self,))


def _check_order(order: object) -> None:
    if order is not None:
        raise DTypeError(f"order names fields of structured dtypes, which Mats do not have, got "
                         f"{order!r}; leave it out")


@method("sort")
def sort(self: Mat, axis: int = -1, kind: str | None = None, order: None = None, *,
         stable: bool | None = None, descending: bool | None = None) -> None:
    """Sort the elements along an axis, in place; NaN is last.

    Parameters
    ----------
    axis : int
        The axis.
    kind : {"quicksort", "mergesort", "heapsort", "stable"}, optional
        The algorithm.
    order : None
        None: Mats have no fields.
    stable : bool, optional
        Whether equal elements keep their order.
    descending : bool, optional
        Whether the order is descending.

    Raises
    ------
    AxisError
        If there is no such axis.
    """
    _check_order(order)
    k = as_axis(axis, self.ndim)
    given = {"stable": stable, "descending": descending}
    more = {name: value for name, value in given.items() if value is not None}
    if kind is None or (kind in ("stable", "mergesort") and not more):
        sort_in_place(self, k, stable=bool(stable) or kind is not None,
                      descending=bool(descending))
        return
    _write_by(np.ndarray.sort, self, k, kind, **more)


@method("partition")
def partition(self: Mat, kth: Operand, axis: int = -1, kind: str = "introselect",
              order: None = None) -> None:
    """Reorder the elements along an axis, in place, so that some are where sorting puts them.

    Parameters
    ----------
    kth : int or sequence of int
        The indices of these; smaller elements come before, others after them.
    axis : int
        The axis.
    kind : {"introselect"}
        The algorithm.
    order : None
        None: Mats have no fields.

    Raises
    ------
    AxisError
        If there is no such axis.
    """
    _check_order(order)
    k = as_axis(axis, self.ndim)
    if computes_elsewhere(self):
        self.assign_(_np.partition(self, kth, k, kind))
        return
    _write_by(np.ndarray.partition, self, kth, k, kind)


@method("put")
def put(self: Mat, indices: Operand, values: Operand, mode: str = "raise") -> None:
    """Overwrite the elements with these row-major indices.

    Parameters
    ----------
    indices : int or sequence of int
        The indices.
    values : array-like
        The values, which repeat if they are fewer.
    mode : {"raise", "wrap", "clip"}
        What is done with indices out of range.

    Raises
    ------
    IndexError
        If an index is out of range.
    """
    _np.put(self, indices, values, mode)


# Products and selections


@method("dot")
def dot(self: Mat, b: Operand, out: Mat | None = None) -> Mat:
    """Return ``numpy.dot``: the matrix product, of vectors their inner product.

    `mat.blas.dot` gives a Python number.

    Parameters
    ----------
    b : array-like
        The second operand.
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    product = matrix_product(self, b) if out is None else None
    if product is not None:
        return product
    with np.errstate(all="ignore"):  # as in operations; a warning would name this line
        found: Mat = _np.dot(self, b) if out is None else _np.dot(self, b, out)
    return found


def imatmul(self: Mat, other: Operand) -> Operand:
    """Compute ``self <- self @ other``, a product with the shape of self."""
    if not is_operand(other):
        return NotImplemented
    found = matmul(self, other)
    if found.shape != self.shape:
        raise ShapeError(f"x @= y requires a product of the shape of x, {self.shape}, got "
                         f"{found.shape}; x = x @ y makes a new Mat")
    if not np.can_cast(found.dtype, self.dtype, "same_kind"):
        raise DTypeError(f"x @= y gives {found.dtype}, which {self.dtype} cannot take; x = x @ y "
                         "makes a new Mat")
    self.assign_(found)
    return self


bind("__imatmul__", imatmul)


@method("conjugate")
@method("conj")
def conj(self: Mat, out: Mat | None = None) -> Mat:
    """Return the complex conjugate of each element; self where elements are real.

    Parameters
    ----------
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, self, or a new Mat.
    """
    if self.dtype.kind != "c":
        return self if out is None else check_is_mat(out).assign_(self)
    return _np.conjugate(self, out=out)


@method("choose")
def choose(self: Mat, *choices: Operand, out: Mat | None = None, mode: str = "raise") -> Mat:
    """Return for each element the one of ``choices[element]``.

    Parameters
    ----------
    *choices : array-like
        What self's integers choose from, as several arguments or as one sequence; they are
        broadcast with self.
    out : Mat, optional
        Is overwritten with the result.
    mode : {"raise", "wrap", "clip"}
        What is done with integers out of range.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    several = choices[0] if len(choices) == 1 else choices
    return _np.choose(self, several, out=out, mode=mode)


@method("compress")
def compress(self: Mat, condition: Operand, axis: int | None = None,
             out: Mat | None = None) -> Mat:
    """Return the slices along an axis where `condition` is true.

    Parameters
    ----------
    condition : sequence of bool
        One for each slice.
    axis : int, optional
        The axis; by default, elements are taken in row-major order.
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    if axis is not None:
        as_axis(axis, self.ndim)
    return _np.compress(condition, self, axis=axis, out=out)


@method("argpartition")
def argpartition(self: Mat, kth: Operand, axis: int | None = -1, kind: str = "introselect",
                 order: None = None) -> Mat:
    """Return the indices that would partition self along an axis.

    Parameters
    ----------
    kth : int or sequence of int
        The indices of the elements that are where sorting puts them.
    axis : int, optional
        The axis; None for all elements in row-major order.
    kind : {"introselect"}
        The algorithm.
    order : None
        None: Mats have no fields.

    Returns
    -------
    Mat
        Of int64.
    """
    _check_order(order)
    if axis is not None:
        as_axis(axis, self.ndim)
    return _np.argpartition(self, kth, axis, kind)


# Bytes and files


@method("byteswap")
def byteswap(self: Mat, inplace: bool = False) -> Mat:
    """Return the elements with the bytes of each in reverse order, read as the same dtype.

    Parameters
    ----------
    inplace : bool
        Whether self is overwritten with them, and returned.

    Returns
    -------
    Mat
        self, or a new Mat.
    """
    found: Mat = delegate(np.ndarray.byteswap, (self,))
    return self.assign_(found) if inplace else found


@method("tobytes")
def tobytes(self: Mat, order: Any = "C") -> bytes:
    r"""Return the bytes of the visible elements.

    Parameters
    ----------
    order : {"C", "F", "A"}
        By rows, by columns, or as they are stored if that is one of the two.

    Returns
    -------
    bytes
        A copy.

    Examples
    --------
    >>> import mat
    >>> mat.array([1, 2], "int8").tobytes()
    b'\x01\x02'
    """
    with self.facet("array", "input") as a:
        return a.tobytes(order)


@method("tofile")
def tofile(self: Mat, fid: File, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file, row by row, without shape and dtype; `mat.save` keeps these.

    Parameters
    ----------
    fid : path or file
        The file, which `mat.fromfile` reads.
    sep : str
        What is between elements as text; by default they are written as bytes.
    format : str
        The format of elements as text.
    """
    if not (isinstance(fid, str | bytes | os.PathLike) or hasattr(fid, "write")):
        raise DTypeError(f"fid is a path or a file that is open for writing, got {fid!r}")
    with self.facet("array", "input") as a:
        a.tofile(fid, sep, format)


@method("dumps")
def dumps(self: Mat) -> bytes:
    """Return self as a pickle.

    Returns
    -------
    bytes
        What ``pickle.loads`` makes a Mat of.
    """
    return pickle.dumps(self)


@method("dump")
def dump(self: Mat, file: Any) -> None:
    """Write self to a file as a pickle.

    Parameters
    ----------
    file : path or file
        The file.
    """
    if hasattr(file, "write"):
        pickle.dump(self, file)
        return
    with open(file, "wb") as opened:
        pickle.dump(self, opened)


# Rounding, as NumPy's scalars do it


@method("__round__")
def rounded(self: Mat, ndigits: int | None = None) -> Operand:
    """Return the elements rounded; the only element of a Mat without axes as Python's integer."""
    if self.dtype.kind in "bc":
        raise DTypeError(f"round requires real numbers, got {self.dtype}; round x.real and x.imag, "
                         "or convert with astype")
    if ndigits is None and not self.ndim:
        return round(self.item())
    return _np.round(self, 0 if ndigits is None else ndigits)


@method("__trunc__")
def truncated(self: Mat) -> int:
    """Return the only element, rounded towards zero."""
    return int(self)
