"""``mat.show_config()``: versions, compiled kernels, BLAS, threads and devices in use here."""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Literal, overload

import numpy as np
from cffi import __version__ as cffi_version

from ..cpu.program import COMPOSER
from ..cpu.thread_pool import CORES, threads
from ..errors import SettingError
from ..support import formatting
from ..support.blas_library import VARIABLE, chosen_library
from ..support.compiled_modules import build
from ..support.cuda_probe import probe
from ..support.formatting import html_table
from ..support.installation import findings
from ..support.native import ffi, lib, missing
from ..support.plugins import plugin
from ..version import __version__


class Config(Mapping[str, str]):
    """Facts by name, as a mapping that prints as a table."""

    def __init__(self, facts: dict[str, str]) -> None:
        self._facts = facts

    def __getitem__(self, name: str) -> str:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return formatting.table(list(self._facts.items()))

    def _repr_html_(self) -> str:
        return html_table("mat.show_config()", self._facts.items(), headed=False)


@overload
def show_config(mode: None = None) -> Config: ...
@overload
def show_config(mode: Literal["stdout"]) -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, str]: ...


def show_config(mode: str | None = None) -> Config | dict[str, str] | None:
    """Return facts about the computing environment, for a report of an error.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, optional
        As for NumPy's function: print the facts and return None, or return them as a dict.

    Returns
    -------
    Config
        A mapping that prints as a table: versions; another distribution with a folder `mat` and
        files that are not as installed, if there are any; the compiled kernels with compiler, flags
        and the machine that they were chosen for, and the compiled core with an identifier of the
        build, or why there are none; how many programs of `fused` were compiled; SciPy's BLAS and
        its threads; the threads of `mat`; devices, or why there is no GPU to compute on.

    Raises
    ------
    SettingError
        If there is no such `mode`.

    Examples
    --------
    >>> import mat
    >>> mat.show_config()["mat"] == mat.__version__
    True
    """
    if mode not in (None, "stdout", "dicts"):
        raise SettingError(f"mode is 'stdout' or 'dicts', got {mode!r}; without it, the facts are "
                           "returned, and print as a table")
    facts = _facts()
    if mode == "stdout":
        sys.stdout.write(f"{facts!r}\n")
        return None
    return facts if mode is None else dict(facts)


def _facts() -> Config:
    scipy = importlib.import_module("scipy")
    return Config({
        "mat": __version__,
        **findings(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}, "
                  f"{platform.platform()}",
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "cffi": cffi_version,
        **_kernels(),
        **_blas(scipy),
        "threads": f"{threads()} for {CORES} cores",
        **devices(),
    })


def _kernels() -> dict[str, str]:
    if lib is None:
        return {"kernels": f"none, NumPy does their work: {missing}",
                "core": f"not compiled, Python files do its work: {missing}"}
    compiler, flags, machine = (ffi.string(f()).decode()
                                for f in (lib.mat_compiler, lib.mat_flags, lib.mat_machine))
    return {"kernels": f"compiled by {compiler}, running those for {machine}",
            "compiler flags": flags, "core": build(), "fused programs": COMPOSER.state()}


def devices() -> dict[str, str]:
    """Return facts about the GPUs, or why there are none, and the devices that need none."""
    found = probe()
    if not found.devices:
        return {"devices": "emulated", "CUDA": f"none: {found.reason}"}
    facts: dict[str, str] = plugin("gpus").facts()
    return {"devices": ", ".join([f"cuda:{k}" for k in range(found.devices)] + ["emulated"]),
            **facts}


def _blas(scipy: ModuleType) -> dict[str, str]:
    """Return facts about the BLAS; SciPy's own OpenBLAS is asked for its configuration."""
    other = chosen_library()
    if other is not None:
        how = f"by {VARIABLE}" if VARIABLE in os.environ else "since the processor is Intel's"
        return {"BLAS": f"{other.path}, chosen {how}", "BLAS threads": "as that library has them"}
    built = scipy.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    name = f"{built.get('name', 'unknown')} {built.get('version', '')}".strip()
    library = ctypes.CDLL(importlib.import_module("scipy.linalg.cython_blas").__file__)
    try:
        describe, count = library.scipy_openblas_get_config, library.scipy_openblas_get_num_threads
    except AttributeError:
        return {"BLAS": f"{name}, of SciPy", "BLAS threads": "unknown"}
    describe.restype = ctypes.c_char_p
    requested = os.environ.get("OPENBLAS_CORETYPE")
    core = f"; OPENBLAS_CORETYPE is {requested}" if requested else ""
    return {"BLAS": f"{name}, of SciPy: {describe().decode().strip()}{core}",
            "BLAS threads": str(count())}
