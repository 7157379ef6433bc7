"""Products of many small matrices by a compiled kernel, since BLAS takes longer to begin than to
multiply them.
"""

from __future__ import annotations

from math import prod

from ..layout.matrix_operand import GemmForm
from ..layout.shapes import Ints
from ..support.native import ffi, lib
from .kernel import BRIEF, CpuKernel

# the longest sides of such matrices, and the most axes of a stack
SIDE, AXES = (0, 0) if lib is None else (lib.MAT_PRODUCT_SIDE, lib.MAT_PRODUCT_AXES)
LEAST = 8  # matrices; with fewer the call takes longer than BLAS needs to begin
WORK = 1 << 17  # multiplications that a thread should at least get: some 5 us
ROW = 16  # multiplications that take as long as to begin with a matrix


def is_small(letter: str, form: GemmForm, batch: Ints) -> bool:
    """Return whether the kernel multiplies such stacks, and is faster than BLAS."""
    return (letter in "fd" and min(form.sizes) > 0 and max(form.sizes) <= SIDE
            and len(batch) <= AXES and prod(batch) >= LEAST)


def prepare_small(letter: str, form: GemmForm, batch: Ints,
                  steps: tuple[Ints, Ints, Ints]) -> CpuKernel:
    """Prepare ``C <- alpha op(A) op(B) + beta C`` for each matrix of stacks, as a function of
    ``(alpha, a, b, beta, c)``.

    `steps` are those of a, b and c along the axes of `batch`.
    """
    frame = ffi.new("struct mat_small_product *")
    frame.trans = (form.trans_a.encode(), form.trans_b.encode())
    frame.m, frame.n, frame.k = form.sizes
    frame.ld, frame.swap = form.leading, form.swap
    frame.axes, frame.length = len(batch), batch
    for axis, of_all in enumerate(zip(*steps, strict=True)):
        frame.step[axis] = of_all
    grain = max(1, WORK // (ROW + prod(form.sizes)))
    kernel = lib.mat_small_products_f32 if letter == "f" else lib.mat_small_products_f64
    return CpuKernel(kernel, frame, prod(batch), grain, brief=BRIEF * grain)
