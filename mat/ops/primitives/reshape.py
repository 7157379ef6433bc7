"""Other shapes and orders of the same elements: `reshape`, `ravel` and `flatten`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.orders import as_order
from ...layout.shapes import lengths_for
from ...matrix.mat import Mat
from ...matrix.methods import method
from ...support.types import Operand, ShapeLike
from ..engine.operands import as_mat, is_foreign, numpy_gives
from .orders import axes_of_loop, note_packed, only_by_columns


@method("_reshape_any")
def reshape_any(self: Mat, shape: ShapeLike, order: str | None, copy: bool | None) -> Mat:
    """Return self in another shape, in any order, copied or not: the general case of `reshape`."""
    if copy is not None and not isinstance(copy, bool | np.bool_):
        raise DTypeError(f"copy is True, False or None, got {copy!r}")
    letter = as_order(order, "reshape", "CFA")
    x = self._as_now()
    if letter == "A":
        letter = "F" if only_by_columns(x.layout) else "C"
    if letter == "C":
        return _by_rows(x, shape, copy)
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    return _by_rows(x.T, lengths[::-1], copy).T


def _by_rows(x: Mat, shape: ShapeLike, copy: bool | None) -> Mat:
    lengths = lengths_for(shape, x.shape)
    layout = x.layout.viewed_as(lengths)
    if copy or (layout is None and copy is None):
        if not copy:
            note_packed(x)
        x = x.copy()
        layout = x.layout.viewed_as(lengths)
    if layout is None:
        raise ShapeError(f"shape {x.shape} with strides {x.strides} has no view as {lengths}, and "
                         f"copy=False forbids a copy; copy=None allows it")
    return x.over(layout)


def reshape(a: Operand, shape: ShapeLike, order: str | None = "C", *,
            copy: bool | None = None) -> Mat:
    """Return the elements of `a` in another shape of the same size.

    Parameters
    ----------
    a : Mat or array_like
        Operand, of any shape.
    shape : int or sequence of int
        The lengths of the axes; one of them may be -1, and is inferred.
    order : {"C", "F", "A"}
        How elements are counted, in `a` and in the result: by rows, by columns, or as they are
        stored.
    copy : bool, optional
        None: copy only if no view has that shape. True: always copy. False: never.

    Returns
    -------
    Mat
        A view where the strides of `a` allow one, else a packed copy.

    Raises
    ------
    ShapeError
        If the size differs, or a copy is needed and `copy` is False.

    Examples
    --------
    >>> import mat
    >>> mat.reshape([[1.0, 2.0], [3.0, 4.0]], -1, order="F")
    <Mat 4 F [1. 3. 2. 4.]>
    """
    if is_foreign(a) and np.ndim(a):
        return numpy_gives(np.reshape, (a, shape), {} if order == "C" else {"order": order})
    return as_mat(a, "a").reshape(shape, order=order, copy=copy)


@method("_ravel_any")
def ravel_any(self: Mat, order: str | None) -> Mat:
    """Return a vector with the elements in any order: the general case of `ravel`."""
    x = _counted(self, order, "ravel")
    if not x.layout.contiguous:
        note_packed(x)
        x = x.copy()
    return x.reshape(x.layout.size)


def _counted(x: Mat, order: str | None, name: str) -> Mat:
    """Return the view whose rows have the elements in that order of the method `name`."""
    if order == "F":
        return x.T
    now = x._as_now()
    return now.permute(axes_of_loop(now.layout, as_order(order, name)))


@method("_flatten_any")
def flatten_any(self: Mat, order: str | None) -> Mat:
    """Return a vector with a copy of the elements in any order: the general case of `flatten`."""
    return _counted(self, order, "flatten").flatten()
