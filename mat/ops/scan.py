"""Running sums and products along an axis. NumPy's functions and those of `mat.array_api` are made
of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.shapes import as_axis
from ..matrix.mat import Mat, new_like
from ..support.dtypes import BY_NAME, EVERY
from ..support.native import compiled
from ..support.types import Array, DType, Function
from .declare_reduce import RANK
from .functions import check_is_mat
from .operation import Input, Output, op
from .overlap import must_copy


def _running(name: str, rule: np.ufunc, doc: str) -> Function:
    """Declare ``name(x, axis=None, dtype=None, out=None)``; return the function."""
    def check(x: Input, out: Output, axis: int) -> None:
        if out.layout.shape != x.layout.shape:
            raise ShapeError(f"{name} gives shape {x.shape}, out has {out.shape}")
        dtype = _dtype_of(rule, x.dtype)
        if not np.can_cast(dtype, out.dtype, "same_kind"):
            raise DTypeError(f"{name} gives {dtype}, which {out.dtype} cannot take")
        as_axis(axis, x.ndim)

    check.__name__, check.__doc__, check.__module__ = name, doc, __name__
    kernel = op(check, method="", by_form=True)
    kernel.result_of = lambda x, out, axis: (x.layout.shape, _dtype_of(rule, x.dtype))
    kernel.prepare("foreign", dtypes=compiled(EVERY), when=_fits_compiled(name))(
        lambda cpu, x, out, axis: cpu.prepare_scan(name, x, out, as_axis(axis, x.ndim)))

    @kernel.on("array", bare=True)
    def by_numpy(x: Array, out: Array, axis: int) -> None:
        rule.accumulate(x, axis, out.dtype, out)

    def running(x: Mat, axis: int | None = None, dtype: DType | None = None,
                out: Mat | None = None) -> Mat:
        if axis is None:
            x, axis = (x if x.ndim == 1 else x.contiguous().reshape(-1)), 0
        if dtype is not None:
            x = x if x.dtype == dtype else x.astype(dtype)
            if out is None and _dtype_of(rule, dtype) != dtype:
                out = new_like(x, x.shape, dtype)  # integers that are not made larger
        found: Mat = (kernel.new((x, None, axis)) if out is None
                      else kernel(x, check_is_mat(out), axis))
        return found

    return running


@cache
def _dtype_of(rule: np.ufunc, dtype: DType) -> DType:
    """Return the dtype of the result for elements of `dtype`: at least int64 for integers."""
    try:
        return rule.accumulate(np.ones(1, dtype)).dtype
    except TypeError:
        raise DTypeError(f"{rule.__name__} is not defined for {dtype}") from None


def _fits_compiled(name: str) -> Function:
    """Return a test whether there is a kernel for the dtypes of the operands."""
    def fits(x: Mat, out: Mat) -> bool:
        if x.ndim > RANK or not x.size or must_copy(x, out):
            return False
        of, to = (BY_NAME[m.dtype.name].suffix for m in (x, out))
        return (of, to) in _PAIRS and (of == to or x.storage is not out.storage)

    return fits


_PAIRS = {*((f"i{n}", "i64") for n in (8, 16, 32, 64)), ("b1", "i64"),
          *((f"u{n}", "u64") for n in (8, 16, 32, 64)),
          *((t, t) for t in ("f32", "f64", "c64", "c128"))}

cumsum = _running("cumsum", np.add, "Compute the sums of the elements up to each along `axis`.")
cumprod = _running("cumprod", np.multiply,
                   "Compute the products of the elements up to each along `axis`.")
