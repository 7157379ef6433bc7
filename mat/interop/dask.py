"""What dask requires of a chunk besides NumPy's functions: a name for its contents, and its bytes.
dask is not imported.
"""

from __future__ import annotations

import importlib

from ..matrix.mat import Mat
from ..matrix.methods import method
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
    """Return the bytes of the visible elements, once for each memory with a copy.

    This is for ``sys.getsizeof``, which dask calls before it spills.
    """
    return object.__sizeof__(self) + self.nbytes * len(self.storage.handles)
