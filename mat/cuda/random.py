"""Random numbers on the device: the kernels of ``native/random.cuh``, a block of words for each thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from .launch import Launch
from .programs import EXACT, Program

THREADS = 256
_TYPES = {"f": "float", "d": "double"}
_FILLS = {"uniform": "uniforms", "normal": "normals", "bernoulli": "bernoullis"}


@cache
def program(letter: str) -> Program:
    """All kernels for real elements of a dtype."""
    kind = _TYPES[letter]
    lines = ['#include "random.cuh"']
    for name, fill in _FILLS.items():
        first = "uint32_t" if name == "bernoulli" else kind
        per = 4 if name == "bernoulli" or letter == "f" else 2
        lines.append(f"MAT_RANDOM(random_{name}_{letter}, {kind}, {per}, {first}, {kind}, {fill})")
    return Program("\n".join(lines) + "\n", (EXACT,))


def programs() -> Iterator[Program]:
    """All that there are."""
    return map(program, _TYPES)


def prepare_random(name: str, blocks: int, x: Any) -> Launch:
    """The kernel `name` for the packed elements of `x`, which take so many blocks; a complex element is two real ones."""
    letter = x.dtype.char.lower()
    parts = x.size * (2 if x.dtype.kind == "c" else 1)
    return Launch(program(letter), f"random_{name}_{letter}", (parts,), (-(-blocks // THREADS), 1, 1), (THREADS, 1, 1))
