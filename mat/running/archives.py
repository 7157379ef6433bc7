"""``np.load``: NumPy's, with Mats for the arrays in a file that can be Mats."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from ..matrix.delegate import delegate
from ..support.types import Operand


class StoredArrays(NpzFile):
    """The arrays of an .npz file, read when they are asked for."""

    def __init__(self, numpys: NpzFile) -> None:
        self.__dict__.update(vars(numpys))
        numpys.fid = numpys.zip = None  # which self closes

    def __getitem__(self, key: str) -> Any:
        return delegate(super().__getitem__, (key,))


@functools.wraps(np.load)
def load(*args: Operand, **kwargs: Operand) -> Operand:
    found: Any = delegate(np.load, args, kwargs)
    if type(found) is NpzFile:
        found = StoredArrays(found)
    return found
