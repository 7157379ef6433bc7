"""Where things are measured: the device, the libraries to compare with, and how large things
are.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from .item import Thunk

DRAWN = 1_000_003  # no power of two, so that rows of a matrix differ


class Setting:
    """A device in use; `small` takes sizes that do for seeing that everything runs."""

    def __init__(self, device: Any, small: bool, alone: bool) -> None:
        self.device = device
        self.gpu = device.gpu
        self.small = small
        self.alone = alone  # nobody to compare with
        self.torch: Any = None if alone else _torch()  # if it can use this device
        self.cupy: Any = None if alone else _cupy()

    def size(self, large: int, little: int) -> int:
        return little if self.small else large

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


def peers(**found: Callable[[], Thunk] | Literal[False] | None) -> dict[str, Thunk]:
    """Those that are there, made now; one that cannot be made fails when it is called."""
    names = {"copy": "device copy", "cupy": "CuPy", "cublas": "cuBLAS"}
    return {names.get(name, name): _made(make) for name, make in found.items() if make}


def required(**found: tuple[object, Callable[[], Thunk]]) -> dict[str, Thunk]:
    """Those of `peers` without which a row says nothing, each with what it needs of its library,
    the last word of its name; the row says which of these are not installed.
    """
    return {name.replace("_", " "): _made(make) if library is not None else partial(
        _fail, ModuleNotFoundError(f"{name.split('_')[-1]} is not installed, or has no device"))
        for name, (library, make) in found.items()}


def _made(make: Callable[[], Thunk]) -> Thunk:
    try:
        return make()
    except Exception as error:
        return partial(_fail, error)


def _fail(error: Exception) -> None:
    raise error


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def random(n: int, dtype: Any, seed: int = 0) -> np.ndarray:
    """Numbers of a dtype, small integers or in [0, 1).

    Those beyond a million repeat: to draw as many as a card needs would take longer than measuring.
    """
    rng = np.random.default_rng(seed)
    dtype, few = np.dtype(dtype), min(n, DRAWN)
    values = rng.integers(0, 100, few) if dtype.kind in "iu" else rng.random(few, np.float32)
    return np.resize(values.astype(dtype), n)
