"""The elements of a storage that a layout sees, as runs of adjacent ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .strided import Layout

Array = np.ndarray[Any, np.dtype[np.int64]]


def element_runs(layout: Layout, most: int) -> list[int] | Array:
    """Return where runs of adjacent visible elements begin and end in the storage, in turns.

    Of more than `most` runs, only the bounds of all are returned.
    """
    low, high = layout.bounds
    if layout.contiguous or low == high:
        return [low, high] if low < high else []
    axes = sorted((abs(s), n) for n, s in zip(layout.shape, layout.strides, strict=True)
                  if n > 1 and s)
    length, count = 1, 1  # of a run, and how many there are
    while axes and axes[0][0] <= length:
        step, n = axes.pop(0)
        length += step * (n - 1)
    for _, n in axes:
        count *= n
    if count > most:
        return [low, high]
    starts = np.array([low])
    for step, n in reversed(axes):
        starts = np.add.outer(starts, np.arange(0, step * n, step)).ravel()
    return _joined(np.sort(starts, kind="stable"), length)


def _joined(starts: Array, length: int) -> Array:
    """Return the edges of runs of one length, with touching runs joined."""
    apart = starts[1:] > starts[:-1] + length
    first, last = np.append(True, apart), np.append(apart, True)
    return np.stack((starts[first], starts[last] + length), axis=1).ravel()
