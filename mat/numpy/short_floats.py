"""NumPy's functions that order elements, or look for NaN, of bfloat16 and the floats of 8 bits.

NumPy orders these without regard to NaN. They are computed in float32, which has each of their
numbers, and results are converted back; so all devices give the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..matrix.creation import from_numpy
from ..matrix.mat import Mat
from ..matrix.reading import mapped
from ..support.dtypes import EXTENSIONS
from ..support.types import Arguments, Array, DType, Function, Keywords, Operand
from .registry import numpy_function

_NAMES = """
    sort argsort partition argpartition lexsort median percentile quantile searchsorted digitize
    unique unique_all unique_counts unique_inverse unique_values isin in1d intersect1d union1d
    setdiff1d setxor1d nanmax nanmin nanargmax nanargmin nanmedian nanpercentile nanquantile nansum
    nanprod nanmean nanvar nanstd nancumsum nancumprod nan_to_num einsum ptp interp trim_zeros
    sort_complex
"""
FUNCTIONS = frozenset(map(numpy_function, _NAMES.split())) - {None}
# whose results are of float32 in NumPy, too
_WIDE = frozenset((np.quantile, np.percentile, np.nanquantile, np.nanpercentile))
_FLOAT32 = np.dtype(np.float32)


def _operands(values: Operand) -> Iterator[Mat | Array]:
    """Yield the Mats and arrays among arguments."""
    if isinstance(values, Mat | np.ndarray):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _operands(value)


def dtype_of(args: Arguments, kwargs: Keywords) -> DType | None:
    """Return the dtype of results, if operands are of such a dtype; None if none is."""
    try:
        kinds = {x.dtype for x in _operands((*args, *kwargs.values()))}
    except RecursionError:
        return None  # for NumPy to refuse
    short = [k for k in kinds if k.char in EXTENSIONS]
    if not short:
        return None
    wide = [k for k in kinds if k.kind in "fc" and k not in short]
    return short[0] if len(short) == 1 and not wide else np.result_type(_FLOAT32, *wide)


def computed(function: Function, args: Arguments, kwargs: Keywords, dtype: DType) -> Operand:
    """Return the result of `function` for the operands in float32, in `dtype`."""
    out = kwargs.get("out")
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    in_place = function is np.nan_to_num and not kwargs.pop("copy", True)
    found = function(*map(_widened, args), **{k: _widened(v) for k, v in kwargs.items()})
    if function not in _WIDE:
        found = _narrowed(found, dtype)
    if in_place:
        out = args[0] if args else kwargs["x"]
    return found if out is None else out.assign_(found)


def _widened(value: Operand) -> Operand:
    if isinstance(value, np.ndarray) and value.dtype.char in EXTENSIONS:
        value = from_numpy(value)
    if isinstance(value, Mat) and value.dtype.char in EXTENSIONS:
        return value.astype(_FLOAT32)
    return mapped(value, _widened)


def _narrowed(found: Operand, dtype: DType) -> Operand:
    if isinstance(found, Mat) and found.dtype == _FLOAT32:
        return found.astype(dtype)
    return mapped(found, lambda v: _narrowed(v, dtype))
