"""Views of a part of a Mat along one axis."""

from __future__ import annotations

from ...matrix.mat import Mat


def along(x: Mat, axis: int, part: slice) -> Mat:
    """Return the view of a part of one axis, relative to its first index."""
    return x.over(x.layout[(*(slice(None),) * axis, part)])
