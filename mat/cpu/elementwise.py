"""Element-wise operations and selections by compiled kernels: the axes that operands have together,
and the frame that a kernel gets of them.

Kernels are made in ``native/cpu/elementwise_inline.h`` and declared in
``native/shared/elementwise.def``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from ..layout.merged_axes import loops, merged
from ..layout.shapes import Ints
from ..layout.strided import Layout, packed_strides
from ..support.c_pointers import ForeignArray
from ..support.dtypes import BLAS_TYPES, BY_CHAR, COMPLEX_TYPES, HALVES, REAL_TYPES
from ..support.native import ffi, lib
from ..support.types import CData, DType, Number, Operand
from .kernel import BRIEF, CpuKernel
from .thread_pool import share

PRECISION = {char: BY_CHAR[char].suffix for char in REAL_TYPES}
# what an operand that is a number becomes, by the kind of its dtype
_NUMBER = {char: char if t.kind in "fc" else "i" for char, t in BY_CHAR.items()}
_FLOAT32 = np.dtype(np.float32)
_FILLED = {char: BY_CHAR[char].suffix for char in BLAS_TYPES}
# elements that are worth a thread where memory is what takes time: some 5 microseconds,
GRAIN = 1 << 14
HEAVY_GRAIN = 1 << 12  # and where the function does
FEW_SIGNS = 1 << 12  # 16-bit floats of which NumPy changes the signs in the time of a short call
# bytes from which on results, if not read, are written past the caches, if rows have
STREAM = 1 << 24
STREAM_ROW = 1 << 14  # bytes: at both ends of a row, lines are written in part
# but not in longer rows if an operand is the same for each of them: it leaves the first cache
STREAM_REPEATED = 1 << 14
# the type of frames
FRAME: CData = None if lib is None else ffi.typeof("mat_strided *")


class NamedKernel(NamedTuple):
    """A compiled element-wise kernel, and whether computing takes longer than memory does."""

    address: CData
    heavy: bool


def kernel_named(name: str) -> NamedKernel:
    """Return the existing element-wise kernel of that name."""
    found = lib.mat_elementwise(name.encode())
    assert found, name
    return NamedKernel(found.kernel, bool(found.heavy))


def kinds_of(name: str) -> str:
    """Return the letters of the kinds of numbers that a line has compiled kernels for."""
    return "" if lib is None else ffi.string(lib.mat_kinds_of(name.encode())).decode()


def most_halves(name: str) -> int:
    """Return of how many 16-bit floats at most to use the kernel for float32; -1: there is none."""
    if lib is None or not lib.mat_elementwise(f"{name}_f32".encode()):
        return -1
    return FEW_SIGNS if name in ("abs", "negative") else sys.maxsize


def complex_types_of(name: str) -> str:
    """Return the characters of the complex dtypes that there are compiled kernels of `name` for."""
    return "" if lib is None else "".join(
        char for char in COMPLEX_TYPES
        if lib.mat_elementwise(f"{name}_{BY_CHAR[char].suffix}".encode()))


class OperandView(NamedTuple):
    """An operand as a kernel sees it: strides over the common shape, and the size of an element, in
    bytes.

    A number has a `kind`: the dtype character that it is converted to, that of a 16-bit float also
    for a kernel of float32, or "i" for integers. The
    loop `cast` converts elements to those that the kernel computes with.
    """

    strides: Ints
    size: int
    kind: str = ""
    cast: CData | None = None


def view_of(layout: Layout, size: int, shape: Ints, cast: CData | None = None) -> OperandView:
    """Return the view of an operand of that layout, broadcast to `shape`."""
    strides = layout.strides if layout.shape == shape else layout.broadcast_to(shape).strides
    return OperandView(tuple(s * size for s in strides), size, cast=cast)


def prepare_elementwise(name: str, *operands: Operand, layouts: Sequence[Layout | None] = (),
                        dtype: DType | None = None) -> CpuKernel:
    """Return the kernel of that name that computes in `dtype`, without it in the precision of
    `operands`: Mats of any strides that broadcast to the last one, or numbers.

    Operands with a layout are Mats, if `layouts` does not say how to view them; numbers become
    elements of that dtype, by default the first Mat's, and so do elements of other dtypes. For
    16-bit floats it computes in float32: numbers are rounded to these first, results at the end.
    """
    layouts = layouts or [getattr(v, "layout", None) for v in operands]
    letter = (next(v.element_type.char for v in operands if hasattr(v, "storage"))
              if dtype is None else dtype.char)
    kind = _NUMBER[letter]
    if letter in HALVES:
        letter, dtype = "f", _FLOAT32
    shape = operands[-1].layout.shape
    views = [_view(v, layout, shape, letter, dtype, kind)
             for v, layout in zip(operands[:-1], layouts[:-1], strict=True)]
    views.append(_written(operands[-1], layouts[-1], shape, letter))
    kernel = kernel_named(f"{name}_{BY_CHAR[letter].suffix}")
    return prepare_strided(kernel.address, views, shape, HEAVY_GRAIN if kernel.heavy else GRAIN,
                           streams=not kernel.heavy)


def _view(value: Operand, layout: Layout | None, shape: Ints, letter: str,
          dtype: DType | None = None, kind: str = "") -> OperandView:
    """Return the view of a Mat, converted to `dtype`, or of a number, converted to that `kind`."""
    if layout is None:
        return OperandView((0,) * len(shape), BY_CHAR[letter].size, kind)
    found = value.element_type
    cast = None if dtype is None or found == dtype else _conversion(found, dtype).loop
    return view_of(layout, found.itemsize, shape, cast)


def _written(out: Operand, layout: Layout | None, shape: Ints, letter: str) -> OperandView:
    """Return the view of a Mat for the results of a kernel that computes in that dtype."""
    view = _view(out, layout, shape, letter)
    dtype = out.element_type
    narrow = dtype.char in HALVES and letter not in HALVES
    return view._replace(cast=_conversion(np.dtype(letter), dtype).loop) if narrow else view


def converts(source: DType, target: DType) -> bool:
    """Return whether there is a compiled conversion from one dtype to another."""
    return source.char in BY_CHAR and target.char in BY_CHAR and bool(_conversion(source, target))


def _conversion(source: DType, target: DType) -> CData:
    of, to = BY_CHAR[source.char].suffix, BY_CHAR[target.char].suffix
    return None if lib is None else lib.mat_convert(f"{of}_{to}".encode())


def prepare_convert(x: Operand, out: Operand) -> CpuKernel:
    """Return the kernel that copies `x`, broadcast, to `out` of another dtype, if there is one."""
    shape = out.layout.shape
    views = [view_of(v.layout, v.element_type.itemsize, shape) for v in (x, out)]
    return prepare_strided(_conversion(x.element_type, out.element_type).kernel, views, shape,
                           GRAIN)


def prepare_fill(x: Operand) -> CpuKernel:
    """Return the kernel that overwrites `x`, of floats or complex numbers, with a number."""
    return _filling(_FILLED[x.element_type.char], x)


def _filling(suffix: str, x: Operand) -> CpuKernel:
    view = view_of(x.layout, x.element_type.itemsize, x.layout.shape)
    return prepare_strided(kernel_named(f"fill_{suffix}").address, [view], x.layout.shape, GRAIN)


def prepare_fill_bits(x: Operand) -> Callable[[Number, ForeignArray], None]:
    """Return a function that overwrites `x`, with elements of up to 8 bytes, with a number."""
    dtype = x.element_type
    kernel = _filling(str(dtype.itemsize), x)
    frame, address = kernel.frame, kernel.address

    def fill_bits(value: Number, x: ForeignArray) -> None:
        bits = ffi.new("double[2]")
        ffi.memmove(bits, np.full(1, value, dtype).tobytes(), dtype.itemsize)
        operands = ffi.new("char *[]", [ffi.cast("char *", x.pointer)])
        share(address, frame, operands, bits, ffi.NULL, kernel.count, GRAIN)

    return fill_bits


def prepare_strided(kernel: CData, views: Sequence[OperandView], shape: Ints, grain: int, *,
                    streams: bool = False) -> CpuKernel:
    """Return `kernel`, whose frame is a ``mat_strided``, over `shape`; the last operand is written.

    With `streams` a large result is written past the caches: that is faster where more time goes
    into reading than computing.
    """
    axes = loops(shape, [v.strides for v in views])
    frame = ffi.new("mat_strided *", {"rank": len(axes), "count": len(views), "sizes": [
        axis[k] for k in range(len(views) + 1) for axis in axes]})
    for k, view in enumerate(views):
        frame.size[k] = view.size
        frame.number[k] = view.kind.encode() or b"\0"
        if view.cast is not None:
            frame.cast[k] = view.cast
    count = prod(shape)
    if streams and count * views[-1].size >= STREAM and _rows_stream(axes, views[-1].size):
        frame.stream = 1 << len(views) - 1
    return CpuKernel(kernel, frame, count, grain, brief=BRIEF * grain)


def _rows_stream(axes: Sequence[Ints], size: int) -> bool:
    """Return whether to write rows past the caches, by a loop's axes and the output's size."""
    *outer, (n, *inner) = axes
    repeated = any(step and any(axis[k] == 0 for axis in outer) for k, step in enumerate(inner, 1))
    return STREAM_ROW <= n * size <= (STREAM_REPEATED if repeated else n * size)


class KernelPlaces(NamedTuple):
    """A kernel's information about places: strides of operands that it walks along itself, None for
    others; the strides and first values of indices; and numbers, to which it gets a pointer.
    """

    strides: Sequence[Ints | None]
    counters: Sequence[tuple[Ints, int]]
    facts: Sequence[int]


def prepare_user_kernel(address: int, mats: Sequence[Operand], shape: Ints, last: int,
                        places: KernelPlaces | None = None) -> CpuKernel:
    """Return the user's kernel at that address for `mats` broadcast to `shape`; writes `last`."""
    views = [view_of(m.layout, m.element_type.itemsize, shape) if places is None
             or places.strides[k] is None else OperandView(
                 tuple(s * m.element_type.itemsize for s in places.strides[k] or ()),
                 m.element_type.itemsize) for k, m in enumerate(mats)]
    if places is None:
        return prepare_strided(address, views, shape, HEAVY_GRAIN)
    facts = ffi.new("int64_t[]", places.facts)
    counters = [*places.counters, ((0,) * len(shape), int(ffi.cast("intptr_t", facts)))]
    axes = loops(shape, [*(v.strides for v in views), *(s for s, _ in counters)], last)
    count = len(views) + len(counters)
    frame = ffi.new("mat_strided *", {
        "rank": len(axes), "count": count, "counters": len(counters),
        "sizes": [axis[k] for k in range(count + 1) for axis in axes],
        "size": [*(v.size for v in views), *(1 for _ in counters)],
        "first": [*(0 for _ in views), *(first for _, first in counters)],
        "walked": sum(1 << k for k in range(count)
                      if k >= len(views) or places.strides[k] is not None)})
    return CpuKernel(address, frame, prod(shape), HEAVY_GRAIN, brief=BRIEF * HEAVY_GRAIN,
                     keep=facts)


# Selections by masks, integers and conditions


# the parameters are a form, and what is indexed of it
def prepare_selection(kernel: str, shape: Ints, strides: Ints, itemsize: int, axis: int, axes: int,
                      count: int, repeated: str = "") -> CpuKernel:
    """Return the kernel of that name for elements of that form.

    A mask is for the first `axes` axes; without any, `count` integers are for `axis`. In the other
    operand items follow each other, unless what is `repeated` for all is one "item" or "element".
    """
    frame = ffi.new("mat_selection *")
    rest = axis + (axes or 1)
    outer, item = shape[:axis], shape[rest:]
    steps = [0 if repeated == "element" else s for s in packed_strides((*outer, count, *item))]
    frame.next_y = 0 if repeated else itemsize * prod(item)
    if axes:
        walk = merged((n, s, 0) for n, s in zip(shape[:axes], strides, strict=False))
        frame.length = prod(shape[:axes])
        _fill(frame.walk, walk or [(1, 0, 0)], itemsize)
    else:
        frame.length, frame.step_x = shape[axis], strides[axis] * itemsize
        _fill(frame.walk, merged(zip(outer, strides, steps, strict=False)), itemsize)
    inner = merged(zip(item, strides[rest:], steps[axis + 1:], strict=True))
    frame.unit = itemsize
    if inner and inner[-1][1:] == (1, 1):
        frame.unit *= inner.pop()[0]
    _fill(frame.item, inner, itemsize)
    address = ffi.addressof(lib, kernel)
    found = CpuKernel(address, frame, 1, 1, result="i")
    found.set_operands(4, 2, False)
    return found


def _fill(axes: CData, given: list[tuple[int, ...]], itemsize: int) -> None:
    axes.rank = len(given)
    for k, (n, x, y) in enumerate(given):
        axes.n[k], axes.x[k], axes.y[k] = n, x * itemsize, y * itemsize


def prepare_select(condition: Operand, a: Operand, b: Operand, out: Operand) -> CpuKernel:
    """Return the kernel that copies elements of `a` where `condition` is true, else of `b`."""
    shape = out.layout.shape
    views = [view_of(v.layout, v.element_type.itemsize, shape) for v in (condition, a, b, out)]
    kernel = lib.mat_select_kernel(out.element_type.itemsize)
    return prepare_strided(kernel, views, shape, GRAIN, streams=True)
