"""Functions of a few packed elements in host memory, computed without an access: where the integers
of a vector occur, which elements are true, and traces.

Each returns None, with nothing done, for other operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import BLOCKS
from ..facets.array import ARRAY
from ..layout.strided import Layout
from ..matrix.base import form_of_result, is_numpys
from ..matrix.mat import Mat
from ..support.types import DType, Operand
from . import reduce
from .calls import Calls
from .truth import mask_of

_MOST = 1 << 12  # elements, or bins
# with types of C
_blocks, _array, _mat, _int64 = BLOCKS, ARRAY, Mat, np.dtype(np.int64)
_sum: Calls = vars(reduce.sum)["op"]
_masks: dict[DType, int] = {}


def counted(x: object) -> Operand:
    """Return how often 0, 1, ... occur in a vector of int64, which are not negative."""
    if type(x) is not _mat or not _blocks.enabled:
        return None
    view: Any = x
    layout, storage = view.layout, view.storage
    if view.element_type is not _int64 or len(layout.shape) != 1 or not layout.contiguous:
        return None
    if not 0 < layout.size <= _MOST:
        return None
    start = 8 * layout.displacement
    address = storage.element_address(_array.mask, _array.bit, False)
    if not address:
        return None
    bins = _blocks.bins_of(address + start, layout.size)
    if not 0 <= bins <= _MOST:
        return None
    made: Any = form_of_result((bins,), _int64).new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit, False)
    if not to or not address or view.layout is not layout:
        return None
    _blocks.count_each(to, bins, address + start, layout.size)
    made.storage.written(_array.mask)
    return made


def places(x: object) -> Operand:
    """Return the indices along each axis of the elements that are true."""
    if type(x) is not _mat or not _blocks.enabled:
        return None
    view: Any = x
    layout, storage = view.layout, view.storage
    mask = _mask_of(view.element_type)
    if not mask or not layout.shape or not layout.contiguous or not 0 < layout.size <= _MOST:
        return None
    start = view.element_size * layout.displacement
    address = storage.element_address(_array.mask, _array.bit, False)
    if not address:
        return None
    count = _blocks.count_true(address + start, view.element_size, layout.size, mask)
    form = form_of_result((count,), _int64)
    found: list[Operand] = []
    targets: list[int] = []
    for _ in layout.shape:
        made: Any = form.new(view.device_enabled, None)
        found.append(made)
        targets.append(made.storage.ready(_array.mask, _array.bit, False, True))
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit, False)
    if not address or 0 in targets or view.layout is not layout:
        return None
    if _blocks.places_of(address + start, view.element_size, layout.shape, mask, targets,
                         count) != count:
        return None
    for one in found:
        made = one
        made.storage.written(_array.mask)
    return tuple(found)


def _mask_of(dtype: DType) -> int:
    """Return the bits that make an element true; 0 for elements of several words."""
    found = _masks.get(dtype)
    if found is None:
        found = _masks[dtype] = 0 if dtype.kind == "c" or not is_numpys(dtype) else (
            mask_of(dtype) & (2**64 - 1))
    return found


def traced(x: object) -> Operand:
    """Return the sum of the main diagonal of a matrix."""
    if type(x) is not _mat:
        return None
    view: Any = x
    layout = view.layout
    if len(layout.shape) != 2 or not layout.size or not is_numpys(view.element_type):
        return None
    length = min(layout.shape[0], layout.shape[1])
    diagonal = Layout.__new__(Layout)
    diagonal.fill_in((length,), (layout.strides[0] + layout.strides[1],), layout.displacement)
    return _sum.make((view._view_of(diagonal), None, None, False))
