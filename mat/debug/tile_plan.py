"""``mat.debug.plan``: the tiles into which operations would be cut, and the copies they need.

`PlannedDevice` allocates, copies and computes nothing, though all else happens as on another one.
What is planned are *shadows*: Mats of the forms and states of the user's, over memory that nobody
touches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from ..core.access_record import AccessRecord
from ..core.direction import OUTPUT
from ..core.observers import ObservationApart, Observer
from ..core.registry import Memory
from ..core.runs import NONE, Runs, run
from ..devices.device import use_device
from ..devices.in_use import CPU, Device, in_use, used
from ..errors import OutOfDeviceMemory, SettingError
from ..facets import ARRAY
from ..layout.strided import packed
from ..matrix.base import form_of_result
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.reading import mapped
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..ops.engine.operation import Op
from ..ops.expressions.computing import EXPRESSIONS
from ..ops.expressions.program import FusedOp
from ..ops.tiles.signatures import on_host, tile_of
from ..ops.tiles.tile import being_cut
from ..support.dtypes import is_known_dtype
from ..support.formatting import html_table
from ..support.types import Arguments, Array, DirectionName, Function, Keywords, Operand
from .planned_device import (
    AWAY,
    LARGE,
    PlannedBlock,
    PlannedCopies,
    PlannedDevice,
    ResultForm,
    Target,
    operands_in,
    planned_device,
    result_of,
    untouched,
    untouched_host,
)

MOST_RUNS = 1 << 18  # of a view whose bytes are told apart


class Shadows:
    """The shadows of Mats, for the time of a plan with copies on a planned device."""

    def __init__(self, device: PlannedDevice) -> None:
        self.device = device
        # with the versions of the storages that they are of
        self.storages: WeakKeyDictionary[Storage, tuple[int, Storage]] = WeakKeyDictionary()

    def of(self, x: Mat) -> Mat:
        """Return the shadow of a Mat: the same view of the shadow of its storage."""
        found = x.over(x.layout)
        found._set_layout(x.layout, self.of_storage(x.storage))
        found._be_typed(x)
        if x.element_size != found.storage.itemsize:
            found.storage.divide(x.element_size)
        return found

    def of_storage(self, storage: Storage) -> Storage:
        """Return the shadow of a storage, a new one if that was written by others than plans."""
        version, shadow = self.storages.get(storage, (-1, None))
        if shadow is None or version != storage.version:
            shadow = self._new(storage)
            self.storages[storage] = storage.version, shadow
        return shadow

    def _new(self, storage: Storage) -> Storage:
        shadow = Storage(storage.size, storage.dtype, storage.fill_value)
        if not storage.pristine:
            shadow.adopt_host(untouched(storage.size, storage.dtype), True)
        elif storage.nbytes > LARGE:  # else it would be allocated when it is copied to the host
            shadow.handles[HOST] = untouched(storage.size, storage.dtype)
        whole = adopted(np.empty(0, storage.dtype))
        whole._set_layout(packed((storage.size,)), shadow)
        found = () if self.device.like is CPU else _fresh_runs(storage, self.device.like.memory)
        for start, stop, is_home in found:
            part = whole.over(whole.layout.part((slice(start, stop),)))
            direction: DirectionName = "input" if is_home else "output"
            with ObservationApart(Observer), part.facet(self.device.facet, direction):
                pass  # nobody counts what was copied before
        return shadow


def in_words(names: tuple[str, ...]) -> str:
    """Return the operations of an expression: ``add, multiply (3)``; "" if there are none."""
    return ", ".join(name if count == 1 else f"{name} ({count})"
                     for name, count in Counter(names).items())


def _fresh_runs(storage: Storage, memory: Memory) -> Iterator[tuple[int, int, bool]]:
    """Yield the ranges of elements that are fresh in a memory, and whether the host has them."""
    with storage.lock:
        spans, units = storage.spans, storage.units
        if spans is None:
            on_host = run(0, units) if storage.fresh & HOST.bit else NONE
            found = run(0, units) if storage.fresh & memory.bit else NONE
        else:
            on_host, found = spans.fresh_in(HOST), spans.fresh_in(memory)
    for runs, is_there in (found & on_host, True), (found - on_host, False):
        for start, stop in runs:
            yield start * storage.size // units, stop * storage.size // units, is_there


class PlannedCall(NamedTuple):
    """A call of an operation, as it would be carried out.

    Attributes
    ----------
    name : str
        The operation.
    tiles : int
        The number of tiles: 1 where it is carried out whole, 0 where it does not fit.
    shape : tuple of int
        The shape of the largest view in the first tile.
    nbytes : int
        The bytes that the largest tile needs on the device.
    moved : int
        The bytes that are copied to the device for it.
    least : int
        The bytes of its operands that are not on the device when it begins.
    problem : str
        Why it does not fit, if it does not.
    operations : tuple of str
        The operations of an expression of `fused`, which are carried out in one pass; none for
        other calls.
    home : int or None
        The bytes that are copied to the host for what is carried out there; None on a device.
    """

    name: str
    tiles: int
    shape: tuple[int, ...]
    nbytes: int
    moved: int
    least: int
    problem: str = ""
    operations: tuple[str, ...] = ()
    home: int | None = None

    def __str__(self) -> str:
        more = f"\n    one pass for {in_words(self.operations)}" if self.operations else ""
        return f"{self.name}: {self._how()}{more}"

    def _how(self) -> str:
        if self.problem:
            return f"does not fit: {self.problem}"
        if self.home is not None:
            return f"on the host, of {self.shape}; {self.home:,} copied to it"
        how = "whole" if self.tiles == 1 else f"{self.tiles} tiles"
        return (f"{how} of {self.shape} in {self.nbytes:,} bytes; {self.moved:,} "
                f"copied to the device, {self.least:,} at least")


class TilePlan:
    """A table of calls that would be carried out, as `plan` returns it; its text shows them.

    Parameters
    ----------
    pool_bytes : int
        The bytes that the device may use.

    Attributes
    ----------
    calls : list of PlannedCall
        The calls of operations, in order.
    pool_bytes : int
        The bytes that the device may use.
    moved : int
        The bytes that would be copied in either direction, until all results are on the host, as
        `Trace.bytes` of a call. Copies that depend on values, such as those of ``x[mask]``, are not
        predicted.
    least : int
        The bytes that have to be copied whatever the order: what is read and is not on the device,
        and all results.
    moved_alone : int or None
        The bytes that would be copied if the operations of expressions of `fused` were carried out
        one by one; None where there are no expressions.
    """

    def __init__(self, pool_bytes: int) -> None:
        self.pool_bytes: int = pool_bytes
        self.calls: list[PlannedCall] = []
        self.moved: int = 0
        self.least: int = 0
        self.moved_alone: int | None = None

    def __repr__(self) -> str:
        return "\n".join([f"<{self._head()}>", *map(str, self.calls)])

    def _head(self) -> str:
        alone = "" if self.moved_alone is None else f", {self.moved_alone:,} without mat.fused"
        return (f"plan for {self.pool_bytes:,} bytes on the device: {self.moved:,} bytes would be "
                f"copied, {self.least:,} at least{alone}")

    def _repr_html_(self) -> str:
        head = ("operation", "tiles", "shape", "bytes of a tile", "copied there", "at least",
                "does not fit")
        rows = [(f"{c.name} {in_words(c.operations)}".strip(), str(c.tiles), str(c.shape),
                 f"{c.nbytes:,}", f"{c.moved:,}", f"{c.least:,}", c.problem) for c in self.calls]
        return html_table(self._head(), [head, *rows])


class Noting(Device):
    """A device that carries out calls by `note`, for which it has a planned device and shadows."""

    def __init__(self, device: PlannedDevice, limit: int, copies: PlannedCopies) -> None:
        self.name = device.name
        self.implementations = device.implementations
        self.memory = AWAY
        self.facet = ARRAY
        self.planner: Callable[..., object] = self.note
        self.device = device
        self.copies = copies
        self.shadows = Shadows(device)
        self.most: int = limit

    @property
    def host(self) -> Device:
        return self

    @property
    def limit(self) -> int:
        return self.most

    def overwriting(self, x: Operand) -> AbstractContextManager[object]:
        return self.device.overwriting(self.shadows.of(x))

    def shadowed(self, args: Arguments) -> Arguments:
        """Return arguments with the shadows of Mats, one for each Mat."""
        shadows = {id(x): self.shadows.of(x) for x in args if isinstance(x, Mat)}
        return tuple([shadows.get(id(x), x) for x in args])

    def access_on_host(self, x: Mat, direction: DirectionName) -> None:
        """Update the copies of a Mat as an access on the host does."""
        with (used(self.device), ObservationApart(lambda: self.copies),
              self.shadows.of(x).facet(ARRAY, direction)):
            pass

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        """Record a call with checked arguments; numbers that it would return are 1."""
        raise NotImplementedError


class CallsAlone(Noting):
    """The calls of a plan on a device of its own, whose expressions are carried out one by one."""

    def __init__(self, device: PlannedDevice, limit: int, copies: PlannedCopies) -> None:
        super().__init__(device, limit, copies)
        self.found = False  # there was an expression

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        if isinstance(operation, FusedOp):
            self.found = True
            with used(self):
                operation.one_by_one(args)
        else:
            inside = self.shadowed(args)
            with (used(self.device), ObservationApart(lambda: self.copies),
                  suppress(OutOfDeviceMemory)):
                operation(*inside, **kwargs)
        return True if operation.result is None else args[operation.result]


class Planner(Noting):
    """A device that records calls, and has a planned device carry out their shadows.

    A Mat that nobody had written is `AWAY` from its first result on, until the end of the plan.
    """

    def __init__(self, device: PlannedDevice, plan: TilePlan, copies: PlannedCopies,
                 alone: CallsAlone) -> None:
        super().__init__(device, plan.pool_bytes, copies)
        self.plan = plan
        self.alone = alone
        self.foretell: Function = self.foretold
        self.busy = False  # a call is carried out with shadows
        self.away: WeakSet[Storage] = WeakSet()
        # which bytes of storages had to be copied to the device once, and which were written
        self.counted: WeakKeyDictionary[Storage, Runs] = WeakKeyDictionary()
        self.results: WeakKeyDictionary[Storage, Runs] = WeakKeyDictionary()

    @contextmanager
    def with_shadows(self) -> Iterator[None]:
        """Return a block in which accesses are those of shadows."""
        before, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = before

    # Operations

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        views = [x for k in operation.operands if isinstance(x := args[k], Mat)]
        with self.with_shadows():
            with used(self.device):
                found = self.call(operation, args, kwargs)
            self.alone.note(operation, args, kwargs)
        # else the host computes, or they are parts of a call that is noted itself
        if all(x.device_enabled for x in views) and not being_cut():
            self.plan.calls.append(found)
            self.plan.least += found.least
        written = [args[k] for k in operation.written]
        if found.home is None:
            self.note_results(written)
        for x in written:
            self.take_away(x.storage)
        return True if operation.result is None else args[operation.result]

    def call(self, operation: Op, args: Arguments, kwargs: Keywords) -> PlannedCall:
        """Carry out a call with the shadows of its Mats."""
        inside = self.shadowed(args)
        whole, problem = tile_of(operation, inside, kwargs), ""
        first = self.read_first(tile_of(operation, args, kwargs).reads)
        before, fell_back = self.device.copied(), self.copies.fallbacks
        tiles = self.device.tiles = []
        try:
            operation(*inside, **kwargs)
        except OutOfDeviceMemory as error:
            names = operation.names() if isinstance(operation, FusedOp) else ()
            if len(names) > 1 or not isinstance(operation, Op):
                raise  # it is carried out in several passes, or its operations one by one
            problem = str(error).partition("\n")[0]
            for x in whole.writes:  # calls after it go on as if it had succeeded
                with on_host(x).facet("array", "output"):
                    pass
        if not tiles:
            self.device.note_tile(whole.nbytes, (*whole.reads, *whole.writes))
        to_device, home = (now - old for now, old in zip(self.device.copied(), before, strict=True))
        by_host = self.copies.fallbacks > fell_back
        largest = max(nbytes for nbytes, _ in tiles)
        return PlannedCall(operation.__name__, 0 if problem else len(tiles), tiles[0][1], largest,
                           to_device, 0 if by_host else self.count(first), problem,
                           operation.names() if isinstance(operation, FusedOp) else (),
                           home if by_host else None)

    def take_away(self, storage: Storage) -> None:
        """Mark the elements of a result as current on the device only, also for the host."""
        if storage.fresh & AWAY.bit:
            storage.fresh = AWAY.bit
        elif storage.pristine and not storage.fresh and storage.spans is None:
            self.away.add(storage)
            storage.handles[AWAY] = PlannedBlock(storage.nbytes)
            storage.fresh, storage.pristine = AWAY.bit, False

    def restore(self) -> None:
        """Let the Mats be as they were before."""
        for storage in tuple(self.away):
            if storage.fresh & AWAY.bit:  # else others have written it
                for memory in (AWAY, HOST):
                    if memory in storage.handles:
                        storage.discard(memory)
                storage.fresh, storage.pristine = 0, True
        self.away.clear()

    def read_first(self, reads: Iterable[Mat]) -> dict[Storage, Runs]:
        """Return the bytes that were written before the plan and are to be copied to the device."""
        found: dict[Storage, Runs] = {}
        for x in reads:
            storage, shadow = x.storage, self.shadows.of(x)
            if not shadow.storage.is_fresh(self.device.memory, shadow):
                spans = shadow.storage.spans
                there = NONE if spans is None else spans.fresh_in(
                    self.device.memory, shadow._runs(MOST_RUNS)).times(shadow.storage.unit)
                found[storage] = found.get(storage, NONE) | (written_bytes(x) - there)
        return {storage: runs - self.counted.get(storage, NONE) - self.results.get(storage, NONE)
                for storage, runs in found.items()}

    def count(self, first: dict[Storage, Runs]) -> int:
        """Return how many bytes are read for the first time, and mark them as read."""
        for storage, runs in first.items():
            self.counted[storage] = self.counted.get(storage, NONE) | runs
        return sum(runs.size for runs in first.values())

    def note_results(self, views: Iterable[Mat]) -> None:
        """Record written views: they have to be copied to the host before use there."""
        for x in views:
            self.results[x.storage] = self.results.get(x.storage, NONE) | bytes_of(x)

    # What the host does

    def read_on_host(self, record: AccessRecord) -> None:
        """Count the copies of an access of the program to results that were planned before."""
        view: Any = record.view
        if not self.busy and record.direction is not OUTPUT and (
                view.storage in self.shadows.storages):
            self.access_on_hosts(view, "input")

    def access_on_hosts(self, x: Mat, direction: DirectionName) -> None:
        """Update copies as an access on the host does, also of the calls without expressions."""
        with self.with_shadows():
            self.access_on_host(x, direction)
            self.alone.access_on_host(x, direction)

    def foretold(self, function: Function, args: Sequence[object], kwargs: Keywords,
                 written: Sequence[Mat], name: str) -> Operand:
        """Return a result of the right form, or let the function run on few, known operands."""
        mats = [x for x in operands_in([*args, kwargs]) if isinstance(x, Mat)]
        for x in mats:
            x.storage.settle_pending(False)
        if not written and not any(is_unknown(x) or x.nbytes > LARGE for x in mats):
            return NotImplemented
        name = name or function.__name__
        found = result_of(function, args, kwargs, written, name)
        before = self.copies.bytes
        for x in mats:
            if not any(x is out for out in written):
                self.access_on_hosts(x, "input")
        for x in written:
            self.access_on_hosts(x, "io")
            self.note_results([x])
        shape = max((x.shape for x in mats), key=np.prod, default=())
        self.plan.calls.append(PlannedCall(name, 1, shape, 0, 0, 0, "", (),
                                           self.copies.bytes - before))
        return self.made(found, written, all(x.device_enabled for x in mats))

    def made(self, found: Operand, written: Sequence[Mat], enabled: bool) -> Operand:
        """Return a result with Mats for forms."""
        if isinstance(found, Target):
            return written[found.number]
        if isinstance(found, ResultForm):
            return self.on_host_now(found, enabled)
        return mapped(found, lambda v: self.made(v, written, enabled))

    def on_host_now(self, form: ResultForm, enabled: bool) -> Mat | Array:
        """Return a Mat in place of one that the host would compute; an array for other dtypes."""
        if not is_known_dtype(form.dtype):
            return np.zeros(form.shape, form.dtype)
        found: Mat = form_of_result(form.shape, form.dtype).new(enabled, None)
        storage = found.storage
        self.take_away(storage)
        storage.handles.setdefault(HOST, untouched(storage.size, storage.dtype))
        storage.fresh = AWAY.bit | HOST.bit
        return found


def bytes_of(x: Mat) -> Runs:
    """Return the bytes of a storage that a Mat sees; of very many runs, as many from the first."""
    runs = x._runs(MOST_RUNS).times(x.storage.unit)
    low, _ = runs.bounds
    return runs if runs.size <= x.nbytes else run(low, low + x.nbytes)


def written_bytes(x: Mat) -> Runs:
    """Return those bytes that were ever written."""
    storage, spans = x.storage, x.storage.spans
    if spans is None:
        return NONE if storage.pristine else bytes_of(x)
    return bytes_of(x) - spans.pristine.times(storage.unit)


def is_unknown(x: Mat) -> bool:
    """Return whether the elements of a Mat are arbitrary, or would be computed."""
    storage = x.storage
    return bool(storage.fresh & AWAY.bit) or (
        storage.pristine and not storage.fresh and storage.fill_value is None)


def plan(function: Callable[..., Any], *args: Any, pool_bytes: int | None = None,
         **kwargs: Any) -> TilePlan:
    """Return how the operations in a call would be cut into tiles; nothing is computed or copied.

    Parameters
    ----------
    function : callable
        It calls operations of `mat`. Their results are not computed, so that it must not decide by
        their values.
    *args, **kwargs
        Its arguments.
    pool_bytes : int, optional
        The bytes that the device may use; by default those of the device in use.

    Returns
    -------
    TilePlan
        For each operation the number of tiles, their shapes, and the bytes that would be copied,
        beside the least that have to be.

    Raises
    ------
    SettingError
        If `pool_bytes` is not given, and no device with a limit is in use.
    PlanError
        If the shape of a result depends on elements, of a function that NumPy computes.
    OutOfMemory
        If the system gives no addresses for the elements on the host.

    Notes
    -----
    It takes no memory for elements: operands that `mat.empty` makes, and all results, may be larger
    than the memory of the machine. What is read of results on the host are zeros. Of very many
    tiles of a call that are alike, most are counted by the others.

    Examples
    --------
    >>> import mat
    >>> x = mat.arange(100_000.0).reshape(1000, 100)
    >>> mat.debug.plan(mat.exp, x, pool_bytes=400_000)
    <plan for 400,000 bytes on the device: 1,600,000 bytes would be copied, 1,600,000 at least>
    exp: 8 tiles of (125, 100) in 200,000 bytes; 800,000 copied to the device, 800,000 at least
    """
    like = in_use()
    limit = pool_bytes or like.memory.limit
    if limit is None:
        raise SettingError("plan requires pool_bytes, since no device with a limit is in use")
    found = TilePlan(limit)
    EXPRESSIONS.compute(EXPRESSIONS.pending())  # they would be planned only
    with (ObservationApart(PlannedCopies) as others, planned_device(like, others) as other,
          use_device(other, pool_bytes=limit)):
        alone = CallsAlone(other, limit, others)
        with (ObservationApart(PlannedCopies) as copies, planned_device(like, copies) as device,
              use_device(device, pool_bytes=limit)):
            planner = Planner(device, found, copies, alone)
            copies.read_on_host = planner.read_on_host
            try:
                with use_device(planner), untouched_host():
                    results = function(*args, **kwargs)
            finally:
                planner.restore()
            found.least += sum(runs.size for runs in planner.results.values())
    del results  # which are copied to the host by now
    found.moved = copies.bytes
    found.moved_alone = others.bytes if alone.found else None
    return found
