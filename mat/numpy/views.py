"""NumPy's functions that return views, on Mats: they return Mats on the same storage, wherever the
data is, and copy nothing.

What a function does to shape and strides is found out by calling it on a stand-in: an array with
the Mat's layout over memory that is never accessed. Where NumPy would copy, `mat` copies.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from ..core.observers import HostCall
from ..errors import ShapeError
from ..layout.shapes import MOST_AXES
from ..layout.strided import Layout
from ..matrix.arrays import array
from ..matrix.mat import Mat
from ..matrix.nested import without_mats
from ..matrix.storage import Storage
from ..support.types import Arguments, Array, Function, Keywords, Operand

NAMES = (  # of functions that return a view of their first argument
    "matrix_transpose", "linalg.matrix_transpose", "swapaxes", "moveaxis",
    "rollaxis", "squeeze", "expand_dims", "broadcast_to", "split", "array_split", "hsplit",
    "vsplit", "dsplit", "unstack",
    "diagonal", "linalg.diagonal", "diag", "flip", "fliplr", "flipud", "rot90",
    "lib.stride_tricks.sliding_window_view")
# of functions that return views of all their arguments
OF_SEVERAL = ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays")
# those whose views cannot be written, unless `writeable` is True
FIXED = (np.broadcast_to, np.lib.stride_tricks.sliding_window_view)
_BYTE = np.dtype(np.int8)
_mat = Mat  # with types of C


class NoView(Exception):
    """The signal that NumPy copies here."""


class _StandIns:
    """Arrays that have the layouts of Mats, with one byte for each element."""

    def __init__(self) -> None:
        # by the id of the stand-in's memory: the Mat, that memory, and the offset of its begin
        self.mats: dict[int, tuple[Mat, Array, int]] = {}
        self.arrays: list[Array] = []  # the user's

    def replace(self, value: Operand) -> Operand:
        """Return a stand-in for a Mat, and anything else as it is."""
        if not isinstance(value, Mat):
            self.arrays += [value] if isinstance(value, np.ndarray) else []
            return value
        low, high = value.layout.bounds
        memory = np.empty(high - low, _BYTE)  # takes no pages, since nothing touches it
        self.mats[id(memory)] = value, memory, low
        first = value.displacement - low if value.size else 0
        return np.ndarray(value.shape, _BYTE, memory, first, value.element_strides)

    def restore(self, found: Operand) -> Operand:
        """Return views of the Mats for views of their stand-ins, also in lists and tuples."""
        if isinstance(found, list | tuple):
            return type(found)([self.restore(f) for f in found])
        if not isinstance(found, np.ndarray):  # an element of a stand-in
            raise NoView
        owner: Array | None = found
        while id(owner) not in self.mats and owner is not None:
            owner = getattr(owner, "base", None)
        if owner is None:
            if any(np.may_share_memory(found, a) for a in self.arrays):
                return array(found)
            raise NoView
        mat, memory, low = self.mats[id(owner)]
        start = _address(found) - _address(memory) if found.size else 0
        return mat.over(Layout(found.shape, found.strides, low + start))


def _address(a: Array) -> int:
    return a.__array_interface__["data"][0]


def run_as_view(function: Function, several: bool, args: Arguments, kwargs: Keywords) -> Operand:
    """Call `function` and return views of its first argument, or if `several` of all.

    Where NumPy would copy only because the operand is strided, the result is a view of a packed
    copy. `NoView` is raised where it copies anyway.
    """
    first = args[:1] or tuple(kwargs.values())[:1]
    if not first:
        return function()  # which gives nothing, or raises NumPy's error
    try:
        return _run_on_stand_ins(function, several, args, kwargs)
    except NoView:
        if several or not args or not isinstance(first[0], Mat) or first[0].is_contiguous:
            raise
        return _run_on_stand_ins(function, several, (first[0].copy(), *args[1:]), kwargs)


def _read(value: Operand, name: str) -> Operand:
    """Return an argument of a function with arrays for Mats, which are copied to the host."""
    with HostCall(name) if isinstance(value, Mat) else nullcontext():
        return without_mats(value)


def _run_on_stand_ins(function: Function, several: bool, args: Arguments,
                      kwargs: Keywords) -> Operand:
    stand_ins = _StandIns()
    count = len(args) if several else 1
    name = function.__name__
    operands = [stand_ins.replace(x) if k < count else _read(x, name) for k, x in enumerate(args)]
    keywords = {k: stand_ins.replace(v) if not args and isinstance(v, Mat) and n == 0
                else _read(v, name)
                for n, (k, v) in enumerate(kwargs.items())}
    try:
        found = function(*operands, **keywords)
    except ValueError as error:
        if "maximum supported dimension" not in str(error):
            raise
        raise ShapeError(f"a shape has at most {MOST_AXES} axes, got "
                         f"{str(error).rpartition(' ')[2]}") from None
    views = stand_ins.restore(found)
    if function in FIXED:
        views.read_only = not kwargs.get("writeable", False)
    return views


# Layouts that were found out once


def key_of_view(layout: Layout, args: Arguments, kwargs: Keywords) -> object:
    """Return a key for the layout and the further arguments; None if these are of other kinds."""
    if len(args) == 1 and not kwargs:
        return layout.shape, layout.strides
    key: list[object] = [layout.shape, layout.strides]
    for k in range(1, len(args)):
        if not _add_integers(key, args[k]):
            return None
    for name, value in kwargs.items():
        key.append(name)
        if not _add_integers(key, value):
            return None
    return tuple(key)


def _add_integers(key: list[object], value: Operand) -> bool:
    """Append None, an integer, or several with their class; return False for others."""
    kind = type(value)
    if kind is tuple or kind is list:
        for n in value:
            if type(n) is not int:  # True would be found as 1
                return False
        key.append(kind)
        key.append(tuple(value))
        return True
    key.append(value)
    return value is None or kind is int


def layouts_of(found: Operand, storage: Storage) -> object:
    """Return the layouts of views of a storage, in lists and tuples as they are; None if one is
    not.
    """
    if type(found) is _mat:
        return found.layout if found.storage is storage else None
    layouts = [layouts_of(v, storage) for v in found]
    return None if None in layouts else layouts if type(found) is list else tuple(layouts)


def views_of(view: Mat, layouts: Any, shift: int, fixed: bool) -> Operand:
    """Return views of the storage of `view`, with layouts moved by so many elements; `fixed`: they
    cannot be written.
    """
    kind = type(layouts)
    if kind is list or kind is tuple:
        found = [views_of(view, v, shift, fixed) for v in layouts]
        return found if kind is list else tuple(found)
    layout: Layout = layouts
    one: Any = view._view_of(layout.moved_to(layout.displacement + shift))
    one.read_only = fixed or view.read_only
    return one


def at_least_1d(x: object) -> Operand:
    """Return the view of a Mat that has axes."""
    if type(x) is not _mat:
        return None
    view: Any = x
    layout = view._seen()
    return view._view_of(layout) if layout.shape else None


def squeezed(x: object) -> Operand:
    """Return the view of a Mat without axes of length 1."""
    if type(x) is not _mat:
        return None
    view: Any = x
    return view._view_of(view._seen().squeeze(None))
