"""Products of matrices of integers and of floats of 8 and 16 bits by the tiled kernel, shared among
threads.

It knows sizes, steps and dtype characters. ``docs/matmul.md`` says how the kernel works.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

from ..layout.matrix_operand import GemmSizes, MatmulForm
from ..layout.shapes import signed
from ..support.dtypes import BOOL, BY_CHAR, ELEMENT_TYPES, FLOAT8, HALVES, INTEGERS
from ..support.host_pool import workspace
from ..support.native import ffi, lib
from ..support.types import CData, Function, Number, Presented
from .kernel import CpuKernel
from .thread_pool import run, threads

WHOLE, NARROW = BOOL + INTEGERS, HALVES + FLOAT8
CHARS = WHOLE + NARROW + "f"
# as integer_matmul_machine_inline.h numbers them: integers by size, narrow floats, float32
NUMBERED = (*sorted((t for t in ELEMENT_TYPES if t.kind in "biu"), key=lambda t: (t.size, t.kind)),
            *(BY_CHAR[char] for char in NARROW + "f"))
TYPES = {char: k for k, t in enumerate(NUMBERED) for char in t.chars}
MOST_AXES = 16  # leading axes that a frame has room for
SIDE = 1024  # rows and columns of C that a unit of work has at most
LEAST_SIDE = 64  # not less than this, where it is cut for more threads
SHARE = 1 << 20  # multiplications that a thread must at least get: some 20 us
# where units have more, they are cut finer, so that no thread waits long for another
LARGE = 1 << 26
ANY_LEVEL = 99  # the best machine code that there is
BFLOAT_LEVEL = 4  # from which on pairs of bfloat16 are multiplied, in which 8-bit floats are exact


def takes(a: str, b: str, c: str) -> bool:
    """Return whether the kernel supports C = A B for operands of these dtype characters.

    Integers of any kinds, of which C gets as many bits as it has; floats of 8 or 16 bits of one
    kind, C like them or float32; booleans.
    """
    if c in NARROW or c == "f":
        return a == b and a in NARROW and c in (a, "f")
    if c == "?":
        return a == b == "?"
    return c in INTEGERS and a in WHOLE and b in WHOLE and not a == b == "?"


@cache
def multiplies_float8() -> bool:
    """Return whether products of 8-bit floats are faster than those of float32."""
    return lib is not None and bool(lib.mat_integer_matmul_level() >= BFLOAT_LEVEL)


class Frame(NamedTuple):
    """The kernel's frame for a number of threads, with the work to do and the memory it needs."""

    struct: CData
    units: int  # of work
    grain: int
    nbytes: int  # of workspace for each thread


class IntegerMatmul:
    """A product ``C <- alpha A B + beta C`` of stacks; call it with A, B, C, or `gemm` with all."""

    def __init__(self, form: MatmulForm, **options: int) -> None:
        (m, n, k), a, b, c, batch = form
        self.swapped: bool = n <= 4 and n < m  # rather few rows than few columns: tiles are wide
        if self.swapped:
            form = MatmulForm(GemmSizes(n, m, k), b.transpose(), a.transpose(), c.transpose(),
                              batch)
        self.form: MatmulForm = form
        self.integer: bool = c.char not in NARROW and c.char != "f"
        self.options: dict[str, int] = options
        self.frames: dict[int, Frame] = {}

    def __call__(self, a: Presented, b: Presented, c: Presented) -> None:
        self._run(a, b, c, (1, 0, 1.0, 0.0))

    def scaled(self, a: Presented, left: Presented, b: Presented, right: Presented,
               c: Presented) -> None:
        """Compute the product of floats that are sums times scales; C is of float32."""
        one, other, out = (ffi.cast("char *", x.pointer) for x in (a, b, c))
        rows, columns = (ffi.cast("float *", x.pointer) for x in (left, right))
        frame = self._shared_frame()
        struct, _, _, nbytes = frame

        def work(start: int, stop: int) -> None:
            lib.mat_integer_matmul_scaled(struct, one, other, out, rows, columns,
                                          workspace(nbytes), start, stop)

        run(work, frame.units, frame.grain)

    def gemm(self, alpha: Number, a: Presented, b: Presented, beta: Number, c: Presented) -> None:
        """Compute the product with factors."""
        if self.integer:
            self._run(a, b, c, (signed(alpha), signed(beta), 0.0, 0.0))
        else:
            self._run(a, b, c, (0, 0, float(alpha), float(beta)))

    def kernel(self, factors: bool) -> Function:
        """Return the computing function; for little work it is a `CpuKernel`, called faster."""
        if not factors or self.form.c.char not in "lLqQ":  # a CpuKernel gets factors as doubles
            frame = self._frame(1, int(factors))
            if (frame.nbytes <= lib.MAT_INTEGER_MATMUL_STACK
                    and prod((*self.form.sizes, *self.form.batch))
                    < SHARE * max(1, frame.units)):
                return CpuKernel(lib.mat_integer_matmul_small, frame.struct, frame.units,
                                 frame.grain)
        return self.gemm if factors else self

    def _run(self, a: Presented, b: Presented, c: Presented,
             factors: tuple[int, int, float, float]) -> None:
        one, other, out = (ffi.cast("char *", x.pointer) for x in (a, b, c))
        frame = self._shared_frame()
        struct, _, _, nbytes = frame

        def work(start: int, stop: int) -> None:
            memory = workspace(nbytes)
            lib.mat_integer_matmul_run(struct, one, other, out, *factors, memory, start, stop)

        run(work, frame.units, frame.grain)

    def _shared_frame(self) -> Frame:
        """Return the frame for as many threads as there are now."""
        n = threads()
        frame = self.frames.get(n)
        if frame is None:
            frame = self.frames[n] = self._frame(n, 0)
        return frame

    def _frame(self, n: int, factors: int) -> Frame:
        (m, columns, k), a, b, c, batch = self.form
        batches = prod(batch)
        struct = ffi.new("mat_integer_matmul *", {
            "m": m, "n": columns, "k": k,
            "a_row": a.row, "a_col": a.column, "b_row": b.row, "b_col": b.column,
            "c_row": c.row, "c_col": c.column,
            "batches": batches, "batch_rank": len(batch), "batch": batch,
            "a_batch": a.batch, "b_batch": b.batch, "c_batch": c.batch,
            "a_type": TYPES[a.char], "b_type": TYPES[b.char], "c_type": TYPES[c.char],
            "swapped": self.swapped, "factors": factors})
        struct.units_m, struct.units_n = cut(self.form.sizes, batches, n)
        for name, value in self.options.items():
            if name != "level":
                setattr(struct, name, value)
        nbytes = lib.mat_integer_matmul_setup(struct, self.options.get("level", ANY_LEVEL))
        each = m * columns * max(k, 1) // (struct.units_m * struct.units_n)
        units = batches * struct.units_m * struct.units_n if m and columns else 0
        return Frame(struct, units, max(1, SHARE // max(each, 1)), nbytes)


def cut(sizes: GemmSizes, batches: int, workers: int) -> tuple[int, int]:
    """Return the parts of the rows and columns of C: large, since each unit packs its operands."""
    m, n, k = sizes
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
def prepare_integer_matmul(form: MatmulForm) -> IntegerMatmul:
    """Prepare a product of stacks of matrices."""
    return IntegerMatmul(form.merged())


def prepare_scaled_matmul(form: MatmulForm, left_step: int, right_step: int) -> Function:
    """Prepare a product with scales, so many elements apart, for its rows and columns."""
    return IntegerMatmul(form, scaled=1, left_step=left_step, right_step=right_step).scaled
