"""The compiled kernels, if they could be built: `lib` has the functions, `ffi` their types.

Without them `lib` and `core` are None, all modules are Python's, and NumPy computes. In the
environment, ``MAT_NATIVE=0`` disables them, and with ``MAT_NATIVE=required`` their absence is an
error. `mat` imports this module before all others, since it chooses what they are loaded from.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings

from .compiled_modules import CORE, FREE_THREADED, fault, use_sources
from .installation import check_package
from .log import note
from .types import CData

# in a checkout the sources of the build are there
HELP = ("A Python with the GIL has them" if FREE_THREADED else
        "Install a C compiler and then mat again of its sources to have them (`pip install "
        "--force-reinstall --no-deps --no-binary facetmat facetmat`); in a checkout, `python "
        "mat/native/build.py` compiles them")
PARALLEL = ("Python runs without the GIL, which protects a Mat that several threads use: use each "
            "Mat and its views in one thread at a time, or set PYTHON_GIL=1 in the environment")


def _load() -> tuple[CData, CData, CData, str]:
    """Return the library, its types, the module ``mat._core``, and the reason if there are none."""
    reason = fault()
    try:
        if reason:
            raise ImportError(reason)
        found, compiled_core = map(importlib.import_module, ("mat._native", CORE))
    except ImportError as error:
        _do_without(str(error))
        return None, importlib.import_module("cffi").FFI(), None, str(error)
    return found.lib, found.ffi, compiled_core, ""


def _do_without(reason: str) -> None:
    """Import Python files only from now on, with a warning unless that is wanted."""
    wanted = os.environ.get("MAT_NATIVE")
    if wanted == "required":
        raise ImportError(f"MAT_NATIVE is required, but mat has no compiled modules: {reason}; "
                          f"{HELP}")
    use_sources(reason)
    note(f"no compiled kernels: {reason}")
    if wanted != "0":
        warnings.warn(f"mat computes without its compiled kernels, on NumPy, slower ({reason}). "
                      f"{HELP}; MAT_NATIVE=0 in the environment silences this", RuntimeWarning,
                      stacklevel=3)


check_package()
lib: CData
ffi: CData
core: CData
missing: str
lib, ffi, core, missing = _load()
if not getattr(sys, "_is_gil_enabled", lambda: True)():
    warnings.warn(PARALLEL, RuntimeWarning, stacklevel=2)


def compiled(dtypes: str) -> str:
    """Return the dtype characters of a compiled implementation: none if nothing is compiled."""
    return dtypes if lib is not None else ""
