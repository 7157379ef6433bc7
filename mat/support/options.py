"""The settings in force: permanent ones, and those of blocks in the current context."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Literal, TypeAlias

import numpy as np

from .dtypes import FLOATING
from .open_blocks import Nested, still_open
from .types import DType, Keywords

FLOAT32: DType = np.dtype(np.float32)
FLOAT64: DType = np.dtype(np.float64)
ONLY_MATS: list[bool] = []  # empty until `scalars` is first set to False
REDUCED: list[bool] = []  # empty until `float32_products` is first set to another than "ieee"
Torn: TypeAlias = Literal["raise", "warn", "ignore"]
Products: TypeAlias = Literal["ieee", "tf32", "bfloat16"]


class Options:
    """One state of all settings. It does not change."""

    # the parameters are the settings
    def __init__(self, dtype: DType = FLOAT64, print_contents: bool = True,
                 print_facets: bool = True, device_enabled: bool = True, torn: Torn = "raise",
                 page_locked: bool = False, page_locked_bytes: int = 1 << 30,
                 threads: int | None = None, host_pool_bytes: int | None = None,
                 spill_dir: str | None = None, spill_above: int | None = None,
                 progress: Callable[[int, int], object] | bool | None = None,
                 scalars: bool = True, float32_products: Products = "ieee",
                 fused: bool = False) -> None:
        self.dtype: DType = dtype
        self.print_contents: bool = print_contents
        self.print_facets: bool = print_facets
        self.device_enabled: bool = device_enabled
        self.torn: Torn = torn
        self.page_locked: bool = page_locked  # if there is CUDA
        self.page_locked_bytes: int = page_locked_bytes  # cached for the next use
        self.threads: int | None = threads  # None: as `thread_pool` says
        # kept for the next use; None: small against what is in use
        self.host_pool_bytes: int | None = host_pool_bytes
        # where files are that the host's copies of more bytes are; None: that of the system, and
        # no files
        self.spill_dir: str | None = spill_dir
        self.spill_above: int | None = spill_above
        # called with bytes done and bytes in all by operations in tiles; True: a bar
        self.progress: Callable[[int, int], object] | bool | None = progress
        self.scalars: bool = scalars  # whether elements are NumPy's scalars, not Mats
        if not scalars and not ONLY_MATS:
            ONLY_MATS.append(True)
        self.float32_products: Products = float32_products  # what devices may compute them in
        if float32_products != "ieee" and not REDUCED:
            REDUCED.append(True)
        self.fused: bool = fused  # whether every thread is in a block of `mat.fused`

    def values(self) -> Keywords:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in NAMES}

    def replaced(self, changes: Keywords) -> Options:
        """Return these settings with `changes`."""
        return Options(**(self.values() | changes))

    def __repr__(self) -> str:
        return f"mat.settings({', '.join(f'{k}={v!r}' for k, v in self.values().items())})"


NAMES = ("dtype", "print_contents", "print_facets", "device_enabled", "torn", "page_locked",
         "page_locked_bytes", "threads", "host_pool_bytes", "spill_dir", "spill_above", "progress",
         "scalars", "float32_products", "fused")


class Changed(Nested):
    """The settings inside of a block."""

    def __init__(self, options: Options) -> None:
        global _blocks_began
        _blocks_began = True
        self.options: Options = options
        self.thread: int = threading.get_ident()  # that began the block


CONTEXT: ContextVar[Changed | None] = ContextVar("mat_settings", default=None)
_permanent = Options()  # replaced by `set_permanent`
_blocks_began = False  # until the first one, no context needs to be asked


def set_permanent(options: Options) -> None:
    """Apply these settings outside of blocks, in every thread."""
    global _permanent
    _permanent = options


def permanent() -> Options:
    """Return the settings in force outside of blocks."""
    return _permanent


def current() -> Options:
    """Return the settings of this context."""
    if not _blocks_began:
        return _permanent
    changed = CONTEXT.get()
    if changed is None:
        return _permanent
    if changed.ended:
        changed = still_open(changed)
    return _permanent if changed is None else changed.options


def float32_products() -> Products:
    """Return the precision that devices may use for products of float32."""
    return current().float32_products if REDUCED else "ieee"


def default_float() -> DType:
    """Return the default dtype of floating-point numbers: the setting, if it is such a dtype."""
    own = current().dtype
    return own if own.char in FLOATING else FLOAT64
