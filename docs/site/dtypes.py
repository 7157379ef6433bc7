"""What the reference says of element types: it calls each function with elements of every type.

sample_calls.py has the arguments of these calls, and which functions have no elements.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sample_calls import CALLS, MORE, SAID

import mat

# names of several types, those that have others first
SEVERAL = {title: names.split() for title, names in {
    "integers": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "signed integers": "int8 int16 int32 int64", "unsigned integers": "uint8 uint16 uint32 uint64",
    "floats": "float16 bfloat16 float32 float64", "complex numbers": "complex64 complex128",
    "8-bit floats": "float8_e4m3fn float8_e5m2"}.items()}
ORDER = ["bool", *SEVERAL["integers"], *SEVERAL["floats"], *SEVERAL["complex numbers"],
         *SEVERAL["8-bit floats"]]
SAME = "the same dtype"
GIVEN = {"m", "v", "s", "d"}  # what depends on the type in a call
Results = tuple[str, ...]  # the types of results, or `SAME`


def sentence(path: str, function: Callable[..., Any]) -> str:
    """Return which types of elements a function takes, and those of what it returns."""
    if said := said_of(path):
        return said
    found = outcomes(path, function)
    takes = [] if "" in found else [f"Takes {words(found)}."]
    return " ".join([*takes, *told(relative(found)), *filter(None, [MORE.get(path)])])


def said_of(path: str) -> str:
    """Return what is said of a function that is not called; else an empty text."""
    return SAID.get(path) or SAID.get(path.rpartition(".")[2], "")


@functools.cache
def outcomes(path: str, function: Callable[..., Any]) -> dict[str, Results]:
    """Return the types that a call gives, by those of the elements that it takes; of a call without
    elements, under ``""``.
    """
    names = ORDER if GIVEN & {*compile(call_of(path, function), path, "eval").co_names} else [""]
    found = {}
    for name in names:
        with contextlib.suppress(TypeError):  # which DTypeErrors are
            found[name] = tuple(types(called(path, function, name)))
    return found


def called(path: str, function: Callable[..., Any], name: str) -> Any:
    """Return what the call of a function gives for elements of one type."""
    matrix = mat.array([[2.0, 0], [0, 1]]).astype(name or float)
    given = {"f": function, "mat": mat, "np": np, "io": io, "d": name, "m": matrix,
             "v": mat.array([1.0, 1, 2]).astype(name or float), "s": matrix.reshape(1, 1, 2, 2),
             "b": mat.array([[True, False], [False, True]])}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(call_of(path, function), given)


def call_of(path: str, function: Callable[..., Any]) -> str:
    """Return the call that is tried, by default with a matrix for each parameter that has to be
    given.
    """
    name = path.rpartition(".")[2]
    if path in CALLS or name in CALLS:
        return f"f({CALLS.get(path, CALLS.get(name))})"
    required = [p for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return f"f({', '.join('m' if k == 0 else 'm.copy()' for k in range(len(required)))})"


def types(found: Any) -> Iterator[str]:
    """Yield the types of the elements of results."""
    if isinstance(found, tuple | list):
        for part in found:
            yield from types(part)
    elif isinstance(getattr(found, "dtype", None), np.dtype):
        yield found.dtype.name


# In words


def relative(found: dict[str, Results]) -> dict[str, Results]:
    """Return the types of results, each once, with `SAME` for a result whose type depends on that
    of the elements and is the same.
    """
    fixed = [len(set(column)) == 1 < len(found)
             for column in itertools.zip_longest(*found.values())]
    return {name: tuple(dict.fromkeys(SAME if result == name and not fixed[k] else result
                                      for k, result in enumerate(results)))
            for name, results in found.items()}


def told(found: dict[str, Results]) -> Iterator[str]:
    """Yield a sentence on the types of results, if there are results that have one."""
    groups: dict[Results, list[str]] = {}
    for name, results in found.items():
        groups.setdefault(results, []).append(name)
    regroup(groups)
    if len(groups) > 1:
        several = [f"{kinds(results)} for {listed(names)}" for results, names in groups.items()]
        yield f"Gives {'; '.join(several)}."
    elif any(groups):
        yield f"Gives {kinds(next(iter(groups)))}."


def regroup(groups: dict[Results, list[str]]) -> None:
    """Move a type that is its own result to the group of that result, where its kind is."""
    for name in list(groups.get((SAME,), ())):
        there = groups.get((name,), [])
        kinds_of = [names for names in SEVERAL.values() if name in names]
        if there and (groups[(SAME,)] == [name]
                      or any({*names} - {name} <= {*there} for names in kinds_of)):
            groups[(SAME,)].remove(name)
            there.append(name)
    if not groups.get((SAME,), True):
        del groups[(SAME,)]


def words(names: Iterable[str]) -> str:
    """Return a list of types, by those that are missing if that is shorter."""
    given = [name for name in ORDER if name in set(names)]
    rest = [name for name in ORDER if name not in given]
    return min(listed(given), f"all but {listed(rest)}", key=len) if rest else "all dtypes"


def listed(given: Iterable[str]) -> str:
    """Return a list of types, of several by their common name."""
    left, shown = set(given), {}
    for title, names in SEVERAL.items():
        if left >= {*names}:
            shown[names[0]] = title
            left -= {*names}
    shown |= {name: f"`{name}`" for name in left}
    return joined([shown[name] for name in ORDER if name in shown])


def kinds(results: Results) -> str:
    return joined([name if name == SAME else f"`{name}`" for name in results])


def joined(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
