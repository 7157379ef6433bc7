"""Plans: how calls with operands of certain forms are carried out: access the operands, call the
implementation, commit.

This is the path of every operation. How a call finds its plan is in `calls`.

Objects whose methods are called are local variables where other threads can put another one into
the attribute: compiled code keeps no reference to it during a call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from ...core.access_record import AccessRecord
from ...core.compiled import BLOCKS, THREADS
from ...core.compiled import KernelCall as CompiledCall
from ...core.direction import INPUT, OUTPUT, Direction
from ...core.observers import OBSERVERS, Computation, wait
from ...core.registry import Facet, Handle
from ...core.source_line import RUNNING, SourceLine
from ...errors import OutOfDeviceMemory
from ...facets import ARRAY, elements_of
from ...matrix.base import Form, MatBase
from ...matrix.exports import copied_array
from ...memories.file_pages import LARGE
from ...memories.pooled import CLOCK
from ...support.dtypes import check_exact, check_number
from ...support.types import Arguments, DType, Function, Keywords, Operand, Presented
from .by_numpy import QUIET, STATE

# kinds of operands in a plan: accessed, the same Mat as another one, a number
ACCESSED, REPEATED, NUMBER = range(3)
# with types of C
_large_files, _observers, _threads = LARGE, OBSERVERS, THREADS
_state, _quiet, _running = STATE, QUIET, RUNNING
_accessed, _repeated = ACCESSED, REPEATED
_elements_of, _clock, _blocks = elements_of, CLOCK, BLOCKS
_UNDER_GIL = (1, 3)  # how a kernel runs: at once, in one thread or several


class Planned(Protocol):
    """The operation's interface used by plans."""

    arity: int
    result: int | None
    main: int
    numbers: list[tuple[int, str]]

    def __call__(self, *args: Operand, **kwargs: object) -> Operand: ...
    def carry_out_over_files(self, args: Arguments, kwargs: Keywords) -> tuple[object] | None: ...


class PlannedOperand:
    """An operand of a plan: its position in calls, and its access."""

    def __init__(self, kind: int, position: int, form: Form | None,
                 direction: Direction = INPUT, other: int = 0) -> None:
        self.kind: int = kind
        self.position: int = position
        self.form: Any = form  # of the Mat; None for a number
        self.direction: Direction = direction
        # what is not overwritten survives
        self.reads: bool = direction is not OUTPUT or (form is not None and not form.whole)
        self.writes: bool = direction is not INPUT
        self.other: int = other  # the operand that is the same Mat, of those that are repeated


class Plan:
    """The way to carry out a call with checked operands of certain forms."""

    def __init__(self, operation: Planned, function: Function, facet: Facet,
                 operands: tuple[PlannedOperand, ...]) -> None:
        self.operation: Planned = operation
        self.function: Function = function
        self.facet: Facet = facet
        self.mask: int = facet.mask
        self.bit: int = facet.bit
        self.operands: tuple[PlannedOperand, ...] = operands
        found = [operand for operand in operands if operand.kind == _accessed]
        self.accesses: tuple[PlannedOperand, ...] = tuple(
            sorted(found, key=lambda operand: not operand.writes))
        self.repeated: tuple[PlannedOperand, ...] = tuple(
            operand for operand in operands if operand.kind == _repeated)
        # the operand that is returned; -1: what the implementation returns
        self.result: int = -1 if operation.result is None else operation.result
        self.quiet: bool = False  # switch NumPy's floating-point warnings off
        self.keywords: bool = True  # the implementation takes them
        self.armed: bool = False  # it is a kernel, which can be called without Python
        self.joins: int = 0  # whether it can be part of a program; 0: not known yet
        self.at_once: bool = False  # and under the GIL, since it is so short
        self.by_ufunc: bool = False  # it is a ufunc, for so few elements that it keeps the GIL
        self.by_copies: bool = False  # it is to be given copies of a few elements
        self.of_device: bool = False  # the kernel is a device's
        self.lent: bool = False  # the host's implementation of a user's operation stands in
        # operands are arrays, which are made when they are accessed
        self.through_array: bool = facet is ARRAY and BLOCKS.enabled
        self.kernel: CompiledCall = None
        # returns the error to raise where the kernel's result is not 0
        self.refusal: Callable[[], Exception] | None = None
        self.number_positions: tuple[int, ...] = ()
        # by the names of numbers, where those are not of the main operand's dtype
        self.number_types: dict[str, DType] | None = None

    def arm(self, kernel: CompiledCall, numbers: tuple[int, ...], takes_complex: bool) -> None:
        """Prepare calls of `kernel`, with the arguments at the positions `numbers`."""
        self.kernel = kernel
        self.number_positions = numbers
        self.armed = kernel.set_operands(len(self.operands), len(numbers), takes_complex)
        self.refusal = getattr(kernel, "refusal", None)
        # what a kernel that refuses has written is rolled back, which takes an access
        self.at_once = (self.armed and kernel.way in _UNDER_GIL and self.refusal is None
                        and self.number_types is None)
        self.of_device = self.facet.of_device

    def arm_launch(self, values: list[Presented]) -> None:
        """Launch the kernel in later calls without presenting operands, if `values` allow it."""
        function: Any = self.function
        prepare = getattr(function, "launch_like", None)
        launch = None if prepare is None else prepare(values)
        if launch is not None:
            self.arm(launch, tuple(function.numbers), True)

    def run(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the call."""
        if self.at_once and not _observers and self.call_at_once(args, None):
            return args[self.result] if self.result >= 0 else self.kernel.result_number()
        if self.by_ufunc and not _observers and self.call_ufunc(args, None):
            return args[self.result]
        self.check_numbers(args, None)
        return self.execute(args, kwargs)

    def check_numbers(self, args: Arguments, out: MatBase | None) -> None:
        """Raise an error unless the numbers of a call are such as the operands can take."""
        for k, name in self.operation.numbers:
            if self.number_types is not None:
                check_exact(args[k], self.number_types[name], name)
                continue
            view: Operand = args[self.operation.main]
            if view is None:
                view = out
            if type(args[k]) is not float or view.element_type.kind in "iu":
                check_number(args[k], view.element_type, name)

    def call_at_once(self, args: Arguments, out: MatBase | None) -> bool:
        """Fast path: call a short kernel, with `out` for None, if no access is needed."""
        if not self.kernel.can_share():
            return False
        if not self.gather(args, out):
            self.locate(args)
            if not self.gather(args, out):
                return False
        self.kernel.run_at_once()
        self.commit(args, out)
        return True

    def call_ufunc(self, args: Arguments, out: MatBase | None) -> bool:
        """Call the ufunc as `call_at_once` does a kernel; return False also if it raised."""
        self.locate(args)
        values = list(args)
        for operand in self.accesses:
            view: Operand = args[operand.position]
            if view is None:
                view = out
            storage = view.storage
            if view.known_form is not operand.form:
                return False  # another thread has changed it
            layout, address = view.layout, storage.ready(self.mask, self.bit, operand.reads,
                                                         operand.writes)
            if not address:
                return False
            # it ends before the memory does: no code of Python runs in between
            values[operand.position] = _blocks.array_at(
                address + layout.displacement * operand.form.itemsize, layout.shape,
                layout.strides, view.element_type, operand.writes)
        return self._called(values, args, out)

    def _called(self, values: list[Operand], args: Arguments, out: MatBase | None) -> bool:
        """Call the function with `values`, and record its writes; return False if it raised."""
        for operand in self.repeated:
            values[operand.position] = values[self.operands[operand.other].position]
        token = _state.set(_quiet) if self.quiet else None
        try:
            self.function(*values)
        except Exception:  # it is raised again where the access is rolled back
            return False
        finally:
            if token is not None:
                _state.reset(token)
        self.commit(args, out)
        return True

    def call_with_copies(self, args: Arguments, out: MatBase) -> bool:
        """Call a function of a few elements with copies of its operands, into the new Mat `out`;
        return False if an access is needed, or it raised.
        """
        values = list(args)
        for operand in self.accesses:
            view: Operand = args[operand.position]
            if view is not None:
                if operand.writes or view.known_form is not operand.form:
                    return False
                found = values[operand.position] = copied_array(view, True)
                if found is None:
                    return False
                continue
            storage, layout = out.storage, out.layout
            address = storage.ready(self.mask, self.bit, False, True)
            if not address:
                return False
            # nobody else has `out` meanwhile
            values[operand.position] = _blocks.array_at(
                address, layout.shape, layout.strides, out.element_type, True)
        self.check_numbers(args, out)
        return self._called(values, args, out)

    def commit(self, args: Arguments, out: MatBase | None) -> None:
        """Record the writes of a call without opened accesses."""
        storage = None
        for operand in self.accesses:
            if not operand.writes:
                break  # those that write come first
            view = args[operand.position] if out is None else out
            if view.storage is not storage:  # one write, of two parts
                storage = view.storage
                storage.written(self.mask)

    def locate(self, args: Arguments) -> None:
        """Find out the addresses of operands that are not known yet; other threads may run."""
        for operand in self.accesses:
            view = args[operand.position]
            if view is not None:
                view._locate()

    def launch_at_once(self, args: Arguments, out: MatBase | None) -> bool:
        """Fast path: launch a kernel, with `out` for None, under the locks of its operands."""
        held: list[Any] = []
        parts: dict[int, int] = {}
        begun = failed = False
        self.check_numbers(args, out)  # before anything is copied
        if (out is not None and not self.allocate(out)) or not self.refresh(args):
            return False
        try:
            if self.hold(args, out, held, parts) and self.are_ready(args, out, parts):
                begun = failed = True
                begun = self.launch(args, out, parts)
                failed = False
                if begun:
                    self.commit(args, out)
        finally:
            if failed:
                self.roll_back(args, out)
            while held:
                lock = held.pop()
                lock.release()
        return begun

    def allocate(self, out: MatBase) -> bool:
        """Allocate memory of the device for a new Mat; return False if it has no room."""
        storage = out.storage
        if storage.copies is None:
            try:
                storage._allocate(self.facet.memory)
            except OutOfDeviceMemory:
                return False
        return True

    def refresh(self, args: Arguments) -> bool:
        """Make those operands fresh that are read, and allocate memory for those that are
        overwritten, as far as that takes no record of an access; return False where it does. This
        may evict others, so that it comes first.
        """
        for operand in self.accesses:
            view = args[operand.position]
            if view is None:
                continue
            storage = view.storage
            if not operand.reads:
                copies: Any = storage.copies
                ready = copies is not None and self.facet.memory in copies
            elif operand.writes:
                ready = storage.fresh & self.mask != 0 or storage.is_arbitrary()
            else:
                ready = storage.fresh & self.mask != 0 or storage.spans is not None
            if not (ready or storage.provide_there(self.facet, operand.reads, operand.form.whole)):
                return False
        return True

    def hold(self, args: Arguments, out: MatBase | None, held: list[Any],
             parts: dict[int, int]) -> bool:
        """Acquire the storages' locks, appended to `held`; return False where one is in use.

        `parts` gets the numbers of those operands that are read from copies of parts, with the
        address of what would be their storage's first element.
        """
        for k, operand in enumerate(self.operands):
            if operand.kind != _accessed:
                continue
            view: Operand = args[operand.position]
            if view is None:
                view = out
            storage = view.storage
            lock = storage._guard()
            if lock.count:  # else no other thread runs until it is acquired
                if lock not in held:
                    return False
            else:
                lock.acquire()
                held.append(lock)
            if storage.spans is not None:
                part = None if operand.writes else storage.fresh_part(view, self.facet)
                if part is None:
                    return False
                handle = part.handle
                handle.tick = next(_clock)
                parts[k] = handle.address - part.start * storage.unit
        return True

    def are_ready(self, args: Arguments, out: MatBase | None, parts: dict[int, int]) -> bool:
        """Return whether the copies of locked storages can be used. No code of Python runs here."""
        memory, now = self.facet.memory, next(_clock)
        for k, operand in enumerate(self.operands):
            if operand.kind != _accessed:
                continue
            view: Operand = args[operand.position]
            if view is None:
                view = out
            storage = view.storage
            if view.known_form is not operand.form and view is not out:
                return False  # another thread has changed it
            if parts and k in parts:
                continue
            copies: Any = storage.copies
            handle = None if copies is None else copies.get(memory)
            if handle is None or not storage.ready_there(
                    self.mask, self.bit, operand.reads, operand.writes, operand.form.whole):
                return False
            handle.tick = now
        return True

    def roll_back(self, args: Arguments, out: MatBase | None) -> None:
        """Record that a launch without opened accesses failed."""
        thread, task, line = _threads.current(), _threads.task(), _threads.line()
        for operand in self.accesses:
            if operand.writes:
                view = args[operand.position] if out is None else out
                record = AccessRecord(self.facet, None, None)
                record.begin(view, operand.direction, thread, task)
                record.where = line
                view.storage.fail_write(record)
                record.reset()

    def launch(self, args: Arguments, out: MatBase | None, parts: dict[int, int]) -> bool:
        """Launch a device's kernel, with `out` for None and `parts` as `hold` finds them; return
        False where operands must be presented.
        """
        kernel, memory, count = self.kernel, self.facet.memory, 0
        for position in self.number_positions:
            if not kernel.set_number(count, args[position]):
                return False
            count += 1
        for k, operand in enumerate(self.operands):
            value = args[operand.position]
            if operand.kind == _accessed:
                view: Operand = out if value is None else value
                copies: Any = view.storage.copies
                address = parts[k] if parts and k in parts else copies[memory].address
                if view.layout.size:  # without elements it may be that of no block
                    address += view.layout.displacement * operand.form.itemsize
                kernel.set_operand(k, address)
            elif operand.kind != _repeated:
                kernel.set_operand(k, 0)
                if not kernel.set_number(count + k, value):
                    return False
        if self.repeated:
            for k, operand in enumerate(self.operands):
                if operand.kind == _repeated:
                    kernel.repeat_operand(k, operand.other)
        kernel.run_released()
        return True

    def has_spans(self, args: Arguments) -> bool:
        """Return whether an operand has copies of parts, whose addresses only presenting finds."""
        for operand in self.accesses:
            view = args[operand.position]
            storage = view.storage
            if storage.spans is not None:
                return True
        return False

    def gather(self, args: Arguments, out: MatBase | None) -> bool:
        """Give the kernel numbers and addresses; return False where that cannot be done at once.

        `out`, if it is not None, takes the place of the argument that is the result. Threads share
        the kernel, so no code of Python may run from here until it has been called.
        """
        kernel, count = self.kernel, 0
        for position in self.number_positions:
            if not kernel.set_number(count, args[position]):
                return False
            count += 1
        for k, operand in enumerate(self.operands):
            value = args[operand.position]
            if operand.kind == _accessed:
                view: Operand = out if value is None else value
                if view.known_form is not operand.form:
                    return False  # another thread has changed it
                address = view.storage.ready(self.mask, self.bit, operand.reads, operand.writes)
                if not address:
                    return False
                kernel.set_operand(k, address + view.layout.displacement * operand.form.itemsize)
            elif operand.kind != _repeated:
                if not kernel.set_number(count + k, value):
                    return False
                kernel.set_operand(k, kernel.number_address(count + k))
        if self.repeated:
            for k, operand in enumerate(self.operands):
                if operand.kind == _repeated:
                    kernel.repeat_operand(k, operand.other)
        return True

    def execute(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Access the operands in their directions, call the implementation, commit; return the
        written operand or the result.

        An operand that this thread and task access already, in the same memory and in a direction
        that covers this one, costs no access of its own: that other one keeps all others out.
        """
        if _large_files and not self.facet.of_device:
            found = self.operation.carry_out_over_files(args, kwargs)
            if found is not None:
                return found[0] if self.result < 0 else args[self.result]
        line = _threads.line()
        if _observers:
            _running.setdefault(_threads.current(), []).append((self.operation, line))
        records: list[AccessRecord] = []
        failed = True
        try:
            values = self.open_all(args, records, line)
            if values is None:  # another thread has changed an operand since the plan was found
                failed = False
            else:
                result = (self.compute_observed(args, kwargs, values) if _observers
                          else self.compute(args, kwargs, values))
                failed = False
        finally:
            try:
                self.close_all(records, failed)
            finally:
                if _running:
                    self.leave_running()
        if values is None:
            return self.operation(*args, **kwargs)
        return result if self.result < 0 else args[self.result]

    def open_all(self, args: Arguments, records: list[AccessRecord],
                 line: SourceLine | None) -> list[Presented] | None:
        """Open accesses, appended to `records`; return the arguments, None for other forms."""
        values = list(args)
        needs_values = bool(_observers) or not (
            self.through_array or (self.armed and self.kernel.can_share()))
        try:
            for operand in self.accesses:
                view = args[operand.position]
                if needs_values:
                    record = self.open_one(view, operand, records, line)
                    values[operand.position] = record.value
                elif not (view.storage.records and self.is_covered(view, operand)):
                    storage = view.storage  # compiled code keeps local variables only alive
                    record = storage.open_unpresented(view, self.facet, operand.direction, line)
                    records.append(record)
                    if record.used is not None and not record.used.whole:
                        values[operand.position] = self.facet.present(
                            view._relative_to(record.used.start), view._presentable(record.handle),
                            operand.writes)
            for operand in self.accesses:
                view = args[operand.position]
                if view.known_form is not operand.form:
                    self.undo_all(records)
                    return None
        except BaseException:
            self.undo_all(records)
            raise
        return values

    def open_one(self, view: MatBase, operand: PlannedOperand, records: list[AccessRecord],
                 line: SourceLine | None) -> AccessRecord:
        """Return the record of an access to one operand; append it to `records` if it is new."""
        storage = view.storage
        if storage.records and not _observers and self.is_covered(view, operand):
            key = self.facet.writing if operand.writes else self.facet.reading
            record = None if view.presented is None else view.presented.get(key)
            if record is not None:
                return record
        record = storage.open(view, self.facet, operand.direction, line)
        records.append(record)
        return record

    def is_covered(self, view: MatBase, operand: PlannedOperand) -> bool:
        """Return whether this thread and task access the data in a way that covers this access."""
        storage = view.storage
        return storage.covers(self.mask, operand.writes) and (
            storage.writer is not None or storage.fresh & self.mask != 0)

    def present_all(self, args: Arguments, values: list[Presented]) -> None:
        """Fill the missing entries of `values` with the facet's values of operands."""
        for operand in self.accesses:
            view = args[operand.position]
            if values[operand.position] is view:
                handle = view._presentable(view.storage.handles[self.facet.memory])
                values[operand.position] = self.presented(view, handle, operand.writes)
        for operand in self.repeated:
            values[operand.position] = values[self.operands[operand.other].position]

    def presented(self, view: MatBase, handle: Handle, writes: bool) -> Presented:
        """Return the facet's value of an operand."""
        if not self.through_array:
            return self.facet.present(view, handle, writes)
        layout = view.layout
        return _elements_of(handle, layout.shape, layout.strides, layout.displacement, writes)

    def undo_all(self, records: list[AccessRecord]) -> None:
        """End accesses whose call never began, last opened first."""
        while records:
            record = records.pop()
            if record.view is not None:
                record.view.storage.undo(record)

    def close_all(self, records: list[AccessRecord], failed: bool) -> None:
        """End every access, last opened first, all of them also if an observer finds fault."""
        fault = None
        while records:
            record = records.pop()
            if record.view is None:
                continue
            try:
                record.view.storage.close(record, failed)
            except BaseException as error:
                fault = fault or error
        if fault is not None:
            raise fault

    def leave_running(self) -> None:
        """Record the end of this operation, if its begin was recorded."""
        thread = _threads.current()
        running = _running.get(thread)
        if running:
            running.pop()
            if not running:
                del _running[thread]

    def compute_observed(self, args: Arguments, kwargs: Keywords,
                         values: list[Presented]) -> Operand:
        """Compute like `compute`, and notify observers of the duration."""
        operation: Any = self.operation
        with Computation(operation.__name__, self.facet.memory.name), self.waits(args):
            return self.compute(args, kwargs, values)

    def waits(self, args: Arguments) -> AbstractContextManager[None]:
        """Return a block in which the host waits for a number of a device."""
        operation: Any = self.operation
        if not (operation.waits_for and self.facet.of_device):
            return nullcontext()
        view: Any = next(args[operand.position] for operand in self.accesses)
        return wait(operation.waits_for, view.storage, self.facet.memory)

    def compute(self, args: Arguments, kwargs: Keywords, values: list[Presented]) -> Operand:
        """Call the implementation with `values`, or a kernel with addresses if there are all."""
        if self.armed and not _observers and self.kernel.can_share():
            if self.of_device:
                if not self.has_spans(args) and self.launch(args, None, {}):
                    return None
            else:
                self.locate(args)
                if self.gather(args, None):
                    found = self.kernel.run_released()
                    if found and self.refusal is not None:
                        raise self.refusal()
                    return found
        self.present_all(args, values)
        token = _state.set(_quiet) if self.quiet else None
        try:
            if kwargs and self.keywords:
                return self.function(*values, **kwargs)
            result = self.function(*values)
        finally:
            if token is not None:
                _state.reset(token)
        if self.facet.of_device and not self.armed and self.result >= 0:
            self.arm_launch(values)
        return result
