"""Copies of Mats, in another order or dtype, too.

Compiled, so that copying a small one takes little time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.compiled import BLOCKS, IN_USE
from ...errors import DTypeError, RangeError
from ...facets import FOREIGN
from ...layout.orders import as_order, axes_of_steps, only_by_columns
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.base import form_of_result, is_numpys
from ...matrix.brief_copies import none_else
from ...matrix.elements import copied_to_part
from ...matrix.joined import new_permuted, new_transposed, packed_copy
from ...matrix.mat import Mat
from ...matrix.methods import method
from ...support.dtypes import NAMED, as_dtype
from ...support.types import Arguments, DType, DTypeLike, Function, Keywords
from .elementwise import assign

_can_cast: Function = np.can_cast
_NO_KEYWORDS: Keywords = {}
_FEW = 1 << 11  # elements that are sorted while the GIL is kept
MOST_SORTED = 1 << 16  # bytes that are copied while the GIL is kept, before they are sorted
# with types of C
_assign, _blocks, _named, _foreign = assign, BLOCKS, NAMED, FOREIGN
_mat, _int64, _float16 = Mat, np.dtype(np.int64), np.dtype(np.float16)
_bool = np.dtype(bool)
_HASHED = frozenset((str, type, *map(type, NAMED)))  # dtypes are of a class each


@method("copy")
def copy(self: Mat, order: str | None = "C") -> Mat:
    """Return a new Mat with a copy of the visible elements.

    Parameters
    ----------
    order : {"C", "F", "A", "K"}
        How they are stored: by rows, by columns, by columns if those of self are, or with the axes
        in the order of their steps in self.

    Returns
    -------
    Mat
        Of the same shape and dtype, with a storage of its own.

    Raises
    ------
    ShapeError
        For other orders.

    Examples
    --------
    >>> import mat
    >>> mat.ones(2, 3).copy("F").strides
    (8, 16)
    """
    if order == "C":
        return converted(self, self.element_type)
    found = _converted_plainly(self, self.element_type, True) if order == "K" else None
    if found is not None:
        return found
    return copied_in_order(self, as_order(order, "copy"), self.dtype)


@method("__copy__")
def shallow_copy(self: Mat) -> Mat:
    """Return a copy in the order of self: views share their elements, copies do not."""
    return copy(self, "K")


@method("__deepcopy__")
def deep_copy(self: Mat, memo: object) -> Mat:
    """Return a copy in the order of self: elements are numbers, so that it is deep."""
    return copy(self, "K")


def _with_same_values(x: Mat, kind: DType, order: str | None, copy: bool) -> Mat:
    """Return `x` in another dtype; raise `RangeError` if an element changes by that."""
    if kind.kind == "b":
        return astype(x, kind, order, copy=copy)
    real = x.dtype.kind == "c" and kind.kind != "c"
    found = astype(x.real if real else x, kind, order, copy=copy)
    back = astype(found.real if found.dtype.kind == "c" and x.dtype.kind != "c" else found, x.dtype)
    same: Mat = (back == x) | ((back != back) & (x != x))
    if x.dtype.kind in "iu" and kind.kind in "iu":
        same = same & ((found < 0) == (x < 0))  # else bits of a negative number could be those of x
    if not same.all():
        raise RangeError(f"an element of {x.label()} is not the same in {kind}; casting='unsafe' "
                         "converts it")
    return found


@method("astype")
def astype(self: Mat, dtype: DTypeLike, order: str | None = "K", casting: str = "unsafe",
           subok: bool = True, copy: bool = True) -> Mat:
    """Return a new Mat with the elements converted to another dtype.

    Parameters
    ----------
    dtype : dtype
        Numbers are rounded towards zero for integers.
    order : {"C", "F", "A", "K"}
        As for `copy`.
    casting : {"no", "equiv", "safe", "same_kind", "same_value", "unsafe"}
        Which conversions are allowed, as ``numpy.can_cast`` has it; "same_value": if no element
        changes.
    subok : bool
        Is ignored.
    copy : bool
        Whether the result is a new Mat also if self is of that dtype and order.

    Returns
    -------
    Mat
        Of the same shape.

    Raises
    ------
    DTypeError
        If self is complex and `dtype` is neither complex nor bool, or there is no such dtype, or
        `casting` forbids it.

    Examples
    --------
    >>> import mat
    >>> mat.array([1.5, 2.5]).astype("int32")
    <Mat 2 int32 F [1 2]>
    """
    kind = _named.get(dtype) if type(dtype) in _HASHED else None
    if kind is None:
        kind = as_dtype(dtype)
    # devices compare complex numbers with 0
    if order == "K" and casting == "unsafe" and (kind is not _bool or not IN_USE):
        found = _converted_plainly(self, kind, copy)
        if found is not None:
            return found
    if casting == "same_value":
        return _with_same_values(self, kind, order, copy)
    if casting != "unsafe" and not _can_cast(self.dtype, kind, casting):
        raise DTypeError(f"{self.dtype} does not become {kind} by casting={casting!r}; "
                         "casting='unsafe' allows it")
    if kind.kind == "b" and self.dtype.kind == "c":
        truths: Mat = self != 0
        return copied_in_order(truths, as_order(order, "astype"), kind)
    if not copy and kind == self.dtype and _is_stored_in(self.layout, order):
        return self
    if order == "K" and self.is_contiguous:
        return converted(self, kind)
    return copied_in_order(self, as_order(order, "astype"), kind)


def _converted_plainly(x: Mat, dtype: DType, copy: bool) -> Mat | None:
    """Return a Mat as it is, if it need not be copied, or one whose copy is packed by rows or
    columns converted; else None.
    """
    layout = x._seen()
    if x.element_type is dtype and not copy:
        return x
    if layout.contiguous or layout.descends():
        return converted(x, dtype)
    return new_transposed(converted(x.T, dtype)) if layout.is_by_columns() else None


def converted(x: Mat, dtype: DType) -> Mat:
    """Return a packed copy of `x` in another dtype."""
    found = packed_copy(x) if x.element_type is dtype else None
    if found is not None:
        return found
    form = form_of_result(x.layout.shape, dtype)
    made: Mat = form.new(x.device_enabled, None)
    _assign.carry_out((x, made), _NO_KEYWORDS)
    return made


def sorted_along(x: object, axis: object, stable: bool = False) -> Mat | None:
    """Return a sorted copy of a small packed Mat; None if that takes an access, or for others."""
    if type(x) is not _mat or type(axis) is not int:
        return None
    view = x
    layout = view.layout
    rank = len(layout.shape)
    if not is_numpys(view.element_type):  # others are ordered without regard to NaN
        return None
    if not -rank <= axis < rank or not 0 < layout.size * view.element_size <= MOST_SORTED:
        return None
    if not stable and view.element_type is _float16 and layout.size > _FEW:
        return None  # see `ops.indexing.sorting.sort_array`
    if not layout.contiguous and layout.is_by_columns():  # so NumPy stores the result
        made = sorted_along(view.T, (-1 - axis) if axis < 0 else rank - 1 - axis, stable)
        return None if made is None else new_transposed(made)
    made = packed_copy(view)
    if made is None:
        return None
    storage = made.storage
    if not _blocks.sort(storage.address, made.layout.shape, storage.dtype, axis, stable):
        return None
    return made


def arg_sorted(x: object, axis: object) -> Mat | None:
    """Return the indices that sort lines of few packed elements; None as `sorted_along`."""
    if type(x) is not _mat or type(axis) is not int or not none_else():
        return None
    view: Any = x
    layout, rank = view.layout, len(view.layout.shape)
    if not -rank <= axis < rank or not layout.contiguous or not (
            0 < layout.size <= _FEW and is_numpys(view.element_type)):
        return None
    k, step = axis if axis >= 0 else axis + rank, 1
    for a in range(k + 1, rank):
        step *= layout.shape[a]
    made: Any = form_of_result(layout.shape, _int64).new(view.device_enabled, None)
    to = made.storage.ready(_foreign.mask, _foreign.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = view.storage.element_address(_foreign.mask, _foreign.bit)
    length = layout.shape[k]
    if not to or not address or view.layout is not layout or not _blocks.argsort_lines(
            to, address + layout.displacement * view.element_size, length, layout.size // length,
            step, view.element_type):
        return None
    made.storage.written(_foreign.mask)
    return made


def sorted_in_place(args: Arguments) -> bool:
    """Sort a small packed Mat along an axis; return False for others, as `sorted_along`."""
    if not 0 < len(args) < 3 or type(args[0]) is not _mat:
        return False
    view: Any = args[0]
    storage, axis = view.storage, args[1] if len(args) == 2 else -1
    if axis == -1 and _lines_sorted(view):
        return True
    version, made = storage.version, sorted_along(view, axis)
    # if nobody has written it meanwhile
    if made is None or view.read_only or not storage.writable or storage.version != version:
        return False
    return copied_to_part(view, view.layout, view.layout, made)


def _lines_sorted(view: Mat) -> bool:
    """Sort lines of few packed elements where they are; return False for others."""
    layout, storage = view.layout, view.storage
    if not none_else() or not storage.writable or not layout.contiguous or not layout.shape:
        return False
    if view.read_only:
        return False
    if not 0 < layout.size <= _FEW or not is_numpys(view.element_type):
        return False
    length = layout.shape[len(layout.shape) - 1]
    storage.find_address()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    if view.layout is not layout or view.storage is not storage:
        return False
    to = storage.ready(_foreign.mask, _foreign.bit, True, True)
    if not to or not _blocks.sort_lines(to + layout.displacement * view.element_size, length,
                                        layout.size // length, storage.dtype):
        return False
    storage.written(_foreign.mask)
    return True


def _is_stored_in(layout: Layout, order: str | None) -> bool:
    letter = as_order(order, "astype")
    return letter == "K" or layout.permute(axes_of_order(layout, letter)).contiguous


# NumPy's orders of reading or storing elements: by rows "C", by columns "F", as stored "A" and "K"


def axes_of_order(layout: Layout, order: str) -> Ints:
    """Return the axes, the slowest first, of `order`'s loop over the elements."""
    axes = range(len(layout.shape))
    if order == "F" or (order != "C" and only_by_columns(layout)):
        return tuple(reversed(axes))
    if order == "K" and not layout.contiguous:
        return axes_of_steps(layout)
    return tuple(axes)


def copied_in_order(x: Mat, order: str, dtype: DType) -> Mat:
    """Return a copy of `x` in another dtype whose elements are stored in that order."""
    if order == "F":
        return new_transposed(converted(x.T, dtype))
    axes = axes_of_order(x.layout, order)
    return new_permuted(converted(x.permute(axes), dtype), axes)
