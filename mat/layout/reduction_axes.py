"""The axes of a reduction, in the loop order of every engine's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from .merged_axes import merged


class ReductionAxis(NamedTuple):
    """An axis of a reduction: its length, and its strides in the operand x and the result y."""

    n: int
    x: int
    y: int

    @property
    def order(self) -> float:
        """Return the sort key: axes that broadcast x first, then large strides."""
        return -self.x if self.x else -inf


class ReductionForm(NamedTuple):
    """Axes that are kept and those that are reduced, outermost first, and where x and y start."""

    kept: list[ReductionAxis]
    reduced: list[ReductionAxis]
    start_x: int
    start_y: int


def form_of(kept: Sequence[ReductionAxis], reduced: Sequence[ReductionAxis],
            ordered: bool) -> ReductionForm:
    """Return the fewest axes for a loop, with all strides of x upwards.

    If the result depends on the order of what is reduced (`ordered`), reduced axes keep theirs.
    """
    kept, start_x, start_y = _upwards(kept)
    if not ordered:
        reduced, more, _ = _upwards(reduced)
        start_x += more
        reduced = sorted(reduced, key=lambda a: a.order)
    return ReductionForm(_merged(sorted(kept, key=lambda a: a.order)), _merged(reduced), start_x,
                         start_y)


def _upwards(axes: Sequence[ReductionAxis]) -> tuple[list[ReductionAxis], int, int]:
    found, start_x, start_y = [], 0, 0
    for axis in axes:
        n, x, y = axis
        if x < 0:
            start_x += (n - 1) * x
            start_y += (n - 1) * y
            axis = ReductionAxis(n, -x, -y)
        found.append(axis)
    return found, start_x, start_y


def _merged(axes: Sequence[ReductionAxis]) -> list[ReductionAxis]:
    return list(map(ReductionAxis._make, merged(axes)))
