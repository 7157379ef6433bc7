"""`mat.graph`: record a function's launches on a device and the Mats that it uses, and repeat them
by one call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import update_wrapper
from threading import get_ident
from types import MethodType
from typing import Any, Generic, TypeVar
from weakref import ref

from ..core.access_record import AccessRecord
from ..core.compiled import THREADS
from ..core.direction import INPUT, IO, OUTPUT, Direction
from ..core.observers import OBSERVERS, Computation
from ..core.pending import DEFERRALS
from ..core.recorder import RECORDERS, DifferentCallError, Recorder, Use, covers, is_same
from ..devices.in_use import CPU, Device, Launches, compute_pending, in_use
from ..errors import ConflictError, DTypeError, GraphError
from ..layout.strided import Layout
from ..memories.pooled import CLOCK
from ..support.types import DType
from .mat import Mat


class Operand:
    """A view of an argument, or another Mat, and the direction of its use."""

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

    def __init__(self, view: Mat, reads: bool = False, writes: bool = False) -> None:
        self.view: Mat = view
        self.reads: bool = reads  # what was there before the call
        self.writes: bool = writes

    @property
    def direction(self) -> Direction:
        if not self.writes:
            return INPUT
        return IO if self.reads else OUTPUT

    def excludes(self, other: _Needs) -> bool:
        """Return whether the two cannot be accessed apart: one writes what the other one uses."""
        one, two = self.view, other.view
        return (one.storage is two.storage and (self.writes or other.writes)
                and one._touched().meets(two._touched())
                and one._touched_alone().meets(two._touched_alone()))

    def joined(self, other: _Needs) -> _Needs:
        """Return the use of a view that has the elements of both, and maybe what is between."""
        reads, writes = self.reads or other.reads, self.writes or other.writes
        for view, inner in ((self.view, other.view), (other.view, self.view)):
            if covers(view, inner):
                return _Needs(view, reads, writes)
        return _Needs(_between(self.view, other.view), True, writes)


def _between(one: Mat, other: Mat) -> Mat:
    """Return the view of a storage from the first to the last element of two others."""
    low, high = (one._touched() | other._touched()).bounds
    base = min(one, other, key=lambda x: x.itemsize)
    size, storage = base.itemsize, base.storage
    each = storage.nbytes // storage.units
    return base.over(Layout(((high - low) * each // size,), (1,), low * each // size))


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
        need = next((need for need in needs if need.view.storage is view.storage
                     and is_same(need.view, view)), None)
        if need is None:
            needs.append(need := _Needs(view))
        need.reads |= direction is not OUTPUT and not covered
        need.writes |= direction is not INPUT
    return needs


def operands_of(uses: Sequence[Use], mats: Sequence[Mat]) -> list[Operand]:
    """Return the accesses that `uses` need: none conflicts with another one."""
    found: list[_Needs] = []
    for need in needs_of(uses):
        while (other := next((one for one in found if one.excludes(need)), None)) is not None:
            found.remove(other)
            need = other.joined(need)
        found.append(need)
    return [Operand(need.view, need.direction, mats) for need in found]


def are_covered(uses: Sequence[Use], accesses: Sequence[Use]) -> bool:
    """Return whether all that `uses` need is in `accesses`."""
    return all(any(need.view.storage is view.storage and covers(view, need.view)
                   and direction in (need.direction, IO)
                   for view, direction in accesses) for need in needs_of(uses))


# What the function returns


class Returned:
    """The result of a function, as far as it can be reproduced for other arguments."""

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


R = TypeVar("R")
MOST_KINDS = 32  # of arguments that one graph knows
MOST_RECORDINGS = 8  # of one kind of arguments, at other addresses
IDLE = 64  # calls without one of them, after which another may replace it


class Recording:
    """The launches of a call with Mats at certain addresses."""

    def __init__(self, launches: Launches, returned: Returned) -> None:
        self.launches: Launches = launches
        self.returned: Returned = returned
        self.used: int = 0  # the number of the last call


class _LastCall:
    """Layouts of the last call's arguments and operands, as long as they live."""

    def __init__(self) -> None:
        self.seen: list[tuple[ref[Mat], object, object]] = []
        self.views: list[Mat] = []

    def is_of(self, mats: Sequence[Mat]) -> bool:
        """Return whether the last call had these arguments, and they see the same as then."""
        if len(self.seen) != len(mats):
            return False
        for x, (mat, layout, storage) in zip(mats, self.seen, strict=True):
            if (mat() is not x or layout is not x.layout or storage is not x.storage
                    or not x.device_enabled):
                return False
        return True

    def set(self, mats: Sequence[Mat], views: list[Mat]) -> None:
        self.seen = [(ref(x, self.clear), x.layout, x.storage) for x in mats]
        self.views = views

    def clear(self, _: object) -> None:
        """Let the data of the last call go, since one of its arguments is gone."""
        self.seen, self.views = [], []


class _Kind:
    """Knowledge of calls with arguments of certain forms on a device."""

    def __init__(self, operands: list[Operand], rooms: list[int]) -> None:
        self.operands: list[Operand] = operands
        self.rooms: list[int] = rooms
        self.calls: int = 0
        self.recordings: dict[tuple[int, ...], Recording] = {}  # by addresses; the last used last
        # of the last calls; fewer than recordings, so that Mats that take turns replace none
        self.recent: deque[tuple[int, ...]] = deque(maxlen=MOST_RECORDINGS // 2)
        self.last: _LastCall = _LastCall()

    def has_place(self) -> bool:
        """Return whether there is room for a recording, or an old one that was not used lately."""
        oldest = next(iter(self.recordings.values()), None)
        return (oldest is None or len(self.recordings) < MOST_RECORDINGS
                or self.calls - oldest.used > IDLE)

    def views_of(self, mats: Sequence[Mat]) -> list[Mat]:
        """Return the operands for these arguments."""
        views = self.last.views
        if views and self.last.is_of(mats):
            return views
        views = [operand.of(mats)._as_now() for operand in self.operands]
        self.last = last = _LastCall()
        last.set(mats, views)
        return views


class Graph(Generic[R]):
    """A function of Mats whose launches are recorded and repeated; `graph` makes it.

    Attributes
    ----------
    recordings : int
        How often launches were recorded.
    replays : int
        How many calls repeated launches that were recorded in an earlier call.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        if not callable(function):
            raise DTypeError(f"mat.graph takes a function of Mats, got {function!r}")
        self.function: Callable[..., R] = function
        self.recordings: int = 0
        self.replays: int = 0
        self._name: str = getattr(function, "__qualname__", repr(function))
        self._kinds: dict[tuple[Any, ...], _Kind] = {}
        self._last: tuple[tuple[Any, ...], _Kind | None] = (), None
        self._attribute: str = self._name  # of a class
        update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute = name

    def __get__(self, instance: Any, owner: type | None = None) -> Graph[R]:
        """Return self or, of a method of an object, a graph of its own, kept by the object."""
        if instance is None:
            return self
        bound = Graph[R](MethodType(self.function, instance))
        return vars(instance).setdefault(self._attribute, bound)

    def __repr__(self) -> str:
        return (f"<graph of {self._name}: {self.recordings} recordings, {self.replays} replays>")

    def __call__(self, *mats: Mat) -> R:
        if get_ident() in RECORDERS or (
                OBSERVERS and any(observer.every_access for observer in OBSERVERS)):
            return self.function(*mats)  # a graph that another one calls is part of that
        if DEFERRALS:
            compute_pending()
        device, (key, last) = in_use(), self._last
        if last is not None and key[0] is device and last.last.views and last.last.is_of(mats):
            return self._repeat(device, key, last, mats)  # as before, without a look for its kind
        _check(mats)
        if device is not CPU and not all(x.device_enabled for x in mats):
            device = CPU
        key = (device, *_forms_of(mats))
        kind = self._kinds.get(key)
        if kind is None:
            return self._learn(device, key, mats)
        if not device.captures:
            return self.function(*mats)
        self._last = key, kind
        return self._repeat(device, key, kind, mats)

    def _learn(self, device: Device, key: tuple[Any, ...], mats: Sequence[Mat]) -> R:
        """Run the function, and find the Mats that it uses."""
        recorder = Recorder(self._name, device.memory)
        with recorder.recording():
            result = self._recorded(mats)
        Returned(result, mats, self._name)
        self._last = (), None
        while len(self._kinds) >= MOST_KINDS:
            self._kinds.pop(next(iter(self._kinds)), None)
        self._kinds[key] = _Kind(operands_of(recorder.uses, mats), recorder.rooms)
        return result

    def _recorded(self, mats: Sequence[Mat]) -> R:
        """Run the function in a recording, and whatever it leaves pending."""
        result = self.function(*mats)
        if DEFERRALS:
            compute_pending()
        return result

    def _repeat(self, device: Device, key: tuple[Any, ...], kind: _Kind, mats: Sequence[Mat]) -> R:
        """Access all Mats that the function uses, and repeat its launches, recorded at first; or
        run it, if that costs less.
        """
        accesses, learn = Accesses(device), False
        try:
            accesses.begin(kind.views_of(mats), kind.operands)
            recording = self._recording(device, kind, mats, accesses)
            if recording is not None:
                accesses.compute(self._name, recording.launches)
                return recording.returned.of(mats)
        except DifferentCallError:  # it does something else than before
            learn = True
        finally:
            accesses.finish()
        return self._learn(device, key, mats) if learn else self.function(*mats)

    def _recording(self, device: Device, kind: _Kind, mats: Sequence[Mat],
                   accesses: Accesses) -> Recording | None:
        """Return the recording for the addresses that are accessed; None if none is to be made."""
        addresses = accesses.addresses
        recording = kind.recordings.pop(addresses, None)
        if recording is not None:
            self.replays += 1
        elif kind.has_place() or addresses in kind.recent:
            recording = self._record(device, kind, mats, accesses)
        kind.recent.append(addresses)
        kind.calls += 1
        if recording is None:  # to record takes longer than to run
            return None
        recording.used, kind.recordings[addresses] = kind.calls, recording
        return recording

    def _record(self, device: Device, kind: _Kind, mats: Sequence[Mat],
                accesses: Accesses) -> Recording:
        """Run the function and record its launches, without executing them."""
        recorder = Recorder(self._name, device.memory, accesses.uses)
        old = None
        if len(kind.recordings) >= MOST_RECORDINGS:
            oldest = kind.recordings.pop(next(iter(kind.recordings)), None)
            old = None if oldest is None else oldest.launches
        try:
            with device.capture(kind.rooms, old) as captured, recorder.recording():
                result = self._recorded(mats)
                if not are_covered(recorder.uses, accesses.uses):
                    raise DifferentCallError
        except ConflictError as error:  # it writes what it only read before
            raise DifferentCallError from error
        self.recordings += 1
        return Recording(captured.launches, Returned(result, mats, self._name))


class Accesses:
    """The accesses to all that a graph uses, during one call of it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.records: list[AccessRecord] = []
        self.addresses: tuple[int, ...] = ()
        self.launching: bool = False  # what is written is not as before, from then on

    def begin(self, views: list[Mat], operands: list[Operand]) -> None:
        """Begin all accesses; copy stale operands to the device."""
        where, facet = THREADS.line(), self.device.facet
        for view, operand in zip(views, operands, strict=True):
            storage: Any = view.storage
            self.records.append(storage.open(view, facet, operand.direction, where))
        self.addresses = tuple([record.value.address for record in self.records])

    @property
    def uses(self) -> list[Use]:
        """The accessed Mats and their directions."""
        return [(record.view, record.direction) for record in self.records]

    def finish(self) -> None:
        """End those that are still open, after an error."""
        if self.launching:
            self.end(True)
        while self.records:
            record = self.records.pop()
            if record.view is not None:
                record.view.storage.undo(record)

    def compute(self, name: str, launches: Launches) -> None:
        """Do the launches and end all accesses."""
        failed = self.launching = True
        try:
            if OBSERVERS:
                with Computation(f"graph of {name}", self.device.memory.name):
                    launches.launch()
            else:
                launches.launch()
            failed = False
        finally:
            self.end(failed)

    def end(self, failed: bool) -> None:
        """End all accesses, the others also where one raises an error of an observer."""
        fault, now = None, next(CLOCK)
        while self.records:
            record = self.records.pop()
            view = record.view
            if view is None:
                continue
            try:
                record.value.handle.tick = now
                view.storage.close(record, failed)
            except BaseException as error:
                fault = fault or error
        if fault is not None:
            raise fault


def _check(mats: Sequence[object]) -> None:
    """Raise `DTypeError` if an argument is no Mat."""
    for x in mats:
        if not isinstance(x, Mat):
            raise DTypeError(f"the arguments of a graph are Mats, got {type(x).__name__}: numbers "
                             "are recorded as they are when the function runs; put one that "
                             "changes into a Mat, mat.array(v)")


def _forms_of(mats: Sequence[Mat]) -> list[object]:
    """Return the key of a recording: the forms of Mats, and the storages that they share."""
    found: list[object] = []
    for k, x in enumerate(mats):
        first = next(j for j in range(k + 1) if mats[j].storage is x.storage)
        found += (x.form, x.storage.size, first, _first_byte(x) - _first_byte(mats[first]))
    return found


def _first_byte(x: Mat) -> int:
    return x.displacement * x.itemsize


def graph(function: Callable[..., R]) -> Graph[R]:
    """Record a function's launches on a device, and repeat them by one call.

    Parameters
    ----------
    function : callable
        It takes Mats and computes with them, and with others that exist before, in place: by
        methods such as ``x.add_(y)``, operators such as ``x += y``, or ``out=``. It returns None
        or Mats.

    Returns
    -------
    Graph
        Call it as the function. Its first call with Mats of certain forms (shapes, strides,
        dtypes) runs the function, the second one runs it once more to record it, and later calls
        repeat the launches without running it. Its ``recordings`` and ``replays`` count these.

    Raises
    ------
    GraphError
        From the first call with Mats of certain forms, if the function makes a Mat, copies to or
        from the host, draws random numbers, or returns something else than Mats. The message names
        the line.
    DTypeError
        If an argument of a call is not a Mat.

    Notes
    -----
    Each call accesses the Mats as the operations would: what is stale on the device is copied
    there first, what is written is fresh on the device only afterwards, and conflicts are errors.

    Numbers and other Mats than the arguments are those of the recording, and so is the way that
    the function takes through its branches. For arguments at other addresses it is recorded anew,
    and the last eight recordings are kept. Beyond these, it runs for Mats that do not come again
    soon, unless one of the eight was not used for 64 calls; so have a loop copy its inputs into the
    same Mats.

    On the host and on ``emulated``, the same is checked in the first call, and each call runs the
    function.

    Examples
    --------
    >>> import mat
    >>> @mat.graph
    ... def step(x, y):
    ...     x *= 2
    ...     y += x
    >>> x, y = mat.ones(3), mat.zeros(3)
    >>> with mat.use_device("cuda"):  # the host, where there is none
    ...     for _ in range(3):
    ...         step(x, y)
    >>> y
    <Mat 3 F [14. 14. 14.]>
    """
    return Graph(function)
