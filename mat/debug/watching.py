"""``mat.debug.watch``: which call of foreign code writes to arrays of NumPy that it should only
read, writes beside arrays, or leaves outputs unwritten.

Whole pages of inputs are protected, so that the first write to them is noted when it is made. All
other bytes are compared whenever the program goes on to another line. This module knows no Mats.
"""

from __future__ import annotations

import ctypes
import errno
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import AliasError, DirectionError, DTypeError
from ..support.formatting import counted
from ..support.open_blocks import Block
from ..support.types import Array
from .protected_pages import (
    ALLOCATOR,
    FAULT_HANDLER,
    PAGE,
    READ_ONLY,
    READ_WRITE,
    Guarded,
    PageRange,
    Pages,
    Place,
    guarding,
    is_watched,
    place_of,
    system,
    users,
)
from .snapshot import edges_of, poison, still_poisoned

BESIDE, INPUT, OUTPUT, INOUT = range(4)  # what a byte is
_LOOKED = 1 << 16  # bytes of outputs that are compared at each line, until one writes them
_MOST_NAMED = 3  # elements in a message
_FEW = 1 << 12  # bytes that are compared by copies as fast
_MOST_PIECES = 9  # of memory, whose ends these are
_OWN = ("mat.", "cffi.", "contextlib")  # modules whose lines are not those of the program
Trace: TypeAlias = Callable[[FrameType, str, object], Any]


class Watched:
    """An array that is watched, and its role: `INPUT`, `OUTPUT` or `INOUT`."""

    def __init__(self, array: Array, name: str, kind: int) -> None:
        self.array = array.view(np.ndarray)  # a masked array would lose its mask
        self.name = f"{name} ({array.dtype}, {'x'.join(map(str, array.shape)) or '()'})"
        self.kind = kind
        self.poisoned = kind == OUTPUT and array.dtype.kind in "biufc" \
            and array.dtype.char not in "gG"
        self.low, self.high = np.lib.array_utils.byte_bounds(array)
        self.writer: Place | None = None  # of an output, the first

    def over(self, memory: Array, low: int) -> Array:
        """Return an array like this one over the bytes of its memory, which begin at `low`."""
        a = self.array
        return np.ndarray((*a.shape, a.itemsize), np.uint8, memory,
                          a.__array_interface__["data"][0] - low, (*a.strides, 1))

    def unwritten(self) -> str:
        """Return in words which elements of an output are as they were made; else nothing."""
        a = self.array
        left = still_poisoned(np.ascontiguousarray(a).reshape(-1)).reshape(a.shape)
        if not left.any():
            return ""
        found = [f"({', '.join(map(str, k))})" for k in np.argwhere(left)[:_MOST_NAMED].tolist()]
        if left.all():
            return "all of it"
        return _counted(int(left.sum()), "element", found)


class ComparedBytes(NamedTuple):
    """Bytes that are compared; `checked`: some of them must not be written."""

    start: int
    stop: int
    checked: bool


class Region:
    """The memory of an array that owns it, with the watched arrays over it."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.arrays: list[Watched] = []
        memory: Any = (ctypes.c_ubyte * (high - low)).from_address(low)
        self.bytes: Array = np.frombuffer(memory, np.uint8)
        self.kinds = np.zeros(high - low, np.uint8)
        self.last = self.bytes  # a copy of the bytes when they were last compared, and its address
        self.last_low = low
        self.spans: list[PageRange] = []
        self.pieces: list[ComparedBytes] = []  # of bytes that are not protected
        self.touched: dict[int, Place] = {}  # by the first byte of protected pages, the writer

    def add(self, watched: Watched) -> None:
        """Watch an array, too."""
        kinds = watched.over(self.kinds, self.low)
        wrong = OUTPUT if watched.kind == INPUT else INPUT
        if watched.kind != INOUT and (kinds == wrong).any():
            raise AliasError(f"{watched.name} is an input and an output in part: name it as inout=")
        kinds[...] = np.maximum(kinds, watched.kind)
        self.arrays.append(watched)

    def begin(self) -> None:
        """Take the present bytes as right, and protect pages without bytes to be written."""
        for x in self.arrays:
            if x.poisoned:
                x.array[...] = poison(x.array.size, x.array.dtype).reshape(x.array.shape)
        self.last = self.bytes.copy()
        self.last_low = self.last.ctypes.data
        skip = -self.low % PAGE
        whole = max(0, len(self.bytes) - skip) // PAGE
        pages = self.kinds[skip:skip + whole * PAGE].reshape(whole, PAGE)
        only_read = pages.max(axis=1, initial=0) <= INPUT
        edges = [skip + PAGE * int(k) for k in edges_of(only_read)]
        if system() is None or not edges or is_watched(self.low + edges[0], edges[-1] - edges[0]):
            edges = []
        ends = [0, *edges, len(self.bytes)]
        self.pieces = [piece for begin, end in zip(ends[::2], ends[1::2], strict=True)
                       for piece in self._cut(begin, end)]
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            span = PageRange(self.low + begin, end - begin, self.bytes)
            self.spans.append(span)
            span.notify = self._note
            span.protect(READ_ONLY)

    def _cut(self, begin: int, end: int) -> Iterator[ComparedBytes]:
        """Yield pieces of bytes, apart where they may be written, unless they are many by turns."""
        edges = [begin, end]
        if begin < end:
            free = self.kinds[begin:end] > INPUT
            edges = [begin, *(begin + 1 + np.flatnonzero(free[1:] != free[:-1])).tolist(), end]
        if len(edges) > _MOST_PIECES:
            edges = [begin, end]
        for first, last in pairwise(edges):
            if first < last:
                yield ComparedBytes(first, last, bool((self.kinds[first:last] <= INPUT).any()))

    def _note(self, pages: Pages) -> None:
        """Record the first write to protected pages, and compare them from now on."""
        begin = pages.address - self.low
        self.touched[begin] = place_of(sys._getframe())
        self.pieces.append(ComparedBytes(begin, begin + pages.nbytes, True))

    def end(self) -> None:
        """Protect nothing any more."""
        for span in self.spans:
            span.notify = None
            span.protect(READ_WRITE)

    def compare(self, place: Place, whole: bool) -> Iterator[str]:
        """Yield the faults of writes since the last call, by the line `place`.

        Of outputs only the first bytes are compared, unless it is the `whole`, and none if it is
        known which line wrote them first.
        """
        known = all(x.writer is not None for x in self.arrays if x.kind == OUTPUT)
        for piece in tuple(self.pieces):
            if known and not piece.checked:
                continue
            first = piece.start in self.touched
            writer = self.touched.pop(piece.start, place)
            stop = piece.stop if whole or first else min(piece.stop, piece.start + _LOOKED)
            if self._is_unchanged(piece.start, stop):
                continue
            now, last = self.bytes[piece.start:stop], self.last[piece.start:stop]
            at = np.flatnonzero(now != last) + piece.start
            yield from self._faults(at, writer)
            last[...] = now

    def _is_unchanged(self, start: int, stop: int) -> bool:
        """Return whether some bytes are as they were, without copies of many."""
        c = system()
        if c is None or stop - start < _FEW:
            return self.bytes[start:stop].tobytes() == self.last[start:stop].tobytes()
        return not c.memcmp(c.pointer(self.low + start), c.pointer(self.last_low + start),
                            stop - start)

    def _faults(self, at: Array, place: Place) -> Iterator[str]:
        kinds = self.kinds[at]
        changed = np.zeros(len(self.bytes), bool)
        changed[at] = True
        for x in self.arrays:
            if x.kind == INPUT and (kinds == INPUT).any():
                yield from self._fault_of_input(x, changed, place)
            elif x.kind == OUTPUT and x.writer is None and x.over(changed, self.low).any():
                x.writer = place
        if (kinds == BESIDE).any():
            yield self._fault_beside(at[kinds == BESIDE], place)

    def _fault_of_input(self, x: Watched, changed: Array, place: Place) -> Iterator[str]:
        found = (x.over(changed, self.low) & (x.over(self.kinds, self.low) == INPUT)).any(axis=-1)
        if not found.any():
            return
        before = x.over(self.last, self.low)
        listed = []
        for k in np.argwhere(found)[:_MOST_NAMED].tolist():
            old = np.frombuffer(before[tuple(k)].tobytes(), x.array.dtype)[0]
            listed.append(f"({', '.join(map(str, k))}): {old} became {x.array[tuple(k)]}")
        yield (f"{x.name} is an input, and was written at {place}: "
               f"{_counted(int(found.sum()), 'element', listed)}")

    def _fault_beside(self, at: Array, place: Place) -> str:
        first, last = self.low + int(at[0]), self.low + int(at[-1])
        block = ALLOCATOR.guarded(self.high - 1)
        if block is not None:
            block.found = True
        x = min(self.arrays, key=lambda x: max(0, x.low - last, first - x.high))
        first = x.low + (first - x.low) // x.array.itemsize * x.array.itemsize
        if first >= x.high:
            where = f", from {first - x.high} bytes after its end on,"
        elif last < x.low:
            where = f", from {x.low - first} bytes before its start on,"
        else:
            where = ", between its elements,"
        return f"memory beside {x.name}{where} was written at {place}"


def _counted(count: int, noun: str, listed: Iterable[str] = ()) -> str:
    """Return a number of things in words, and the first of them."""
    names = list(listed)
    first = "first " * (count > len(names))
    return f"{count} {noun}{'s' * (count != 1)}" + (f", {first}{', '.join(names)}" * bool(names))


def _bounds(a: Array) -> tuple[int, int]:
    """Return the bytes of an array's memory, with those of its pages if it has its own."""
    owner = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low, high = np.lib.array_utils.byte_bounds(owner)
    block = ALLOCATOR.guarded(low)
    return (low, high) if block is None else (block.first, block.stop)


def _is_own(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").startswith(_OWN)


class Tracing:
    """The lines of a thread, of which its open blocks of `watch` learn."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []
        self.frames: list[FrameType] = []

    def begin(self, watch: Watch) -> None:
        """Let a block learn of each line, unless a debugger traces."""
        before = sys.gettrace()
        if before is not None and before != self._step:
            return
        watch.tracing = self
        self.watches.append(watch)  # first: a step without a block would end the tracing
        if before is None:
            frame: FrameType | None = sys._getframe()
            while frame is not None:
                if not _is_own(frame):
                    self.frames.append(frame)
                    frame.f_trace = self._step
                frame = frame.f_back
            sys.settrace(self._step)

    def end(self, watch: Watch) -> None:
        """Let a block learn of no more lines."""
        with suppress(ValueError):
            self.watches.remove(watch)
        if not self.watches:
            self._stop()

    def _stop(self) -> None:
        if sys.gettrace() == self._step:
            sys.settrace(None)
        while self.frames:
            self.frames.pop().f_trace = None

    def _step(self, frame: FrameType, event: str, argument: object) -> Trace | None:
        if not self.watches:
            self._stop()
        if not self.watches or _is_own(frame):
            return None
        for watch in tuple(self.watches):
            watch.step(frame, event)
        return self._step


_THREAD = threading.local()


class Watch(Block["Watch"]):
    """The block of `watch`.

    Parameters
    ----------
    arrays : list of Watched
        The arrays, with names and directions.

    Attributes
    ----------
    faults : list of str
        What was found so far.
    """

    def __init__(self, arrays: list[Watched]) -> None:
        self.arrays = arrays
        self.faults: list[str] = []
        self.regions: list[Region] = []
        self.guard: guarding | None = None
        self.tracing: Tracing | None = None
        self.frame: FrameType | None = None  # of the with statement
        self.where, self.place, self.last_line = Place(), Place(), Place()
        self.warn_unless_entered("mat.debug.watch(...)")

    def begin(self) -> Watch:
        frame = users(sys._getframe())
        while frame is not None and _is_own(frame):
            frame = frame.f_back
        self.frame = frame
        self.where = self.place = place_of(frame)
        self.faults.clear()
        regions: dict[tuple[int, int], Region] = {}
        for x in self.arrays:
            bounds = _bounds(x.array)
            regions.setdefault(bounds, Region(*bounds)).add(x)
        self.regions = list(regions.values())
        FAULT_HANDLER.begin(self)
        for region in self.regions:
            region.begin()
        self.guard = guarding(self._note)
        self.guard.__enter__()
        needed = any(region.pieces for region in self.regions)
        if needed:
            _THREAD.__dict__.setdefault("tracing", Tracing()).begin(self)
        return self

    def step(self, frame: FrameType, event: str) -> None:
        """Compare, since the program goes on to another line.

        Parameters
        ----------
        frame : frame
            That of the line.
        event : str
            The event of Python's tracing, such as "line" or "return".

        Examples
        --------
        >>> import sys
        >>> import numpy as np
        >>> import mat
        >>> with mat.debug.watch(np.ones(3)) as watch:
        ...     watch.step(sys._getframe(), "line")  # which tracing does between lines
        >>> watch.faults
        []
        """
        self._compare(False)
        frame_now = frame.f_back if event == "return" else frame
        self.place = place_of(frame_now)
        if frame is self.frame and event == "line" and frame.f_lineno != self.where.line:
            self.last_line = self.place

    def _compare(self, whole: bool) -> None:
        place = self.place if self.tracing is not None else Place()
        for region in self.regions:
            self.faults += region.compare(place, whole)

    def _note(self, block: Guarded, text: str) -> None:
        mine = (x.name for x in self.arrays if block.first <= x.low < block.stop)
        self.faults.append(f"{next(mine, block.label())} {text}")

    def end(self, error: BaseException | None) -> None:
        guard, self.guard = self.guard, None
        if self.tracing is not None:
            self.tracing.end(self)
        self.frame = None
        for region in self.regions:
            region.end()
        FAULT_HANDLER.end(self)
        if guard is None:
            return
        self._compare(True)
        guard.__exit__(None, None, None)
        if error is None:
            self.faults += self._unwritten()
            if self.faults:
                raise DirectionError("; ".join(self.faults))
            return
        if isinstance(error, OSError) and error.errno == errno.EFAULT:
            self.faults.append("a system call that was to write to an input was refused")
        for text in self.faults:
            error.add_note(text)

    def _unwritten(self) -> Iterator[str]:
        for x in self.arrays:
            left = x.unwritten() if x.poisoned else ""
            if left:
                by = (f"the rest was written at {x.writer}" if x.writer is not None else
                      f"the last line of the block was {self.last_line}" if self.last_line.file
                      else f"the block began at {self.where}")
                yield f"{x.name} is an output, and was left unwritten: {left}; {by}"

    def __repr__(self) -> str:
        lines = [f"<watch: {counted(len(self.arrays), 'array')}, "
                 f"{counted(len(self.faults), 'fault')}",
                 *(f"fault: {text}" for text in self.faults)]
        return "\n  ".join(lines) + ">"


def watch(*inputs: Array, outputs: Iterable[Array] = (), inout: Iterable[Array] = ()) -> Watch:
    """Find foreign code that writes where it should not, in arrays of NumPy, while a block runs.

    Parameters
    ----------
    *inputs : numpy.ndarray
        Arrays that are only read in the block.
    outputs : iterable of numpy.ndarray
        Arrays that are overwritten, each element. The block begins with values in them that no
        result has.
    inout : iterable of numpy.ndarray
        Arrays that may be written: only writes beside them are found.

    Returns
    -------
    Watch
        A context manager; ``faults`` lists what was found.

    Raises
    ------
    DirectionError
        At the end of the block if an input was written, memory beside an array was written, or
        an element of an output was not. The text names the array, the elements, and the line of
        the call. If the block fails with an error of its own, notes of that say so.
    DTypeError
        If something else than arrays is given, or arrays of objects.
    AliasError
        If an element is an input and an output.

    Notes
    -----
    Memory beside an array is the rest of the array of which it is a view. Arrays that are made in
    such a block, or under pytest's ``--mat-directions``, have pages of their own between protected
    ones, on Linux: all that is written beside these is found. See ``docs/debugging.md``.

    Examples
    --------
    >>> import ctypes, mat, numpy as np
    >>> x, y = np.ones(3), np.empty(3)
    >>> with mat.debug.watch(x, outputs=[y]):  # doctest: +ELLIPSIS
    ...     _ = ctypes.memset(y.ctypes.data, 0, 16)
    Traceback (most recent call last):
        ...
    mat.errors.DirectionError: y (float64, 3) is an output, and was left unwritten: 1 element, (2);
    ...
    """
    names = _names(sys._getframe(1))
    found = []
    for kind, arrays in ((INPUT, inputs), (OUTPUT, outputs), (INOUT, inout)):
        for k, a in enumerate([arrays] if isinstance(arrays, np.ndarray) else arrays):
            if not isinstance(a, np.ndarray) or a.dtype.hasobject:
                of = f" of {a.dtype}" if isinstance(a, np.ndarray) else ""
                raise DTypeError(f"watch takes arrays of numbers, got {type(a).__name__}{of}"
                                 "; mat.debug.check_directions watches Mats")
            if kind != INPUT and not a.flags.writeable:
                raise DirectionError(f"{names.get(id(a), 'an array')} is read-only: it can be no "
                                     "output")
            name = names.get(id(a), f"{('', 'input', 'output', 'inout')[kind]} {k}")
            if a.size:
                found.append(Watched(a, name, kind))
    return Watch(found)


def _names(frame: FrameType) -> dict[int, str]:
    """Return the names of the variables of a frame by the identities of their values."""
    with suppress(Exception):
        return {id(value): name for name, value in {**frame.f_globals, **frame.f_locals}.items()}
    return {}
