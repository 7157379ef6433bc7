"""dask's requirements on a chunk besides NumPy's functions: a name for its contents, its size in
bytes, dask's tables of functions for a class, and Mats as results where there is no table.

dask is not imported here. Its tables are filled when it is, or now, if it is there already.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np

from ..matrix.mat import Mat
from ..matrix.methods import method
from ..memories.host import HOST
from ..support.after_import import after_import
from ..support.plugins import plugin
from ..support.types import Array
from .dask_gpu_transport import deserialized_on_gpu, serialized_on_gpu
from .dask_results import REPLACED, replace_functions
from .dask_transport import deserialized, serialized
from .pickling import elements_of


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


def _to_numpy(x: Mat, **_: object) -> Array:
    return x.to_numpy()


def _percentile(x: Mat, q: object, method: str = "linear") -> object:
    """Return dask's percentile of a chunk, by its function for arrays."""
    return importlib.import_module("dask.array.percentile")._percentile(x, q, method)


def _numel(x: Mat, **settings: object) -> object:
    """Return the number of elements as a Mat, where they are several numbers: on a device, they are
    made there.
    """
    return importlib.import_module("dask.array.backends")._numel_arraylike(x, **settings)


def _joined(arrays: list[Mat], axis: int = 0) -> object:
    """Return chunks joined along an axis; a single one is itself, since no chunk is changed.

    dask joins a grid of chunks by one axis after the other, of which most have one chunk only.
    """
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)


def _register_functions(dispatch: ModuleType) -> None:
    dispatch.concatenate_lookup.register(Mat, _joined)
    dispatch.numel_lookup.register(Mat, _numel)
    dispatch.to_numpy_dispatch.register(Mat, _to_numpy)
    dispatch.percentile_lookup.register(Mat, _percentile)


def _register_chunk_type(chunk_types: ModuleType) -> None:
    chunk_types.register_chunk_type(Mat)


def _register_backend(_: ModuleType) -> None:
    plugin("dask_backend")  # which registers itself


def _register_transport(serialize: ModuleType) -> None:
    serialize.dask_serialize.register(Mat, serialized)
    serialize.dask_deserialize.register(Mat, deserialized)


def _register_gpu_transport(cuda: ModuleType) -> None:
    cuda.cuda_serialize.register(Mat, serialized_on_gpu)
    cuda.cuda_deserialize.register(Mat, deserialized_on_gpu)


def register() -> None:
    """Fill dask's tables, and replace functions, now or when dask is imported."""
    after_import("dask.array.dispatch", _register_functions)
    after_import("dask.array.chunk_types", _register_chunk_type)
    after_import("dask.array.backends", _register_backend)
    for name in REPLACED:
        after_import(name, replace_functions)
    after_import("distributed.protocol.serialize", _register_transport)
    after_import("distributed.protocol.cuda", _register_gpu_transport)
