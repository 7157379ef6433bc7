"""Joining Mats along an axis that they have, or along a new one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..devices.device import CPU, in_use
from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, as_axis
from ..matrix.mat import Mat, new_like
from ..matrix.with_facets import with_facets
from ..support.dtypes import promoted
from ..support.native import lib
from .declare_elementwise import check_is_mat
from .elementwise import MOST_AXES_THERE
from .overlap import check_disjoint
from .shape import check_is_input

# bytes that the parts of a joined Mat have on average, for which compiled copies pay
LARGE_PART = 1 << 16


def check_are_mats(name: str, mats: object) -> list[Mat]:
    """Return `mats` as a list of at least one Mat; raise if it is not."""
    if not isinstance(mats, Iterable):
        raise DTypeError(f"{name} wants a sequence of Mats, got {mats!r}")
    parts = [check_is_input(name, m) for m in mats]
    if not parts:
        raise ShapeError(f"{name} wants at least one Mat")
    return parts


def concat(mats: Iterable[Mat], axis: int = 0, out: Mat | None = None) -> Mat:
    """Return the Mats one after another along an axis, in the dtype that they promote to.

    Parameters
    ----------
    mats : iterable of Mat
        At least one; their shapes agree but on `axis`.
    axis : int
        The axis along which they are joined.
    out : Mat, optional
        Is overwritten with the result, converted to its dtype.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    Raises
    ------
    ShapeError
        If there is no Mat, or the shapes do not agree, or `out` has another shape than the result.
    DTypeError
        If one is not a Mat, or the dtypes do not promote, or `out` cannot take the result.
    AliasError
        If `out` overlaps one of them.

    Examples
    --------
    >>> import mat
    >>> mat.concat([mat.zeros(1, 2), mat.ones(2, 2)])
    <Mat 3x2 A [[0. 0.] [1. 1.] [1. 1.]]>
    """
    parts = check_are_mats("concat", mats)
    k = as_axis(axis, parts[0].ndim)
    shape = _joined_shape([m.shape for m in parts], k)
    target = _target(parts, shape, out)
    device = in_use() if all(m.device_enabled for m in (target, *parts)) else CPU
    if device is not CPU and target.ndim <= MOST_AXES_THERE:
        _write_parts(target, parts, k, device.facet.name)
        return target
    alike = all(m.dtype == target.dtype for m in parts)
    if alike and target.nbytes >= LARGE_PART * len(parts) and lib is not None:
        _write_parts(target, parts, k, "foreign")
        return target
    with with_facets((target, "array", "output"),
                     *((m, "array", "input") for m in parts)) as (a, *arrays):
        np.concatenate(arrays, axis=k, out=a, casting="unsafe")
    return target


def _write_parts(target: Mat, parts: list[Mat], axis: int, facet: str) -> None:
    """Copy each part, through the facet of that name, to its window of `target`, which becomes
    fresh when all are there.
    """
    before: tuple[slice, ...] = (slice(None),) * axis
    start = 0
    with target.facet(facet, "output"):
        for m in parts:
            stop = start + m.shape[axis]
            target.over(target.layout[(*before, slice(start, stop))]).assign_(m)
            start = stop


def _joined_shape(shapes: list[Ints], axis: int) -> Ints:
    first = shapes[0]
    for shape in shapes:
        if len(shape) != len(first) or any(shape[k] != n for k, n in enumerate(first) if k != axis):
            raise ShapeError(f"shapes must agree but on axis {axis}, got {first} and {shape}")
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1:])


def _target(parts: list[Mat], shape: Ints, out: Mat | None) -> Mat:
    """Return `out`, or a new Mat for the joined Mats."""
    if out is None:
        return new_like(parts[0], shape, promoted("concat", *(m.dtype for m in parts)))
    if check_is_mat(out).shape != shape:
        raise ShapeError(f"the joined shape is {shape}, out has {out.shape}")
    if out.dtype.kind != "c" and any(m.dtype.kind == "c" for m in parts):
        raise DTypeError(f"complex elements do not fit into out of {out.dtype}")
    check_disjoint("concat", out, *parts)
    return out


def stack(mats: Iterable[Mat], axis: int = 0) -> Mat:
    """Return the Mats along a new axis.

    Parameters
    ----------
    mats : iterable of Mat
        At least one; all of one shape.
    axis : int
        The position of the new axis in the result.

    Returns
    -------
    Mat
        A new Mat, of the dtype that they promote to.

    Raises
    ------
    ShapeError
        If there is no Mat, or the shapes differ.
    DTypeError
        If one is not a Mat, or the dtypes do not promote.

    Examples
    --------
    >>> import mat
    >>> mat.stack([mat.zeros(2), mat.ones(2)], axis=1)
    <Mat 2x2 A [[0. 1.] [0. 1.]]>
    """
    parts = check_are_mats("stack", mats)
    if any(m.shape != parts[0].shape for m in parts):
        raise ShapeError(f"stack wants equal shapes, got {', '.join(str(m.shape) for m in parts)}")
    return concat([m.expand_dims(axis) for m in parts], as_axis(axis, parts[0].ndim + 1))
