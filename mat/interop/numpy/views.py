"""NumPy's functions that give views, on Mats: they give Mats on the same storage, wherever the data
is, and move none.

What a function does to shape and strides is found out on a stand-in: an array laid out like the Mat
over memory that nobody reads. Where NumPy would copy, so do we.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...layout.strided import Layout
from ...matrix.creation import array
from ...matrix.mat import Mat

NAMES = (  # of functions whose first argument is seen
    "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "linalg.matrix_transpose",
    "swapaxes", "moveaxis",
    "rollaxis", "squeeze", "expand_dims", "broadcast_to", "split", "array_split", "hsplit",
    "vsplit", "dsplit", "unstack",
    "diagonal", "linalg.diagonal", "diag", "flip", "fliplr", "flipud", "rot90",
    "lib.stride_tricks.sliding_window_view")
# or whose arguments all are
OF_SEVERAL = ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays")
_BYTE = np.dtype(np.int8)


class NoView(Exception):
    """NumPy copies here."""


class _StandIns:
    """Arrays laid out like Mats, with one byte for each element."""

    def __init__(self) -> None:
        self.mats: dict[int, tuple[Mat, np.ndarray[Any, Any], int]] = {}  # by the id of the room
        self.given: list[np.ndarray[Any, Any]] = []

    def of(self, value: Any) -> Any:
        """A stand-in for a Mat; anything else as it is."""
        if not isinstance(value, Mat):
            self.given += [value] if isinstance(value, np.ndarray) else []
            return value
        low, high = value.layout.bounds
        room = np.empty(high - low, _BYTE)  # pages that nobody touches are none
        self.mats[id(room)] = value, room, low
        if not value.size:
            return room.reshape(value.shape)
        return np.ndarray(value.shape, _BYTE, room, value.displacement - low, value.strides)

    def back(self, found: Any) -> Any:
        """The views that arrays over stand-ins' memory stand for."""
        if isinstance(found, list | tuple):
            return type(found)([self.back(f) for f in found])
        if not isinstance(found, np.ndarray):  # a stand-in's element
            raise NoView
        owner: Any = found
        while id(owner) not in self.mats and owner is not None:
            owner = getattr(owner, "base", None)
        if owner is None:
            if any(np.may_share_memory(found, a) for a in self.given):
                return array(found)
            raise NoView
        mat, room, low = self.mats[id(owner)]
        start = found.__array_interface__["data"][0] - room.__array_interface__["data"][0] if found.size else 0
        return mat.over(Layout(found.shape, found.strides, low + start))


def viewed(function: Callable[..., Any], several: bool, args: tuple[Any, ...],
           kwargs: dict[str, Any]) -> Any:
    """What `function` gives, as views of the Mats among its arguments: of all if `several`, else of
    the first.

    Where NumPy cannot but copy a strided operand, views of a packed copy. `NoView` where it copies
    anyhow.
    """
    first = args[:1] or (next(iter(kwargs.values())),)
    try:
        return _on_stand_ins(function, several, args, kwargs)
    except NoView:
        if several or not args or not isinstance(first[0], Mat) or first[0].is_contiguous:
            raise
        return _on_stand_ins(function, several, (first[0].copy(), *args[1:]), kwargs)


def _on_stand_ins(function: Callable[..., Any], several: bool, args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> Any:
    stand = _StandIns()
    seen = len(args) if several else 1
    inside = [stand.of(x) if k < seen else _plain(x) for k, x in enumerate(args)]
    keywords = {k: stand.of(v) if not args and isinstance(v, Mat) and n == 0 else _plain(v)
                for n, (k, v) in enumerate(kwargs.items())}
    return stand.back(function(*inside, **keywords))


def _plain(value: Any) -> Any:
    """A setting, such as where to split."""
    return value.to_numpy() if isinstance(value, Mat) else value
