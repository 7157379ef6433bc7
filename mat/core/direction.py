"""`Direction`: what a block promises to do with the data it looks at. Its docstring is the contract
of the library.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..errors import DirectionError


class Direction(Enum):
    """What a block promises to do with the data it looks at; the contract of every look.

    ==========  ==============================  =======================
    ================================= direction   promise of the block            before the block
    after the block ==========  ==============================  =======================
    ================================= ``input``   only reads                      made fresh if it
    is not  other copies stay fresh ``output``  overwrites all, reads nothing   nothing is copied
    it is the only fresh copy ``io``      anything                        made fresh if it is not
    it is the only fresh copy ==========  ==============================  =======================
    =================================

    *Fresh* is a set: several memories can hold the current data, and each but the last may be
    dropped for free. ``output`` through a view that does not see the whole storage acts as ``io``,
    so that the rest survives.

    **Who may look.** Any number of readers, or one writer. Looking again at the same memory from
    the same thread is fine in any direction. Anything else is a `ConflictError`, at once, that
    names the holder.

    **Commit on success.** What is fresh changes when a writing block ends well. If it raises, its
    memory is not fresh any more, and a copy that was fresh elsewhere is the truth again. Where
    there is none, data that was never written goes back to its fill value; else the cube is *torn*:
    reading raises `TornError` with the line of the block, until a block overwrites everything or
    `Cube.accept_torn` takes what is there. Of nested writing blocks on one memory the outermost
    decides.

    **Failures come first.** Conflicts are checked, memory is allocated and data is copied before
    anything is marked: an allocation or a copy that fails leaves everything as it was.

    What a block was given is valid inside the block only.
    """

    INPUT = "input"
    OUTPUT = "output"
    IO = "io"


INPUT, OUTPUT, IO = Direction.INPUT, Direction.OUTPUT, Direction.IO
DIRECTIONS: dict[Any, Direction] = {"input": INPUT, "output": OUTPUT, "io": IO}


def as_direction(name: object) -> Direction:
    """The `Direction` called `name`."""
    found = DIRECTIONS.get(name) if isinstance(name, str) else name
    if not isinstance(found, Direction):
        raise DirectionError(f"no direction {name!r}; there are 'input', 'output' and 'io'")
    return found


def join(a: Direction, b: Direction) -> Direction:
    """The direction of one storage that is asked for in both `a` and `b`."""
    return a if a is b else IO
