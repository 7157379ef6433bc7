"""Joining Mats along an axis that they have, or along a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ...core.compiled import IN_USE
from ...core.direction import OUTPUT
from ...core.observers import OBSERVERS
from ...core.pending import DEFERRALS
from ...devices.device import CPU, Device, device_of, in_use
from ...errors import DTypeError, OutOfDeviceMemory, ShapeError
from ...layout.shapes import Ints, as_axis
from ...matrix.base import form_of_result, is_numpys
from ...matrix.joined import (
    all_by_columns,
    join_released,
    joined_along,
    joined_parts,
    new_transposed,
    stacked_along,
)
from ...matrix.mat import Mat, new_like
from ...matrix.with_facets import with_facets
from ...support.dtypes import EVERY, as_dtype, promoted
from ...support.native import lib
from ...support.plugins import plugin
from ...support.types import (
    Arguments,
    ArrayLike,
    DType,
    DTypeLike,
    Function,
    Keywords,
)
from ...support.unbound import documented
from ..engine.functions import check_is_mat
from ..engine.operands import as_mat, as_mats, is_of_others, numpy_gives
from ..engine.operation import Input, Output, op
from ..tiles.overlap import DEVICE_AXES, overlap
from ..tiles.tile import Tile, is_too_large
from .copying import converted as converted_copy
from .elementwise import MOST_AXES_THERE, assign

# bytes that the parts have on average, for which copies that are shared among threads pay
SHARED_PART = 1 << 18
# elements that one launch on a device writes, since it then takes less time than two that move more
# bytes at once
_ONE_LAUNCH = 1 << 20
_FEW = 1 << 12  # elements of which packed copies take less time than an access
_FEW_PARTS = 4  # of which copies into windows do
Overwriting: TypeAlias = Callable[[Mat], AbstractContextManager[object]]
_ITERABLES = (list, tuple, Iterable)  # that of any class takes long to find out
# with types of C
_in_use, _observers, _deferrals, _mat, _assign = IN_USE, OBSERVERS, DEFERRALS, Mat, assign
_device_in_use = in_use
_NO_KEYWORDS: Keywords = {}
_result_type: Function = np.result_type


@op(method="", by_form=True)
def join_two(a: Input, b: Input, out: Output, axis: int) -> None:
    """Copy `a`, and along an axis after it `b`, to `out`, all of one dtype."""


def _shape_of_two(a: Mat, b: Mat, out: Mat | None, axis: int) -> tuple[Ints, DType]:
    return _joined_shape([a.layout.shape, b.layout.shape], axis), a.element_type


join_two.result_of = _shape_of_two
join_two.prepare("cuda", dtypes=EVERY, when=lambda a, b, out: out.ndim <= DEVICE_AXES)(
    lambda cuda, a, b, out, axis: cuda.prepare_join(a, b, out, axis))
join_two.on("array")(lambda np, a, b, out, axis: np.concatenate((a, b), axis, out))


@join_two.cut_by
def cut_join_two(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Let copies, with tiles of their own, write one part after the other."""
    a, b, out, axis = args
    before, length = (slice(None),) * axis, a.layout.shape[axis]
    yield Tile(lambda: assign(a, out.over(out.layout[(*before, slice(length))])))
    yield Tile(lambda: assign(b, out.over(out.layout[(*before, slice(length, None))])))


_join_two = join_two  # with a type of C


def check_are_mats(name: str, mats: object) -> list[Mat]:
    """Return `mats` as a list of at least one Mat; raise if it is not."""
    if not isinstance(mats, _ITERABLES):
        raise DTypeError(f"{name} requires a sequence of Mats, got {mats!r}")
    what = f"an operand of {name}"
    parts = as_mats(mats, what) if name == "concat" else [as_mat(m, what) for m in mats]
    if not parts:
        raise ShapeError(f"{name} requires at least one Mat")
    return parts


def joined(mats: object, axis: object) -> Mat | None:
    """Fast path: return Mats of one dtype joined along an axis; None for other arguments."""
    if _in_use:
        return _joined_there(mats, axis, False)
    found = joined_along(mats, axis)
    return joined_along(_packed(mats), axis) if found is None else found


def stacked(mats: object, axis: object) -> Mat | None:
    """Return the Mats along a new axis, as `joined` does along one that they have."""
    if _in_use:
        return _joined_there(mats, axis, True)
    found = stacked_along(mats, axis)
    return stacked_along(_packed(mats), axis) if found is None else found


def _packed(mats: object) -> list[Any] | None:
    """Return the Mats, with packed copies in one dtype for others, if they are of few elements;
    None for others, and if none is copied.
    """
    if (type(mats) is not list and type(mats) is not tuple) or not mats:
        return None
    parts, size, apart, dtypes = list(mats), 0, False, []
    for one in parts:
        if type(one) is not _mat:
            return None
        view = one
        size += view.layout.size
        if not is_numpys(view.element_type):
            return None
        dtypes.append(view.element_type)
        apart = apart or not view.layout.contiguous or view.element_type is not dtypes[0]
    if not apart or size > _FEW or _observers:
        return None
    dtype = _result_type(*dtypes)
    for k, one in enumerate(parts):
        view = one
        if not view.layout.contiguous or view.element_type is not dtype:
            parts[k] = converted_copy(view, dtype)
    return parts


def _joined_there(mats: object, axis: object, stacks: bool) -> Mat | None:
    """Fast path: join Mats on the device in use, two short ones by one launch; None for others."""
    if type(axis) is not int or (type(mats) is not list and type(mats) is not tuple) or not mats:
        return None
    device = _device_in_use()
    if _observers or _deferrals or not device.implementations or device.memory.limit is not None:
        return None
    parts = list(mats)
    if type(parts[0]) is not _mat:
        return None
    first = parts[0]
    rank = len(first.layout.shape) + stacks
    if not -rank <= axis < rank or rank > MOST_AXES_THERE:
        return None
    k = axis if axis >= 0 else axis + rank
    length = _length_there(parts, k, stacks)
    if length < 0:
        return None
    like = first.layout.shape
    shape = (*like[:k], length, *like[k + (not stacks):])
    try:
        if len(parts) == 2 and prod(shape) <= _ONE_LAUNCH:
            pair = _with_axis(parts, k) if stacks else parts
            return _join_two.make((pair[0], pair[1], None, k))
        target: Mat = form_of_result(shape, first.element_type).new(True, None)
        target.storage._allocate(device.memory)
        _copy_there(parts, target, k, stacks)
    except OutOfDeviceMemory:
        return None
    return target


def _with_axis(parts: list[Any], k: int) -> list[Any]:
    """Return views of Mats with a new axis; most have one layout."""
    index, seen, layout, found = (*(slice(None),) * k, None), None, None, []
    for one in parts:
        view = one
        if view.layout is not seen:
            seen = view.layout
            layout = seen[index]
        found.append(view._view_of(layout))
    return found


def _length_there(parts: list[Any], k: int, stacks: bool) -> int:
    """Return the length of joined Mats along an axis; -1 if they do not fit together there."""
    first, total = parts[0], 0
    like = first.layout.shape
    for one in parts:
        if type(one) is not _mat:
            return -1
        view = one
        shape = view.layout.shape
        if view.element_type is not first.element_type or not view.device_enabled:
            return -1
        if not view.layout.size or len(shape) != len(like):
            return -1
        if stacks:
            if shape != like:
                return -1
        elif shape[:k] != like[:k] or shape[k + 1:] != like[k + 1:]:
            return -1
        total += 1 if stacks else shape[k]
    return total


def _copy_there(parts: list[Any], target: Any, k: int, stacks: bool) -> None:
    """Overwrite a new Mat, which has memory on the device in use, with the Mats in sequence."""
    start, before = 0, (slice(None),) * k
    for one in parts:
        view = one
        stop = start + (1 if stacks else view.layout.shape[k])
        window = target.over(target.layout[(*before, start if stacks else slice(start, stop))])
        _assign.carry_out((view, window), _NO_KEYWORDS)
        start = stop


_DOC = """Return the Mats {sequence}, in the dtype that they promote to.

Parameters
----------
arrays : iterable of Mat, array or sequence
    At least one; {shapes}.
axis : {axis}
out : Mat, optional
    Is overwritten with the result, converted to its dtype.
dtype : dtype, optional
    That of the result, instead of `out`.
casting : {{"no", "equiv", "safe", "same_kind", "unsafe"}}
    Which conversions to it are allowed, as ``numpy.can_cast`` has it.

Returns
-------
Mat
    `out`, or a new Mat.

Raises
------
ShapeError
    If there is no Mat, or the shapes {differ}, or `out` has another shape than the result.
DTypeError
    If one is not a Mat, or the dtypes do not promote, or `out` cannot take the result.
AliasError
    If elements of `out` overlap each other.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@documented(_DOC, sequence="one after another along an axis",
            shapes="their shapes agree but on `axis`", differ="do not agree", axis="""\
int, optional
    The axis along which they are joined; None for all elements in row-major order.""", example="""\
concat([mat.zeros(1, 2), mat.ones(2, 2)])
<Mat 3x2 F [[0. 0.] [1. 1.] [1. 1.]]>""")
def concat(arrays: Iterable[ArrayLike], axis: int | None = 0, out: Mat | None = None, *,
           dtype: DTypeLike = None, casting: str = "same_kind") -> Mat:
    if out is None and dtype is None and casting == "same_kind":
        made = joined(arrays, axis)
        if made is not None:
            return made
    if is_of_others(arrays):
        return numpy_gives(np.concatenate, (arrays, axis, out), {})
    parts = check_are_mats("concat", arrays)
    if dtype is not None or casting != "same_kind":
        parts = converted("concat", parts, out, dtype, casting)
    if axis is None:
        parts, axis = [m if m.ndim == 1 else m.contiguous().reshape(-1) for m in parts], 0
    k = as_axis(axis, parts[0].ndim)
    shape = _joined_shape([m.layout.shape for m in parts], k)
    if out is None and not parts[0].layout.contiguous and all_by_columns(parts):
        return new_transposed(concat([m.T for m in parts], parts[0].ndim - 1 - k))
    found = joined_parts(parts, shape, k) if out is None else None
    return _concat(parts, k, shape, out) if found is None else found


def _concat(parts: list[Mat], k: int, shape: Ints, out: Mat | None) -> Mat:
    """Write the Mats to a new one, or to `out`, by ways that open accesses."""
    target = _target(parts, shape, out)
    if out is not None:  # as if all were read before
        parts = [m.copy() if overlap(m, out) else m for m in parts]
    device = in_use() if all(m.device_enabled for m in (target, *parts)) else CPU
    if device is not CPU and target.ndim <= MOST_AXES_THERE:
        _write_parts(target, parts, k, device.overwriting)
        return target
    alike = all(m.dtype == target.dtype for m in parts)
    if alike and target.nbytes >= SHARED_PART * len(parts) and lib is not None:
        if out is not None or not join_released(parts, target, k):
            _write_parts(target, parts, k, _overwriting_for_c)
        return target
    if out is None and len(parts) <= _FEW_PARTS and not OBSERVERS:
        for index, part in _windows(parts, k):
            assign(part, target.over(target.layout[index]))
        return target
    with with_facets((target, "array", "output"),
                     *((m, "array", "input") for m in parts)) as (a, *arrays):
        np.concatenate(arrays, axis=k, out=a, casting="unsafe")
    return target


def allocated_there(device: Device, target: Mat, parts: list[Mat]) -> bool:
    """Return whether a new Mat has memory on a device, to be overwritten by parts of its dtype."""
    if device.memory.limit is not None or any(
            m.element_type is not target.element_type for m in parts):
        return False
    try:
        target.storage._allocate(device.memory)
    except OutOfDeviceMemory:
        return False
    return True


def _overwriting_for_c(x: Mat) -> AbstractContextManager[object]:
    return x.facet("foreign" if lib is not None else "array", "output")


def _write_parts(target: Mat, parts: list[Mat], axis: int, block: Overwriting) -> None:
    """Copy each part to its window of `target`, within a block that overwrites that."""
    _write(target, _windows(parts, axis), block)


def _windows(parts: list[Mat], axis: int) -> Iterator[tuple[tuple[slice, ...], Mat]]:
    """Yield the index of the window of each part among those that are joined, and the part."""
    before: tuple[slice, ...] = (slice(None),) * axis
    start = 0
    for m in parts:
        stop = start + m.layout.shape[axis]
        yield (*before, slice(start, stop)), m
        start = stop


def write_windows(target: Mat, windows: Iterable[tuple[tuple[slice, ...], Mat]]) -> None:
    """Overwrite windows of a new Mat on the device in use; its other elements are arbitrary."""
    device = device_of(target)
    _write(target, windows, _overwriting_for_c if device is CPU else device.overwriting)


def _write(target: Mat, windows: Iterable[tuple[tuple[slice, ...], Mat]],
           block: Overwriting) -> None:
    """Overwrite windows, all or none if there is room for all of `target`."""
    moves, device = list(windows), in_use()
    arbitrary = target.storage.pristine and target.storage.fill_value is None
    if device.implementations and not OBSERVERS and arbitrary and allocated_there(
            device, target, [part for _, part in moves]):
        for index, part in moves:
            assign(part, target.over(target.layout[index]))
        return
    with ExitStack() as stack:
        fits = not is_too_large(device, target, *(part for _, part in moves))
        if not (fits and _is_entered(stack, block(target))):
            stack.enter_context(plugin("ops.tiles.tiling").undone_on_error(target))
        for index, part in moves:
            target.over(target.layout[index]).assign_(part)


def _is_entered(stack: ExitStack, block: AbstractContextManager[object]) -> bool:
    """Return whether a device has room for a block, which is then entered."""
    try:
        stack.enter_context(block)
    except OutOfDeviceMemory:
        return False
    return True


def _joined_shape(shapes: list[Ints], axis: int) -> Ints:
    first, total = shapes[0], 0
    for shape in shapes:
        if shape != first and (len(shape) != len(first) or any(
                shape[k] != n for k, n in enumerate(first) if k != axis)):
            raise ShapeError(f"shapes must agree but on axis {axis}, got {first} and {shape}")
        total += shape[axis]
    return (*first[:axis], total, *first[axis + 1:])


def _target(parts: list[Mat], shape: Ints, out: Mat | None) -> Mat:
    """Return `out`, or a new Mat for the joined Mats."""
    if out is None:
        kinds = {m.element_type for m in parts}
        return new_like(parts[0], shape, kinds.pop() if len(kinds) == 1
                        else promoted("concat", *(m.dtype for m in parts)))
    if check_is_mat(out).shape != shape:
        raise ShapeError(f"the joined shape is {shape}, out has {out.shape}")
    for m in parts:
        if not np.can_cast(m.dtype, out.dtype, "same_kind"):
            raise DTypeError(f"elements of {m.dtype} do not fit into out of {out.dtype}; convert "
                             f"them with astype('{out.dtype}') first")
    out.allowed(OUTPUT)
    return out


def converted(name: str, parts: list[Mat], out: Mat | None, dtype: DTypeLike,
              casting: str) -> list[Mat]:
    """Return the Mats in another dtype, or in that of `out`."""
    if out is not None and dtype is not None:
        raise DTypeError(f"{name} takes out or dtype, which out has, not both")
    if out is not None:
        kind = check_is_mat(out).dtype
    else:
        kind = (promoted(name, *(m.dtype for m in parts)) if dtype is None else as_dtype(dtype))
    for m in parts:
        if not _can_cast(m.dtype, kind, casting):
            raise DTypeError(f"{name} cannot make {kind} of {m.dtype} by casting={casting!r}; "
                             "casting='unsafe' allows it")
    return [m if m.dtype == kind else m.astype(kind) for m in parts]


_can_cast: Function = np.can_cast


@documented(_DOC, sequence="along a new axis", shapes="all of one shape", differ="differ",
            axis="int\n    The position of the new axis in the result.",
            example="stack([mat.zeros(2), mat.ones(2)], axis=1)\n<Mat 2x2 F [[0. 1.] [0. 1.]]>")
def stack(arrays: Iterable[ArrayLike], axis: int = 0, out: Mat | None = None, *,
          dtype: DTypeLike = None, casting: str = "same_kind") -> Mat:
    if out is None and dtype is None and casting == "same_kind":
        made = stacked(arrays, axis)
        if made is not None:
            return made
    if is_of_others(arrays):
        return numpy_gives(np.stack, (arrays, axis, out), {})
    parts = check_are_mats("stack", arrays)
    if dtype is not None or casting != "same_kind":
        parts = converted("stack", parts, out, dtype, casting)
    if any(m.layout.shape != parts[0].layout.shape for m in parts):
        shapes = ", ".join(str(m.shape) for m in parts)
        raise ShapeError(f"stack requires equal shapes, got {shapes}")
    k = as_axis(axis, len(parts[0].layout.shape) + 1)
    return concat([m.expand_dims(k) for m in parts], k, out)
