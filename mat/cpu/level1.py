"""Kernels for long vectors of adjacent elements, shared over threads.

BLAS does not do them at the speed of memory. Sums are taken block by block, in double precision,
and do not depend on how many threads there are.
"""

from __future__ import annotations

import math

from ..support.c_pointers import ForeignArray
from ..support.native import ffi, lib
from ..support.types import CData, Function
from .elementwise import GRAIN, PRECISION, OperandView, prepare_strided
from .thread_pool import share

LONG = 1 << 18  # elements from which on threads pay
BLOCK = 1 << 14  # elements that are summed up in one go
SUMS = frozenset(("dot", "vdot", "nrm2", "asum"))
# between these a sum of squares has neither overflowed nor lost what underflows
SAFE = 1e-250, 1e300


def is_long(letter: str, n: int, *steps: int) -> bool:
    """Return whether these kernels, not BLAS, are for vectors of `n` elements with such steps."""
    return (lib is not None and n >= LONG and letter in PRECISION
            and all(step == 1 for step in steps))


def long_vectors(verb: str, letter: str, n: int, vectors: int,
                 otherwise: Function) -> Function:
    """Prepare ``verb`` of so many such vectors.

    `otherwise` does the same, for results that the kernel cannot compute.
    """
    if verb in SUMS:
        return VectorSum(verb, PRECISION[letter], n, otherwise)
    size = ffi.sizeof("float" if letter == "f" else "double")
    kernel = getattr(lib, f"mat_{verb}_{PRECISION[letter]}")
    views = [OperandView((size,), size)] * vectors
    return prepare_strided(kernel, views, (n,), GRAIN, streams=True)


class VectorSum:
    """A sum over one or two vectors, called with values of the foreign facet."""

    __slots__ = ("blocks", "frame", "kernel", "otherwise", "verb")

    def __init__(self, verb: str, precision: str, n: int, otherwise: Function) -> None:
        name = {"nrm2": "squares", "vdot": "dot"}.get(verb, verb)
        self.verb: str = verb
        self.kernel: int = int(ffi.cast("uintptr_t", getattr(lib, f"mat_{name}_{precision}")))
        self.blocks: int = -(-n // BLOCK)
        self.frame: CData = ffi.new("struct mat_sum *", (n, BLOCK))
        self.otherwise: Function = otherwise

    def __call__(self, *vectors: ForeignArray) -> float:
        operands = ffi.new("char *[]", [ffi.cast("char *", v.pointer) for v in vectors])
        parts = ffi.new("double[]", self.blocks)
        share(self.kernel, self.frame, operands, ffi.NULL, parts, self.blocks, GRAIN // BLOCK)
        total = float(sum(ffi.unpack(parts, self.blocks)))
        if self.verb != "nrm2":
            return total
        return math.sqrt(total) if SAFE[0] < total < SAFE[1] else float(self.otherwise(*vectors))
