"""The compiled kernels, if they could be built: `lib` holds them, `ffi` their types. Without them
`lib` is None, and NumPy does their work. ``MAT_NATIVE=0`` in the environment does without them on
purpose; with ``MAT_NATIVE=required`` their absence is an error.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

from cffi import FFI

_PACKAGE = __name__.partition(".")[0]


def _way_out() -> str:
    """Return the command that builds the kernels of this installation."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checkout = os.path.exists(os.path.join(root, "pyproject.toml"))
    return f"run pip install -e . in {root}" if checkout else "install mat again"


def _load() -> tuple[Any, Any, Any, str]:
    """The library, its types, what speaks Python's C interface, and why there is none if there is
    none.
    """
    if os.environ.get("MAT_NATIVE") == "0":
        return None, FFI(), None, "MAT_NATIVE is 0"
    try:
        found, calls = (importlib.import_module(f"{_PACKAGE}.{name}")
                        for name in ("_native", "_core"))
    except ImportError as error:
        if os.environ.get("MAT_NATIVE") == "required":
            raise
        warnings.warn(f"mat computes without its compiled kernels, on NumPy, slower ({error}). "
                      f"Install a C compiler, then {_way_out()}; MAT_NATIVE=0 in the environment "
                      "silences this", RuntimeWarning, stacklevel=2)
        return None, FFI(), None, str(error)
    return found.lib, found.ffi, calls, ""


lib, ffi, core, missing = _load()


def compiled(dtypes: str) -> str:
    """The dtype characters that a compiled body is for: none of them where nothing is compiled."""
    return dtypes if lib is not None else ""
