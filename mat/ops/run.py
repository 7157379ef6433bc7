"""Carrying out a planned call: look at the operands, hand the body what their facet presents, commit.

This is the path of every operation, so it is unrolled for one and two looks, and calls bodies without unpacking: in Python
``f(*values)`` costs more than a look.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..cpu.ieee import QUIET, STATE
from ..cube import OBSERVERS, Direction, Facet
from ..looks import leave_all

Entry = tuple[tuple[int, Direction], ...]  # operands to look at, writers first: position, direction
Again = tuple[tuple[int, int], ...]  # operands that are the very Mat of another: position, that other's
Values = list[Any]
_ident = threading.get_ident


class Plan:
    """How a call is carried out, once its operands have been checked; the same for all operands of the same forms."""

    __slots__ = ("again", "call", "direct", "engine", "entry", "facet", "function", "quiet", "result")

    def __init__(self, function: Callable[..., Any], facet: Facet, entry: Entry, again: Again, result: int | None,
                 call: Callable[..., Any]) -> None:
        self.function = function
        self.facet = facet
        self.engine = facet.engine
        self.quiet = facet.quiet  # switch NumPy's floating-point warnings off
        self.entry = entry
        self.again = again
        self.result = result  # the operand that is returned; None: what the body returns
        self.call = call
        self.direct = not facet.quiet and not again and call is _call_3

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """For any number of looks."""
        holds: list[Any] = []
        values = list(args)
        thread = _ident()
        try:
            for k, direction in self.entry:
                view = args[k]
                hold = view.storage.open(view, self.facet, direction, thread)
                holds.append(hold)
                values[k] = hold.value
        except BaseException:
            for hold in reversed(holds):
                hold.view.storage.undo(hold)
            raise
        failed = True
        try:
            result = self.compute(values, kwargs)
            failed = False
        finally:
            if OBSERVERS:
                leave_all(holds, failed)
            else:
                for hold in reversed(holds):
                    hold.view.storage.close(hold, failed)
        return result if self.result is None else args[self.result]

    def compute(self, values: Values, kwargs: dict[str, Any]) -> Any:
        """Call the body."""
        for k, other in self.again:
            values[k] = values[other]
        if not self.quiet:
            return self.call(self.function, self.engine, values, kwargs)
        token = STATE.set(QUIET)
        try:
            return self.call(self.function, self.engine, values, kwargs)
        finally:
            STATE.reset(token)


class OneLook(Plan):
    """The plan of an operation with one look."""

    __slots__ = ()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = list(args)
        ((k, direction),) = self.entry
        view = args[k]
        hold = view.storage.open(view, self.facet, direction, _ident())
        values[k] = hold.value
        failed = True
        try:
            result = self.compute(values, kwargs)
            failed = False
        finally:
            view.storage.close(hold, failed)
        return result if self.result is None else args[self.result]


class TwoLooks(Plan):
    """The plan of an operation with two looks."""

    __slots__ = ()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if OBSERVERS:
            return Plan.run(self, args, kwargs)
        values = list(args)
        (k, direction), (j, another) = self.entry
        view, other, thread = args[k], args[j], _ident()
        hold = view.storage.open(view, self.facet, direction, thread)
        try:
            held = other.storage.open(other, self.facet, another, thread)
        except BaseException:
            view.storage.undo(hold)
            raise
        values[k], values[j] = hold.value, held.value
        failed = True
        try:
            if self.direct and not kwargs:  # as axpy: saves a call
                result = self.function(self.engine, values[0], values[1], values[2])
            else:
                result = self.compute(values, kwargs)
            failed = False
        finally:
            other.storage.close(held, failed)
            view.storage.close(hold, failed)
        return result if self.result is None else args[self.result]


def plan_of(function: Callable[..., Any], facet: Facet, entry: Entry, again: Again, result: int | None, arity: int) -> Plan:
    """The plan for so many looks and arguments."""
    kind = {1: OneLook, 2: TwoLooks}.get(len(entry), Plan)
    return kind(function, facet, entry, again, result, _CALLS.get(arity, _call_any))


def _call_any(function: Any, engine: Any, v: Values, kwargs: dict[str, Any]) -> Any:
    return function(engine, *v, **kwargs)


def _call_1(function: Any, engine: Any, v: Values, kwargs: dict[str, Any]) -> Any:
    return function(engine, *v, **kwargs) if kwargs else function(engine, v[0])


def _call_2(function: Any, engine: Any, v: Values, kwargs: dict[str, Any]) -> Any:
    return function(engine, *v, **kwargs) if kwargs else function(engine, v[0], v[1])


def _call_3(function: Any, engine: Any, v: Values, kwargs: dict[str, Any]) -> Any:
    return function(engine, *v, **kwargs) if kwargs else function(engine, v[0], v[1], v[2])


_CALLS: dict[int, Callable[..., Any]] = {1: _call_1, 2: _call_2, 3: _call_3}
