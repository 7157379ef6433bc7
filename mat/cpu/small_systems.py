"""Inverses and solutions of small systems of equations by a compiled kernel: the frame of operands
of one form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ..layout.matrix_operand import MatrixOperand
from ..layout.shapes import Ints
from ..support.native import ffi, lib
from .kernel import CpuKernel

# the most rows and right sides of a system, and the most axes of a stack
SIDE, AXES = (0, 0) if lib is None else (lib.MAT_SMALL_SIDE, lib.MAT_STACK_AXES)
WORK = 30_000  # multiplications that a thread should at least get


def prepare_systems(letter: str, n: int, columns: int, operands: Sequence[MatrixOperand],
                    batch: Ints, refusal: Callable[[], Exception]) -> CpuKernel:
    """Return the kernel that solves systems of `n` equations, one for each position of `batch`.

    The operands are a, the right sides, of which there are so many `columns`, and the solutions;
    or with 0 columns a and its inverse. `refusal` returns the error for a singular matrix.
    """
    frame = ffi.new("mat_small_systems *")
    frame.n, frame.columns, frame.axes, frame.length = n, columns, len(batch), batch
    # an inverse has no right side of its own
    for k, operand in enumerate((operands[0], operands[-2], operands[-1])):
        frame.row[k], frame.column[k] = operand.row, operand.column
        for axis, step in enumerate(operand.batch):
            frame.step[axis][k] = step
    grain = WORK / (n * n * (n + (columns or n)))
    return CpuKernel(ffi.addressof(lib, f"mat_small_systems_{letter}"), frame, prod(batch),
                     max(grain, 1), result="i", refusal=refusal)
