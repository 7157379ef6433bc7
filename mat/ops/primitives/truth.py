"""Reductions of truth, nonzero counting as true: whether any element is, whether all are, and their
number. NumPy's functions use them.
"""

from __future__ import annotations

from typing import Any as _Any
from typing import ClassVar

import numpy as np

from ...core.compiled import IN_USE
from ...devices.in_use import has_kernels
from ...matrix.filled import full
from ...matrix.mat import Mat
from ...support.dtypes import BY_NAME, EVERY
from ...support.plugins import plugin
from ...support.types import AxisLike, DType, Engine, Function
from ..engine.operation import Op
from . import elementwise, reduce
from .declare_reduce import Reduction, assigning, core_of, plain_axis, reduced_by
from .selecting import is_true

# the bits of one element that count, as a signed integer: not the signs of zeros
_MASKS = {"f2": 0x7FFF, "f4": 0x7FFFFFFF, "f8": 2**63 - 1, "c8": 0x7FFFFFFF7FFFFFFF,
          "c16": 2**63 - 1}


def mask_of(dtype: DType) -> int:
    """Return the bits of an element that make it true."""
    kind = BY_NAME[dtype.name]
    return _MASKS.get(f"{kind.kind}{kind.size}", -1)


class Truth(Reduction):
    """A reduction of the truth of elements."""

    compiled = EVERY
    silent = True
    merged_by = ""  # the function of `ufuncs` that merges the results of parts

    def prepare(self, cpu: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool) -> Function:
        axes, strides = self.kept(x, out, axis, keepdims)
        return reduced_by(cpu, f"mat_{self.name}_{x.itemsize}", x, axes, strides,
                          mask=mask_of(x.dtype))

    def cutter(self, operation: Op, cutters: _Any) -> _Any:
        merge = self.merge or getattr(plugin("ops.primitives.ufuncs"), self.merged_by)
        return cutters.by_parts(operation, cutters.Merged(operation, merge), self.axes)


class Any(Truth):
    """Whether any element is true."""

    name = "any"
    summary = "Return whether any element over `axis` is true."
    example = "any(mat.array([0.0, 2]))", "<Mat () bool F True>"
    function: ClassVar[Function] = staticmethod(np.any)
    merged_by = "logical_or"


class All(Truth):
    """Whether all elements are true."""

    name = "all"
    summary = "Return whether all elements over `axis` are true."
    example = "all(mat.array([0.0, 2]))", "<Mat () bool F False>"
    function: ClassVar[Function] = staticmethod(np.all)
    merged_by = "logical_and"


class CountNonzero(Truth):
    """How many elements are true."""

    name = "count_nonzero"
    summary = "Return how many elements over `axis` are true."
    example = "count_nonzero(mat.array([0.0, 2]))", "<Mat () int64 F 1>"
    function: ClassVar[Function] = staticmethod(assigning(
        lambda x, axis, keepdims: np.int64(np.count_nonzero(x, axis, keepdims=keepdims))))
    merge = elementwise.add


_any = core_of(Any())
_all = core_of(All())
_count_nonzero = core_of(CountNonzero())
ANY, ALL, COUNT_NONZERO = (vars(core)["op"] for core in (_any, _all, _count_nonzero))


# Devices with kernels of their own have other reductions


def _decision(core: Function, reduction: Function, of_nothing: bool) -> Function:
    """Return a reduction of truth that devices with kernels compute by another one."""
    def decide(x: Mat, axis: AxisLike = None, keepdims: bool = False,
               out: Mat | None = None) -> Mat:
        if not (IN_USE and has_kernels(x)):
            return core(x, axis, keepdims, out)
        if x.size:
            return reduction(is_true(x), axis, out, keepdims)
        shape, _ = Any().result_of(x, plain_axis(axis), keepdims)
        return full(shape, of_nothing, "bool") if out is None else out.assign_(of_nothing)

    return decide


any_true = _decision(_any, reduce.max, False)
all_true = _decision(_all, reduce.min, True)


def count_true(x: Mat, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the number of true elements over `axis`, as int64."""
    if has_kernels(x):
        return reduce.sum(is_true(x), axis, keepdims=keepdims)
    return _count_nonzero(x, axis, keepdims)
