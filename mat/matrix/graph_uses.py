"""The Mats used by a function that `mat.graph` records: those of its arguments, and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.direction import INPUT, IO, OUTPUT, Direction, join
from ..core.recorder import Use, is_same
from ..errors import GraphError
from ..layout.strided import Layout
from ..support.types import DType
from .mat import Mat


class Operand:
    """A view of an argument, or another Mat, and the direction of its use."""

    __slots__ = ("argument", "direction", "dtype", "layout", "shift", "view")

    def __init__(self, view: Mat, direction: Direction, mats: Sequence[Mat]) -> None:
        self.direction: Direction = direction
        self.layout: Layout = view.layout
        # the first argument that sees the same storage; -1: there is none
        self.argument: int = next((k for k, x in enumerate(mats) if x.storage is view.storage), -1)
        self.view: Mat | None = view if self.argument < 0 else None
        self.dtype: DType = view.dtype
        self.shift: int = view.displacement * view.itemsize  # in bytes
        if self.argument >= 0:
            base = mats[self.argument]
            self.shift -= base.displacement * base.itemsize

    def of(self, mats: Sequence[Mat]) -> Mat:
        """Return the view for other arguments of the same forms."""
        if self.view is not None:
            return self.view
        base, layout = mats[self.argument], self.layout
        displacement = (base.displacement * base.itemsize + self.shift) // self.dtype.itemsize
        if displacement != layout.displacement:
            layout = Layout(layout.shape, layout.strides, displacement)
        return base.over(layout) if base.dtype == self.dtype else base._typed(layout, self.dtype)


class _Needs:
    """How one view of a storage is used by all accesses together."""

    __slots__ = ("reads", "view", "writes")

    def __init__(self, view: Mat) -> None:
        self.view: Mat = view
        self.reads: bool = False  # what was there before the call
        self.writes: bool = False

    @property
    def direction(self) -> Direction:
        if not self.writes:
            return INPUT
        return IO if self.reads else OUTPUT


def needs_of(uses: Sequence[Use]) -> list[_Needs]:
    """Return how each view is used by all of `uses` together.

    What is read after it was overwritten is not among them: its access is nested in the one that
    overwrites.
    """
    needs: list[_Needs] = []
    for view, direction in uses:
        covered = any(need.writes and (need.view._sees_all() or is_same(need.view, view))
                      for need in needs if need.view.storage is view.storage)
        if covered and direction is INPUT:
            continue
        need = _need_for(view, needs)
        need.reads |= direction is not OUTPUT and not covered
        need.writes |= direction is not INPUT
    return needs


def operands_of(uses: Sequence[Use], mats: Sequence[Mat]) -> list[Operand]:
    """Return the accesses that `uses` need, those that write first."""
    needs = needs_of(uses)
    joined = _joined(needs)
    found = [Operand(need.view, direction, mats)
             for need, direction in zip(needs, joined, strict=True)]
    return sorted(found, key=lambda operand: operand.direction is INPUT)


def _need_for(view: Mat, needs: list[_Needs]) -> _Needs:
    """Return the item of `needs` for a view, added if there is none."""
    for need in needs:
        if need.view.storage is view.storage and is_same(need.view, view):
            return need
    needs.append(_Needs(view))
    return needs[-1]


def _joined(needs: list[_Needs]) -> list[Direction]:
    """Return the directions: ``io`` for those that write a storage read by another one."""
    every: dict[int, Direction] = {}
    for need in needs:
        key = id(need.view.storage)
        every[key] = join(every.get(key, need.direction), need.direction)
    return [every[id(need.view.storage)] if need.writes else INPUT for need in needs]


def are_covered(uses: Sequence[Use], accesses: Sequence[Use]) -> bool:
    """Return whether all that `uses` need is in `accesses`."""
    return all(any(need.view.storage is view.storage
                   and (view._sees_all() or is_same(need.view, view))
                   and direction in (need.direction, IO)
                   for view, direction in accesses) for need in needs_of(uses))


# What the function returns


class Returned:
    """The result of a function, as far as it can be reproduced for other arguments."""

    __slots__ = ("argument", "operand", "parts", "value")

    def __init__(self, value: Any, mats: Sequence[Mat], name: str) -> None:
        self.value: Any = value  # or the type of `parts`
        self.parts: list[Returned] | None = None
        self.argument: int = next((k for k, x in enumerate(mats) if x is value), -1)
        self.operand: Operand | None = None  # of a view of an argument
        if type(value) in (tuple, list):
            self.value = type(value)
            self.parts = [Returned(part, mats, name) for part in value]
        elif isinstance(value, Mat):
            operand = Operand(value._as_now(), INPUT, mats)
            if operand.argument >= 0:
                self.operand, self.value = operand, None
        elif value is not None:
            raise GraphError(f"mat.graph cannot record {name}: it returns a "
                             f"{type(value).__name__}, but its calls are repeated without running "
                             "it; return None or Mats, or a tuple or list of these")

    def of(self, mats: Sequence[Mat]) -> Any:
        """Return the function's result for these arguments."""
        if self.parts is not None:
            return self.value(part.of(mats) for part in self.parts)
        if self.argument >= 0:
            return mats[self.argument]
        return self.value if self.operand is None else self.operand.of(mats)
