"""Copies of bytes, packed or in rows, that are done at once, without an access: by the caller, or
by threads where that pays.
"""

from __future__ import annotations

from typing import Any

from ..core.compiled import BLOCKS, IN_USE
from ..core.observers import OBSERVERS
from ..cpu.kernel import CpuKernel
from ..support.native import ffi, lib

# bytes from which other threads of Python are not to wait for the copy, and bytes that are worth a
# thread
LARGE = 1 << 21
WORTH = 1 << 17
MOST_APART = 500  # elements that are not packed, which NumPy copies while the GIL is kept, too

# the kernel that copies rows, if anything is compiled
ROWS: Any = None
if lib is not None:
    ROWS = CpuKernel(ffi.addressof(lib, "mat_copy_rows"), ffi.NULL, LARGE, WORTH, brief=LARGE)
    ROWS.set_operands(2, 4, False)
# with types of C
_rows, _blocks, _large, _shared = ROWS, BLOCKS, LARGE, 2 * WORTH
_FEW = 32  # rows that take less time than the arguments of a kernel
_in_use, _observers = IN_USE, OBSERVERS


def none_else() -> bool:
    """Return whether the host may copy without accesses: compiled, no device, nobody observes."""
    return _blocks.enabled and not _in_use and not _observers


def is_brief(nbytes: int) -> bool:
    """Return whether so many bytes, if any, are copied at once."""
    if not nbytes or nbytes >= _large:
        return False
    return nbytes < _shared or (_rows is not None and _rows.can_share())


def copy_bytes(at: int, to: int, nbytes: int) -> None:
    """Copy `nbytes` bytes, checked by `is_brief`, from one address to another."""
    if nbytes < _shared or (at < to + nbytes and to < at + nbytes):
        _blocks.copy(to, at, nbytes)
    else:
        copy_rows(at, to, 1, nbytes, nbytes, nbytes)


def copy_rows(at: int, to: int, rows: int, nbytes: int, step: int, step_from: int) -> None:
    """Copy so many rows, `step_from` bytes apart, to places that are `step` bytes apart."""
    if rows <= _FEW and rows * nbytes < _shared:
        _blocks.move_rows(to, at, rows, nbytes, step, step_from)
        return
    set_rows(at, to, rows, nbytes, step, step_from)
    _rows.run_at_once()


def set_rows(at: int, to: int, rows: int, nbytes: int, step: int, step_from: int) -> None:
    """Set the arguments of the kernel that copies rows: those of `copy_rows`."""
    kernel = _rows
    kernel.set_units(rows * nbytes)
    kernel.set_number(0, rows)
    kernel.set_number(1, nbytes)
    kernel.set_number(2, step_from)
    kernel.set_number(3, step)
    kernel.set_operand(0, at)
    kernel.set_operand(1, to)
