"""Which elements of a storage a layout sees, as runs of adjacent ones."""

from __future__ import annotations

from .strided import Layout


def element_runs(layout: Layout, most: int) -> list[int]:
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
    starts = [low]
    for step, n in reversed(axes):
        starts = [start + k * step for start in starts for k in range(n)]
    return _joined(sorted(starts), length)


def _joined(starts: list[int], length: int) -> list[int]:
    """Return the edges of runs of one length, of which those that touch are one."""
    edges = [starts[0], starts[0] + length]
    for start in starts:
        if start <= edges[-1]:
            edges[-1] = max(edges[-1], start + length)
        else:
            edges += (start, start + length)
    return edges
