"""The library that BLAS's routines are taken from, if it is not SciPy's.

The variable MAT_BLAS in the environment names it: "scipy", "mkl", "blis", or the path of a library
whose routines have Fortran's names (``dgemm_``) and integers of 32 bits. Without it an installed
MKL is chosen on processors of Intel, and SciPy's library elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import SettingError

VARIABLE = "MAT_BLAS"
FILES = {  # as packages for Python, conda and systems name them
    "mkl": ("libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so",
            "mkl_rt.3.dll", "mkl_rt.2.dll", "libmkl_rt.2.dylib"),
    "blis": ("libblis-mt.so.5", "libblis.so.5", "libblis-mt.so.4", "libblis.so.4", "libblis.so",
             "libblis.dylib")}


class ChosenLibrary(NamedTuple):
    """A loaded library, and the name or path it was loaded by."""

    path: str
    handle: ctypes.CDLL


def chosen_address(name: str) -> int:
    """Return the address of the routine of that name in the library that is chosen; 0 if none is,
    or that has no such routine.
    """
    library = chosen_library()
    found = getattr(library.handle, f"{name}_", None) if library is not None else None
    return 0 if found is None else ctypes.cast(found, ctypes.c_void_p).value or 0


@cache
def chosen_library() -> ChosenLibrary | None:
    """Return the library, loaded on demand; None for SciPy's.

    Raises
    ------
    SettingError
        If MAT_BLAS names one that cannot be loaded.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted == "scipy" or (not wanted and not _is_intel()):
        return None
    for path in _paths(wanted or "mkl"):
        with suppress(OSError):
            return ChosenLibrary(path, ctypes.CDLL(path))
    if not wanted:
        return None
    raise SettingError(f"{VARIABLE}={wanted!r} names no library that can be loaded; it is 'scipy', "
                       f"{', '.join(map(repr, FILES))}, or the path of a library with dgemm_")


def _paths(wanted: str) -> list[str]:
    """Return candidate paths of the library: files of packages in this environment, then of the
    system.
    """
    if wanted not in FILES:
        return [wanted]
    folders = [Path(sys.prefix) / part for part in ("lib", "Library/bin")]
    return [str(folder / file) for file in FILES[wanted] for folder in folders
            if (folder / file).is_file()] + list(FILES[wanted])


def _is_intel() -> bool:
    """Return whether Intel has made the processor, as far as the system says."""
    if "GenuineIntel" in os.environ.get("PROCESSOR_IDENTIFIER", ""):
        return True
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
