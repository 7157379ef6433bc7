"""`fused`: the block in which results are pending."""

from __future__ import annotations

import atexit
import threading
from typing import Any, Never, TypeVar, overload

from ...devices.in_use import BEFORE_LEAVING
from ...errors import DTypeError
from ...support.fork import at_fork
from ...support.open_blocks import Decorating, still_open
from ...support.types import Function
from ...support.unbound import Unbound
from .computing import EXPRESSIONS
from .deferral import INNERMOST, PERMANENT, Fused, FusedBody, compute_values
from .in_place import overwrites
from .nodes import VALUES

F = TypeVar("F", bound=Function)


class FusedBlock(FusedBody, Decorating[None]):
    """The context manager that `fused` returns."""

    def __init__(self) -> None:
        self.warn_unless_entered("mat.fused()")


def compute_here() -> None:
    """Compute the pending values of this context's blocks, unless this thread does already."""
    if VALUES.busy == threading.get_ident():
        return
    use = still_open(INNERMOST.get())
    while use is not None:
        compute_values(use)
        use = still_open(use.parent)
    for permanent in tuple(PERMANENT):
        compute_values(permanent)


def is_open() -> bool:
    """Return whether results may be pending in this context."""
    return bool(PERMANENT) or still_open(INNERMOST.get()) is not None


def fuse_permanently(fused: bool) -> None:
    """Put every context into a block, or end that block and compute its values."""
    if fused and not PERMANENT:
        use = Fused()
        use.statements.held = None  # files are updated at once, since the block may have no end
        use.begin()
        PERMANENT.append(use)
    elif not fused and PERMANENT:
        use = PERMANENT.pop()
        use.end()
        compute_values(use)


def compute_all_updates() -> None:
    """Compute updates of files in all blocks.

    Before a fork: else parent and child would carry them out, one after the other. At exit, in
    blocks that are still open: before what devices have is copied home.
    """
    if VALUES.in_place and VALUES.busy != threading.get_ident():
        EXPRESSIONS.compute([node for node in VALUES.wanted() if overwrites(node)])


BEFORE_LEAVING.append(compute_here)
atexit.register(compute_all_updates)
at_fork(before=compute_all_updates)


class _Called(Unbound):
    """A function that returns a block, and says so where ``with`` is given the function itself."""

    def __enter__(self) -> Never:
        raise DTypeError(f"mat.{vars(self)['__name__']} has to be called: write "
                         f"with mat.{vars(self)['__name__']}(): ...")

    def __exit__(self, *error: object) -> None:
        """Without this ``with`` would not look for the other."""


def _called(function: F) -> F:
    made: Any = _Called(function)  # which has its signature
    return made


@overload
def fused() -> FusedBlock: ...
@overload
def fused(function: F, /) -> F: ...
@_called
def fused(function: Function | None = None, /) -> Function | FusedBlock:
    """Return a block whose element-wise operations are computed together: ``with mat.fused():``.

    In the block the result of an element-wise operation with at least 65,536 bytes is *pending*: it
    has shape and dtype, and no elements yet. These are computed when they are read, when an operand
    is about to be written, and at the end of the block, those of one shape in one pass over the
    operands: in blocks that stay in the caches, on devices in tiles of the whole expression.
    Results that nobody can see any more are not computed. Elements, dtypes and errors are those
    without the block. It concerns the current thread or task only.

    Parameters
    ----------
    function : callable, optional
        A function that is to run in such a block: ``@mat.fused``.

    Returns
    -------
    context manager or callable
        The block, which also decorates functions; or the function.

    Raises
    ------
    DTypeError
        If `function` cannot be called.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(300, 300)
    >>> with mat.fused():
    ...     y = 2 * x + x * x
    >>> float(y.sum())
    270000.0
    """
    if function is None:
        return FusedBlock()
    if not callable(function):
        raise DTypeError(f"mat.fused decorates a function, got {type(function).__name__}; "
                         "with mat.fused(): ... is a block")
    return FusedBlock()(function)
