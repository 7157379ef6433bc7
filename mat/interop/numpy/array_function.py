"""NumPy's functions on Mats: ``Mat.__array_function__``.

A function for which there is one of ours runs as that, one that gives a view gives a Mat on the
same storage, and any other is delegated to NumPy; those that write an operand write the Mat.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...ops.operation import named
from .dispatch import delegate
from .implementations import DELEGATED, IMPLEMENTATIONS, numpys
from .views import NAMES, OF_SEVERAL, NoView, viewed

# and whether of several
VIEWS = {f: name in OF_SEVERAL for name in (*NAMES, *OF_SEVERAL) if (f := numpys(name)) is not None}
ASKING = frozenset(map(numpys, ("shape", "ndim", "size", "result_type", "can_cast", "common_type",
                                "iscomplexobj", "isrealobj",
                                "einsum_path")))  # what only looks at shapes and dtypes
# the first operand
WRITING = frozenset(map(numpys,
                        ("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis")))
SAVING = frozenset(map(numpys, ("savez", "savez_compressed")))  # whose keywords are names of arrays
# to inspect, by NumPy before 2.3
_UNTOLD = {"concatenate": ("arrays", "axis", "out"), "dot": ("a", "b", "out")}
_LEAVE = {"overwrite_input": False}  # permissions to use an operand as scratch


# NumPy's protocol
def _array_function(self: Mat, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy calls for one of its functions with a Mat among its operands."""
    implements = IMPLEMENTATIONS.get(func)
    if not all(issubclass(t, Mat) or t.__array_function__ is np.ndarray.__array_function__
               for t in types):
        return NotImplemented
    if implements is not None:
        result = implements(*args, **kwargs)
        if result is not DELEGATED:
            return result
    several = VIEWS.get(func)
    if several is not None:
        try:
            return viewed(func, several, args, kwargs)
        except NoView:
            pass
    if func in ASKING:
        return func(*map(_hollow, args), **{k: _hollow(v) for k, v in kwargs.items()})
    return _delegated(func, args, kwargs)


def _hollow(value: Any) -> Any:
    """An array of a Mat's shape and dtype, without memory for its elements."""
    return np.broadcast_to(np.zeros((), value.dtype),
                           value.shape) if isinstance(value, Mat) else value


def _delegated(func: Any, args: Any, kwargs: Any) -> Any:
    """NumPy does it on the host."""
    if func in SAVING:
        return delegate(lambda file, arrays, more: func(file, *arrays, **more),
                        [args[0], args[1:], kwargs], name=func.__name__)
    names = _positional(func)
    given = dict(zip(names, args, strict=False)) | kwargs
    if "out" in given:
        args, kwargs = _by_name("out", names, args, kwargs)
    for name, value in _LEAVE.items():
        if given.get(name):
            args, kwargs = _by_name(name, names, args, kwargs)
            kwargs[name] = value
    first = args[0] if args else next(iter(kwargs.values()), None)
    in_place = func in WRITING or (func is np.nan_to_num and not given.get("copy", True))
    return delegate(func, args, kwargs,
                    written=(first,) if in_place and isinstance(first, Mat) else ())


def _by_name(name: str, names: tuple[str, ...], args: Any,
             kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The arguments, those from `name` on as keywords."""
    if name not in names[:len(args)]:
        return args, dict(kwargs)
    k = names.index(name)
    return args[:k], {**dict(zip(names[k:], args[k:], strict=False)), **kwargs}


@cache
def _positional(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that can be given by position."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:
        return _UNTOLD.get(func.__name__, ())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return ()
    return tuple(p.name for p in parameters
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


# Mat gets it here, since it stands on operations
bind("__array_function__",
     named(_array_function, "__array_function__", _array_function.__doc__ or ""))
