"""The compiled kernels, if they could be built: `lib` has the functions, `ffi` their types.

Without them `lib` is None, and NumPy computes. In the environment, ``MAT_NATIVE=0`` disables them,
and with ``MAT_NATIVE=required`` their absence is an error.
"""

from __future__ import annotations

import importlib
import os
import warnings

from cffi import FFI

from .types import CData

_PACKAGE = __name__.partition(".")[0]


def _load() -> tuple[CData, CData, CData, str]:
    """Return the library, its types, the module ``mat._core``, and the reason if there are none."""
    if os.environ.get("MAT_NATIVE") == "0":
        return None, FFI(), None, "MAT_NATIVE is 0"
    try:
        found, compiled_core = (importlib.import_module(f"{_PACKAGE}.{name}")
                                for name in ("_native", "_core"))
    except ImportError as error:
        if os.environ.get("MAT_NATIVE") == "required":
            raise
        warnings.warn(f"mat computes without its compiled kernels, on NumPy, slower ({error}). "
                      "Install a C compiler and then mat again to have them; MAT_NATIVE=0 in the "
                      "environment silences this", RuntimeWarning, stacklevel=2)
        return None, FFI(), None, str(error)
    return found.lib, found.ffi, compiled_core, ""


lib, ffi, core, missing = _load()


def compiled(dtypes: str) -> str:
    """Return the dtype characters of a compiled implementation: none if nothing is compiled."""
    return dtypes if lib is not None else ""
