"""The origin of packed Mats: tiles compute with them in place of views."""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

from ...core.cube import Cube
from ...layout.shapes import Ints
from ...matrix.mat import Mat

_ORIGINS: WeakKeyDictionary[Cube, tuple[ref[Cube], Ints]] = WeakKeyDictionary()


def note_origin(packed: Mat, view: Mat) -> None:
    """Record that `packed` has, or gets, the elements of `view`, and stands for it in a tile."""
    _ORIGINS[packed.storage] = ref(view.storage), view.layout.bounds


def origin_of(cube: Cube) -> Cube:
    """Return the storage that the elements of another one are a packed part of, or that one."""
    found = _ORIGINS.get(cube)
    origin = None if found is None else found[0]()
    return cube if origin is None else origin


def part_of(view: Mat) -> tuple[int, Ints]:
    """Return the number of the storage that the elements of a view are of, and their range."""
    origin, found = origin_of(view.storage), _ORIGINS.get(view.storage)
    return id(origin), view.layout.bounds if found is None else found[1]
