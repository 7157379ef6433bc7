"""Small Mats joined to a new one at once: a kernel copies their rows, and no access is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.compiled import BLOCKS
from ..core.direction import INPUT, OUTPUT
from ..core.observers import OBSERVERS
from ..cpu.thread_pool import serving
from ..facets import FOREIGN
from ..layout.shapes import Ints
from ..support.options import current
from .base import form_of_result
from .brief_copies import (
    MOST_APART,
    ROWS,
    WORTH,
    copy_bytes,
    copy_rows,
    is_brief,
    none_else,
    set_rows,
)
from .mat import Mat
from .with_facets import with_facets

# with types of C
_observers, _foreign, _mat, _blocks = OBSERVERS, FOREIGN, Mat, BLOCKS
_ROWS = ROWS
# bytes of each of many parts that are copied while other threads of Python wait, as NumPy does:
# an access takes longer
_FEW = 2048


def stacked_rows(mats: Sequence[Any]) -> Mat | None:
    """Return small Mats of one form as rows of a new Mat, on the device in use; None for others."""
    found = stacked_along(mats, 0) if mats and type(mats[0]) is _mat else None
    if found is not None:
        found.device_enabled = current().device_enabled
    return found


def stacked_along(mats: object, axis: object) -> Mat | None:
    """Return a list of small Mats of one shape joined along a new axis; None for others."""
    if type(axis) is not int or (type(mats) is not list and type(mats) is not tuple) or not mats:
        return None
    if type(mats[0]) is not _mat:
        return None
    first = mats[0]
    like = first.layout.shape
    for one in mats:
        if type(one) is not _mat:
            return None
        view = one
        if view.layout.shape != like:
            return None
    rank = len(like)
    if not -rank <= axis + 1 <= rank + 1:
        return None
    k = axis if axis >= 0 else axis + rank + 1
    return joined_parts(list(mats), (*like[:k], len(mats), *like[k:]), k)


def packed_copy(view: Mat) -> Mat | None:
    """Return a packed copy of a small Mat, or of a strided one with few elements; None for others,
    and where an access has to be opened.
    """
    form = view._find_form() if view.known_form is None else view.known_form
    if not none_else():
        return None
    nbytes, packed = form.size * form.itemsize, view.layout.contiguous
    if not (is_brief(nbytes) if packed else 0 < form.size <= MOST_APART):
        return None
    view._locate()
    like = form
    if not (form.whole and form.writable and packed
            and form.strides == form.layout.strides):
        like = form_of_result(form.shape, form.dtype)
    target: Mat = like.new(view.device_enabled, None)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    to = target.storage.ready(_foreign.mask, _foreign.bit, False, True)
    at = view.storage.ready(_foreign.mask, _foreign.bit, True, False)
    if not to or not at or view.known_form is not form:
        return None
    at += view.layout.displacement * form.itemsize
    if packed:
        copy_bytes(at, to, nbytes)
    elif not _blocks.gather(to, at, form.itemsize, form.shape, form.strides):
        return None
    target.storage.written(_foreign.mask)
    return target


def as_packed(view: Mat) -> Mat | None:
    """Return a Mat itself if it is packed, or a packed copy of few strided elements; else None."""
    return view if view.layout.contiguous else packed_copy(view)


def new_transposed(made: Mat) -> Mat:
    """Return the transpose of a new Mat that nobody else has: it is no view."""
    found = made.T
    found.is_view = False
    return found


def new_permuted(made: Mat, axes: Ints) -> Mat:
    """Return a new Mat that nobody else has with axis k as axis ``axes[k]``: it is no view."""
    found = made.permute(tuple([axes.index(k) for k in range(len(axes))]))
    found.is_view = False
    return found


def all_by_columns(mats: list[Any]) -> bool:
    """Return whether all Mats are stored by columns, and not by rows, too: so NumPy stores what
    joins them. Of matrices those with one row or column do not count; stacks have no gaps.
    """
    found = False
    for one in mats:
        view = one
        shape, strides = view.layout.shape, view.layout.strides
        if len(shape) != 2:
            if view.layout.contiguous or not view.layout.is_by_columns() or 1 in shape:
                return False
            found = True
        elif shape[0] != 1 and shape[1] != 1 and strides[0] and strides[1]:
            if abs(strides[0]) >= abs(strides[1]):
                return False
            found = True
    return found


def joined_along(mats: object, axis: object) -> Mat | None:
    """Return a list of small Mats joined along an axis; None for those that do not fit."""
    if type(axis) is not int or (type(mats) is not list and type(mats) is not tuple) or not mats:
        return None
    for one in mats:
        if type(one) is not _mat:
            return None
    parts: list[Any] = list(mats)
    first = parts[0]
    like = first.layout.shape
    rank = len(like)
    if not -rank <= axis < rank:
        return None
    k = axis if axis >= 0 else axis + rank
    if not first.layout.contiguous and all_by_columns(parts):
        made = joined_along([one.T for one in parts], rank - 1 - k)
        return None if made is None else new_transposed(made)
    total = _total_along(parts, like, k)
    if total < 0:
        return None
    return joined_parts(parts, (*like[:k], total, *like[k + 1:]) if rank > 1 else (total,), k)


def _total_along(parts: list[Any], like: Ints, axis: int) -> int:
    """Return the sum of the lengths of an axis; -1 if other axes have other lengths than `like`."""
    total, rank = 0, len(like)
    for part in parts:
        view = part
        shape = view.layout.shape
        if rank == 1 and len(shape) == 1:
            total += view.layout.size
            continue
        if shape is not like and (len(shape) != rank or (
                rank > 1 and (shape[:axis] != like[:axis]
                              or shape[axis + 1:] != like[axis + 1:]))):
            return -1
        total += shape[axis]
    return total


def joined_parts(mats: list[Mat], shape: Ints, axis: int) -> Mat | None:
    """Return small Mats of one dtype, with packed or few elements, joined along `axis` to a new Mat
    of that shape; None for others, and where an access has to be opened.
    """
    if not none_else():
        return None
    parts, first, rows, size = mats, mats[0], 1, 0
    dtype = first.element_type
    for k in range(len(parts)):
        view = parts[k]
        if view.element_type is not dtype:
            return None
        if not view.layout.contiguous:
            copied = packed_copy(view)
            if copied is None:
                return None
            parts = list(mats) if parts is mats else parts
            view = parts[k] = copied
        size += view.layout.size
        view._locate()
    itemsize = first.element_size
    nbytes = size * itemsize
    if not (is_brief(nbytes) or 0 < nbytes < _FEW * len(parts)):
        return None
    for k in range(axis):
        rows *= shape[k]
    form = form_of_result(shape, dtype)
    target: Mat = form.new(first.device_enabled, None)
    return target if _copy_rows(parts, target, rows, itemsize) else None


def _copy_rows(parts: list[Mat], target: Mat, rows: int, itemsize: int) -> bool:
    """Copy each part to its place in every row of `target`; return False if one cannot be copied
    without an access.

    No code of Python may run here, so that no Mat changes meanwhile.
    """
    left = target.layout.size
    to = target.storage.ready(_foreign.mask, _foreign.bit, False, True)
    step = target.layout.size // rows * itemsize
    if not to:
        return False
    for part in parts:
        view = part
        at = view.storage.ready(_foreign.mask, _foreign.bit, True, False)
        nbytes = view.layout.size // rows * itemsize
        left -= view.layout.size
        if not at or left < 0 or not view.layout.contiguous:
            return False  # another thread may have changed it
        at += view.layout.displacement * itemsize
        copy_rows(at, to, rows, nbytes, step, nbytes)
        to += nbytes
    target.storage.written(_foreign.mask)
    return left == 0


def join_released(parts: list[Mat], target: Mat, axis: int) -> bool:
    """Copy packed Mats to places along an axis, in accesses, without the GIL; else return False."""
    if _ROWS is None or _observers:
        return False
    requests: list[Any] = [(target, "foreign", OUTPUT)]
    for part in parts:
        view = part
        if not view.layout.contiguous:
            return False
        requests.append((view, "foreign", INPUT))
    rows, itemsize, kernel = 1, target.element_size, _ROWS
    for k in range(axis):
        rows *= target.layout.shape[k]
    with with_facets(*requests) as found:
        to, step = found[0].address, target.layout.size // max(rows, 1) * itemsize
        for k in range(len(parts)):
            view = parts[k]
            nbytes = view.layout.size // max(rows, 1) * itemsize
            address = found[k + 1].address
            threads = serving() if rows * nbytes >= 2 * WORTH else 1
            if nbytes:
                # no code of Python may run from here until the kernel has its operands
                set_rows(address, to, rows, nbytes, step, nbytes)
                kernel.run_by(threads, WORTH)
            to += nbytes
    return True
