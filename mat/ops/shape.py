"""Copies in another shape, order or dtype; joining; comparing as a whole; and mapping over
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.cube import OBSERVERS
from ..devices.device import CPU, in_use
from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, Layout, as_axis, as_shape, integer, packed
from ..matrix.creation import as_array
from ..matrix.mat import Mat, form_of, new_like
from ..matrix.methods import bind, method
from ..matrix.with_facets import with_facets
from ..support.dtypes import DISTINCT, INEXACT, as_dtype, promoted
from ..support.native import lib
from .declare_elementwise import check_is_mat
from .elementwise import MOST_AXES_THERE
from .operation import Input, named, op
from .overlap import check_disjoint

DEVICE_RANK = 8  # axes that comparing kernels of a device can walk over
# bytes that the parts of a joined Mat have on average, for which compiled copies pay
LARGE_PART = 1 << 16
_INTEGERS = frozenset((int,))


@method("__copy__")
@method("copy")
def _copy(self: Mat) -> Mat:
    """A new Mat of its own with the visible elements, packed."""
    return _assigned(new_like(self, self.shape, self.dtype), self)


def _assigned(target: Mat, source: Mat) -> Mat:
    return target.assign_(source)  # ops/ adds it


@method("contiguous")
def _contiguous(self: Mat) -> Mat:
    """Self if its elements are packed already, else a packed copy."""
    return self if self.is_contiguous else _pack(self)


def _pack(view: Mat) -> Mat:
    for observer in tuple(OBSERVERS):
        observer.packed(view)
    return _copy(view)


@method("astype")
def _astype(self: Mat, dtype: Any, *, copy: bool = True) -> Mat:
    """A new Mat with the elements converted to `dtype`, rounded towards zero for integers.

    With ``copy=False`` it is self, if that is of `dtype`. `DTypeError` for complex to real.

    >>> import mat
    >>> mat.array([1.5, 2.5]).astype("int32")
    <Mat 2 int32 A [1 2]>
    """
    kind = as_dtype(dtype)
    return self if not copy and kind == self.dtype else _assigned(new_like(self, self.shape, kind),
                                                                  self)


def transpose(a: Mat, axes: Any = None, out: Mat | None = None) -> Mat:
    """A new, packed Mat whose axis ``k`` is axis ``axes[k]`` of `a`; without `axes`, all reversed.
    ``a.T`` copies nothing.

    >>> import mat
    >>> mat.transpose(mat.array([[1, 2], [3, 4]]))
    <Mat 2x2 F [[1. 3.] [2. 4.]]>
    """
    layout = _check_is_input("transpose", a).layout
    order = tuple(range(a.ndim - 1, -1, -1)) if axes is None else axes
    if type(order) is tuple and _INTEGERS.issuperset(map(type, order)):
        view = a.over(_permuted(layout.shape, layout.strides, layout.displacement, order))
    else:
        view = a.permute(order)
    view.form = form_of(view)
    if out is None:
        return _pack(view)
    if check_is_mat(out).shape != view.shape:
        raise ShapeError(f"transpose gives shape {view.shape}, out has {out.shape}")
    if out.storage is a.storage:
        check_disjoint("transpose", out, a)
    return _assigned(out, view)


@lru_cache(256)
def _permuted(shape: Ints, strides: Ints, displacement: int, axes: Ints) -> Layout:
    """The layout with its axes in another order; remembered, since it takes longer than to copy a
    small matrix.
    """
    return Layout(shape, strides, displacement).permute(axes)


def _check_is_input(name: str, a: Any) -> Mat:
    if not isinstance(a, Mat):
        raise DTypeError(f"{name} wants Mats, got {type(a).__name__}; mat.from_numpy(a) wraps an "
                         "array without copying")
    return a


def check_are_mats(name: str, mats: Any) -> list[Mat]:
    """`mats` as a list of at least one Mat."""
    if not isinstance(mats, Iterable):
        raise DTypeError(f"{name} wants a sequence of Mats, got {mats!r}")
    parts = [_check_is_input(name, m) for m in mats]
    if not parts:
        raise ShapeError(f"{name} wants at least one Mat")
    return parts


def concat(mats: Iterable[Mat], axis: int = 0, out: Mat | None = None) -> Mat:
    """The Mats one after another along `axis`, in the dtype they promote to; a new Mat, or written
    to `out`.

    >>> import mat
    >>> mat.concat([mat.zeros(1, 2), mat.ones(2, 2)])
    <Mat 3x2 A [[0. 0.] [1. 1.] [1. 1.]]>
    """
    parts = check_are_mats("concat", mats)
    k = as_axis(axis, parts[0].ndim)
    shape = _joined_shape([m.shape for m in parts], k)
    target = _join_place(parts, shape, out)
    device = in_use() if all(m.device_enabled for m in (target, *parts)) else CPU
    if device is not CPU and target.ndim <= MOST_AXES_THERE:
        _write_parts(target, parts, k, device.facet.name)
        return target
    if all(m.dtype == target.dtype
           for m in parts) and target.nbytes >= LARGE_PART * len(parts) and lib is not None:
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
            _assigned(target.over(target.layout[(*before, slice(start, stop))]), m)
            start = stop


def _joined_shape(shapes: list[Ints], axis: int) -> Ints:
    first = shapes[0]
    for shape in shapes:
        if len(shape) != len(first) or any(m != n for k,
                                           (m, n) in enumerate(zip(shape, first, strict=True))
                                           if k != axis):
            raise ShapeError(f"shapes must agree but on axis {axis}, got {first} and {shape}")
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1:])


def _join_place(parts: list[Mat], shape: Ints, out: Mat | None) -> Mat:
    """Where the joined Mats go."""
    if out is None:
        return new_like(parts[0], shape, promoted("concat", *(m.dtype for m in parts)))
    if check_is_mat(out).shape != shape:
        raise ShapeError(f"the joined shape is {shape}, out has {out.shape}")
    if out.dtype.kind != "c" and any(m.dtype.kind == "c" for m in parts):
        raise DTypeError(f"complex elements do not fit into out of {out.dtype}")
    check_disjoint("concat", out, *parts)
    return out


def stack(mats: Iterable[Mat], axis: int = 0) -> Mat:
    """The Mats, all of one shape, along a new axis at position `axis`; a new Mat.

    >>> import mat
    >>> mat.stack([mat.zeros(2), mat.ones(2)], axis=1)
    <Mat 2x2 A [[0. 1.] [0. 1.]]>
    """
    parts = check_are_mats("stack", mats)
    if any(m.shape != parts[0].shape for m in parts):
        raise ShapeError(f"stack wants equal shapes, got {', '.join(str(m.shape) for m in parts)}")
    return concat([m.expand_dims(axis) for m in parts], as_axis(axis, parts[0].ndim + 1))


# Comparing as a whole


@op(name="equals")
def same(a: Input, b: Input) -> None:
    """Whether all elements are equal."""


def _alike(a: Mat, b: Mat) -> bool:
    """Whether a device can compare them: it converts nothing, and walks over so many axes."""
    return a.shape == b.shape and a.dtype == b.dtype and a.ndim <= DEVICE_RANK


same.prepare("cuda", dtypes=DISTINCT,
             when=_alike)(lambda cuda, a, b: cuda.prepare_comparison("equal", a, b))


@same.on("array")
def _(np: Any, a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b))


@op(name="allclose")
def close(a: Input, b: Input, rtol: Any, atol: Any, equal_nan: Any) -> None:
    """Whether all elements are nearly equal."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, float | int | np.floating) or not value >= 0:
            raise ShapeError(f"{name} is a number not below 0, got {value!r}")


@close.prepare("cuda", dtypes=INEXACT, when=_alike)
def _(cuda: Any, a: Mat, b: Mat, rtol: Any, atol: Any, equal_nan: Any) -> Callable[..., bool]:
    # an engine is anything
    return cuda.prepare_comparison("near", a, b, rtol, atol,  # type: ignore[no-any-return]
                                   equal_nan)


@close.on("array")
def _(np: Any, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: Any) -> bool:
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


@method("equals")
def _equals(self: Mat, other: Mat) -> bool:
    """Whether `other` has self's shape and all its elements; NaN equals nothing.

    >>> import mat
    >>> mat.zeros(2).equals(mat.zeros(2)), mat.zeros(2).equals(mat.zeros(3))
    (True, False)
    """
    _check_is_input("equals", other)
    return self.shape == other.shape and bool(same(self, other))


def allclose(a: Mat, b: Mat, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> bool:
    """Whether ``|a - b| <= atol + rtol * |b|`` for all elements; False where shapes differ. Source:
    `numpy.allclose`.

    >>> import mat
    >>> mat.allclose(mat.ones(2), mat.full(2, 1 + 1e-9))
    True
    """
    _check_is_input("allclose", a)
    _check_is_input("allclose", b)
    return a.shape == b.shape and bool(close(a, b, rtol, atol, equal_nan))


# Mapping over parts


def map_concat(fn: Callable[..., Any], mats: Iterable[Any], mat: Mat, *,
               key: Callable[[Any], Mat] | None = None) -> Mat:
    """Call ``fn(m, part)`` for each m of `mats`, `part` being the next stretch of `mat` in the
    shape of m; return `mat`.

    ``key(m)`` is the Mat whose shape counts, if not m itself. `ShapeError`, before any call, if all
    together are more than `mat` has.

    >>> import mat
    >>> x = mat.zeros(6)
    >>> mat.map_concat(lambda m, part: part.copy_(m), [mat.ones(2), mat.full((2, 2), 3)], x)
    <Mat 6 F [1. 1. 3. 3. 3. 3.]>
    """
    _check_packed("map_concat", mat)
    items = [(m, _check_is_input("map_concat", m if key is None else key(m)).shape) for m in mats]
    if sum(packed(shape).size for _, shape in items) > mat.size:
        raise ShapeError(f"parts of shapes {[shape for _, shape in items]} are more than the "
                         f"{mat.size} elements of "
                         f"{mat.label()}")
    start = mat.displacement
    for m, shape in items:
        fn(m, mat.view(shape, start))
        start += packed(shape).size
    return mat


def map_displacements(fn: Callable[[Mat], Any], mat: Mat, shape: Any, *, start: int = 0,
                      step: int | None = None) -> Mat:
    """Call `fn` with the windows of `shape` on `mat` that begin `start`, ``start + step``, ...
    elements into it; return `mat`.

    `step` defaults to the size of `shape`, and may be smaller: the walk stops when the window no
    longer fits.

    >>> import mat
    >>> mat.map_displacements(lambda w: print(w.tolist()), mat.arange(5), 2, step=2)
    [0.0, 1.0]
    [2.0, 3.0]
    <Mat 5 A [0. 1. 2. 3. 4.]>
    """
    _check_packed("map_displacements", mat)
    lengths = as_shape(shape)
    size = packed(lengths).size
    stride = size if step is None else integer(step, "step")
    if stride < 1 or integer(start, "start") < 0:
        raise ShapeError(f"map_displacements walks forward: start {start}, step {stride}")
    for k in range(start, mat.size - size + 1, stride):
        fn(mat.view(lengths, mat.displacement + k))
    return mat


def _check_packed(name: str, mat: Any) -> None:
    if not _check_is_input(name, mat).is_contiguous:
        raise ShapeError(f"{name} wants packed elements, got {mat.label()}; contiguous() gives a "
                         "copy")


def map_into(result: Mat, fn: Callable[..., Any], *mats: Mat) -> Mat:
    """``result[k] <- fn(m1[k], m2[k], ...)`` in row-major order, with Python numbers; general and
    slow.

    All sizes must be equal; `result` may be among the inputs. Nothing is written before all calls
    have ended well.

    >>> import mat
    >>> mat.map_into(mat.empty(2), lambda a, b: a * b + 1, mat.array([1, 2]), mat.array([3, 4]))
    <Mat 2 A [4. 9.]>
    """
    sizes = [_check_is_input("map_into", m).size for m in (result, *mats)]
    if not mats or len(set(sizes)) != 1:
        raise ShapeError("map_into wants at least one Mat and equal sizes, got "
                         f"{[m.shape for m in (result, *mats)]}")
    values = [fn(*elements)
              for elements in zip(*(m.to_numpy().ravel().tolist() for m in mats), strict=True)]
    elements = as_array(values, result.dtype)
    if elements.ndim != 1:
        raise ShapeError(f"map_into wants one number for each element, got {values[0]!r}")
    with result.facet("array", "output") as a:
        a[...] = elements.reshape(result.shape)
    return result


bind("transpose", named(lambda self, axes=None, out=None: transpose(self, axes, out), "transpose",
                        transpose.__doc__ or ""))
bind("__deepcopy__", lambda self, memo: _copy(self))
