"""What libraries need that look at the class of an array: einops, numba, torch's collation of
batches, pandas, PIL and JAX.

None of them is imported here: adapters are made when the library is imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..core.compiled import BLOCKS
from ..matrix.creation import from_numpy
from ..matrix.exports import exported_array
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..support.after_import import after_import
from ..support.dtypes import EXTENSIONS
from ..support.types import Keywords, Operand


@method("__jax_array__")
def _jax_array(self: Mat) -> Operand:
    """Return the elements as an array of JAX, for its functions."""
    return sys.modules["jax"].numpy.asarray(exported_array(self))


def _array_interface(self: Mat) -> Keywords:
    """Return shape, strides and type of the elements, whose memory the buffer protocol gives.

    Reading this moves nothing. `AttributeError` for elements that NumPy has no type for, and where
    Mats have no buffer: before Python 3.12, if nothing is compiled.
    """
    if self.dtype.char in EXTENSIONS or not (BLOCKS.enabled or sys.version_info >= (3, 12)):
        raise AttributeError(f"__array_interface__: {self.label()} has no buffer for {self.dtype}; "
                             "numpy.asarray(x) has")
    layout = self.layout
    strides = None if layout.contiguous else self.strides
    return {"shape": layout.shape, "typestr": self.dtype.str, "strides": strides, "version": 3,
            "data": self}


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
    """Have compiled functions take a Mat as the read-only array of its export."""
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


after_import("einops._backends", _adapt_einops)
after_import("torch.utils.data._utils.collate", _adapt_torch)
after_import("numba.extending", _adapt_numba)
