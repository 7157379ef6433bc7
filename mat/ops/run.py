"""Carrying out a planned call: look at the operands, hand the body what their facet presents, commit.

This is the path of every operation; it is kept short, and calls nothing that it can do itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..cpu.ieee import QUIET, STATE
from ..cube import INPUT, OBSERVERS, Cube, Direction, Facet, Hold, View
from ..looks import leave_all

Entry = tuple[tuple[int, Direction, int], ...]  # looks to take, writers first: operand, direction, key of the presented value
Again = tuple[tuple[int, int], ...]  # operands that are the very Mat of another: position, that other's
Values = list[Any]
_ident = threading.get_ident
_DIRECT: dict[tuple[int, tuple[int, ...]], int] = {(3, (2, 1)): 3, (2, (0, 1)): 2}


class Plan:
    """How a call is carried out, once its operands have been checked; the same for all operands of the same forms."""

    __slots__ = ("again", "bare", "direct", "engine", "entry", "facet", "function", "mask", "prepared", "quiet", "result")

    def __init__(self, function: Callable[..., Any], facet: Facet, entry: Entry, again: Again, result: int | None,
                 arity: int, bare: bool, prepared: bool) -> None:
        self.function = function
        self.facet = facet
        self.mask = facet.mask
        self.engine = facet.engine
        self.bare = bare  # the body wants no engine
        self.prepared = prepared  # nor keywords
        self.quiet = facet.quiet  # switch NumPy's floating-point warnings off
        self.entry = entry
        self.again = again
        positions: tuple[int, ...] = tuple(k for k, _, _ in entry)
        # what the body can be given straight away: 3 as axpy (a number, read, written), 2 as dot (read, read), 0 other
        self.direct = 0 if facet.quiet or again or not bare else _DIRECT.get((arity, positions), 0)
        self.result = result  # the operand that is returned; None: what the body returns

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Look at the operands in their directions, call the body, commit; return the written operand or the result.

        An operand that this thread looks at already, in the same memory and no less strongly, costs no look of its own:
        that other one keeps everybody else out, and decides.
        """
        values = list(args)
        holds: list[Hold] = []
        thread = _ident()
        try:
            for k, direction, key in self.entry:
                view = args[k]
                storage = view.storage
                if storage.looks and not OBSERVERS:
                    held = covering(storage, view, direction, key, self.mask, thread)
                    if held is not None:
                        values[k] = held.value
                        continue
                hold = storage.open(view, self.facet, direction, thread)
                holds.append(hold)
                values[k] = hold.value
        except BaseException:
            for hold in reversed(holds):
                hold.view.storage.undo(hold)  # type: ignore[union-attr]  # an open hold has its view
            raise
        failed = True
        try:
            result = self.compute(values, kwargs)
            failed = False
        finally:
            if holds:
                close_all(holds, failed)
        return result if self.result is None else args[self.result]

    def compute(self, values: Values, kwargs: dict[str, Any]) -> Any:
        """Call the body."""
        if self.prepared:
            return self.function(*values)
        if self.again:
            for k, other in self.again:
                values[k] = values[other]
        if not self.quiet:
            if self.bare:
                return self.function(*values, **kwargs)
            return self.function(self.engine, *values, **kwargs)
        token = STATE.set(QUIET)
        try:
            if self.bare:
                return self.function(*values)
            return self.function(self.engine, *values, **kwargs)
        finally:
            STATE.reset(token)


class OneLook(Plan):
    """The plan of an operation with one look, unrolled."""

    __slots__ = ()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        ((k, direction, key),) = self.entry
        view = args[k]
        storage = view.storage
        if OBSERVERS:
            return Plan.run(self, args, kwargs)
        values = list(args)
        thread = _ident()
        if storage.looks:
            covered = covering(storage, view, direction, key, self.mask, thread)
            if covered is not None:
                values[k] = covered.value
                result = self.compute(values, kwargs)
                return result if self.result is None else view
        hold = storage.open(view, self.facet, direction, thread)
        values[k] = hold.value
        failed = True
        try:
            result = self.compute(values, kwargs)
            failed = False
        finally:
            storage.close(hold, failed)
        return result if self.result is None else view


class TwoLooks(Plan):
    """The plan of an operation with two looks, unrolled."""

    __slots__ = ()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        (k, direction, key), (j, another, other_key) = self.entry
        view, other = args[k], args[j]
        storage, source = view.storage, other.storage
        if OBSERVERS:
            return Plan.run(self, args, kwargs)
        thread = _ident()
        if storage.looks or source.looks:
            hold = covering(storage, view, direction, key, self.mask, thread) if storage.looks else None
            held = covering(source, other, another, other_key, self.mask, thread) if source.looks else None
            if hold is None or held is None:
                return Plan.run(self, args, kwargs)
            result = self.give(args, kwargs, k, hold, j, held)
            return result if self.result is None else args[self.result]
        hold = storage.open(view, self.facet, direction, thread)
        try:
            held = source.open(other, self.facet, another, thread)
        except BaseException:
            storage.undo(hold)
            raise
        failed = True
        try:
            if self.direct == 3 and not kwargs:
                result = self.function(args[0], held.value, hold.value)
            else:
                result = self.give(args, kwargs, k, hold, j, held)
            failed = False
        finally:
            try:
                source.close(held, failed)
            finally:
                storage.close(hold, failed)
        return result if self.result is None else args[self.result]

    def give(self, args: tuple[Any, ...], kwargs: dict[str, Any], k: int, hold: Hold, j: int, held: Hold) -> Any:
        """Call the body with what was presented for operands `k` and `j`."""
        if self.direct == 2 and not kwargs:
            return self.function(hold.value, held.value)
        values = list(args)
        values[k], values[j] = hold.value, held.value
        return self.compute(values, kwargs)


def plan_of(function: Callable[..., Any], facet: Facet, entry: Entry, again: Again, result: int | None, arity: int,
            body: Any) -> Plan:
    """The plan for so many looks."""
    kind = {1: OneLook, 2: TwoLooks}.get(len(entry), Plan)
    return kind(function, facet, entry, again, result, arity, body.bare, body.prepares)


def covering(storage: Cube, view: View, direction: Direction, key: int, mask: int, thread: int) -> Hold | None:
    """What the view presented, if a look that this thread has open covers looking at it in `direction`."""
    writer = storage.writer
    if writer is not None:
        if writer.thread == thread and writer.facet.mask == mask:
            return view.presented.get(key)
    elif direction is INPUT and storage.fresh & mask:
        for hold in storage.looks:
            if hold.thread == thread and hold.facet.mask == mask:
                return view.presented.get(key)
    return None


def close_all(holds: list[Hold], failed: bool) -> None:
    """Close every hold, last opened first, all of them also if an observer finds fault."""
    if OBSERVERS:
        leave_all(holds, failed)
        return
    while holds:
        hold = holds.pop()
        hold.view.storage.close(hold, failed)  # type: ignore[union-attr]  # an open hold has its view
