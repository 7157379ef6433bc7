"""Element-wise work for compiled kernels: how many axes operands have together, and what a kernel
is told of them.

Kernels are made in ``native/cpu/elementwise_inline.h`` and listed in
``native/shared/elementwise.def``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..layout.merged_axes import loops
from ..layout.strided import Ints, Layout
from ..support.dtypes import BLAS_TYPES, BY_CHAR, REAL_TYPES
from ..support.native import ffi, lib
from .kernel import CpuKernel
from .thread_pool import share

PRECISION = {char: BY_CHAR[char].suffix for char in REAL_TYPES}
_FILLED = {char: BY_CHAR[char].suffix for char in BLAS_TYPES}
# elements that are worth a thread where memory is what takes time: some 30 microseconds,
GRAIN = 1 << 17
DEAR_GRAIN = 1 << 15  # and where the function does
# bytes from which on results, if not read, are written past the caches, if rows have
STREAM = 1 << 24
STREAM_ROW = 1 << 14  # bytes: at both ends of a row, lines are written in part
DEAR = frozenset(("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
                  "erf", "logistic", "pow"))


def kernel_named(name: str) -> Any:
    """The element-wise kernel of that name, or None."""
    return (lib.mat_elementwise(name.encode()) if lib is not None else None) or None


class Seen(NamedTuple):
    """How a kernel sees an operand: strides over the common shape, and the size of an element, in
    bytes.

    A number has a `kind`: the dtype character of what it becomes.
    """

    strides: Ints
    size: int
    kind: str = ""


def seen(layout: Layout, size: int, shape: Ints) -> Seen:
    """An operand of that layout, broadcast to `shape`."""
    strides = layout.strides if layout.shape == shape else layout.broadcast_to(shape).strides
    return Seen(tuple(s * size for s in strides), size)


def prepare_elementwise(name: str, *operands: Any,
                        layouts: Sequence[Layout | None] = ()) -> CpuKernel:
    """The kernel of that name in the precision of `operands`: Mats of any strides that broadcast to
    the last one, or numbers.

    Mats are what has a layout, if `layouts` does not say how to see them; numbers become elements
    of the first Mat's dtype.
    """
    layouts = layouts or [getattr(v, "layout", None) for v in operands]
    letter = next(v.storage.dtype.char for v in operands if hasattr(v, "storage"))
    shape = operands[-1].layout.shape
    views = [Seen((0,) * len(shape), BY_CHAR[letter].size, letter) if layout is None
             else seen(layout, v.storage.dtype.itemsize, shape) for v,
             layout in zip(operands, layouts, strict=True)]
    kernel = kernel_named(f"{name}_{PRECISION[letter]}")
    return prepare_walk(kernel, views, shape, DEAR_GRAIN if name in DEAR else GRAIN,
                        streams=name not in DEAR)


def prepare_fill(x: Any) -> CpuKernel:
    """The kernel that overwrites `x`, of a floating-point or complex dtype, with a number."""
    dtype = x.storage.dtype
    kernel = kernel_named(f"fill_{_FILLED[dtype.char]}")
    return prepare_walk(kernel, [seen(x.layout, dtype.itemsize, x.layout.shape)], x.layout.shape,
                        GRAIN)


def prepare_fill_bits(x: Any) -> Callable[[Any, Any], None]:
    """A function that overwrites `x`, of any dtype with elements of up to 8 bytes, with a
    number.
    """
    dtype = x.storage.dtype
    prepared = prepare_walk(kernel_named(f"fill_{dtype.itemsize}"),
                            [seen(x.layout, dtype.itemsize, x.layout.shape)],
                            x.layout.shape, GRAIN)
    frame, address = prepared.frame, prepared.address

    def fill(value: Any, x: Any) -> None:
        bits = ffi.new("double[2]")
        ffi.memmove(bits, np.full(1, value, dtype).tobytes(), dtype.itemsize)
        operands = ffi.new("char *[]", [ffi.cast("char *", x.pointer)])
        share(address, frame, operands, bits, ffi.NULL, prepared.count, GRAIN)

    return fill


def prepare_walk(kernel: Any, views: Sequence[Seen], shape: Ints, grain: int, *,
                 streams: bool = False) -> CpuKernel:
    """`kernel`, whose frame is a ``mat_walk``, over `shape`. The last operand is the one that is
    written.

    With `streams` it goes past the caches if it is large: that is faster where more time goes into
    reading than computing.
    """
    axes = loops(shape, [v.strides for v in views])
    frame = ffi.new("mat_walk *", {"rank": len(axes), "count": len(views), "sizes": [
        axis[k] for k in range(len(views) + 1) for axis in axes]})
    for k, view in enumerate(views):
        frame.size[k] = view.size
        frame.number[k] = view.kind.encode() or b"\0"
    count = prod(shape)
    if streams and count * views[-1].size >= STREAM and axes[-1][0] * views[-1].size >= STREAM_ROW:
        frame.stream = 1 << len(views) - 1
    return CpuKernel(kernel, frame, count, grain)


def prepare_user_kernel(address: int, mats: Sequence[Any], shape: Ints) -> CpuKernel:
    """A user's kernel at that address, for `mats` that broadcast to `shape`."""
    return prepare_walk(address, [seen(m.layout, m.storage.dtype.itemsize, shape) for m in mats],
                        shape, DEAR_GRAIN)
