"""What computes on operands in a GPU's memory: handed to bodies for the facet ``cuda``, as ``cpu.engine`` to the host's.

Functions are named as those of the host's engine and take the same arguments, where they do the same. None of them checks.
"""

from __future__ import annotations

from .launch import Launch
from .programs import Program
from .random import prepare_random

__all__ = [
    "Launch", "Program",
    "prepare_random",
]
