"""Copies in flight: begun, and not waited for yet. Until one has arrived, its source is held as by a reader.

Its target is not fresh; who looks at that waits. Who would write the source is told of the prefetch that reads it.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter
from typing import Any

from .access_record import COPYING, Hold, Place, line_of
from .direction import INPUT
from .registry import Facet, Memory, host


class Passage(Hold):
    """The hold on the source of a copy under way."""

    __slots__ = ()

    def __init__(self, view: Any, facet: Facet, handle: Any, where: Place) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = self.lend = None
        self.thread = COPYING
        self.view = view
        self.direction = INPUT
        self.where = where

    def describe(self) -> str:
        return f"{self.label()} by a copy that is still under way, prefetched at {line_of(self.where)}"


class Flight:
    """One copy under way to `target`; `landing` is what the memory gave to wait with."""

    __slots__ = ("begun", "hold", "landing", "new", "source", "target")

    def __init__(self, hold: Hold, source: Memory, target: Memory, landing: Any, new: bool) -> None:
        self.hold = hold
        self.source = source
        self.target = target
        self.landing = landing
        self.new = new  # its memory was taken for it
        self.begun = perf_counter()


def depart(cube: Any, view: Any, facet: Facet, target: Memory, where: Place) -> Flight:
    """Begin to copy what is fresh in the memory of `facet` to `target`, of which one is the host. The lock is held."""
    source = facet.memory
    handle, new = cube.handles.get(target), target not in cube.handles
    if new:
        handle = target.allocate(cube)
    try:
        if target is host():
            landing = source.begin_copy_out(cube, cube.handles[source], handle)
        else:
            landing = target.begin_copy_in(cube, handle, cube.handles[source])
    except BaseException:
        if new:
            target.free(handle)
        raise
    if new:
        cube._adopt(target, handle)
    hold = Passage(view, facet, cube.handles[source], where)
    flight = Flight(hold, source, target, landing, new)
    cube.flights = {**(cube.flights or {}), target: flight}
    cube.looks.append(hold)
    return flight


def arrive(cube: Any, target: Memory) -> None:
    """Wait for the copy to `target`, if one is under way, without keeping others from reading the source meanwhile."""
    flight = (cube.flights or {}).get(target)
    if flight is not None and flight.landing is not None:
        with suppress(Exception):  # raised again below
            flight.landing.wait()
    with cube.lock:
        land(cube, target)


def land(cube: Any, target: Memory) -> None:
    """The same with the lock held: the data is fresh in `target` then, or if the copy failed, all is as before."""
    flight = (cube.flights or {}).get(target)
    if flight is None:
        return
    try:
        if flight.landing is not None:
            flight.landing.wait()
    except Exception:  # anything else interrupted the wait, and the copy is still under way
        _end(cube, flight)
        if flight.new:
            cube._discard(target)
        raise
    _end(cube, flight)
    cube.fresh |= target.bit
    cube.log(flight.source, target, perf_counter() - flight.begun)


def _end(cube: Any, flight: Flight) -> None:
    cube.flights = {memory: other for memory, other in cube.flights.items() if other is not flight} or None
    cube.looks.remove(flight.hold)
    flight.hold.thread = 0
    flight.hold.view = flight.hold.where = None
