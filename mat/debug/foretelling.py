"""The forms of the results of functions of arrays: a plan calls such a function with few made-up
elements, twice with other lengths of the axes, where it has no elements or too many.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..errors import PlanError
from ..layout.shapes import Ints
from ..matrix.mat import Mat
from ..matrix.reading import mapped, rebuilt
from ..support.types import Array, DType, Function, Keywords, Operand

FEW = 1 << 16  # elements that a function may be called with for its result's form
SHORT = 8  # lengths of axes that remain
# the lengths in the two calls, of axes by their order; no two differ equally
_LENGTHS = ((11, 41), (13, 47), (17, 59), (19, 67), (23, 79), (29, 97), (31, 103), (37, 127))
_MOST_TIMES = 16  # the length of a result's axis over that of an operand's


class ResultForm(NamedTuple):
    """An array in a result."""

    shape: Ints
    dtype: DType


class Target(NamedTuple):
    """A written operand in a result, by its number."""

    number: int


_FILLS: tuple[Callable[[Ints, DType], Array], ...] = (
    np.ones, lambda shape, dtype: (np.arange(prod(shape)) % 100).reshape(shape).astype(dtype),
    lambda shape, dtype: np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape).copy())


class _Samples:
    """Small arrays for the operands of one call, with the lengths of axes replaced."""

    def __init__(self, lengths: Mapping[int, int], fill: Callable[[Ints, DType], Array]) -> None:
        self.lengths = lengths
        self.fill = fill
        self.known: dict[int, Array] = {}

    def of(self, value: Operand) -> Operand:
        """Return an argument with samples for Mats and long arrays."""
        if isinstance(value, Mat) or (type(value) is np.ndarray
                                      and not self.lengths.keys().isdisjoint(value.shape)):
            return self.sample(value)
        return mapped(value, self.of)

    def sample(self, x: Operand) -> Array:
        """Return the array for a Mat or an array."""
        found = self.known.get(id(x))
        if found is None:
            shape = tuple(self.lengths.get(n, n) for n in x.shape)
            found = self.known[id(x)] = self.fill(shape, x.dtype)
        return found

    def described(self, value: Operand, outs: Sequence[Mat]) -> Operand:
        """Return a result with the forms of arrays in place of these."""
        for k, out in enumerate(outs):
            if value is self.known.get(id(out)):
                return Target(k)
        if isinstance(value, np.ndarray | np.generic):
            return ResultForm(value.shape, value.dtype)
        return mapped(value, lambda v: self.described(v, outs))


def operands_in(values: object) -> Iterator[Mat | Array]:
    """Yield the Mats and arrays among values, also in lists, tuples and dicts."""
    if isinstance(values, Mat | np.ndarray):
        yield values
    elif isinstance(values, list | tuple | dict):
        for value in values.values() if isinstance(values, dict) else values:
            yield from operands_in(value)


def result_of(function: Function, args: Sequence[object], kwargs: Keywords,
              outs: Sequence[Mat], name: str) -> Operand:
    """Return the result of a function of arrays, with `ResultForm` for arrays in it and `Target`
    for those in place of the Mats `outs`.

    `PlanError` is raised if the function fails, or if the shape is not one by the operands' shapes.
    """
    shapes = [x.shape for x in operands_in([*args, kwargs])]
    joining = _Joining(shapes, _scales(shapes, name), name)
    found, error = [], None
    for fill in _FILLS:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(joining.called(function, args, kwargs, outs, fill))
        except Exception as raised:
            error = raised
    if not found:
        raise PlanError(f"a plan cannot say what NumPy's {name} returns, which the host computes: "
                        f"with made-up elements it fails ({type(error).__name__}: {error})"
                        ) from error
    if any(_forms(value) != _forms(found[0]) for value in found):
        raise joining.error()
    return joining.joined(*found[0])


def _forms(value: object) -> list[Ints]:
    """Return the shapes of the arrays in a result."""
    if isinstance(value, ResultForm):
        return [value.shape]
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return [shape for part in parts for shape in _forms(part)]
    return []


def _scales(shapes: Sequence[Ints], name: str) -> list[dict[int, int]]:
    """Return by which lengths those of axes are replaced in each call; of few elements by none."""
    if sum(map(prod, shapes)) <= FEW:
        return [{}]
    long = sorted({n for shape in shapes for n in shape if n > SHORT})
    if len(long) > len(_LENGTHS):
        raise PlanError(f"a plan cannot say what NumPy's {name} returns, which the host computes: "
                        "its operands have too many axes of different lengths")
    return [dict(zip(long, lengths, strict=False)) for lengths in zip(*_LENGTHS, strict=True)]


class _Joining:
    """The results of calls with replaced lengths, as one with those of the operands."""

    def __init__(self, shapes: Sequence[Ints], scales: list[dict[int, int]], name: str) -> None:
        self.name = name
        self.scales = scales
        small, large = scales[0], scales[-1]
        # lengths and products of such of one operand, in the calls and of the operands
        self.lengths = [(small[n], large[n], n) for n in small]
        self.products = [tuple(prod(scale.get(n, n) for n in some) for scale in (small, large, {}))
                         for shape in shapes for count in range(2, len(shape) + 1)
                         for some in combinations(shape, count)]

    def called(self, function: Function, args: Sequence[object], kwargs: Keywords,
               outs: Sequence[Mat], fill: Callable[[Ints, DType], Array]) -> tuple[Any, Any]:
        """Return the results of the first call and of the last one, which may be the same."""
        samples = [_Samples(scale, fill) for scale in self.scales]
        found = [s.described(function(*map(s.of, args), **s.of(dict(kwargs))), outs)
                 for s in samples]
        return found[0], found[-1]

    def joined(self, a: Any, b: Any) -> Operand:
        """Return the result by those of the two calls."""
        if isinstance(a, ResultForm):
            if not isinstance(b, ResultForm) or len(a.shape) != len(b.shape):
                raise self.error()
            return ResultForm(tuple(map(self.length, a.shape, b.shape)), a.dtype)
        if isinstance(a, dict):
            return {k: self.joined(v, b[k]) for k, v in a.items()}
        if isinstance(a, list | tuple) and not isinstance(a, Target):
            if len(a) != len(b):
                raise self.error()
            return rebuilt(a, [self.joined(*both) for both in zip(a, b, strict=True)])
        return a

    def length(self, a: int, b: int) -> int:
        """Return the length of an axis of a result that has these in the two calls."""
        if a == b:
            return a
        for small, large, n in self.products:
            if (a, b) == (small, large):
                return n
        for times in range(1, _MOST_TIMES + 1):
            for small, large, n in self.lengths:
                if b - a == times * (large - small):
                    return times * n + a - times * small
        raise self.error()

    def error(self) -> PlanError:
        return PlanError(f"a plan cannot say what NumPy's {self.name} returns, which the host "
                         "computes: elements decide about its shape")
