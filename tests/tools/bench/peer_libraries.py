"""Libraries that the group `peers` compares with: those of them that are installed, each of which
computes with as many threads as it is told; those of NumPy's and SciPy's BLAS by `threadpoolctl`,
if that is installed.

They are imported when the rows are made, after their variables of the environment are set. MKL's
vector functions are called through `ctypes`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .timing import Thunk

Maker = Callable[[Any], Thunk]
MODULES = {"torch": "torch", "mkl": "", "numexpr": "numexpr", "numba": "numba", "jax": "jax",
           "polars": "polars", "opencv": "cv2", "ducc": "ducc0", "hptt": "hptt"}
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1", "JAX_ENABLE_X64": "1",
              "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
              "JAX_PLATFORMS": "cpu"}
SEQUENTIAL = 1  # a threading layer of MKL


class Mkl:
    """The vector functions of MKL, by the names that NumPy has for them."""

    NAMES: ClassVar = {"tanh": "Tanh", "erf": "Erf", "exp": "Exp", "log": "Ln", "sin": "Sin",
                       "sqrt": "Sqrt", "power": "Pow"}

    def __init__(self) -> None:
        self.library = ctypes.CDLL(str(next(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))))
        self.library.MKL_Set_Threading_Layer(SEQUENTIAL)

    def __call__(self, name: str, *arrays: Any) -> Thunk:
        """Return a call of a function; the last array is the result."""
        letter = "s" if arrays[0].dtype == np.float32 else "d"
        function = getattr(self.library, f"v{letter}{self.NAMES[name]}")
        arguments = [ctypes.c_int(arrays[0].size), *(ctypes.c_void_p(a.ctypes.data)
                                                     for a in arrays)]
        return lambda: function(*arguments)


class Libraries:
    """The libraries that are installed, by the names of the peers; `missing` has the others."""

    def __init__(self, names: tuple[str, ...] = tuple(MODULES)) -> None:
        for variable, value in ONE_THREAD.items():
            os.environ.setdefault(variable, value)
        self.found: dict[str, Any] = {}
        self.missing: list[str] = []
        for name in names:
            try:
                self.found[name] = Mkl() if name == "mkl" else import_module(MODULES[name])
            except (ImportError, OSError, StopIteration):
                self.missing.append(name)

    def thunks(self, **makers: Maker) -> dict[str, Thunk]:
        """Return what those libraries make that are there."""
        return {name: make(self.found[name]) for name, make in makers.items()
                if name in self.found}

    def use_threads(self, count: int) -> None:
        """Have those libraries that can be told so use `count` threads."""
        setters = {"torch": "set_num_threads", "numexpr": "set_num_threads",
                   "opencv": "setNumThreads"}
        for name, setter in setters.items():
            if name in self.found:
                getattr(self.found[name], setter)(count)
        with suppress(ImportError):
            import_module("threadpoolctl").threadpool_limits(count)
