"""`fused`: the block in which results are pending."""

from __future__ import annotations

from typing import TypeVar, overload

from ...devices.in_use import BEFORE_LEAVING
from ...errors import DTypeError
from ...support.open_blocks import Decorating, enter, leave, still_open
from ...support.types import Function
from .deferral import INNERMOST, PERMANENT, Fused, compute_values

F = TypeVar("F", bound=Function)
LEAST = 1 << 16  # bytes of a result; smaller ones are computed at once


class FusedBlock(Decorating[None]):
    """The context manager that `fused` returns."""

    __slots__ = ("use",)

    def __init__(self) -> None:
        super().__init__()
        self.use: Fused | None = None
        self.warn_unless_entered("mat.fused()")

    def begin(self) -> None:
        self.use = use = Fused(LEAST)
        use.begin()
        enter(INNERMOST, use)

    def end(self, error: BaseException | None) -> None:
        use = self.use
        if use is None:
            return
        leave(INNERMOST, use)
        use.end()
        if error is None:
            compute_values(use)
        self.use = None


def compute_here() -> None:
    """Compute the pending values of this context's blocks."""
    use = still_open(INNERMOST.get())
    while use is not None:
        compute_values(use)
        use = still_open(use.parent)
    for permanent in tuple(PERMANENT):
        compute_values(permanent)


def fuse_permanently(fused: bool) -> None:
    """Put every context into a block, or end that block and compute its values."""
    if fused and not PERMANENT:
        use = Fused(LEAST)
        use.begin()
        PERMANENT.append(use)
    elif not fused and PERMANENT:
        use = PERMANENT.pop()
        use.end()
        compute_values(use)


BEFORE_LEAVING.append(compute_here)


@overload
def fused() -> FusedBlock: ...
@overload
def fused(function: F, /) -> F: ...
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
