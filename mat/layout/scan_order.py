"""The order in which running sums and products of floating-point numbers are computed.

Up to `CHUNK` elements of a line are combined one after another, as NumPy does. Longer lines have
chunks of so many, and these have pieces of `PIECE`: elements are combined one after another within
a piece, the result before the piece with these, and the result before the chunk with those. The
length alone decides, so that the bits are the same on every device, for any number of threads.
"""

from __future__ import annotations

from typing import Any

PIECE, CHUNK = 32, 4096  # as in native/cpu/scan.c and native/cuda/scan.cuh


def is_in_order(name: str, dtype: Any, length: int) -> bool:
    """Return whether a line of results of a dtype has pieces and chunks."""
    return length > CHUNK and name in ("cumsum", "cumprod") and dtype.kind not in "iu"
