"""The kernels of ``native/cuda/conv.cuh``: convolution of images with channels, and derivatives.

Functions get the sizes of a convolution and operands with shape, strides and dtype, all of which
have been checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

from ...layout.sliding_window import ONE, Channels
from ...support.dtypes import BY_CHAR, FLOATING
from ...support.types import Presented
from ..runtime.kernel import THREADS, CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import Program

TILE, TERMS = 64, 16  # of a block, as in the kernels
BLOCKS = 1024  # among which a sum over all points is divided, if there is so much to add up
LEAST = 256  # terms of a piece, at least
PARTIAL = 1 << 26  # bytes of partial sums, about

# the kernels, as templates of the element type
_KERNELS = {
    "conv": "cv_product<T, CV_FORWARD>", "conv_to_x": "cv_product<T, CV_TO_X>",
    "conv_to_w": "cv_product<T, CV_TO_W>", "conv_gather": "cv_gather<T>"}


@cache
def _program(char: str) -> Program:
    lines = ['#include "conv.cuh"', f"typedef {BY_CHAR[char].cuda} T;"]
    lines += [f"MAT_KERNEL({name}_{char}, cv_loop, {THREADS}) {{ {body}(frame, call); }}"
              for name, body in _KERNELS.items()]
    return Program("\n".join(lines) + "\n")


def programs() -> Iterator[Program]:
    """Yield all programs that there are."""
    return map(_program, FLOATING)


class ImplicitProduct:
    """A product of matrices for each group: its sizes, and the strides of the operands."""

    def __init__(self, found: Channels, sizes: tuple[int, int, int], x: Presented, w: Presented,
                 y: Presented) -> None:
        self.m, self.n, self.k = sizes
        self.across, self.down = -(-self.n // TILE), -(-self.m // TILE)
        self.found, self.x, self.w, self.y = found, x, w, y

    @property
    def blocks(self) -> int:
        return self.across * self.down * self.found.groups

    def kernel(self, name: str, pieces: int = 1, each: int | None = None, *, room: int = 0,
               then: CudaKernel | None = None) -> CudaKernel:
        """Return the kernel for sums in so many pieces of `each` terms."""
        char = self.x.dtype.char
        return in_blocks(_program(char), f"{name}_{char}", self.frame(pieces, each or self.k),
                         self.blocks * pieces, room=room, then=then)

    def frame(self, pieces: int, each: int) -> list[int]:
        """Return a ``struct cv_loop``."""
        found, x, w, y = self.found, self.x, self.w, self.y
        frame = [self.m, self.n, self.k, self.across, self.down, pieces, each, found.groups,
                 found.channels, found.outputs,
                 *(s for o in (x, y, w) for s in o.element_strides[:2])]
        idle = 3 - len(found.axes)
        for k, a in enumerate((ONE,) * idle + found.axes):
            frame += [a.n, a.nx, a.k, a.step, a.dilation, a.off]
            frame += [0, 0, 0] if k < idle else [o.element_strides[2 + k - idle] for o in (x, y, w)]
        return frame


def _taps(found: Channels) -> int:
    return prod(a.k for a in found.axes)


def _points(found: Channels) -> int:
    return found.n * prod(a.n for a in found.axes)


def prepare_conv(found: Channels, x: Presented, w: Presented, y: Presented) -> CudaKernel:
    """Prepare ``y = conv(x, w)`` as a kernel of ``(x, w, y)``."""
    sizes = found.outputs, _points(found), found.channels * _taps(found)
    return ImplicitProduct(found, sizes, x, w, y).kernel("conv")


def prepare_conv_to_x(found: Channels, yd: Presented, w: Presented, xd: Presented) -> CudaKernel:
    """Prepare the derivative by x, added to xd, as a kernel of ``(yd, w, xd)``."""
    positions = found.n * prod(a.nx for a in found.axes)
    sizes = found.channels, positions, found.outputs * _taps(found)
    return ImplicitProduct(found, sizes, xd, w, yd).kernel("conv_to_x")


def prepare_conv_to_w(found: Channels, x: Presented, yd: Presented, wd: Presented) -> CudaKernel:
    """Prepare the derivative by w, added to wd, as a kernel of ``(x, yd, wd)``.

    Pieces of the points are summed up each by itself, and then added in their order. The pieces
    depend on the sizes alone, and so does the result.
    """
    sizes = found.outputs, found.channels * _taps(found), _points(found)
    product = ImplicitProduct(found, sizes, x, wd, yd)
    most = max(1, min(product.k // LEAST, BLOCKS // product.blocks, PARTIAL // (8 * wd.size)))
    each = (product.k + most * TERMS - 1) // (most * TERMS) * TERMS
    pieces = -(-product.k // each)
    char = wd.dtype.char
    gather = in_blocks(_program(char), f"conv_gather_{char}", product.frame(pieces, each),
                       blocks_for(wd.size))
    return product.kernel("conv_to_w", pieces, each, room=8 * wd.size * pieces, then=gather)
