"""Types of `mat.lib.stride_tricks`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

from collections.abc import Iterable, Sequence
from typing import SupportsIndex


from ..support.types import ArrayLike
from ..matrix.mat import Mat
from ..support.types import ShapeLike
from ..interop.numpy.namespace.objects import as_strided as as_strided

__all__ = [
    "as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view",
]

def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[Mat, ...]:
    """Return what ``numpy.lib.stride_tricks.broadcast_arrays`` returns, with Mats for arrays."""

def broadcast_shapes(*args: ShapeLike) -> tuple[int, ...]:
    """Return what ``numpy.lib.stride_tricks.broadcast_shapes`` returns, with Mats for arrays."""

def broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool = False) -> Mat:
    """Return what ``numpy.lib.stride_tricks.broadcast_to`` returns, with Mats for arrays."""

def sliding_window_view(
    x: ArrayLike,
    window_shape: int | Iterable[int],
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Mat:
    """Return what ``numpy.lib.stride_tricks.sliding_window_view`` returns, with Mats for arrays."""

