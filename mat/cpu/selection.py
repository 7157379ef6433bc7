"""Selection by masks, integers and conditions: the frames of compiled kernels for one form."""

from __future__ import annotations

from math import prod

from ..layout.merged_axes import merged
from ..layout.shapes import Ints
from ..layout.strided import packed_strides
from ..support.native import ffi, lib
from ..support.types import CData, Operand
from .elementwise import GRAIN, prepare_strided, view_of
from .kernel import CpuKernel


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
