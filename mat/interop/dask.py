"""dask's requirements on a chunk besides NumPy's functions: a name for its contents, its size in
bytes, dask's tables of functions for a class, and Mats as results where there is no table.

dask is not imported here. Its tables are filled when it is, or now, if it is there already. Its
functions are replaced only by `enable`.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from ..matrix.arrays import asarray
from ..matrix.creation import empty
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..memories.host import HOST
from ..support.plugins import after_import, plugin
from .dask_transport import deserialized, deserialized_on_gpu, serialized, serialized_on_gpu
from .pickling import elements_of

# Functions of dask.array that are replaced, since dask has no table of functions for their chunks:
# their tasks call SciPy by name, or fill records and grids of indices, and make arrays of NumPy's
# of any chunks. If an operand has Mats as chunks, a layer of tasks makes Mats of the results


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


@functools.cache
def enable() -> None:
    """Replace the functions in `REPLACED`, now or when dask is imported; again, do nothing."""
    for name in REPLACED:
        after_import(name, replace_functions)


def replace_functions(module: ModuleType) -> None:
    """Replace functions of a module of dask that it has, also in modules that import them."""
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


# The tables


@method("__dask_tokenize__")
def _tokenize(self: Mat) -> tuple[str, object]:
    """Return a token for ``dask.tokenize``, without moving data.

    It is equal for Mats of equal shape, dtype and elements, in whatever memory these are.
    """
    with elements_of(self) as a:
        token = importlib.import_module("dask.base").normalize_token(a)
    return "mat.Mat", token


@method("__sizeof__")
def _sizeof(self: Mat) -> int:
    """Return the bytes of host memory that the visible elements take.

    This is for ``sys.getsizeof``, by which dask decides when to spill: copies on devices do not
    count, and neither do elements that have no memory yet.
    """
    here = HOST in self.storage.handles
    return object.__sizeof__(self) + (self.nbytes if here else 0)


def _percentile(x: Mat, q: object, method: str = "linear") -> object:
    """Return dask's percentile of a chunk, by its function for arrays."""
    return importlib.import_module("dask.array.percentile")._percentile(x, q, method)


def _numel(x: Mat, **settings: object) -> object:
    """Return the number of elements as a Mat on its device, where they are several numbers."""
    return importlib.import_module("dask.array.backends")._numel_arraylike(x, **settings)


def _joined(arrays: list[Mat], axis: int = 0) -> object:
    """Return chunks joined along an axis; a single one, the most frequent case, is itself."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)


def _register_functions(dispatch: ModuleType) -> None:
    dispatch.concatenate_lookup.register(Mat, _joined)
    dispatch.numel_lookup.register(Mat, _numel)
    dispatch.to_numpy_dispatch.register(Mat, lambda x, **_: x.to_numpy())
    dispatch.percentile_lookup.register(Mat, _percentile)


def _register_transport(serialize: ModuleType) -> None:
    serialize.dask_serialize.register(Mat, serialized)
    serialize.dask_deserialize.register(Mat, deserialized)


def _register_gpu_transport(cuda: ModuleType) -> None:
    cuda.cuda_serialize.register(Mat, serialized_on_gpu)
    cuda.cuda_deserialize.register(Mat, deserialized_on_gpu)


def register() -> None:
    """Fill dask's tables, now or when dask is imported."""
    after_import("dask.array.dispatch", _register_functions)
    after_import("dask.array.chunk_types", lambda types: types.register_chunk_type(Mat))
    after_import("dask.array.backends", lambda _: plugin("dask_backend"))  # it registers itself
    after_import("distributed.protocol.serialize", _register_transport)
    after_import("distributed.protocol.cuda", _register_gpu_transport)
