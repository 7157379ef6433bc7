"""Functions of dask.array that are replaced, since dask has no table of functions for their chunks.

Their tasks call SciPy by name (linear algebra), or fill records and grids of indices (`unique`,
`argwhere`), and so make arrays of NumPy's of any chunks. If an operand has Mats as chunks, the new
functions add a layer of tasks that makes Mats of the results; else they return what dask returns.

dask is not imported here.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..matrix.arrays import asarray
from ..matrix.creation import empty
from ..matrix.mat import Mat

Function = Callable[..., Any]

# The functions that are replaced, by the module that defines them
REPLACED = {
    "dask.array.linalg": ("cholesky", "inv", "lstsq", "lu", "solve", "solve_triangular"),
    "dask.array.routines": ("argwhere", "flatnonzero", "histogramdd", "nonzero", "unique"),
}


class _State(threading.local):
    """The present action of this thread."""

    inside: bool = False  # one of these functions, which call each other, is being called
    arrays: bool = False  # new arrays have arrays of NumPy's as chunks, whatever the backend is


_STATE = _State()


@contextmanager
def _being(flag: str) -> Iterator[None]:
    setattr(_STATE, flag, True)
    try:
        yield
    finally:
        setattr(_STATE, flag, False)


def makes_arrays() -> bool:
    """Return whether the backend "mat" has to make arrays of NumPy's in this thread."""
    return _STATE.arrays


def replace_functions(module: ModuleType) -> None:
    """Replace the functions of a module of dask, and in other modules that have them already.

    dask need not have all of them.
    """
    for name in REPLACED[module.__name__]:
        function = vars(module).get(name)
        if function is not None:
            _replace(function, _with_mats(_of_records(function) if name == "unique" else function))


def _replace(function: Function, new: Function) -> None:
    """Replace `function` by `new` wherever dask.array has it, under any name."""
    for path, module in list(sys.modules.items()):
        if path.startswith("dask.array") and isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                if value is function:
                    setattr(module, name, new)


def _of_records(function: Function) -> Function:
    """Return `function`, whose tasks reduce arrays into parts of records, with NumPy arrays made
    for that, whatever the backend is: records of NumPy are no Mats, the operands of Mats'
    reductions.
    """

    @functools.wraps(function)
    def call(*operands: object, **settings: object) -> object:
        with _being("arrays"):
            return function(*operands, **settings)

    return call


def _with_mats(function: Function) -> Function:
    """Return `function` with results of Mats if an operand has Mats as chunks."""

    @functools.wraps(function)
    def call(*operands: object, **settings: object) -> object:
        if _STATE.inside or not any(map(_has_mats, (*operands, *settings.values()))):
            return function(*operands, **settings)
        with _being("inside"):
            found = function(*operands, **settings)
        return _of_mats(found)

    return call


def _has_mats(operand: Any) -> bool:
    """Return whether an operand, or one of a sequence of arrays, is a Mat or has them as chunks."""
    if isinstance(operand, list | tuple):
        arrays = len(operand) > 0 and hasattr(operand[0], "dtype")
        return arrays and any(map(_has_mats, operand))
    return isinstance(getattr(operand, "_meta", operand), Mat)


def _of_mats(found: Any) -> object:
    """Return a result with its arrays of dask's made to have Mats as chunks."""
    if isinstance(found, list | tuple):
        make: Function = getattr(found, "_make", type(found))  # of a named tuple
        return make(map(_of_mats, found))
    return with_mats_as_chunks(found) if hasattr(found, "map_blocks") else found


def with_mats_as_chunks(x: Any, **settings: object) -> Any:
    """Return an array of dask's with the same elements and chunks as Mats.

    A chunk that is a Mat already costs nothing. Arrays of dask's do not know in all cases what
    their chunks are.
    """
    return x.map_blocks(asarray, meta=empty((0,) * x.ndim, dtype=x.dtype), **settings)
