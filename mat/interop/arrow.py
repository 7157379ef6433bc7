"""Arrow: a vector is lent to pyarrow, polars and other libraries of columns, which would else ask
for one item after the other.

pyarrow, which is imported when first needed, makes the columns.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import DTypeError, ShapeError
from ..matrix.exports import exported_array
from ..matrix.mat import Mat
from ..matrix.methods import method


@method("__arrow_array__")
def _arrow_array(self: Mat, type: Any = None) -> Any:  # noqa: A002
    """For ``pyarrow.array``: a column that holds a lease, without a copy where Arrow has the
    elements' type and no strides.
    """
    if self.ndim != 1:
        raise ShapeError(f"a column is a vector, {self.label()} has {self.ndim} axes; make one of "
                         "each x[:, k]")
    if self.dtype.kind == "c" or self.dtype.name == "bfloat16":
        raise DTypeError(f"Arrow has no {self.dtype}; x.astype(dtype) makes a Mat of another")
    return importlib.import_module("pyarrow").array(exported_array(self), type=type)


@method("__arrow_c_array__")
def _arrow_c_array(self: Mat, requested_schema: Any = None) -> Any:
    """For polars and others, likewise; `ModuleNotFoundError` without pyarrow."""
    return _arrow_array(self).__arrow_c_array__(requested_schema)
