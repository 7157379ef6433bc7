"""Products that cuBLAS lacks, by the kernel of ``native/cuda/integer_matmul.cuh``.

Products over an empty axis are scaled here, too. It knows sizes, steps and dtype characters, as
``cpu/integer_matmul.py`` does for the CPU's kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

import numpy as np

from ...cpu.integer_matmul import NARROW, NUMBERED, TYPES, takes
from ...layout.matrix_operand import MatmulForm, MatrixOperand
from ...layout.shapes import Ints, signed
from ...support.dtypes import BLAS_TYPES, BY_CHAR
from ...support.types import Function, Number, Presented
from ..runtime.kernel import CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import Program

MOST_AXES = 8  # leading axes that a frame has room for
SMALL, LARGE = 64, 128  # sides of the tiles of C that a block makes
BUSY = 256  # so many large tiles give each processor of a large device something to do
# how long a part of a long inner axis is at least, and of what its length is a multiple
PART, STEP = 256, 16
BYTES = [t.size for t in NUMBERED]
# by type
FLOATS = {TYPES[char]: BY_CHAR[char].cuda for char in NARROW + "f"}
# by type, and bytes of the result: frequent ones
WIDENED = {(1, 4): "mat_i8", (2, 4): "mat_u8", (3, 4): "mat_i16"}
ANY = "whichever"
# dtype characters of sums that scales multiply: of integers, of long inner axes, and of floats
SUMMED = (np.dtype(np.int32).char, np.dtype(np.int64).char, "f")


def _types(a: int, b: int, c: int) -> tuple[str, str, str]:
    """Return the types of the sums, of the operands and of the result in the kernel.

    Rare types are read by code that chooses as it runs. A sign matters only where an integer
    becomes a wider one.
    """
    if c in FLOATS:
        return "mat_f32", FLOATS[a], FLOATS[c]
    if c == 0:
        return "mat_u32", "mat_b1", "mat_b1"
    total, result = "mat_u64" if BYTES[c] == 8 else "mat_u32", f"mat_u{8 * BYTES[c]}"
    if a == b and a and BYTES[a] == BYTES[c]:
        return total, result, result
    if a == b and (a, BYTES[c]) in WIDENED:
        return total, WIDENED[a, BYTES[c]], result
    return total, ANY, total if total == "mat_u64" else ANY


@lru_cache(256)
def _program(types: tuple[str, str, str], groups: int) -> Program:
    total, source, result = types
    return Program(f'#include "integer_matmul.cuh"\nMAT_INTEGER_MATMUL({total}, {source}, '
                   f'{source}, {result}, {groups})\n')


def _groups(types: tuple[str, str, str], m: int, n: int, batches: int) -> int:
    """Return 2 for large tiles, 1 for small: large 64-bit ones need too many registers."""
    tiles = -(-m // LARGE) * -(-n // LARGE) * batches
    return 2 if types[1] != ANY and types[0] != "mat_u64" and tiles >= BUSY else 1


def _splits(blocks: int, k: int) -> tuple[int, int]:
    """Return the number and length of the parts of the inner axis on a large device."""
    if not blocks or blocks >= BUSY // 2 or k < 2 * PART:
        return 1, max(k, 1)
    wanted = min(-(-BUSY // blocks), k // PART)
    depth = -(-k // wanted // STEP) * STEP
    return -(-k // depth), depth


class DeviceMatmul:
    """``C <- alpha A B + beta C`` for stacks of matrices of one form."""

    def __init__(self, form: MatmulForm) -> None:
        self.form = form
        self.types: tuple[int, int, int] = (
            TYPES[form.a.char], TYPES[form.b.char], TYPES[form.c.char])
        self.integer: bool = form.c.char not in NARROW and form.c.char != "f"

    def kernel(self, factors: bool) -> Function:
        """Return the function of a, b and c, or with `factors`, of those of `gemm`."""
        if not factors:
            return self._kernel(0, 0, 0).bind((0, 1, 2), ())
        if not self.integer:
            return self._kernel(1, 0, 0).bind((1, 2, 4), (0, 3))
        # factors have up to 64 bits, more than the numbers of a call: they are part of the frame
        made = lru_cache(64)(lambda alpha, beta: self._kernel(2, alpha, beta).bind((1, 2, 4), ()))

        def gemm(alpha: Number, a: Presented, b: Presented, beta: Number, c: Presented) -> None:
            made(signed(alpha), signed(beta))(alpha, a, b, beta, c)
        return gemm

    def _kernel(self, factors: int, alpha: int, beta: int) -> CudaKernel:
        (m, n, k), a, b, c, batch = self.form
        batches, types = prod(batch), _types(*self.types)
        groups = _groups(types, m, n, batches)
        side = SMALL * groups
        across, down = -(-n // side), -(-m // side)
        blocks, each = across * down * batches, m * n * batches
        splits, depth = _splits(blocks, k)
        padding = (0,) * (MOST_AXES - len(batch))
        frame = [m, n, k, a.row, a.column, b.row, b.column, c.row, c.column, *self.types,
                 max(across, 1), max(across * down, 1), factors, alpha, beta,
                 splits, depth, each, len(batch), *batch, *padding]
        for x in (a, b, c):
            frame += [*x.batch, *padding]
        program = _program(types, groups)
        if splits == 1:
            return in_blocks(program, "mat_integer_matmul", frame, blocks)
        adding = in_blocks(program, "mat_integer_matmul_sum", frame, blocks_for(each))
        room = splits * each * (8 if types[0] == "mat_u64" else 4)
        return in_blocks(program, "mat_integer_matmul", frame, blocks * splits, room=room,
                         then=adding)


def prepare_integer_matmul(form: MatmulForm) -> DeviceMatmul:
    """Prepare a product of stacks of matrices."""
    return DeviceMatmul(form.merged())


SCALE = Program('#include "integer_matmul.cuh"\n'
                + "\n".join(f"MAT_SCALE({BY_CHAR[char].suffix})" for char in BLAS_TYPES) + "\n")


def prepare_scale(letter: str, shape: Ints, strides: Ints, *, at: int, number: int,
                  triangle: int = 0) -> CudaKernel:
    """Prepare ``x <- beta x`` for operand `at` and the number `number`, of up to three axes.

    Where the number is 0, nothing is read. With `triangle` -1 only where the last index is not
    above the one before, with 1 not below.
    """
    missing = 3 - len(shape)
    batches, rows, columns = (*(1,) * missing, *shape)
    batch, row, column = (*(0,) * missing, *strides)
    frame = (rows, columns, batches, row, column, batch, triangle, at, number)
    return in_blocks(SCALE, f"mat_scale_{BY_CHAR[letter].suffix}", frame,
                     blocks_for(batches * rows * columns))


SUMS = Program('#include "integer_matmul.cuh"\n'
               + "\n".join(f"MAT_SCALE_SUMS({BY_CHAR[char].suffix})" for char in SUMMED) + "\n")


def prepare_scale_sums(sums: MatmulForm, out: MatrixOperand, a_scales: MatrixOperand,
                       b_scales: MatrixOperand) -> CudaKernel:
    """Prepare ``out <- sums * a_scales * b_scales`` as a function of these, `out` being the last.

    `sums` is the product that makes them. Scales have the step 0 where they do not vary.
    """
    (m, n, _), c, batch = sums.sizes, sums.c, sums.batch
    padding, count = (0,) * (MOST_AXES - len(batch)), m * n * prod(batch)
    frame = [m, n, count, c.row, c.column, out.row, out.column, a_scales.row, b_scales.column,
             len(batch), *batch, *padding]
    for x in (c, out, a_scales, b_scales):
        frame += [*x.batch, *padding]
    return in_blocks(SUMS, f"mat_scale_sums_{BY_CHAR[c.char].suffix}", frame,
                     blocks_for(count)).bind((0, 1, 2, 3), ())


def programs() -> Iterator[Program]:
    """Yield all programs that there are to compile."""
    yield SCALE
    yield SUMS
    numbers = range(len(NUMBERED))
    found = {_types(a, b, c) for a in numbers for b in numbers for c in numbers
             if takes(NUMBERED[a].char, NUMBERED[b].char, NUMBERED[c].char)}
    for types in sorted(found):
        for groups in sorted({1, _groups(types, LARGE * BUSY, 1, 1)}):
            yield _program(types, groups)
