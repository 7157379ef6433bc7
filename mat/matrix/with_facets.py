"""`with_facets`: access to several Mats at once; `barrier`: a block that drops their copies."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.access import Access, AccessGroup
from ..core.barrier import Barrier
from ..core.registry import Facet, Memory, memory_named
from ..errors import DTypeError, FacetError
from ..support.types import Arguments, MemoryName
from .base import MatBase


def with_facets(*requests: Arguments) -> AccessGroup:
    """Access several Mats at once: ``with with_facets((x, "array", "input"), ...) as (a, ...):``.

    Parameters
    ----------
    *requests : tuple
        ``(mat, facet, direction)``, with the direction ``"io"`` if it is left out; see `Mat.facet`.
        Directions are joined for each storage first: one that is requested for input and for output
        is accessed for ``io``.

    Returns
    -------
    AccessGroup
        A context manager whose block is given a tuple of what the facets present.

    Raises
    ------
    DTypeError
        If a request does not begin with a Mat.
    FacetError, DirectionError, AliasError
        As `Mat.facet`.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.ones(2), mat.zeros(2)
    >>> with mat.with_facets((x, "array", "input"), (y, "array", "output")) as (a, b):
    ...     b[:] = 2 * a
    >>> y
    <Mat 2 A [2. 2.]>
    """
    accesses = []
    for request in requests:
        if not isinstance(request, (tuple, list)):
            raise _not_tuples(requests)
        if not 2 <= len(request) <= 3 or not isinstance(request[0], MatBase):
            raise DTypeError(f"with_facets requires (mat, facet, direction), got {request!r}; "
                             "mat.from_numpy(a) makes a Mat of an array without copying")
        accesses.append(_requested(tuple(request)))
    return AccessGroup(accesses)


def _requested(request: Arguments) -> Access:
    mat = request[0]
    access: Access = mat._facet(request[1], request[2] if len(request) == 3 else "io")
    access.entered = True  # by the group, whose own state tells whether that is unused
    return access


def _not_tuples(requests: Arguments) -> DTypeError:
    """Return the error for requests that are not tuples, such as those of a single Mat."""
    if isinstance(requests[0], MatBase) and len(requests) > 1 and isinstance(requests[1], str):
        given = ", ".join(map(repr, requests[1:3]))
        return DTypeError(f"with_facets requires a tuple for each Mat: with_facets((x, {given})), "
                          f"or x.facet({given}) for a single one, got a "
                          f"{type(requests[0]).__name__} and {given}")
    wrong = next(r for r in requests if not isinstance(r, (tuple, list)))
    return DTypeError(f"with_facets requires tuples (mat, facet, direction), got {wrong!r}")


def barrier(ensure: MemoryName | Memory | Facet = "host",
            drop: MemoryName | Memory | Facet | tuple[MemoryName | Memory | Facet, ...] = (),
            ) -> Barrier:
    """Drop, at the end of a block, the copies that it made in some memories.

    Data that would be fresh nowhere else is copied to the memory `ensure` first, so nothing is
    lost.

    Parameters
    ----------
    ensure : str, Memory or Facet
        The memory in which data remains: its name, or the object that was registered.
    drop : str, Memory, Facet or tuple of them
        The memories whose copies are dropped, such as "cuda".

    Returns
    -------
    Barrier
        A context manager. Its ``count`` is the number of copies that would be dropped now.

    Raises
    ------
    FacetError
        If there is no such memory, or `ensure` is among those to drop.
    ConflictError
        At the end of the block, for a copy that is still accessed or kept; it remains.

    Examples
    --------
    >>> import mat
    >>> with mat.barrier(drop=()) as b:
    ...     b.count
    0
    """
    names = drop if isinstance(drop, Iterable) and not isinstance(drop, str) else (drop,)
    dropped = tuple(memory_named(name) for name in names)
    if memory_named(ensure) in dropped:
        raise FacetError(f"a barrier cannot both ensure and drop {ensure!r}")
    return Barrier(memory_named(ensure), dropped)
