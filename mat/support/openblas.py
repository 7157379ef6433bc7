"""The OpenBLAS in SciPy's wheels, opened directly: ``import scipy.linalg`` takes longer than most
programs' calls of BLAS.

Where SciPy brings no such file, as from conda or a Linux distribution, there is none.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from importlib.util import find_spec


def routine_address(name: str) -> int:
    """Return the address of the routine of that name with 32-bit integers, or 0."""
    library = _library()
    found = getattr(library, f"scipy_{name}_", None) if library is not None else None
    return 0 if found is None else ctypes.cast(found, ctypes.c_void_p).value or 0


@cache
def _library() -> ctypes.CDLL | None:
    """Return the library; if SciPy is imported, too, the system gives it the same one."""
    for path in _paths():
        with suppress(OSError):
            return ctypes.CDLL(path)
    return None


def _paths() -> list[str]:
    """Return files that may be the library, where wheels have them: on Linux and Windows in a
    folder beside the package, on macOS in one inside of it.
    """
    package = find_spec("scipy")  # which imports nothing
    found = []
    for folder in (package and package.submodule_search_locations) or ():
        for libraries in (f"{folder}.libs", os.path.join(folder, ".dylibs")):
            with suppress(OSError):
                found += [os.path.join(libraries, file) for file in sorted(os.listdir(libraries))
                          if file.startswith("libscipy_openblas")]
    return found
