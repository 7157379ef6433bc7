"""`Direction` of a block's access to data; its docstring is the contract of the library."""

from __future__ import annotations

from enum import Enum

from ..errors import DirectionError
from ..support.close_names import did_you_mean


class Direction(Enum):
    """The use that a block makes of the data that it accesses: reading, overwriting, or both.

    ==========  ==============================  =========================  =========================
    direction   promise of the block            before the block           after the block
    ==========  ==============================  =========================  =========================
    ``input``   only reads                      made fresh if it is not    other copies stay fresh
    ``output``  overwrites all, reads nothing   nothing is copied          it is the only fresh copy
    ``io``      reads and writes                made fresh if it is not    it is the only fresh copy
    ==========  ==============================  =========================  =========================

    Notes
    -----
    *Fresh* is a set: several memories can have the current data, and all of these copies but the
    last one can be dropped without copying.

    **Parts.** What is said here of the data holds for the elements that a view sees, and for no
    others: they alone are copied, become stale elsewhere, conflict, and are rolled back or torn.
    Storages of at most 64 KiB are copied whole, as are all by memories that copy no parts; there
    ``output`` through a view of a part acts as ``io``, so that the remaining elements survive.

    **Conflicts.** Any number of blocks can read an element, or one block can write it. Within a
    block that writes, accesses to the same copy by the same thread are allowed in any direction.
    Anything else raises a `ConflictError` at once, which names the other access; so does a write
    within a block that only reads.

    **Commit on success.** A writing block changes the set of fresh memories when it ends without an
    error. If it raises, the memory that it wrote is not fresh any more, and a copy that was fresh
    elsewhere is the current data again. If there is none, data that was never written goes back to
    its fill value; else the cube is *torn*: reading raises `TornError` with the line of the block,
    until a block overwrites everything or `Cube.accept_torn` accepts the elements as they are. Of
    nested writing blocks on one memory the outermost decides.

    **Failures come first.** Conflicts are checked, memory is allocated and data is copied before
    any state changes: an allocation or a copy that fails leaves everything as it was.

    What a block is given is valid inside the block only.
    """

    INPUT = "input"
    OUTPUT = "output"
    IO = "io"


INPUT, OUTPUT, IO = Direction.INPUT, Direction.OUTPUT, Direction.IO
_NAMES = ("input", "output", "io")
# names that users try: those of the modes of files, above all
_OTHERS = {"r": "input", "read": "input", "in": "input", "readonly": "input", "w": "output",
           "write": "output", "out": "output", "rw": "io", "r+": "io", "w+": "io", "inout": "io",
           "readwrite": "io", "input/output": "io"}
DIRECTIONS: dict[object, Direction] = {"input": INPUT, "output": OUTPUT, "io": IO}


def as_direction(name: object) -> Direction:
    """Return the `Direction` called `name`."""
    found = DIRECTIONS.get(name) if isinstance(name, str) else name
    if not isinstance(found, Direction):
        raise DirectionError(f"no direction {name!r}{did_you_mean(name, _NAMES, _OTHERS)}; there "
                             "are 'input', 'output' and 'io'")
    return found


def join(a: Direction, b: Direction) -> Direction:
    """Return the direction of one storage that is accessed in both `a` and `b`."""
    return a if a is b else IO
