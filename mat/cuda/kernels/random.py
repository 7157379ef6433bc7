"""Random numbers on the device: the kernels of ``native/cuda/random.cuh``.

Each thread makes a few blocks of words.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...support.dtypes import BY_CHAR, REAL_TYPES
from ...support.types import Presented
from ..runtime.kernel import CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import EXACT, Program

BLOCKS = 4  # of words, in a thread: RANDOM_BLOCKS
_TYPES = {char: BY_CHAR[char].c for char in REAL_TYPES}
_FILLS = {"uniform": "uniforms", "normal": "normals", "bernoulli": "bernoullis"}


@cache
def program(name: str, letter: str) -> Program:
    """Return the program with the kernel of that name for real elements of a dtype."""
    kind = _TYPES[letter]
    first = "uint32_t" if name == "bernoulli" else kind
    per = 4 if name == "bernoulli" or letter == "f" else 2
    declared = f"MAT_RANDOM(random_{name}_{letter}, {kind}, {per}, {first}, {kind}, {_FILLS[name]})"
    return Program(f'#include "random.cuh"\n{declared}\n', (EXACT,))


def programs() -> Iterator[Program]:
    """Yield all programs that there are."""
    return (program(name, letter) for name in _FILLS for letter in _TYPES)


def prepare_random(name: str, blocks: int, x: Presented) -> CudaKernel:
    """Prepare the kernel `name` for the packed elements of `x`; a complex one is two real ones."""
    letter = x.dtype.char.lower()
    parts = x.size * (2 if x.dtype.kind == "c" else 1)
    return in_blocks(program(name, letter), f"random_{name}_{letter}", (parts,),
                     blocks_for(blocks, BLOCKS))
