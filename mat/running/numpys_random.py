"""NumPy's own random numbers, for programs that have to draw the same as with NumPy: drawn on the
host, and given as Mats.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..support.types import Arguments, Function, Keywords, Operand

_WRITING = frozenset(("shuffle",))
_NOT_DRAWING = frozenset(("bit_generator", "spawn", "seed", "get_state", "set_state"))


def _drawn(name: str, function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Return what a function draws, arrays as Mats and numbers as they are."""
    written = [x for x in args[:1] if name in _WRITING and isinstance(x, Mat)]
    found = delegate(function, args, kwargs, name=f"random.{name}", written=written)
    return found.to_numpy()[()] if type(found) is Mat and not found.shape else found


def drawing(name: str, numpys: Any) -> Any:
    """Return what stands for an object of `numpy.random`."""
    known = {"Generator": NumpysGenerator, "RandomState": NumpysRandomState,
             "default_rng": default_rng}
    if name in known:
        return known[name]
    if isinstance(numpys, type) or name in _NOT_DRAWING:
        return numpys
    return functools.wraps(numpys)(lambda *args, **kwargs: _drawn(name, numpys, args, kwargs))


def _methods(kind: type) -> dict[str, Function]:
    """Return the methods of a class of generators that draw, for a derived class."""
    return {name: _method(name, getattr(kind, name)) for name in dir(kind)
            if not name.startswith("_") and name not in _NOT_DRAWING}


def _method(name: str, plain: Function) -> Function:
    def method(self: Any, *args: Operand, **kwargs: Operand) -> Operand:
        return _drawn(name, functools.partial(plain, self), args, kwargs)

    return functools.wraps(plain)(method)


NumpysGenerator: Any = type("Generator", (np.random.Generator,), _methods(np.random.Generator))
NumpysRandomState: Any = type("RandomState", (np.random.RandomState,),
                              _methods(np.random.RandomState))


@functools.wraps(np.random.default_rng)
def default_rng(seed: Operand = None) -> Any:
    if isinstance(seed, np.random.Generator):
        return seed
    return NumpysGenerator(np.random.default_rng(seed).bit_generator)
