"""What to write instead of the lines of a program that would gain most."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ..core.observers import INSTEAD
from .fallback import EXPORTED
from .profile import NOWHERE, Line, LineCost, Profile

MOST = 3
MANY_WAITS = 10  # which are worth a change however short they are: a GPU idles meanwhile
LEAST = 0.01  # the part of the program's time from which on a line is worth a change

_FUNCTIONS = {  # what to write instead of functions that no device computes
    "append": "collect the parts in a list, and join them once: np.concatenate(parts)",
    "insert": "write into an array of the final size: np.empty(n)",
    "delete": "select what stays by one mask: x[keep]",
    "vectorize": "write the function for whole arrays: np.where, np.select, arithmetic",
    "apply_along_axis": "call the function with axis=, for all rows at once",
    "apply_over_axes": "call the function with a tuple of axes",
    "loadtxt": "read it once, and keep it as .npy: np.save, np.load",
    "genfromtxt": "read it once, and keep it as .npy: np.save, np.load",
    "savetxt": "write it once, after the loop, or as .npy: np.save",
    "array_str": "print it after the loop", "array_repr": "print it after the loop",
    "array2string": "print it after the loop"}


class Advice(NamedTuple):
    """What to write instead of a line.

    Attributes
    ----------
    line : Line
        The line.
    seconds : float
        The time that it might save.
    why, instead : str
        Its fault, and what to write.
    """

    line: Line
    seconds: float
    why: str
    instead: str


def advice(profile: Profile) -> list[Advice]:
    """Return what to write instead of the lines that would gain most."""
    found = [a for line, cost in profile.lines.items() if line is not NOWHERE
             if (a := _of(line, cost)) is not None and a.seconds > LEAST * profile.seconds]
    return sorted(found, key=lambda a: -a.seconds)[:MOST]


def _of(line: Line, cost: LineCost) -> Advice | None:
    if cost.fallbacks:
        name, times = cost.fallbacks.most_common(1)[0]
        return Advice(line, cost.seconds, f"{name} is carried out on the host {_times(times)}"
                      f"{cost.reasons[name] and f', since {cost.reasons[name]}'}",
                      _FUNCTIONS.get(name, "compute it once, before the loop, or with the data of "
                                           "the host around it in one block"))
    if cost.waits and (cost.moving > cost.seconds / 10 or cost.waits.total() >= MANY_WAITS):
        what, times = cost.waits.most_common(1)[0]
        return Advice(line, max(cost.moving, cost.seconds / 2),
                      f"the host waits for {what} {_times(times)}",
                      INSTEAD.get(what, "compute with it where it is: with whole arrays, and print "
                                        "and save after the loop"))
    if cost.there + cost.back and cost.moving > cost.seconds / 10:
        return Advice(line, cost.moving, f"{cost.there + cost.back:,} bytes are copied",
                      "make the array once, before the loop, and write into it: x[...] = y")
    if cost.kept:
        name, times = cost.kept.most_common(1)[0]
        if name == EXPORTED:
            return Advice(line, cost.seconds / 2, "a library still has the array that is written, "
                          f"so that it is copied {_times(times)}",
                          "write into a new array, or give the library a copy: x.copy()")
        return Advice(line, cost.seconds, f"{name} has elements that no Mat can have, "
                      f"{_times(times)}", "compute with numbers: codes for texts, seconds for "
                                          "dates, a column for each field")
    return _of_the_host(line, cost)


def _of_the_host(line: Line, cost: LineCost) -> Advice | None:
    """Return what to write instead of a loop over elements, or of a long expression."""
    file, number = line
    node = _statement(file, number)
    if node is None:
        return None
    if _indexes_by_loop(file, number):
        return Advice(line, cost.seconds * 0.9, "a loop over elements",
                      "compute with slices or masks of whole arrays, a[1:] - a[:-1], np.where(m, "
                      "x, y), or write a mat.kernel")
    operators = sum(isinstance(n, ast.BinOp) for n in ast.walk(node))
    if operators > 1 and not cost.on_device:
        return Advice(line, cost.seconds / 2, f"{operators} operators make an array each",
                      "run it with --fused, or write with out= into arrays that are kept")
    return None


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def _around(file: str, number: int) -> Iterator[ast.stmt]:
    """Yield the statements around a line, innermost last."""
    tree = _tree(file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0):
            yield node


def _statement(file: str, number: int) -> ast.stmt | None:
    """Return the innermost statement of a line; None for the head of a compound one."""
    found = [n for n in _around(file, number) if not hasattr(n, "body")]
    return found[-1] if found else None


def _indexes_by_loop(file: str, number: int) -> bool:
    """Return whether a line reads an array by the variable of a loop around it, alone."""
    loops = [n for n in _around(file, number) if isinstance(n, ast.For)]
    names = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    node = _statement(file, number)
    return node is not None and any(
        isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and _is_place(n.slice)
        and names & {m.id for m in ast.walk(n.slice) if isinstance(m, ast.Name)}
        for n in ast.walk(node))


def _is_place(node: ast.expr) -> bool:
    """Return whether an index is that of one element or row: no slice and no mask."""
    return not any(isinstance(n, (ast.Slice, ast.Compare)) for n in ast.walk(node))
