"""Names that are close to one that does not exist, for the messages of errors."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Never, Self

_NONE: Mapping[str, str] = {}
_ON_DEVICES = "in `with mat.use_device(\"cuda\"):` operations compute there and copy what they need"
_ON_HOST = "with x.facet('array') as a: gives the host's array; copies are made when needed"
_ARRAY = "x.to_numpy() copies to an array, numpy.asarray(x) shares the memory"
_EAGER = "mat.fused() makes one pass of many operations, mat.kernel compiles C"
_NO_DERIVATIVES = "mat has no derivatives; torch.from_dlpack(x) shares the memory with torch"
# attributes of arrays of other libraries, and what there is here
OF_ARRAYS: Mapping[str, str] = {
    "to": f"x.astype(dtype) converts; {_ON_DEVICES}", "cuda": _ON_DEVICES, "gpu": _ON_DEVICES,
    "cpu": _ON_HOST, "get": _ARRAY, "numpy": _ARRAY, "asnumpy": _ARRAY, "as_numpy": _ARRAY,
    "backward": _NO_DERIVATIVES, "grad": _NO_DERIVATIVES, "requires_grad": _NO_DERIVATIVES,
    "detach": _NO_DERIVATIVES, "unsqueeze": "x.expand_dims(axis)", "numel": "x.size",
    "dim": "x.ndim", "contiguous_": "x.contiguous()", "clone": "x.copy()",
    "compute": "a Mat has its elements", "evaluate": "a Mat has its elements",
    "block_until_ready": "a Mat has its elements",
    "at": "x[index] += value, or mat.add.at(x, index, value)",
}
# their functions, too
INSTEAD: Mapping[str, str] = {
    **OF_ARRAYS,
    "device_put": _ON_DEVICES, "device_get": _ARRAY, "tensor": "mat.array(data) makes a Mat",
    "as_tensor": "mat.asarray(data) shares memory where it can",
    "from_numpy_array": "mat.from_numpy(a) shares the memory",
    "jit": _EAGER, "compile": _EAGER, "fuse": _EAGER, "vmap": "operations broadcast over axes",
    "pmap": "operations broadcast over axes", "RawKernel": "mat.kernel compiles C and CUDA",
    "ElementwiseKernel": "mat.kernel compiles C and CUDA", "no_grad": _NO_DERIVATIVES,
    "value_and_grad": _NO_DERIVATIVES, "manual_seed": "mat.seed(n)",
    "cuda_is_available": "mat.cuda_available()",
}


def close_names(name: object, names: Iterable[str], most: int = 3) -> list[str]:
    """Return those of `names` that are spelt like `name`, the closest first."""
    if not isinstance(name, str):
        return []
    # those that are worth a comparison: `hasattr` asks for many names in vain
    folded = {known.casefold(): known for known in names if abs(len(name) - len(known)) <= 3 and (
        name[:1].casefold() == known[:1].casefold() or name[-2:] == known[-2:])}
    # only an error takes the time to import it
    matches = importlib.import_module("difflib").get_close_matches(name.casefold(), folded, most)
    return [folded[n] for n in matches]


def did_you_mean(name: object, names: Iterable[str], others: Mapping[str, str] = _NONE) -> str:
    """Return " (did you mean 'this'?)", of `names` or values of `others`; "" if none is near."""
    found = [others[name]] if isinstance(name, str) and name in others else []
    found = found or close_names(name, names, 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def no_attribute(owner: object, words: str, name: str, names: Iterable[str]) -> AttributeError:
    """Return the error for an attribute that `owner`, called so in `words`, does not have."""
    found = [] if name.startswith("_") else close_names(name, names)
    close = f"; close names: {', '.join(found)}" if found else ""
    if name in INSTEAD:
        close = f"; instead: {INSTEAD[name]}"
    return AttributeError(f"{words} has no attribute {name!r}{close}", name=name, obj=owner)


class OfOthers:
    """An attribute of other libraries' arrays, whose error names the replacement."""

    def __init__(self, owner: type, name: str) -> None:
        self.name: str = name
        self.words: str = (f"{owner.__name__!r} object has no attribute {name!r}; instead: "
                           f"{INSTEAD[name]}")

    def __get__(self, instance: object, owner: type) -> Self:
        if instance is None:
            return self  # as a property does
        raise AttributeError(self.words, name=self.name, obj=instance)


def name_ways(kind: type) -> None:
    """Let errors of a class name the replacements of attributes, without ``__getattr__``."""
    for name in OF_ARRAYS:
        setattr(kind, name, OfOthers(kind, name))


def name_what_is_close(module: str) -> None:
    """Suggest close names for those that a module lacks, unseen by type checkers."""
    found = sys.modules[module]
    store = vars(found)

    def missing(name: str) -> Never:
        names = store.get("__all__") or [n for n in store if not n.startswith("_")]
        raise no_attribute(found, f"module '{module}'", name, names)

    store["__getattr__"] = missing
