"""`Window`: the block that gives a Mat another shape and displacement."""

from __future__ import annotations

from types import TracebackType

from ..core.registry import ViewLike
from ..support.types import ShapeLike


class Window:
    """The context manager that `Mat.window` returns."""

    __slots__ = ("before", "displacement", "mat", "shape")

    def __init__(self, mat: ViewLike, shape: ShapeLike | None, displacement: int | None) -> None:
        self.mat: ViewLike = mat
        self.shape: ShapeLike | None = shape
        self.displacement: int | None = displacement
        # what it saw, for each time that the window was entered
        self.before: list[ViewLike] = []

    def __enter__(self) -> ViewLike:
        mat = self.mat
        now = mat._as_now()
        layout = now._packed_at(now.shape if self.shape is None else self.shape, self.displacement)
        mat._see_for_block(layout, now, self.before)
        return mat

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.mat._see_again(self.before)
