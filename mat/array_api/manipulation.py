"""Changes of shape and order by the standard's functions: views where possible, else copies on the
device in use.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import IndexOutOfRange, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.shapes import Ints, as_axes, as_axis, as_shape, integer
from ..layout.shapes import broadcast_shapes as _broadcast
from ..matrix.mat import Mat
from ..ops.arrangement import repeated, rolled, tiled
from ..ops.joining import concat as _concat
from ..ops.joining import stack as _stack
from ..support.types import ArrayLike, AxisLike, ShapeLike
from .arguments import mat_of

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "matrix_transpose", "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack",
    "tile", "unstack",
]


def broadcast_shapes(*shapes: ShapeLike) -> Ints:
    """Return the shape that all `shapes` broadcast to.

    Parameters
    ----------
    *shapes : tuple of int
        Shapes of arrays.

    Returns
    -------
    tuple of int
        The common shape.
    """
    return _broadcast(as_shape(s) for s in shapes)


def broadcast_arrays(*arrays: ArrayLike) -> tuple[Mat, ...]:
    """Return the arrays in the shape that they all broadcast to.

    Parameters
    ----------
    *arrays : array
        Of shapes that broadcast.

    Returns
    -------
    tuple of Mat
        Views that cannot be written.
    """
    mats = [mat_of(a) for a in arrays]
    shape = _broadcast(m.shape for m in mats)
    return tuple(m.broadcast_to(shape) for m in mats)


def broadcast_to(x: ArrayLike, /, shape: ShapeLike) -> Mat:
    """Return `x` in another shape, with axes of length 1 repeated.

    Parameters
    ----------
    x : array
        Of any shape.
    shape : tuple of int
        A shape that `x` broadcasts to.

    Returns
    -------
    Mat
        A view that cannot be written.
    """
    return mat_of(x).broadcast_to(as_shape(shape))


def concat(arrays: Iterable[ArrayLike], /, *, axis: int | None = 0) -> Mat:
    """Return the arrays one after another along `axis`.

    Parameters
    ----------
    arrays : sequence of array
        Of equal shapes, except along `axis`.
    axis : int, optional
        The axis; if None, the elements in row-major order are joined.

    Returns
    -------
    Mat
        A copy.
    """
    mats = [mat_of(a) for a in arrays]
    return _concat([reshape(m, (-1,)) for m in mats], 0) if axis is None else _concat(mats, axis)


def stack(arrays: Iterable[ArrayLike], /, *, axis: int = 0) -> Mat:
    """Return the arrays joined along a new axis.

    Parameters
    ----------
    arrays : sequence of array
        Of one shape.
    axis : int
        The position of the new axis in the result.

    Returns
    -------
    Mat
        A copy.
    """
    return _stack([mat_of(a) for a in arrays], axis)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Mat, ...]:
    """Return the parts of `x` at each index of `axis`, without that axis.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int
        The axis to remove.

    Returns
    -------
    tuple of Mat
        Views.
    """
    x = mat_of(x)
    before = (slice(None),) * as_axis(axis, x.ndim)
    return tuple(x.over(x.layout[(*before, i)]) for i in range(x.shape[len(before)]))


def expand_dims(x: ArrayLike, /, axis: AxisLike) -> Mat:
    """Return `x` with new axes of length 1.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int
        The positions of the new axes in the result.

    Returns
    -------
    Mat
        A view.

    Raises
    ------
    IndexOutOfRange
        If the result has no such axis.
    """
    mat = mat_of(x)
    positions = tuple(axis) if isinstance(axis, Iterable) else (axis,)
    ndim = mat.ndim + len(positions)
    if any(not -ndim <= integer(k, "an axis") < ndim for k in positions):
        raise IndexOutOfRange(f"axis {axis} is out of range for a result of {ndim} dimensions")
    for k in sorted(as_axes(positions, ndim)):
        mat = mat.expand_dims(k)
    return mat


def squeeze(x: ArrayLike, /, axis: AxisLike) -> Mat:
    """Return `x` without the named axes, which have length 1.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int
        The axes to remove.

    Returns
    -------
    Mat
        A view.
    """
    return mat_of(x).squeeze(axis)


def flip(x: ArrayLike, /, *, axis: AxisLike = None) -> Mat:
    """Return `x` with the order of elements reversed along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes; all if None.

    Returns
    -------
    Mat
        A view.
    """
    mat = mat_of(x)
    axes = range(mat.ndim) if axis is None else as_axes(axis, mat.ndim)
    steps = tuple(slice(None, None, -1 if k in axes else 1) for k in range(mat.ndim))
    return mat.over(mat.layout[(*steps, ...)])


def permute_dims(x: ArrayLike, /, axes: Iterable[int]) -> Mat:
    """Return the view whose axis ``k`` is axis ``axes[k]`` of `x`.

    Parameters
    ----------
    x : array
        Of any shape.
    axes : tuple of int
        A permutation of all axes.

    Returns
    -------
    Mat
        A view.
    """
    return mat_of(x).permute(tuple(axes))


def matrix_transpose(x: ArrayLike, /) -> Mat:
    """Return the view with the last two axes exchanged.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).

    Returns
    -------
    Mat
        A view of shape (..., n, m).
    """
    return mat_of(x).mT


def moveaxis(x: ArrayLike, source: AxisLike, destination: AxisLike, /) -> Mat:
    """Return the view with the axes `source` at `destination`, and the others in their order.

    Parameters
    ----------
    x : array
        Of any shape.
    source, destination : int or tuple of int
        Positions of axes before and after.

    Returns
    -------
    Mat
        A view.
    """
    mat = mat_of(x)
    old, new = as_axes(source, mat.ndim), as_axes(destination, mat.ndim)
    if len(old) != len(new):
        raise ShapeError(f"moveaxis wants as many positions as axes, got {source} to {destination}")
    order = [k for k in range(mat.ndim) if k not in old]
    for target, axis in sorted(zip(new, old, strict=True)):
        order.insert(target, axis)
    return mat.permute(tuple(order))


def reshape(x: ArrayLike, /, shape: ShapeLike, *, copy: bool | None = None) -> Mat:
    """Return `x` in another shape of the same size.

    Parameters
    ----------
    x : array
        Of any shape.
    shape : tuple of int
        One length may be -1, for the one that fits.
    copy : bool, optional
        None: copy only if necessary. True: always copy. False: never.

    Returns
    -------
    Mat
        A view, unless strides do not allow it or `copy` is True.

    Raises
    ------
    ShapeError
        For another size, and if `copy` is False and a copy is needed.
    """
    return mat_of(x).reshape(shape, copy=copy)


def repeat(x: ArrayLike, repeats: ArrayLike, /, *, axis: int | None = None) -> Mat:
    """Return `x` with each element along `axis` repeated.

    Parameters
    ----------
    x : array
        Of any shape.
    repeats : int or array
        How often: one number, or one for each index of `axis`.
    axis : int, optional
        The axis; if None, the elements in row-major order are repeated.

    Returns
    -------
    Mat
        A copy.
    """
    mat = mat_of(x)
    mat = reshape(mat, (-1,)) if axis is None else mat
    k = as_axis(0 if axis is None else axis, mat.ndim)
    if isinstance(repeats, Mat | np.ndarray | np.generic) and mat_of(repeats).size != 1:
        return by_numpy(np.repeat, mat, repeats, axis=k)
    count = integer(repeats.item() if isinstance(repeats, Mat | np.ndarray) else repeats, "repeats")
    return repeated(mat, count, k)


def tile(x: ArrayLike, repetitions: ShapeLike, /) -> Mat:
    """Return copies of `x` side by side along each axis.

    Parameters
    ----------
    x : array
        Of any shape.
    repetitions : tuple of int
        How often along each axis; missing leading numbers are 1.

    Returns
    -------
    Mat
        A copy.
    """
    return tiled(mat_of(x), as_shape(repetitions))


def roll(x: ArrayLike, /, shift: AxisLike, *, axis: AxisLike = None) -> Mat:
    """Return `x` with the elements moved along each `axis`, around its end.

    Parameters
    ----------
    x : array
        Of any shape.
    shift : int or tuple of int
        How far, one for each axis.
    axis : int or tuple of int, optional
        The axes; if None, the elements in row-major order are moved.

    Returns
    -------
    Mat
        A copy of the shape of `x`.
    """
    mat = mat_of(x)
    if axis is None:
        return rolled(reshape(mat, (-1,)), ((0, n) for n in _integers(shift))).reshape(mat.shape)
    axes, shifts = _integers(axis), _integers(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1 < len(shifts):
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ShapeError(f"roll wants as many shifts as axes, got {shift} and {axis}")
    return rolled(mat, zip(axes, shifts, strict=True))


def _integers(value: AxisLike) -> Ints:
    items = value if isinstance(value, Iterable) and not isinstance(value, Mat) else (value,)
    return tuple(integer(v, "a shift or an axis") for v in items)
