"""Trace entries of operations that ran in tiles: one for each operation and line, with the bytes by
the Mat of origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..core.registry import host
from .trace_event import TraceEvent


class TiledCall(NamedTuple):
    """A call of an operation that was carried out in tiles on a device.

    Attributes
    ----------
    operation : str
        The name of the operation.
    device : str
        The name of the device.
    tiles : int
        The number of tiles.
    nbytes : int
        The bytes that the device would need for all operands at once.
    line : str
        The user's line.
    """

    operation: str
    device: str
    tiles: int
    nbytes: int
    line: str


def in_words(calls: Iterable[TiledCall], events: Sequence[TraceEvent]) -> Iterator[str]:
    """Yield a paragraph for each operation and line."""
    found: dict[tuple[str, str, str], list[TiledCall]] = {}
    for call in calls:
        found.setdefault((call.operation, call.line, call.device), []).append(call)
    for (operation, line, device), those in found.items():
        numbers = sorted({call.tiles for call in those})
        tiles = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        times = "" if len(those) == 1 else f", {len(those)} times"
        yield (f"{operation} was cut into {tiles} tiles{times}: {line}\n"
               f"  its operands take {max(call.nbytes for call in those):,} bytes, for which "
               f"{device!r} has no room at once; with more pool_bytes they stay there")
        yield from _by_origin(e for e in events if (e.cut, e.line) == (operation, line))


def _by_origin(events: Iterable[TraceEvent]) -> Iterator[str]:
    """Yield a line for each Mat that tiles copied."""
    found: dict[str, list[TraceEvent]] = {}
    for event in events:
        if event.kind == "copy":
            found.setdefault(event.origin, []).append(event)
    for origin, those in found.items():
        there = sum(e.nbytes for e in those if e.source == host().name)
        back = sum(e.nbytes for e in those if e.target == host().name)
        yield f"  {origin}: {there:,} bytes from the host, {back:,} to it"
