"""Deferral: which operations of a `mat.fused` block have pending results, and these blocks."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar, overload
from weakref import ref

from ...core.compiled import IN_USE, THREADS
from ...core.direction import OUTPUT
from ...devices.in_use import BEFORE_LEAVING, CPU, Device, has_kernels, in_use
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...support.dtypes import EXACT
from ...support.open_blocks import Decorating, Nested, enter, leave, remove, still_open
from ...support.types import Arguments, Function, Operand
from ..engine.calls import DEFERRALS, Deferral
from ..engine.operation import NO_KEYWORDS, Op
from ..engine.plan import Plan
from ..engine.planning import choose
from ..tiles.tiling import being_cut
from .nodes import Argument, Leaf, Node, leaf_of, viewers
from .passes import ALONE, EXPRESSIONS, MOST_NODES, Pass, in_order, is_plain, readers_of
from .program import fold_of, is_loop, part_of

F = TypeVar("F", bound=Function)
LEAST = 1 << 16  # bytes of a result; smaller ones are computed at once
_JOINS, _DOES_NOT = 1, 2  # of a plan: whether its kernel can be part of a program


class Fused(Nested):
    """The use of a `fused` block by a context."""

    __slots__ = ("least", "values")

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least: int = least
        self.values: list[ref[Node]] = []  # whose statements are in the block


_innermost: ContextVar[Fused | None] = ContextVar("mat_fused", default=None)


class Deferring(Deferral):
    """Decides for each operation whether its result is pending."""

    def take(self, operation: Op, args: Arguments) -> bool:
        """Make the result of a call pending, or compute it with the pending operands in one pass;
        return False, with nothing done, where the call is to be carried out alone.
        """
        block = still_open(_innermost.get())
        if block is None or EXPRESSIONS.busy == threading.get_ident():
            return False
        out = args[operation.main]
        if operation.folds:
            return type(out) is Mat and compute_fold(operation, args, out)
        if type(out) is not Mat or out.nbytes < block.least or not out.size or being_cut():
            return False
        device = in_use() if has_kernels(out) else CPU
        if device is not CPU and not all(args[k].device_enabled for k in operation.others
                                         if isinstance(args[k], Mat)):
            return False
        plan, args = plan_of(operation, args, device)
        if plan is None or not all(can_wait(args[k]) for k in operation.others):
            return False
        with EXPRESSIONS.lock:
            compute_unlike(operation, args, out)
            node = self.defer(operation, args, out)
            if node is not None:
                keep(block, node)
            return node is not None or compute_into(operation, args, out)

    @staticmethod
    def defer(operation: Op, args: Arguments, out: Mat) -> Node | None:
        """Make the result of an operation the pending value of `out`, and return its node; None: it
        cannot be, since others see the elements.
        """
        if not (out.form.whole and out.is_contiguous):
            return None
        value, storage = value_of(out), out.storage
        old: Leaf | None = None
        if value is not None:
            old = value.old
            found = arguments_of(operation, args, out, value)
        elif is_new(out):
            found = arguments_of(operation, args, out, None)
        else:
            del storage
            if not (is_plain(out) and viewers(out) == ALONE + len(readers_of(out))):
                return None
            old = leaf_of(out)
            found = arguments_of(operation, args, out, old)
            old = old if old in found else None
            storage = out.form.new(out.device_enabled, None).storage
        node = Node(operation, found, out.form, THREADS.line())
        node.be_value_of(storage, out, old)
        if storage is not out.storage:  # the elements stay where they are
            out._see(out.layout, storage, out._as_now())
        return node


def keep(block: Fused, node: Node) -> None:
    """Have a value computed at the end of a block, or now if it takes many nodes."""
    block.values.append(ref(node))
    if node.weight > MOST_NODES and len(in_order([node])) > MOST_NODES:
        EXPRESSIONS.compute([node])


DEFERRING = Deferring()


def plan_of(operation: Op, args: Arguments, device: Device) -> tuple[Plan | None, Arguments]:
    """Return the plan of the host or a device for a call, if its kernel can be part of a program,
    and the arguments that it is for; raise the error of a call that cannot be.
    """
    node = operation.walk(operation.root_of(device), args, NO_KEYWORDS, False)
    plan = None if node is None else node.plan
    if plan is None:
        args, kwargs, now = operation._checked(args, {})
        if operation._meets_read(now):
            return None, args
        implementation, pack = choose(operation, operation.implementations, now, device)
        if pack:
            return None, args
        plan = operation._planned(device, implementation, now, kwargs)
    if not plan.joins:
        only_writes = (operation.written == [operation.main] and not operation.numbers
                       and operation.role(operation.main).direction is OUTPUT)
        plan.joins = _JOINS if only_writes and (
            is_loop(plan.function) if device is CPU else
            part_of(operation, args, device) is not None) else _DOES_NOT
    return plan if plan.joins == _JOINS else None, args


def value_of(mat: Mat) -> Node | None:
    """Return the node whose value the storage of `mat` is to have, or None."""
    pending = mat.storage.pending
    value: Any = None if pending is None else pending.value
    found: Node | None = value
    return found


def is_new(mat: Mat) -> bool:
    """Return whether the elements of a Mat are arbitrary, and nobody accesses it."""
    storage = mat.storage
    return (storage.pristine and not storage.fresh and storage.fill_value is None
            and storage.spans is None and is_plain(mat) and storage.pending is None)


def can_wait(value: Operand) -> bool:
    """Return whether an operand can be read later: nobody else writes it, and it is exact."""
    if type(value) is int:
        return -EXACT <= value <= EXACT
    if not isinstance(value, Mat):
        return True
    return type(value) is Mat and not (value.storage.is_being_written(value) or is_of_others(value))


def compute_unlike(operation: Op, args: Arguments, out: Mat) -> None:
    """Compute pending operands that are views, or broadcast: they are no nodes of the same pass."""
    for k in operation.others:
        value = value_of(args[k]) if isinstance(args[k], Mat) else None
        if value is not None and not (args[k].form is value.form and args[k].shape == out.shape):
            value.compute()


def arguments_of(operation: Op, args: Arguments, out: Mat,
                 old: Node | Leaf | None) -> tuple[Argument, ...]:
    """Return what an operation reads; `old` is that of `out`."""
    return tuple(old if args[k] is out and old is not None else
                 leaf_or_node(args[k]) if isinstance(args[k], Mat) else args[k]
                 for k in operation.others)


def leaf_or_node(mat: Mat) -> Leaf | Node:
    """Return the pending value of a Mat, or a leaf with its elements."""
    return value_of(mat) or leaf_of(mat)


def is_of_others(mat: Mat) -> bool:
    """Return whether somebody else may write the elements of a Mat."""
    storage: Any = mat.storage
    return storage.adopted is not None and getattr(storage, "pages", None) is None


def compute_into(operation: Op, args: Arguments, out: Mat) -> bool:
    """Compute an operation together with its pending operands, into `out`; return False if there
    are none, or `out` shares elements with what they read.
    """
    out.storage.settle_pending(True)  # what reads the elements that are overwritten
    if not any(isinstance(args[k], Mat) and value_of(args[k]) for k in operation.others):
        return False
    if not is_row_major(out):
        return False
    old = leaf_of(out) if any(args[k] is out for k in operation.others) else None
    found = arguments_of(operation, args, out, old)
    node = Node(operation, found, form_of_result(out.shape, out.dtype), THREADS.line())
    leaves = [a for n in in_order([node]) for a in n.args if isinstance(a, Leaf)]
    key = Leaf(out).key
    if any(a.view.storage is out.storage and a.key != key for a in leaves):
        return False
    EXPRESSIONS.run(Pass([node], out))
    return True


def compute_fold(operation: Op, args: Arguments, out: Mat) -> bool:
    """Compute a reduction together with its pending operand; return False if it is not pending, or
    cannot be.

    The operand remains pending, as it may be a temporary one; if it is reduced again, it is not.
    """
    x = args[0]
    node = value_of(x) if type(x) is Mat else None
    if node is None or x.form is not node.form or not is_new(out) or being_cut():
        return False
    if node.reduced or in_use().limit is not None or has_kernels(out):
        return False
    with EXPRESSIONS.lock:
        if node.leaf is not None:
            return False
        stand_in = node.form.new(node.enabled, None)
        if fold_of(operation, (stand_in, *args[1:])) is None:
            return False
        node.reduced = True
        EXPRESSIONS.run(Pass([node], out, (operation, args[2:])))
    return True


def is_row_major(mat: Mat) -> bool:
    """Return whether the last axes of a Mat have the smallest steps, as kernels take elements."""
    layout = mat.layout
    steps = [abs(s) for n, s in zip(layout.shape, layout.strides, strict=True) if n > 1]
    return all(a > b for a, b in pairwise(steps))


class FusedBlock(Decorating[None]):
    """The context manager that `fused` returns."""

    __slots__ = ("use",)

    def __init__(self) -> None:
        super().__init__()
        self.use: Fused | None = None
        self.warn_unless_entered("mat.fused()")

    def begin(self) -> None:
        self.use = use = Fused(LEAST)
        IN_USE.append(use)
        DEFERRALS.append(DEFERRING)
        enter(_innermost, use)

    def end(self, error: BaseException | None) -> None:
        use = self.use
        if use is None:
            return
        leave(_innermost, use)
        if use in IN_USE:
            remove(IN_USE, use)
            remove(DEFERRALS, DEFERRING)
        if error is None:
            compute_values(use)
        self.use = None


def compute_values(use: Fused) -> None:
    """Compute the values of a block that are wanted."""
    found = [n for n in (r() for r in use.values) if n is not None and n.wanted() is not None]
    use.values = []
    if found:
        EXPRESSIONS.compute(found)


def compute_here() -> None:
    """Compute the pending values of this context's blocks."""
    use = still_open(_innermost.get())
    while use is not None:
        compute_values(use)
        use = still_open(use.parent)


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

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(300, 300)
    >>> with mat.fused():
    ...     y = 2 * x + x * x
    >>> y.sum()
    np.float64(270000.0)
    """
    return FusedBlock() if function is None else FusedBlock()(function)
