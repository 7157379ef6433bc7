"""Element-wise work for compiled kernels: how many axes operands have together, and what a kernel is told of them.

Kernels are made in ``native/elementwise_inline.h`` and listed in ``native/elementwise.def``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..layout import Ints, Layout
from .native import ffi, lib
from .prepared import Prepared

PRECISION = {"f": "f32", "d": "f64"}
GRAIN = 1 << 16  # elements that are worth a thread where memory is what takes time,
DEAR_GRAIN = 1 << 13  # and where the function does
STREAM = 1 << 22  # bytes from which on results, if not read, are written past the caches
_DEAR = frozenset(("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "logistic", "pow"))


def kernel_named(name: str) -> Any:
    """The element-wise kernel of that name, or None."""
    found = lib.mat_elementwise(name.encode()) if lib is not None else None
    return found or None


def prepare_elementwise(name: str, *operands: Any) -> Prepared:
    """The kernel of that name in the precision of `operands`: Mats of any strides that broadcast to the last one, or numbers.

    Mats are what has a layout; numbers become elements of the first Mat's dtype. A result of another dtype is bool, or has a
    kernel of its own.
    """
    letters = [v.storage.dtype.char for v in operands if hasattr(v, "layout")]
    shape = operands[-1].layout.shape
    views = [_view(v, shape, letters[0]) for v in operands]
    return prepare_walk(kernel_named(f"{name}_{PRECISION[letters[0]]}"), views, shape, DEAR_GRAIN if name in _DEAR else GRAIN)


class View:
    """How a kernel sees an operand: its strides over the common shape, in bytes; or that it is a number."""

    __slots__ = ("kind", "size", "strides")

    def __init__(self, layout: Layout | None, size: int, shape: Ints, kind: str = "") -> None:
        self.kind = kind
        self.size = size
        strides = layout.broadcast_to(shape).strides if layout is not None else (0,) * len(shape)
        self.strides = tuple(s * size for s in strides)


def _view(operand: Any, shape: Ints, letter: str) -> View:
    layout = getattr(operand, "layout", None)
    if layout is None:
        return View(None, _SIZES[letter], shape, letter)
    return View(layout, operand.storage.dtype.itemsize, shape)


_SIZES = {"f": 4, "d": 8, "F": 8, "D": 16}


def prepare_walk(kernel: Any, views: Sequence[View], shape: Ints, grain: int, written: int = -1) -> Prepared:
    """`kernel`, whose frame is a ``mat_walk``, over `shape`; the order of axes is that of the operand `written`."""
    axes = merged(shape, [v.strides for v in views], written % len(views))
    count = 1
    for n, _ in axes:
        count *= n
    frame = ffi.new("mat_walk *", {"rank": len(axes), "count": len(views), "sizes": [
        *(n for n, _ in axes), *(steps[k] for k in range(len(views)) for _, steps in axes)]})
    for k, view in enumerate(views):
        frame.size[k] = view.size
        frame.number[k] = view.kind.encode() or b"\0"
    if count * views[written].size >= STREAM:
        frame.stream = 1 << written % len(views)
    return Prepared(kernel, frame, count, grain)


def merged(shape: Ints, strides: Sequence[Ints], leading: int) -> list[tuple[int, Ints]]:
    """Axes as lengths with each operand's stride, outermost first: ordered by the strides of operand `leading`, those of
    length 1 gone, those that all operands walk as one made one; at least one.
    """
    axes = [(n, tuple(s[k] for s in strides)) for k, n in enumerate(shape) if n != 1]
    axes.sort(key=lambda axis: -abs(axis[1][leading]))
    found: list[tuple[int, Ints]] = []
    for n, steps in axes:
        if found and all(outer == n * inner for outer, inner in zip(found[-1][1], steps, strict=True)):
            found[-1] = found[-1][0] * n, steps
        else:
            found.append((n, steps))
    return found or [(1, tuple(v[0] * 0 if v else 0 for v in strides))]
