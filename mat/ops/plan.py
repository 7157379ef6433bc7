"""Carrying out a planned call: access the operands, call the implementation with what their facet
presents, commit.

This is the path of every operation, so it is unrolled for one and two accesses: in Python a call
costs as much as an access should, and ``f(*values)`` more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ..core.access import leave_all, undo
from ..core.compiled import CompiledPlan
from ..core.cube import INPUT, OBSERVERS, AccessRecord, Cube, Direction, Facet, View
from ..cpu.errstate import IDLE, QUIET, STATE, quiet_context
from ..support.types import Arguments, Function, Keywords, Operand, Presented
from .implementation import Implementation

# accesses to begin, writers first: operand, direction, key of the presented value
Accesses = tuple[tuple[int, Direction, int], ...]
# operands that are the very Mat of another: position, that other's
Repeated = tuple[tuple[int, int], ...]
_ident = threading.get_ident

if TYPE_CHECKING:
    class _PlanBase:
        """The attributes that compiled code gives every plan."""

        armed: bool
        arm: Callable[..., bool]
        then: Callable[..., None]
        run: Callable[[Arguments, Keywords], Operand]
else:
    _PlanBase = CompiledPlan


class Planned(Protocol):
    """An operation, of which plans know only this much."""

    arity: int
    result: int | None

    def call_with_device(self, args: Arguments, kwargs: Keywords) -> Operand: ...


class Plan(_PlanBase):
    """The way to carry out a call, once its operands have been checked; the same for all operands
    of the same forms.

    ``plan.run(args, kwargs)`` does it: compiled, if that is possible, or else by `execute`.
    """

    __slots__ = ("accesses", "caller", "facet", "function", "keywords", "mask", "operation", "pure",
                 "quiet", "repeated", "result")

    def __init__(self, operation: Planned, function: Function, facet: Facet, accesses: Accesses,
                 repeated: Repeated) -> None:
        self.operation = operation
        self.function = function
        self.facet = facet
        self.mask = facet.mask
        self.accesses = accesses
        self.repeated = repeated
        # the operand that is returned; None: what the implementation returns
        self.result = operation.result
        self.quiet = False  # switch NumPy's floating-point warnings off
        # the same, of an implementation that may run in a context of its own, since it asks for
        # nothing there
        self.pure = False
        self.keywords = True  # the implementation takes them
        # calls the implementation, for frequent kinds of operands; None: `compute` does
        self.caller: Function | None = None

    # unrolled: the path of every call that is not compiled
    def execute(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Access the operands in their directions, call the implementation, commit; return the
        written operand or the result.

        An operand that this thread accesses already, in the same memory and in a direction that
        covers this one, costs no access of its own: that other one keeps all other threads out.
        """
        mask, facet, caller, thread = self.mask, self.facet, self.caller, _ident()
        unwatched = not OBSERVERS
        records: list[AccessRecord] = []
        found: list[Presented] = []
        try:
            for k, direction, key in self.accesses:
                view = args[k]
                storage = view.storage
                if unwatched and storage.accesses:
                    owner = storage.writer
                    if owner is None:
                        record = beside(storage, view, direction, key, mask, thread)
                    else:
                        mine = owner.thread == thread and owner.mask == mask
                        record = view.presented.get(key) if mine else None
                    if record is not None:
                        found.append(record.value)
                        continue
                record = storage.open(view, facet, direction, thread)
                records.append(record)
                found.append(record.value)
        except BaseException:
            for record in reversed(records):
                undo(record)
            raise
        failed = True
        token = STATE.set(QUIET) if self.quiet or self.pure else None
        try:
            if caller is None or (kwargs and self.keywords):
                result = self.compute(args, kwargs, found)
            else:
                result = caller(self.function, args, *found)
            failed = False
        finally:
            if token is not None:
                STATE.reset(token)
            if records:
                close_all(records, failed)
        return result if self.result is None else args[self.result]

    def execute_on_device(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation while some device is in use: by that device's plan, if it is this
        thread's.
        """
        return self.operation.call_with_device(args, kwargs)

    def present(self, args: Arguments) -> bool:
        """Have the operands presented, so that compiled code finds them; return whether that could
        be done.
        """
        for k, direction, key in self.accesses:
            view = args[k]
            if key not in view.presented and not view.storage.present(view, self.facet, direction):
                return False
        return True

    def compute(self, args: Arguments, kwargs: Keywords, found: list[Presented]) -> Operand:
        """Call the implementation with what was presented in the positions of the operands."""
        values = list(args)
        for (k, _, _), value in zip(self.accesses, found, strict=True):
            values[k] = value
        for k, other in self.repeated:
            values[k] = values[other]
        if kwargs and self.keywords:
            return self.function(*values, **kwargs)
        return self.function(*values)


class OneAccess(Plan):
    """The plan of an operation with one access."""

    __slots__ = ()

    def execute(self, args: Arguments, kwargs: Keywords) -> Operand:  # unrolled
        caller = self.caller
        if caller is None or OBSERVERS or (kwargs and self.keywords):
            return Plan.execute(self, args, kwargs)
        ((k, direction, key),) = self.accesses
        view, thread = args[k], _ident()
        storage, record = view.storage, None
        if storage.accesses:
            owner = storage.writer
            if owner is None:
                record = beside(storage, view, direction, key, self.mask, thread)
            elif owner.thread == thread and owner.mask == self.mask:
                record = view.presented.get(key)
        mine = record is None
        if record is None:
            record = storage.open(view, self.facet, direction, thread)
        v = record.value
        failed = True
        context = (IDLE.pop(thread, None) or quiet_context()) if self.pure else None
        try:
            result = (caller(self.function, args, v) if context is None
                      else context.run(caller, self.function, args, v))
            failed = False
        finally:
            if context is not None:
                IDLE[thread] = context
            if mine:
                storage.close(record, failed)
        return result if self.result is None else view


class TwoAccesses(Plan):
    """The plan of an operation with two accesses."""

    __slots__ = ()

    # so many lines because it is unrolled
    def execute(self, args: Arguments, kwargs: Keywords) -> Operand:
        caller = self.caller
        if caller is None or OBSERVERS or (kwargs and self.keywords):
            return Plan.execute(self, args, kwargs)
        (k, direction, key), (j, another, other_key) = self.accesses
        view, other, thread, mask = args[k], args[j], _ident(), self.mask
        storage, source, record, held = view.storage, other.storage, None, None
        if storage.accesses:
            owner = storage.writer
            if owner is None:
                record = beside(storage, view, direction, key, mask, thread)
            elif owner.thread == thread and owner.mask == mask:
                record = view.presented.get(key)
        mine = record is None
        if record is None:
            record = storage.open(view, self.facet, direction, thread)
        try:
            if source.accesses:
                owner = source.writer
                if owner is None:
                    held = beside(source, other, another, other_key, mask, thread)
                elif owner.thread == thread and owner.mask == mask:
                    held = other.presented.get(other_key)
            yours = held is None
            if held is None:
                held = source.open(other, self.facet, another, thread)
        except BaseException:
            if mine:
                storage.undo(record)
            raise
        failed = True
        context = (IDLE.pop(thread, None) or quiet_context()) if self.pure else None
        try:
            if context is not None:
                result = context.run(caller, self.function, args, record.value, held.value)
            elif caller is _call_axpy:  # the comparison costs less than the call
                result = self.function(args[0], held.value, record.value)
            else:
                result = caller(self.function, args, record.value, held.value)
            failed = False
        finally:
            if context is not None:
                IDLE[thread] = context
            try:
                if yours:
                    source.close(held, failed)
            finally:
                if mine:
                    storage.close(record, failed)
        return result if self.result is None else args[self.result]


def _call_axpy(f: Function, args: Arguments, v: Presented, u: Presented) -> object:
    return f(args[0], u, v)


# The functions that call an implementation, by the number of arguments, the positions of the
# accesses, and those of operands that are one Mat with another.
_CALLERS: dict[tuple[int, tuple[int, ...], Repeated], Function] = {
    (1, (0,), ()): lambda f, args, v: f(v),
    (2, (1,), ()): lambda f, args, v: f(args[0], v),  # scal: a number, written
    (2, (1,), ((0, 1),)): lambda f, args, v: f(v, v),  # exp_
    (3, (2,), ((0, 2),)): lambda f, args, v: f(v, args[1], v),  # add_ of a number
    (2, (0, 1), ()): lambda f, args, v, u: f(v, u),  # dot: read, read
    (2, (1, 0), ()): lambda f, args, v, u: f(u, v),  # exp(x, out=): read, written
    (3, (2, 1), ()): _call_axpy,  # a number, read, written
    (3, (2, 1), ((0, 2),)): lambda f, args, v, u: f(v, u, v),  # add_ of a Mat
    # a reduction: read, written, axis, keepdims
    (4, (1, 0), ()): lambda f, args, v, u: f(u, v, args[2], args[3]),
    (3, (2, 0, 1), ()): lambda f, args, v, u, t: f(u, t, v),  # add(x, y, out=)
    (5, (4, 1, 2), ()): lambda f, args, v, u, t: f(args[0], u, t, args[3], v),  # gemm
}
_KINDS: dict[int, type[Plan]] = {1: OneAccess, 2: TwoAccesses}


def plan_of(operation: Planned, implementation: Implementation, function: Function, facet: Facet,
            accesses: Accesses, repeated: Repeated) -> Plan:
    """Return the plan for calling `function`, made of `implementation`, through `facet`; one that
    takes the engine is bound to it.
    """
    made_for = implementation.facet
    bare, quiet = implementation.bare, made_for.quiet and not implementation.silent
    function = function if bare else partial(function, made_for.engine)
    plan = _KINDS.get(len(accesses), Plan)(operation, function, facet, accesses, repeated)
    plan.quiet, plan.pure = quiet and not bare, quiet and bare
    plan.keywords = not implementation.prepares
    if bare or not quiet:
        positions = tuple(k for k, _, _ in accesses)
        plan.caller = _CALLERS.get((operation.arity, positions, repeated))
    return plan


def close_all(records: list[AccessRecord], failed: bool) -> None:
    """End every access, last opened first, all of them also if an observer finds fault."""
    if OBSERVERS:
        leave_all(records, failed)
        return
    while records:
        record = records.pop()
        # an open access has its view
        record.view.storage.close(record, failed)  # type: ignore[union-attr]


def beside(storage: Cube, view: View, direction: Direction, key: int, mask: int,
           thread: int) -> AccessRecord | None:
    """Return what the view presented, if reading it is covered: by an access of this thread where
    nobody writes, while the data is fresh.

    Where somebody writes, an access is covered if it is this thread, in this memory: the callers
    compare that themselves.
    """
    if direction is INPUT and storage.fresh & mask:
        # other readers may end meanwhile; that of this thread, if then missed, is found by open()
        for record in storage.accesses:
            if record.thread == thread and record.mask == mask:
                return view.presented.get(key)
    return None
