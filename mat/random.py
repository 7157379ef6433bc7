"""NumPy's random numbers, `numpy.random`, as Mats from the streams of `mat`.

`default_rng` makes a generator; the functions draw from the stream that `mat.seed` restarts.

>>> import mat
>>> mat.random.default_rng(1).normal(100, 5, 2)
<Mat 2 F [97.93051093 98.76333205]>
"""

from __future__ import annotations

from typing import Any

from numpy import random as _numpys
from numpy.random import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
    SeedSequence,
)

from .matrix.generator import Rng, generator
from .numpy.random import Generator, RandomState, default_rng
from .numpy.random import drawn as _drawn
from .support.close_names import name_what_is_close as _name_what_is_close
from .support.types import Operand, ShapeLike

__all__ = [
    "MT19937", "PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "Generator", "Philox", "RandomState",
    "SeedSequence", "default_rng", "get_bit_generator", "ranf", "sample", "set_bit_generator",
]

_state: Any = RandomState(generator(None))
# the methods of that class which are functions of NumPy's module, too, draw from this stream here;
# `seed` is replaced below
_functions = {name: getattr(_state, name) for name in dir(RandomState)
              if not name.startswith("_") and hasattr(_numpys, name)}
globals().update(_functions)
__all__ += _functions


# Functions, not methods of a stream, in NumPy, too


@_drawn
def ranf(size: ShapeLike | None = None) -> Operand:
    return _state.random_sample(size)


@_drawn
def sample(size: ShapeLike | None = None) -> Operand:
    return _state.random_sample(size)


def seed(seed: object = None) -> None:
    """Restart the stream that the functions of this module draw from.

    Parameters
    ----------
    seed : int, sequence of int, BitGenerator or mat.Rng, optional
        As for `default_rng`.

    Examples
    --------
    >>> import mat
    >>> mat.random.seed(1)
    >>> x = mat.random.rand(2)
    >>> mat.random.seed(1)
    >>> mat.random.rand(2).equals(x)
    True
    """
    _state.seed(seed)


def get_bit_generator() -> Rng:
    """Return the stream that the functions of this module draw from.

    Returns
    -------
    mat.Rng
        The stream that `mat.seed` restarts.
    """
    return generator(None)


def set_bit_generator(bitgen: object) -> None:
    """Restart the stream that the functions of this module draw from.

    Parameters
    ----------
    bitgen : BitGenerator, mat.Rng or int
        As for `seed`.
    """
    _state.seed(bitgen)


def __dir__() -> list[str]:
    return __all__


_name_what_is_close(__name__)
