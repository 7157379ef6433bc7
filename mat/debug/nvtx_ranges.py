"""NVTX ranges of operations and copies, for NVIDIA's profilers; they need package nvtx."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import Any

from ..core.observers import Observation, Observer, observe_always
from ..core.registry import CubeLike, Memory
from ..errors import SettingError
from ..support.plugins import library

_DOMAIN, _OPERATION, _COPY = "mat", "green", "orange"


class NvtxRanges(Observer):
    """The observer that begins and ends ranges in the domain ``mat``.

    An operation is a range of its thread. A copy is a range of the process, as it may end in
    another one.
    """

    def __init__(self, nvtx: Any) -> None:
        self.nvtx: Any = nvtx
        self.local: threading.local = threading.local()  # .copies: those that this thread began

    def computing(self, operation: str, memory: str) -> None:
        self.nvtx.push_range(f"{operation} on {memory}", color=_OPERATION, domain=_DOMAIN)

    def ended(self, operation: str, memory: str) -> None:
        self.nvtx.pop_range(domain=_DOMAIN)

    def copying(self, cube: CubeLike, source: Memory, target: Memory) -> None:
        text = f"copy from {source.name} to {target.name}, {cube.nbytes:,} bytes"
        self._copies().append(self.nvtx.start_range(text, color=_COPY, domain=_DOMAIN))

    def copied(self, cube: CubeLike, source: Memory, target: Memory, seconds: float) -> None:
        copies = self._copies()
        while copies:  # those before the last one have failed
            self.nvtx.end_range(copies.pop())

    def _copies(self) -> list[Any]:
        return vars(self.local).setdefault("copies", [])


def _ranges() -> NvtxRanges:
    nvtx = library("nvtx")
    if nvtx is None:
        raise SettingError("NVTX ranges need the package nvtx, which is not installed: "
                           "pip install nvtx")
    return NvtxRanges(nvtx)


def nvtx_ranges() -> AbstractContextManager[Observer]:
    """Mark operations and copies, in every thread, for NVIDIA's profilers during a block.

    With ``MAT_DEBUG=nvtx`` in the environment this lasts as long as the process.

    Returns
    -------
    context manager
        Its block is run with ranges in the domain ``mat``: ``matmul on cuda:0`` for an operation,
        and for a copy its memories and bytes.

    Raises
    ------
    SettingError
        When the block begins, if the package nvtx is not installed.

    Notes
    -----
    The ranges have the time that the host takes: a GPU may still compute after it.
    """
    return Observation(_ranges)


if "nvtx" in os.environ.get("MAT_DEBUG", "").split(","):
    observe_always(_ranges())
