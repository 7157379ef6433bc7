"""Arrow: export of vectors to pyarrow, polars and other libraries of columns, which would otherwise
request one item after the other.

pyarrow, which is imported when it is first needed, makes the columns.
"""

from __future__ import annotations

import importlib

from ..errors import DTypeError, ShapeError
from ..matrix.exports import exported_array
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support.dtypes import EXTENSIONS
from ..support.types import Operand


@method("__arrow_array__")
def _arrow_array(self: Mat, type: object = None) -> Operand:  # noqa: A002
    """Return a column for ``pyarrow.array``, with an export of self.

    It is no copy where Arrow has the elements' type and no strides.
    """
    if self.ndim != 1:
        raise ShapeError(f"a column is a vector, {self.label()} has {self.ndim} axes; make one of "
                         "each x[:, k]")
    if self.dtype.kind == "c" or self.dtype.char in EXTENSIONS:
        raise DTypeError(f"Arrow has no {self.dtype}; x.astype(dtype) makes a Mat of another")
    return importlib.import_module("pyarrow").array(exported_array(self), type=type)


def _table(self: Mat) -> Operand:
    """Return the columns of a matrix as one of records, a table for polars."""
    arrow = importlib.import_module("pyarrow")
    columns = [_arrow_array(self[:, k]) for k in range(self.shape[1])]
    return arrow.StructArray.from_arrays(columns, [f"column_{k}" for k in range(len(columns))])


@method("__arrow_c_array__")
def _arrow_c_array(self: Mat, requested_schema: object = None) -> Operand:
    """Return a column, or the columns of a matrix as one of records, for polars and others; raise
    `ModuleNotFoundError` without pyarrow.
    """
    column = _table(self) if self.ndim == 2 else _arrow_array(self)
    return column.__arrow_c_array__(requested_schema)
