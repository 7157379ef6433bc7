"""Products of matrices of integers and 16-bit floats: how our tiled kernel is asked for them, and
how work is cut for threads.

It knows sizes, steps and dtype characters. ``docs/matmul.md`` tells how the kernel works.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..layout.strided import Ints, signed
from ..support.dtypes import BOOL, BY_CHAR, ELEMENT_TYPES, HALVES, INTEGERS
from ..support.native import ffi, lib
from .kernel import CpuKernel
from .thread_pool import run, threads

CHARS = BOOL + INTEGERS + HALVES + "f"
# as the kernels number them: integers by their sizes, 16-bit floats, float32
NUMBERED = (*sorted((t for t in ELEMENT_TYPES if t.kind in "biu"), key=lambda t: (t.size, t.kind)),
            *(BY_CHAR[char] for char in HALVES + "f"))
TYPES = {char: k for k, t in enumerate(NUMBERED) for char in t.chars}
MOST_AXES = 16  # leading axes that a frame has room for
SIDE = 1024  # how many rows and columns of C a unit of work has at most
LEAST_SIDE = 64  # not less than this, where it is cut for more threads
SHARE = 1 << 20  # multiplications that a thread must at least get: some 20 us
# where units have more, they are cut finer, so that no thread waits long for another
LARGE = 1 << 26


class MatrixOperand(NamedTuple):
    """How an operand lies: its dtype character, and how far apart rows, columns, and matrices along
    leading axes are.
    """

    char: str
    row: int
    column: int
    batch: Ints = ()

    @property
    def turned(self) -> MatrixOperand:
        """The same operand, transposed."""
        return MatrixOperand(self.char, self.column, self.row, self.batch)


def takes(a: str, b: str, c: str) -> bool:
    """Whether the kernel has C = A B for operands of these dtype characters.

    Integers of any kinds, of which C gets as many bits as it has; 16-bit floats of one kind, C like
    them or float32; booleans.
    """
    if c in HALVES or c == "f":
        return a == b and a in HALVES and c in (a, "f")
    if c == "?":
        return a == b == "?"
    return c in INTEGERS and a in CHARS[:-3] and b in CHARS[:-3] and not a == b == "?"


class Frame(NamedTuple):
    """What a number of threads settles."""

    struct: Any
    units: int  # of work
    grain: int
    nbytes: int  # of workspace for each thread


class IntegerMatmul:
    """``C <- alpha A B + beta C`` for stacks of matrices of one form. Call it with A, B and C, or
    `gemm` with all five.
    """

    __slots__ = ("a", "b", "batch", "c", "frames", "integer", "options", "sizes", "swapped")

    def __init__(self, sizes: tuple[int, int, int], a: MatrixOperand, b: MatrixOperand,
                 c: MatrixOperand, batch: Ints, **options: int) -> None:
        m, n, _ = sizes
        self.swapped = n <= 4 and n < m  # rather few rows than few columns: tiles are wide
        if self.swapped:
            sizes, a, b, c = (n, m, sizes[2]), b.turned, a.turned, c.turned
        self.sizes, self.a, self.b, self.c, self.batch = sizes, a, b, c, batch
        self.integer = c.char not in HALVES and c.char != "f"
        self.options = options
        self.frames: dict[int, Frame] = {}

    def __call__(self, a: Any, b: Any, c: Any) -> None:
        self._run(a, b, c, (1, 0, 1.0, 0.0))

    def gemm(self, alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
        """The same with factors."""
        if self.integer:
            self._run(a, b, c, (signed(alpha), signed(beta), 0.0, 0.0))
        else:
            self._run(a, b, c, (0, 0, float(alpha), float(beta)))

    def kernel(self, factors: bool) -> Callable[..., None]:
        """What does it, with or without factors: where that is little work, a `CpuKernel` kernel,
        which is called faster.
        """
        if not factors or self.c.char not in "lLqQ":  # a Prepared gets factors as doubles
            frame = self._frame(1, int(factors))
            if frame.nbytes <= lib.MAT_TILED_STACK and self._work() < SHARE * max(1, frame.units):
                return CpuKernel(lib.mat_tiled_small, frame.struct, frame.units, frame.grain)
        return self.gemm if factors else self

    def _work(self) -> int:
        """How many multiplications there are."""
        return prod(self.sizes) * prod(self.batch)

    def _run(self, a: Any, b: Any, c: Any, factors: tuple[int, int, float, float]) -> None:
        one, other, out = (ffi.cast("char *", x.pointer) for x in (a, b, c))
        n = threads()
        frame = self.frames.get(n)
        if frame is None:
            frame = self.frames[n] = self._frame(n, 0)
        struct, _, _, nbytes = frame

        def work(start: int, stop: int) -> None:
            memory = _take(nbytes)
            lib.mat_tiled_run(struct, one, other, out, *factors, memory[1], start, stop)
            _IDLE.append(memory)

        run(work, frame.units, frame.grain)

    def _frame(self, n: int, factors: int) -> Frame:
        """The frame for `n` threads."""
        (m, columns, k), batches = self.sizes, prod(self.batch)
        struct = ffi.new("mat_tiled *", {
            "m": m, "n": columns, "k": k, "a_row": self.a.row, "a_col": self.a.column,
            "b_row": self.b.row,
            "b_col": self.b.column, "c_row": self.c.row, "c_col": self.c.column, "batches": batches,
            "batch": self.batch,
            "a_batch": self.a.batch, "b_batch": self.b.batch, "c_batch": self.c.batch,
            "batch_rank": len(self.batch),
            "a_type": TYPES[self.a.char], "b_type": TYPES[self.b.char],
            "c_type": TYPES[self.c.char],
            "swapped": self.swapped, "factors": factors})
        struct.units_m, struct.units_n = cut(m, columns, k, batches, n)
        for name, value in self.options.items():
            if name != "level":
                setattr(struct, name, value)
        nbytes = lib.mat_tiled_setup(struct, self.options.get("level", 99))
        each = m * columns * max(k, 1) // (struct.units_m * struct.units_n)
        units = batches * struct.units_m * struct.units_n if m and columns else 0
        return Frame(struct, units, max(1, SHARE // max(each, 1)), nbytes)


def cut(m: int, n: int, k: int, batches: int, workers: int) -> tuple[int, int]:
    """Into how many parts the rows and the columns of C are cut, so that each of so many threads
    gets a share.

    What a unit multiplies it has packed itself, so units are as large as can be.
    """
    rows, columns = max(1, -(-m // SIDE)), max(1, -(-n // SIDE))
    work = m * n * k * batches
    wanted = min(4 * workers, max(workers, work // LARGE), work // SHARE) if workers > 1 else 1
    while batches * rows * columns < wanted:
        high, wide = m // rows, n // columns
        if max(high, wide) < 2 * LEAST_SIDE:
            break
        if high >= wide:
            rows *= 2
        else:
            columns *= 2
    return rows, columns


@lru_cache(1024)
def prepare_product(m: int, n: int, k: int, a: MatrixOperand, b: MatrixOperand, c: MatrixOperand,
                    batch: Ints = ()) -> IntegerMatmul:
    """The product m x n of operands that lie so, along leading axes of these lengths; the inner
    axis is k long.
    """
    m, a, b, c, batch = folded(m, a, b, c, batch)
    return IntegerMatmul((m, n, k), a, b, c, batch)


def folded(m: int, a: MatrixOperand, b: MatrixOperand, c: MatrixOperand,
           batch: Ints) -> tuple[int, MatrixOperand, MatrixOperand, MatrixOperand, Ints]:
    """The same products with as few leading axes as there can be: none of length 1, and those that
    are rows of A as such.
    """
    kept = [d for d, length in enumerate(batch) if length != 1]
    a, b, c = (x._replace(batch=tuple(x.batch[d] for d in kept)) for x in (a, b, c))
    batch = tuple(batch[d] for d in kept)
    while batch and b.batch[-1] == 0 and a.batch[-1] == m * a.row and c.batch[-1] == m * c.row:
        m *= batch[-1]  # one B for all matrices of a stack of A: their rows are those of one matrix
        a, b, c, batch = (*(x._replace(batch=x.batch[:-1]) for x in (a, b, c)), batch[:-1])
    return m, a, b, c, batch


# Workspaces: one for each thread at work, kept for the next product.

Memory = tuple[Any, Any]  # bytes, and a pointer to the first that is aligned
_IDLE: list[Memory] = []
KEPT = 32


def _take(nbytes: int) -> Memory:
    """A workspace of at least `nbytes`, which belongs to the caller until it is put back; list.pop
    is atomic.
    """
    try:
        memory = _IDLE.pop()
    except IndexError:
        memory = _new(nbytes)
    if memory[0].nbytes < nbytes + 64:
        memory = _new(nbytes)
    return memory


def _new(nbytes: int) -> Memory:
    del _IDLE[KEPT:]
    block = np.empty(nbytes + 64, np.uint8)
    address = block.ctypes.data
    return block, ffi.cast("char *", address + -address % 64)


