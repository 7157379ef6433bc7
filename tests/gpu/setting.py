"""Where things are measured: the device, the libraries to compare with, and how large things
are.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .item import Thunk


class Setting:
    """A device in use; `small` takes sizes that do for seeing that everything runs."""

    def __init__(self, device: Any, small: bool, alone: bool) -> None:
        self.device = device
        self.gpu = device.gpu
        self.small = small
        self.alone = alone  # nobody to compare with

    def size(self, large: int, little: int) -> int:
        return little if self.small else large

    @property
    def torch(self) -> Any:
        """PyTorch, if it can use this device."""
        return None if self.alone else _torch()

    @property
    def cupy(self) -> Any:
        """CuPy, if it can."""
        return None if self.alone else _cupy()

    def copying(self, nbytes: int) -> Thunk:
        """What copies on the device, moving so many bytes: half of them are read, half are
        written.
        """
        return _Copying(self.device, max(nbytes // 2, 1))


class _Copying:
    """Copies one block to another."""

    def __init__(self, device: Any, size: int) -> None:
        self.memory, self.size, self.stream = device.memory, size, device.gpu.stream
        self.blocks = [device.memory.take(size) for _ in range(2)]
        self.copy = importlib.import_module("cuda.bindings.driver").cuMemcpyDtoDAsync

    def __call__(self) -> None:
        self.copy(self.blocks[0].address, self.blocks[1].address, self.size, self.stream)

    def __del__(self) -> None:
        for block in self.blocks:
            self.memory.free(block)


@cache
def _torch() -> Any:
    try:
        torch = importlib.import_module("torch")
        if torch.cuda.is_available():
            torch.backends.cuda.matmul.allow_tf32 = False
            return torch
    except Exception as error:
        print(f"torch cannot be compared with: {error}")
    return None


@cache
def _cupy() -> Any:
    try:
        cupy = importlib.import_module("cupy")
        cupy.zeros(1)
        return cupy
    except Exception:
        return None


def peers(**found: Callable[[], Thunk] | None) -> dict[str, Thunk]:
    """Those that are there, made now."""
    names = {"copy": "device copy", "cupy": "CuPy", "cublas": "cuBLAS"}
    return {names.get(name, name): make() for name, make in found.items() if make is not None}


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def random(n: int, dtype: Any, seed: int = 0) -> np.ndarray:
    """Numbers of a dtype, small integers or in [0, 1)."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = rng.integers(0, 100, n) if dtype.kind in "iu" else rng.random(n, np.float32)
    return values.astype(dtype)
