"""What dask asks of a chunk beside NumPy's functions: a name for its contents, and its bytes. dask
is not imported.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..matrix.mat import Mat
from ..matrix.methods import method
from .pickling import seen


@method("__dask_tokenize__")
def _tokenize(self: Mat) -> Any:
    """For ``dask.tokenize``: equal for Mats of equal shape, dtype and elements, wherever these are;
    nothing is moved.
    """
    with seen(self) as a:
        token = importlib.import_module("dask.base").normalize_token(a)
    return "mat.Mat", token


@method("__sizeof__")
def _sizeof(self: Mat) -> int:
    """For ``sys.getsizeof``, which dask asks before it spills: the visible elements, once for each
    memory with a copy.
    """
    return object.__sizeof__(self) + self.nbytes * len(self.storage.handles)
