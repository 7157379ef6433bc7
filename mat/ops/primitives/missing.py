"""Extremes and replacements of elements that skip NaN: the basis of NumPy's functions with names in
"nan".
"""

from __future__ import annotations

from operator import methodcaller
from typing import ClassVar

import numpy as np

from ...layout.shapes import broadcast_shapes
from ...matrix.mat import Mat
from ...support.dtypes import EVERY, EXTENSIONS, INEXACT, REAL_TYPES
from ...support.native import compiled
from ...support.types import Array, AxisLike, Engine, Function, Operand
from ..engine.declare_elementwise import check_out
from ..engine.operation import Input, InputOrNumber, Output, op
from ..tiles.overlap import apart, of_one_dtype
from ..tiles.tile import by_elements
from . import reduce, ufuncs
from .declare_reduce import UfuncReduction, core_of


@op(method="", by_form=True)
def replace_nan(x: Input, y: InputOrNumber, out: Output) -> None:
    """Compute `out`, the elements of `x`, with those of `y` for NaN."""
    check_out(np.maximum, out, x, y)


def _of_floats(x: Mat, y: Operand, out: Mat) -> bool:
    """Return whether all Mats have one inexact dtype, and kernels can compute with them."""
    dtype = out.element_type
    return dtype.char in INEXACT and apart(x, y, out) and all(
        v.element_type is dtype for v in (x, y) if isinstance(v, Mat))


replace_nan.cut_by(by_elements(replace_nan))
replace_nan.result_of = lambda x, y, out: (
    broadcast_shapes([v.layout.shape for v in (x, y) if isinstance(v, Mat)]), x.element_type)
replace_nan.prepare("foreign", dtypes=compiled(REAL_TYPES), when=of_one_dtype)(
    lambda cpu, x, y, out: cpu.prepare_elementwise("replace_nan", x, y, out))
replace_nan.prepare("cuda", dtypes=EVERY, when=_of_floats)(
    lambda cuda, x, y, out: cuda.prepare_elementwise("replace_nan", x, y, out))


@replace_nan.on("array")
def replace_nan_numpy(np: Engine, x: Array, y: Array, out: Array) -> None:
    out[...] = np.where(np.isnan(x), np.asarray(y, x.dtype), x)


class NanMax(UfuncReduction):
    """Largest elements that are not NaN."""

    name = "nanmax"
    summary = "Return the largest element over `axis` that is not NaN; NaN if there is none."
    example = "nanmax(mat.array([1.0, 3, 2]))", "<Mat () F 3.>"
    function: ClassVar[Function] = staticmethod(np.fmax.reduce)
    ufunc: ClassVar[np.ufunc] = np.fmax
    of_nothing, silent, accumulates = False, True, False
    compiled, compiled_name = REAL_TYPES, "fmax"
    merge = ufuncs.fmax
    device_type = methodcaller("NumberKernels")

    def fits_device(self, x: Mat, out: Mat) -> bool:
        return x.element_type.char in INEXACT and super().fits_device(x, out)


class NanMin(NanMax):
    """Smallest elements that are not NaN."""

    name = "nanmin"
    summary = "Return the smallest element over `axis` that is not NaN; NaN if there is none."
    example = "nanmin(mat.array([1.0, 3, 2]))", "<Mat () F 1.>"
    function: ClassVar[Function] = staticmethod(np.fmin.reduce)
    ufunc: ClassVar[np.ufunc] = np.fmin
    compiled_name = "fmin"
    merge = ufuncs.fmin
    device_type = methodcaller("NumberKernels", smallest=True)


largest_number = core_of(NanMax())
smallest_number = core_of(NanMin())


def extreme(x: Mat, axis: AxisLike, out: Mat | None = None, keepdims: bool = False, *,
            smallest: bool) -> Mat:
    """Return the largest or smallest element that is not NaN; no warning if there is none."""
    if x.dtype.char in EXTENSIONS:  # among which NumPy does not see NaN
        found: Mat = extreme(x.astype(np.float32), axis, None, keepdims,
                             smallest=smallest).astype(x.dtype)
        return found if out is None else out.assign_(found)
    if x.dtype.char in INEXACT:
        return (smallest_number if smallest else largest_number)(x, axis, keepdims, out)
    return (reduce.min if smallest else reduce.max)(x, axis, out, keepdims)


def without_nan(x: Mat, value: Operand) -> Mat:
    """Return `x` with `value` for NaN, itself if there can be none."""
    if x.dtype.char not in INEXACT:
        return x
    return replace_nan.new((x, value, None))
