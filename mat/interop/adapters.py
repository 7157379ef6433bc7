"""Adapters for libraries that check the class of an array: einops, numba, torch's collation of
batches, pandas, PIL and JAX.

None of them is imported here: adapters are made when the library is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.compiled import BLOCKS, give_buffer
from ..facets import array_kept_by
from ..matrix.creation import from_numpy
from ..matrix.exports import Export, exported_array
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..support.dtypes import EXTENSIONS
from ..support.plugins import after_import
from ..support.types import Array, Keywords, Operand


@method("__jax_array__")
def _jax_array(self: Mat) -> Operand:
    """Return the elements as an array of JAX, for its functions."""
    return sys.modules["jax"].numpy.asarray(exported_array(self))


class _Elements:
    """The memory of a Mat that its `__array_interface__` gives.

    It exports the Mat when that memory is asked for, and for as long as it exists: NumPy releases
    the buffer at once, and keeps this object in the array that it makes. As a sequence it is
    NumPy's pair of the first element's address and whether the memory is read-only.
    """

    def __init__(self, x: Mat) -> None:
        self._mat = x
        self._export: Export | None = None

    def __buffer__(self, flags: int) -> memoryview:
        owner, value = self._exported(flags)
        return array_kept_by(owner, value, False).data

    def __iter__(self) -> Iterator[int]:
        self._export, a = self._mat._exported(0)
        address, _ = a.__array_interface__["data"]
        return iter((address, not self._mat.form.writable))

    def __getitem__(self, index: int) -> int:
        return tuple(self)[index]

    def _exported(self, flags: int) -> tuple[Export, Array]:
        """Return an export, and the elements from the first to the last in memory."""
        self._export, a = self._mat._exported(flags)
        if a.size == 0:
            return self._export, np.empty(0, a.dtype)
        ahead = a[tuple(slice(None, None, -1 if step < 0 else 1) for step in a.strides) or ...]
        span = sum(abs(step) * (n - 1) for n, step in zip(a.shape, a.strides, strict=True))
        return self._export, as_strided(ahead, (span // a.itemsize + 1,), (a.itemsize,),
                                        writeable=False)


give_buffer(_Elements)


def _array_interface(self: Mat) -> Keywords:
    """Return shape, strides and type of the elements, and an object with their memory.

    Reading this moves nothing. `AttributeError` for elements that NumPy has no type for, and where
    Mats have no buffer: before Python 3.12, if nothing is compiled.
    """
    if self.dtype.char in EXTENSIONS or not (BLOCKS.enabled or sys.version_info >= (3, 12)):
        raise AttributeError(f"__array_interface__: {self.label()} has no buffer for {self.dtype}; "
                             "numpy.asarray(x) has")
    shape, strides = self.shape, self.strides
    first = sum(-step * (n - 1) for n, step in zip(shape, strides, strict=True) if step < 0)
    return {"shape": shape, "typestr": self.dtype.str, "version": 3, "data": _Elements(self),
            "strides": None if self.layout.contiguous else strides,
            "offset": first if self.size else 0}


bind("__array_interface__", property(_array_interface))


def _adapt_einops(backends: ModuleType) -> None:
    numpys: Any = backends.NumpyBackend

    facts = {"framework_name": "mat", "is_appropriate_type": lambda _, x: isinstance(x, Mat),
             "from_numpy": lambda _, x: from_numpy(x), "to_numpy": lambda _, x: x.to_numpy()}
    vars(backends)["MatBackend"] = type("MatBackend", (numpys,), facts)  # einops finds subclasses


def _adapt_torch(collate: ModuleType) -> None:
    """Collate Mats as arrays are; elements of a data set are often rows of one."""
    known = collate.default_collate_fn_map
    by_array = next(f for kind, f in known.items() if getattr(kind, "__name__", "") == "ndarray")

    def collate_mats(batch: list[Mat], *, collate_fn_map: object = None) -> Operand:
        return by_array([x.to_numpy() for x in batch], collate_fn_map=collate_fn_map)

    known[Mat] = collate_mats


def _adapt_numba(extending: ModuleType) -> None:
    """Let compiled functions take a Mat as the read-only array of its export."""
    types: Any = sys.modules["numba.core.types"]
    support: Any = sys.modules["numba.np.numpy_support"]

    array: Any = type("MatArray", (types.Array,), {})

    def type_of(x: Mat, _: object) -> object:
        layout = "C" if x.is_contiguous else "A"
        return array(support.from_dtype(x.dtype), x.ndim, layout, readonly=True)

    def unbox(kind: Any, value: object, c: Any) -> object:
        exported = c.pyapi.call_method(value, "__array__")
        with c.builder.if_then(c.pyapi.c_api_error(), likely=False):
            c.builder.ret(c.pyapi.get_null_object())
        plain = types.Array(kind.dtype, kind.ndim, kind.layout, readonly=True)
        native = c.unbox(plain, exported)
        c.pyapi.decref(exported)
        return native

    extending.typeof_impl.register(Mat)(type_of)
    extending.register_model(array)(extending.models.ArrayModel)
    extending.unbox(array)(unbox)


def _adapt_pandas(grouper: ModuleType) -> None:
    """Group by the elements of a Mat as by those of an array."""
    plain: Any = grouper._convert_grouper

    def convert(axis: Any, keys: Any) -> Operand:
        return plain(axis, keys.to_numpy() if isinstance(keys, Mat) else keys)

    vars(grouper)["_convert_grouper"] = convert


after_import("pandas.core.groupby.grouper", _adapt_pandas)
after_import("einops._backends", _adapt_einops)
after_import("torch.utils.data._utils.collate", _adapt_torch)
after_import("numba.extending", _adapt_numba)
