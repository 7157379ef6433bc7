"""The BLAS library: its routines by name, and arguments for it by address.

The variable MAT_BLAS in the environment names it: "scipy", "mkl", "blis", or the path of a library
whose routines have Fortran's names (``dgemm_``) and integers of 32 bits. Without it an installed
MKL is chosen on processors of Intel, and SciPy's library elsewhere.

It is loaded at the first call; SciPy is imported only where its library cannot be opened alone.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..errors import SettingError
from .dtypes import BLAS_TYPES, BY_CHAR, COMPLEX_TYPES, REAL_TYPES
from .native import ffi
from .types import CData, Number

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


@cache
def chosen_library() -> ChosenLibrary | None:
    """Return the library that MAT_BLAS or the processor chooses, loaded; None for SciPy's."""
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
    """Return candidate paths of the library: of packages here, then of the system."""
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


LIMIT = 2**31 - 1  # SciPy's BLAS counts with 32 bits; NumPy takes longer vectors
PREFIX = {char: BY_CHAR[char].blas for char in BLAS_TYPES}
REAL = {char: BY_CHAR[char].real for char in BLAS_TYPES}
# scnrm2, dzasum
_MIXED = {char: PREFIX[char.lower()] + PREFIX[char] for char in COMPLEX_TYPES}
_COMPLEX_DOTS = {PREFIX[char] + dot for char in COMPLEX_TYPES for dot in ("dotu", "dotc")}


def address(name: str) -> int:
    """Return the address of the routine `name` in the library that is chosen, or in SciPy's where
    that has none.

    How those that return complex numbers do so depends on the compiler: SciPy's do as C does.
    """
    if name in _COMPLEX_DOTS:
        return _address_in_scipy(name)
    chosen = chosen_library()
    return (_address_in(chosen and chosen.handle, f"{name}_") or routine_address(name)
            or _address_in_scipy(name))


def _address_in(library: ctypes.CDLL | None, name: str) -> int:
    found = getattr(library, name, None)
    return 0 if found is None else ctypes.cast(found, ctypes.c_void_p).value or 0


def _address_in_scipy(name: str) -> int:
    capsule = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__[name]
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object,
                                    ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    return int(get_pointer(capsule, get_name(capsule)) or 0)


def routine_address(name: str) -> int:
    """Return the address of the routine of that name with 32-bit integers, or 0."""
    return _address_in(_openblas(), f"scipy_{name}_")


@cache
def _openblas() -> ctypes.CDLL | None:
    """Return the OpenBLAS in SciPy's wheels, opened directly, since ``import scipy.linalg`` takes
    longer than most programs' calls of BLAS; if SciPy is imported, too, the system gives it the
    same one. None where SciPy brings no such file, as from conda or a Linux distribution.
    """
    for path in _openblas_files():
        with suppress(OSError):
            return ctypes.CDLL(path)
    return None


def _openblas_files() -> list[str]:
    """Return candidate files: beside the package, or on macOS in a folder inside it."""
    package = find_spec("scipy")  # which imports nothing
    found = []
    for folder in (package and package.submodule_search_locations) or ():
        for libraries in (f"{folder}.libs", os.path.join(folder, ".dylibs")):
            with suppress(OSError):
                found += [os.path.join(libraries, file) for file in sorted(os.listdir(libraries))
                          if file.startswith("libscipy_openblas")]
    return found


def routine_name(verb: str, letter: str) -> str:
    """Return BLAS's name of `verb` for a dtype character: ``daxpy``, ``zdotu``, ``scnrm2``."""
    if verb in ("nrm2", "asum"):
        return _MIXED.get(letter, PREFIX[letter]) + verb
    if verb == "iamax":
        return f"i{PREFIX[letter]}amax"
    if letter in "FD":
        verb = {"dot": "dotu", "vdot": "dotc", "ger": "geru"}.get(verb, verb)
    return PREFIX[letter] + ("dot" if verb == "vdot" else verb)


class BlasRoutine(dict[str, CData]):
    """The four routines of one verb by dtype character, each loaded when first called."""

    def __init__(self, verb: str, arguments: str, returns: str = "void") -> None:
        self.verb: str = verb
        self.arguments: str = arguments
        self.returns: str = returns

    def __missing__(self, letter: str) -> CData:
        kinds = {"i": "int *", "p": "void *", "c": "char *"}
        signature = f"{self.returns}(*)({', '.join(kinds[a] for a in self.arguments)})"
        self[letter] = ffi.cast(signature, address(routine_name(self.verb, letter)))
        return self[letter]


class Constants(dict[Number, CData]):
    """C copies of small Python values by address, shared by threads: none is written."""

    def __init__(self, ctype: str) -> None:
        self.ctype = ctype

    def __missing__(self, value: Number) -> CData:
        if len(self) > 4096:
            self.clear()
        self[value] = pointer = ffi.new(self.ctype, value)
        return pointer


INTS = Constants("int *")
FLAGS = {flag: ffi.new("char *", flag.encode()) for flag in "NTCLRU"}
REALS = {char: Constants(f"{REAL[char]} *") for char in REAL_TYPES}
COMPLEX = {char: f"{REAL[char]}[2]" for char in COMPLEX_TYPES}


def scalar(letter: str, value: Number) -> CData:
    """Return a C pointer to `value` as an element; -0.0 is another than 0.0."""
    if letter in COMPLEX:
        value = complex(value)
        return ffi.new(COMPLEX[letter], (value.real, value.imag))
    if not value and math.copysign(1.0, value) < 0:
        return ffi.new(REALS[letter].ctype, value)
    return REALS[letter][value]
