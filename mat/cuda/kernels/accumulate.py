"""Items at positions combined with others in a fixed order, on the device: the kernels of
``native/cuda/accumulate.cuh``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...layout.shapes import Ints
from ...support.dtypes import BY_CHAR, DISTINCT
from ...support.types import Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .elementwise import THREADS, lines, of_equal, strided_loop, type_of
from .selection import WAYS, apart

RULES = ("add", "subtract", "multiply", "maximum", "minimum")
KINDS = tuple(BY_CHAR[char].suffix for char in DISTINCT)


@cache
def program(kind: str) -> Program:
    """Return the kernels for elements of a type."""
    rules = " ".join(f"MAT_RULE{of_equal(name, kind)}({name})" for name in RULES
                     if lines()[name].computes(kind))
    kernels = (f"MAT_ACCUMULATE({kind}, {way}, {count})" for way, count in WAYS.items())
    return Program("\n".join(['#include "accumulate.cuh"', f"MAT_RULES({kind}, {rules})",
                              *kernels, ""]), (EXACT,))


def programs() -> Iterator[Program]:
    """Return every program of this module."""
    return (program(kind) for kind in KINDS)


def prepare_accumulate(at: Operand, source: Operand, x: Operand, rule: str,
                       chosen: Ints) -> CudaKernel:
    """Return the kernel that combines the items of `x` at positions with those of `source`, whose
    first axis is that of the positions. Its arguments: positions, their sorting kernel, `x` and
    `source`.
    """
    rest, steps = apart(x, chosen)
    strides = source.layout.strides
    n = at.layout.size
    more = (0,) * len(rest)
    found = strided_loop(source.layout.shape, [(0, *rest), (1, *more), (0, *strides[1:])], 1,
                         tuple(WAYS))
    kind = type_of(x.dtype)
    frame = (*found.frame, 0, *steps, n, strides[0], list(lines()).index(rule))
    grid = -(-found.items // THREADS), 1, 1
    return CudaKernel(program(kind), f"mat_accumulate_{kind}_{found.way}", frame, grid,
                      (THREADS, 1, 1))
