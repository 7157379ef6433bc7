"""The arguments of `zeros`, `ones` and `empty`: lengths, and after them a dtype and an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from ..errors import DTypeError, IntegerError, ShapeError
from ..support.types import DTypeLike, ShapeLike


def shape_dtype_order(given: tuple[Any, ...], dtype: DTypeLike, order: str,
                      ) -> tuple[ShapeLike, DTypeLike, str]:
    """Return the shape, the dtype and the order that positional and keyword arguments name."""
    count = _count_of_lengths(given)
    shape = given[0] if count == 1 else given[:count]
    rest = given[count:]
    if not count and given:
        raise IntegerError(f"a shape comes first, got {given[0]!r}; a dtype comes after it: "
                           f"(2, 3), dtype={given[0]!r}")
    if len(rest) == 1 and isinstance(rest[0], list | tuple) and _are_fields(rest[0]):
        raise DTypeError(f"a Mat has one number for each element, no fields such as {rest[0]!r}; "
                         "make a Mat for each field")
    twice = rest and (_is_length(rest[0]) or isinstance(rest[0], list | tuple))
    if twice or len(rest) > 2:
        raise ShapeError(f"one shape is meant, got {', '.join(map(repr, given))}: (2, 3), or 2, 3, "
                         "and then perhaps a dtype and an order")
    if rest and dtype is not None:
        raise DTypeError(f"two dtypes, {rest[0]!r} and {dtype!r}")
    return shape, rest[0] if rest else dtype, rest[1] if len(rest) == 2 else order


def _are_fields(value: Sequence[object]) -> bool:
    """Return whether `value` is a dtype of records: pairs of a name and a dtype."""
    return bool(value) and all(isinstance(v, tuple) and len(v) > 1 and isinstance(v[0], str)
                               for v in value)


def _count_of_lengths(given: tuple[Any, ...]) -> int:
    """Return how many of the arguments are the shape."""
    if given and isinstance(given[0], Iterable) and not isinstance(given[0], str):
        return 1
    return next((k for k, n in enumerate(given) if not _is_length(n)), len(given))


def _is_length(value: object) -> bool:
    return isinstance(value, SupportsIndex | float) and not isinstance(value, type)
