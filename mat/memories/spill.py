"""Host memory of large Mats in temporary files: the settings ``spill_dir`` and ``spill_above``."""

from __future__ import annotations

import sys

import numpy as np

from ..core.compiled import BLOCKS
from ..errors import DiskError
from ..support.descriptors import nameless
from ..support.options import current
from ..support.plugins import plugin
from ..support.settings import SPILL
from ..support.types import Array, DType, Number
from .file_pages import SpillPages, disk_error, map_temporary, pages_of, release, reserve

MOST = sys.maxsize  # bytes of what is never in a file
PART = 8 << 20  # bytes that are written at a time


def spills(nbytes: int) -> bool:
    """Return whether host memory of so many bytes is to be a file."""
    above = current().spill_above
    return above is not None and nbytes > above


def empty(size: int, dtype: DType) -> Array:
    """Do as ``numpy.empty`` for one axis, in a file if it is to be there."""
    nbytes = size * dtype.itemsize
    return (spilled_array(size, dtype) if nbytes > BLOCKS.largest and spills(nbytes)
            else np.empty(size, dtype))


def spilled_array(size: int, dtype: DType) -> Array:
    """Return a 1-d array over a new temporary file; raise `DiskError` if there cannot be one.

    The room on the disk is reserved. The file has no name: it is gone with the last array over it,
    and with the process, however that ends.
    """
    nbytes = max(size * dtype.itemsize, 1)
    tempfile = plugin("tempfile")
    folder = current().spill_dir or tempfile.gettempdir()
    what = f"a temporary file of {nbytes} bytes for a Mat"
    try:
        with (nameless(folder, 0o600)
              or tempfile.TemporaryFile(prefix="mat-", dir=folder, buffering=0)) as file:
            reserve(file.fileno(), nbytes, "the host memory of a Mat", folder, _WAY_OUT)
            pages = map_temporary(file.fileno(), what)
    except DiskError:
        raise
    except OSError as error:
        raise disk_error(f"cannot make {what} in {folder!r}, the directory of the setting "
                         f"spill_dir: {error.strerror}; choose another by mat.configure("
                         "spill_dir=...)", error) from error
    return pages.array(0, size, dtype)


def spilled_copy(flat: Array) -> Array:
    """Return a private 1-d array, or a copy of it in a file if it is to be spilled."""
    if not spills(flat.nbytes) or not flat.flags.writeable or pages_of(flat) is not None:
        return flat
    found = spilled_array(flat.size, flat.dtype)
    found[...] = flat
    return found


def fill(handle: Array, value: Number) -> None:
    """Write `value` to all elements, a part at a time where they are a file."""
    pages = handle.base
    if not isinstance(pages, SpillPages):
        handle.fill(value)
        return
    if not np.array([value], handle.dtype).view(np.uint8).any() and pages.is_blank():
        return
    step = PART // handle.itemsize
    for start in range(0, handle.size, step):
        part = handle[start:start + step]
        part.fill(value)
        release(part)


_WAY_OUT = ("free some, choose another directory by mat.configure(spill_dir=...), or have less in "
            "files by a larger spill_above")


def _set_least(nbytes: int | None) -> None:
    BLOCKS.largest = MOST if nbytes is None else nbytes


SPILL.append(_set_least)
