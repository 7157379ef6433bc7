"""Carrying out a planned call: look at the operands, hand the body what their facet presents,
commit.

This is the path of every operation, so it is unrolled for one and two looks: in Python a call costs
as much as a look should, and ``f(*values)`` more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from ..core.access import leave_all, undo
from ..core.compiled import CompiledPlan
from ..core.cube import INPUT, OBSERVERS, AccessRecord, Cube, Direction, Facet, View
from ..cpu.errstate import IDLE, QUIET, STATE, quiet_context

# looks to take, writers first: operand, direction, key of the presented value
Entry = tuple[tuple[int, Direction, int], ...]
# operands that are the very Mat of another: position, that other's
Again = tuple[tuple[int, int], ...]
_ident = threading.get_ident


class Plan(CompiledPlan):  # type: ignore[misc]  # compiled
    """How a call is carried out, once its operands have been checked; the same for all operands of
    the same forms.

    ``plan.run(args, kwargs)`` does it: compiled, if it can be done so, or else by `walk`.
    """

    __slots__ = ("again", "entry", "facet", "function", "give", "keywords", "mask", "op", "pure",
                 "quiet", "result")
    op: Any  # whose plan it is

    def __init__(self, function: Callable[..., Any], facet: Facet, entry: Entry, again: Again,
                 result: int | None,
                 keywords: bool, quiet: bool, pure: bool, give: Callable[..., Any] | None) -> None:
        self.function = function
        self.facet = facet
        self.mask = facet.mask
        self.quiet = quiet and not pure  # switch NumPy's floating-point warnings off
        # the same, of a body that may run in a context of its own, since it asks for
        # nothing there
        self.pure = quiet and pure
        self.entry = entry
        self.again = again
        self.result = result  # the operand that is returned; None: what the body returns
        self.keywords = keywords  # the body takes them
        # how the body is called, for frequent kinds of operands; None: the long way
        self.give = give

    def walk(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at the operands in their directions, call the body, commit; return the written
        operand or the result.

        An operand that this thread looks at already, in the same memory and no less strongly, costs
        no look of its own: that other one keeps everybody else out, and decides.
        """
        mask, facet, give, thread, unwatched = self.mask, self.facet, self.give, _ident(), not OBSERVERS
        records: list[AccessRecord] = []
        found: list[Any] = []
        try:
            for k, direction, key in self.entry:
                view = args[k]
                storage = view.storage
                if unwatched and storage.accesses:
                    owner = storage.writer
                    if owner is None:
                        record = beside(storage, view, direction, key, mask, thread)
                    else:
                        record = view.presented.get(key) if owner.thread == thread and owner.mask == mask else None
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
            if give is None or (kwargs and self.keywords):
                result = self.compute(args, kwargs, found)
            else:
                result = give(self.function, args, *found)
            failed = False
        finally:
            if token is not None:
                STATE.reset(token)
            if records:
                close_all(records, failed)
        return result if self.result is None else args[self.result]

    def away(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out the operation while some device is in use: by another plan, if it is meant."""
        return self.op.call_away(args, kwargs)

    def ready(self, args: tuple[Any, ...]) -> bool:
        """Have the operands presented, so that compiled code finds them; whether that could be
        done.
        """
        for k, direction, key in self.entry:
            view = args[k]
            if key not in view.presented and not view.storage.present(view, self.facet, direction):
                return False
        return True

    def compute(self, args: tuple[Any, ...], kwargs: dict[str, Any], found: list[Any]) -> Any:
        """Call the body with what was presented in the places of the operands."""
        values = list(args)
        for (k, _, _), value in zip(self.entry, found, strict=True):
            values[k] = value
        for k, other in self.again:
            values[k] = values[other]
        return self.function(*values,
                             **kwargs) if kwargs and self.keywords else self.function(*values)


class OneAccess(Plan):
    """The plan of an operation with one look."""

    __slots__ = ()

    def walk(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        give = self.give
        if give is None or OBSERVERS or (kwargs and self.keywords):
            return Plan.walk(self, args, kwargs)
        ((k, direction, key),) = self.entry
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
            result = give(self.function, args,
                          v) if context is None else context.run(give, self.function, args, v)
            failed = False
        finally:
            if context is not None:
                IDLE[thread] = context
            if mine:
                storage.close(record, failed)
        return result if self.result is None else view


class TwoAccesses(Plan):
    """The plan of an operation with two looks."""

    __slots__ = ()

    def walk(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        give = self.give
        if give is None or OBSERVERS or (kwargs and self.keywords):
            return Plan.walk(self, args, kwargs)
        (k, direction, key), (j, another, other_key) = self.entry
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
                result = context.run(give, self.function, args, record.value, held.value)
            elif give is _axpy:  # to ask costs less than to call it
                result = self.function(args[0], held.value, record.value)
            else:
                result = give(self.function, args, record.value, held.value)
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


def _axpy(f: Any, args: tuple[Any, ...], v: Any, u: Any) -> Any:
    return f(args[0], u, v)


# How a body is called, by the number of arguments, the positions of the looks, and those that are
# one Mat with another.
_GIVE: dict[tuple[int, tuple[int, ...], Again], Callable[..., Any]] = {
    (1, (0,), ()): lambda f, args, v: f(v),
    (2, (1,), ()): lambda f, args, v: f(args[0], v),  # scal: a number, written
    (2, (1,), ((0, 1),)): lambda f, args, v: f(v, v),  # exp_
    (3, (2,), ((0, 2),)): lambda f, args, v: f(v, args[1], v),  # add_ of a number
    (2, (0, 1), ()): lambda f, args, v, u: f(v, u),  # dot: read, read
    (2, (1, 0), ()): lambda f, args, v, u: f(u, v),  # exp(x, out=): read, written
    (3, (2, 1), ()): _axpy,  # a number, read, written
    (3, (2, 1), ((0, 2),)): lambda f, args, v, u: f(v, u, v),  # add_ of a Mat
    # a reduction: read, written, axis, keepdims
    (4, (1, 0), ()): lambda f, args, v, u: f(u, v, args[2], args[3]),
    (3, (2, 0, 1), ()): lambda f, args, v, u, t: f(u, t, v),  # add(x, y, out=)
    (5, (4, 1, 2), ()): lambda f, args, v, u, t: f(args[0], u, t, args[3], v),  # gemm
}
_KINDS: dict[int, type[Plan]] = {1: OneAccess, 2: TwoAccesses}


def plan_of(implementation: Any, function: Callable[..., Any], entry: Entry, again: Again,
            result: int | None, arity: int,
            facet: Facet, op: Any) -> Plan:
    """The plan for calling `function`, made of `implementation`, through `facet`; one that wants
    the body's engine is bound to it.
    """
    made_for: Facet = implementation.facet
    function = function if implementation.bare else partial(function, made_for.engine)
    quiet = made_for.quiet and not implementation.silent
    give = _GIVE.get((arity, tuple(k for k, _, _ in entry),
                      again)) if implementation.bare or not quiet else None
    kind = _KINDS.get(len(entry), Plan)
    plan = kind(function, facet, entry, again, result, not implementation.prepares, quiet,
                implementation.bare, give)
    plan.op = op
    return plan


def close_all(records: list[AccessRecord], failed: bool) -> None:
    """Close every hold, last opened first, all of them also if an observer finds fault."""
    if OBSERVERS:
        leave_all(records, failed)
        return
    while records:
        record = records.pop()
        # an open hold has its view
        record.view.storage.close(record, failed)  # type: ignore[union-attr]


def beside(storage: Cube, view: View, direction: Direction, key: int, mask: int,
           thread: int) -> AccessRecord | None:
    """What the view presented, if reading it is covered: by a look of this thread where nobody
    writes, while the data is fresh.

    Where somebody writes, looks are covered if it is this thread, in this memory: that is asked
    without a call.
    """
    if direction is INPUT and storage.fresh & mask:
        # other readers may leave meanwhile; ours, if then missed, is found by open()
        for record in storage.accesses:
            if record.thread == thread and record.mask == mask:
                return view.presented.get(key)
    return None
