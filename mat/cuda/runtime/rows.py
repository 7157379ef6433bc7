"""Thin rows of bytes, equally far apart, copied within the device by a kernel: the driver takes
about as long for a row of 4 bytes as for a long one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...layout.shapes import Ints
from .gpu import Gpu
from .kernel import CudaKernel
from .nvrtc import Program

PROGRAM = Program('#include "rows.cuh"\n')
THIN, MANY = 64, 32  # bytes of a row at most, rows at least, for which the kernel pays
_THREADS = 256


def programs() -> Iterable[Program]:
    """Return every program of this module."""
    return (PROGRAM,)


class _Place(NamedTuple):
    """An operand of the kernel."""

    gpu: Gpu
    address: int


def are_thin(count: int, width: int) -> bool:
    """Return whether so many rows of so many bytes are copied by the kernel."""
    return width <= THIN and count >= MANY


def move_rows(gpu: Gpu, to: tuple[int, int], source: tuple[int, int], shape: Ints) -> None:
    """Queue a copy of rows of bytes between addresses with their pitches; `shape`: how many and how
    wide.
    """
    count, width = shape
    bits = width | to[0] | to[1] | source[0] | source[1] | 16
    word = bits & -bits
    n = count * width // word
    kernel = CudaKernel(PROGRAM, f"mat_rows_{word}",
                        (n, width // word, to[1] // word, source[1] // word),
                        (-(-n // _THREADS), 1, 1), (_THREADS, 1, 1)).bind((0, 1), ())
    kernel(_Place(gpu, to[0]), _Place(gpu, source[0]))
