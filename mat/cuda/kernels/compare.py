"""Comparisons of whole operands on the device: however large they are, a word for each block is
copied to the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from struct import pack, unpack

import numpy as np

from ...core.recorder import refuse_if_recorded
from ...layout.merged_axes import ReductionAxis, form_of
from ...support.dtypes import BY_CHAR, DISTINCT, INEXACT
from ...support.types import Array, Operand, Presented
from ..runtime.blocks import At
from ..runtime.gpu import Gpu, check, driver
from ..runtime.kernel import CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import EXACT, Program
from .reduce import axes_frame

EQUAL, NEAR = DISTINCT, INEXACT  # the dtypes of which there are kernels
BLOCKS = 1024  # at most: each reads on


@cache
def program(letter: str, test: str) -> Program:
    """Return the kernel for elements of a dtype; integers are compared as bits."""
    item = BY_CHAR[letter].cuda if letter in INEXACT else f"mat_u{8 * BY_CHAR[letter].size}"
    return Program(f'#include "compare.cuh"\nMAT_DIFFER(differ_{test}, {item}, mat_{test})\n',
                   (EXACT,))


def programs() -> Iterator[Program]:
    """Return all programs."""
    found = [program(letter, "equal") for letter in EQUAL] + [program(letter, "near")
                                                              for letter in NEAR]
    return iter(dict.fromkeys(found))


def prepare_comparison(test: str, a: Operand, b: Operand, rtol: float = 0, atol: float = 0,
                       equal_nan: bool = False) -> Callable[..., bool]:
    """Return ``call(a, b, ...)``: whether all elements are `test`, equal or near."""
    steps = zip(a.shape, a.element_strides, b.element_strides, strict=True)
    every = [ReductionAxis(*axis) for axis in steps]
    form = form_of(every, [], ordered=False)
    flat = all((axis.x, axis.y) == (1, 1) for axis in form.kept) and len(form.kept) < 2
    blocks = min(BLOCKS, blocks_for(a.size, 4))
    tolerances = unpack("qq", pack("dd", rtol, atol))
    frame = (a.size, form.start_x, form.start_y, flat, bool(equal_nan), *tolerances,
             *axes_frame(form.kept))
    return finding_nothing(in_blocks(program(a.dtype.char, test), f"differ_{test}", frame, blocks),
                           2)


def finding_nothing(launch: CudaKernel, operands: int) -> Callable[..., bool]:
    """Return a function of so many operands: whether no block of a kernel reports a find."""
    launch.bind(range(operands + 1), ())
    blocks = launch.grid[0]

    def finds_nothing(*values: Presented) -> bool:
        if not blocks:
            return True
        found, gpu = np.empty(blocks, np.int32), values[0].gpu
        with gpu.room(found.nbytes) as address:
            launch(*values[:operands], At(gpu, address))
            _read_flags(gpu, found, address)
        return not found.any()
    return finds_nothing


def _read_flags(gpu: Gpu, found: Array, address: int) -> None:
    """Copy the flags at `address` to the host, and wait for them."""
    refuse_if_recorded(f"{found.nbytes} bytes are copied to the host, which decides by them")
    with gpu.current():
        check(driver.cuMemcpyDtoHAsync(found.ctypes.data, address, found.nbytes, gpu.stream),
              "reading what was found")
        check(driver.cuStreamSynchronize(gpu.stream), "waiting for a comparison")
