"""Deferral: which operations of a `fused` block have pending results."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ...core.compiled import IN_USE, THREADS, context_value
from ...core.direction import OUTPUT
from ...core.pending import DEFERRALS
from ...core.recorder import RECORDERS
from ...devices.in_use import CPU, Device
from ...errors import OutOfDeviceMemory
from ...layout.attributes import begin_as_nothing
from ...layout.orders import axes_of_steps, with_axes
from ...layout.shapes import Ints
from ...matrix.base import Form, MatBase, form_of_result
from ...matrix.mat import Mat
from ...memories.file_pages import is_only_map
from ...support.dtypes import EXACT, STORED
from ...support.native import compiled
from ...support.open_blocks import Body, Nested, enter, leave, remove, still_open
from ...support.types import Arguments
from ..engine.calls import RULES, Deferral
from ..engine.operation import NO_KEYWORDS, Op
from ..engine.plan import Plan
from ..engine.planning import choose
from ..tiles.tile import CUTS, being_cut
from .computing import EXPRESSIONS, Computing
from .folds import (
    IN_PROGRAM,
    IN_TILES,
    OF_ELEMENTS,
    has_shape_of_operands,
    is_cut,
    is_cut_on,
    uses_kernels,
    way_of,
)
from .in_place import (
    can_wait_in_place,
    compute_other_readers,
    overwrites,
    updates_all,
)
from .nodes import (
    VALUES,
    Argument,
    Leaf,
    Node,
    Statements,
    count_readers,
    leaf_of,
    new_leaf,
    new_node,
    viewers,
)
from .passes import (
    ALONE,
    MOST_NODES,
    Pass,
    in_order,
    is_plain,
    kept_bytes,
    most_kept,
)
from .program import fold_part_of, is_loop, part_of

LEAST = 1 << 16  # bytes of a result; smaller ones are computed at once
_JOINS, _DOES_NOT = 1, 2  # of a plan: whether its kernel can be part of a program


class Fused(Nested):
    """The use of a `fused` block by a context."""

    def __init__(self) -> None:
        self.statements = Statements(LEAST)

    def begin(self) -> None:
        """Let operations ask whether their results are pending."""
        IN_USE.append(self)
        DEFERRALS.append(self)

    def end(self) -> None:
        """Undo `begin`, as far as it came: `Calls` counts on as many uses as deferrals."""
        remove(DEFERRALS, self)
        remove(IN_USE, self)


INNERMOST: ContextVar[Fused | None] = ContextVar("mat_fused", default=None)


class FusedBody(Body):
    """The body of a `fused` block."""

    # what it is until it is set: see `begin_as_nothing`
    use: Fused | None

    def copied(self) -> FusedBody:
        return FusedBody.__new__(FusedBody)

    def begin(self) -> None:
        self.use = use = Fused()
        use.begin()
        enter(INNERMOST, use)

    def end(self, error: BaseException | None) -> None:
        use = self.use
        if use is None:
            return
        leave(INNERMOST, use)
        use.end()
        self.use = None
        if error is None:
            compute_values(use)
            return
        try:
            compute_updates(use)
        except Exception as other:
            error.add_note(f"updates of files in the block failed, too: {other!r}")


begin_as_nothing(FusedBody)
PERMANENT: list[Fused] = []  # that of every context, if the setting `fused` is True
# with types of C
_mat, _all, _lock, _threads = Mat, VALUES, EXPRESSIONS.lock, THREADS
_innermost, _cuts, _recorders = INNERMOST, CUTS, RECORDERS
_many, _cpu = MOST_NODES, CPU
_native = bool(compiled(STORED))
_MOST = 1024


class ByBlocks(Deferral):
    """Defers calls that are large enough and can wait, in a `fused` block of the context."""

    def take(self, operation: Any, device: Device, args: Arguments) -> bool:
        block = block_now()
        if block is None or (_all.busy and _all.busy == threading.get_ident()):
            return False
        # what is only planned was deferred before, or cannot be
        if device is not _cpu and not device.computes:
            return False
        if type(args[operation.main]) is not _mat:
            return False
        out = args[operation.main]
        if operation.folds:
            args = turned_fold(operation, args)
            return ((device is not _cpu and defer_rows(operation, device, args, out, block))
                    or defer_fold(operation, device, args, out, block)
                    or compute_fold(operation, device, args, out))
        if operation.assigns and defer_assigned(args, out, block):
            return True
        return defer_elements(operation, device, args, out, block)

    def take_new(self, operation: Any, node: Any, device: Device, args: Arguments,
                 out: MatBase) -> bool:
        block = block_now()
        form = out.known_form
        if block is None or _all.busy or _all.rows or form is None:
            return False
        if not form.size or form.size * form.itemsize < block.least or (_cuts and being_cut()):
            return False
        on_device = device is not _cpu and uses_kernels(device, out)
        plan = operation.plan_on(device if on_device else _cpu, node, args, out)
        if plan is None or plan.joins != _JOINS:
            return False
        _lock.acquire()
        try:
            found = arguments_like(operation, args, form, on_device)
            if found is None:
                return False
            value = new_node(operation, found, form, out.storage.made)
            value.block = block
            value.be_value_of_new(out.storage, out, None)
            keep(block, value)
            return True
        finally:
            _lock.release()


def block_now() -> Statements | None:
    """Return the statements of the innermost block of this context, or None."""
    block = context_value(_innermost)
    if block is not None and block.ended:
        block = still_open(block)
    if block is None and PERMANENT:
        block = PERMANENT[0]
    return None if block is None else block.statements


RULES.append(ByBlocks())


def defer_elements(operation: Any, device: Device, args: Arguments, out: Mat,
                   block: Statements) -> bool:
    """Make an operation's result pending, or compute it; False if it can only be alone."""
    if not out.layout.size or (out.layout.size * out.element_size < block.least
                               and not (_all.rows and device_of_rows(args, out))):
        return False
    if _cuts and being_cut():
        return False
    on_device = device is not _cpu and uses_kernels(device, out)
    plan = known_plan(operation, device if on_device else _cpu, args)
    if plan is None:
        plan, args = plan_checked(operation, device if on_device else _cpu, args)
    if plan is None or plan.joins != _JOINS or not all_can_wait(args, out, on_device):
        return False
    _lock.acquire()
    try:
        compute_unlike(operation, args, out)
        return defer(operation, args, out, block) or compute_into(operation, args, out)
    finally:
        _lock.release()


def defer(operation: Any, args: Arguments, out: Mat, block: Statements) -> bool:
    """Make an operation's result pending; return False if others see the elements."""
    form = out._find_form() if out.known_form is None else out.known_form
    if not form.gapless:
        return False
    value = value_of(out)
    if value is None and (not is_new(out) or reads_its_storage(operation, args, out)):
        return defer_apart(operation, args, out, form, block)
    old = None if value is None else value.old
    found = arguments_of(operation, args, out, value)
    if old is not None and value is not None and value.in_place:
        return defer_in_place(operation, found, out, block)
    node = new_node(operation, found, form, _threads.line())
    begin_in(block, node, args, out)
    node.be_value_of(out.storage, out, old)
    keep(block, node)
    return True


def defer_apart(operation: Any, args: Arguments, out: Mat, form: Form, block: Statements) -> bool:
    """Make an operation's result pending in a new storage of `out`; False if it cannot be."""
    # repeated launches write where it is now
    if _recorders and threading.get_ident() in _recorders:
        return False
    # where a file is, `adopted` is the host
    if block.held is not None and out.storage.adopted is not None and can_wait_in_place(out):
        return defer_in_place(operation, None, out, block, args)
    if not (is_plain(out) and viewers(out) == ALONE + count_readers(out)):
        return False
    old = leaf_of(out)
    found = arguments_of(operation, args, out, old)
    storage = form.new_storage(None)
    node = new_node(operation, found, form, storage.made)
    begin_in(block, node, args, out)
    node.be_value_of_new(storage, out, old if old in found else None)
    out._see(out.layout, storage, old.view if old.view.layout is out.layout else out._as_now())
    keep(block, node)
    return True


def begin_in(block: Statements, node: Node, args: Arguments, out: Mat) -> None:
    """Let a node with these operands be a result of a block."""
    if _all.rows:
        node.device = device_of_rows(args, out)
    node.block = block


def defer_in_place(operation: Any, found: tuple[Argument, ...] | None, out: Mat, block: Statements,
                   args: Arguments = ()) -> bool:
    """Make an operation's result pending in a file; return False if it reads out of order."""
    value = value_of(out)
    if value is None:
        compute_other_readers(out, new_leaf(out).key)
        old: Any = leaf_of(out)
    else:
        old = value.old
    if found is None:
        found = arguments_of(operation, args, out, old)
    if not ((value is None or value.form is out.form) and updates_all(out, found, old.key)) or (
            args and device_of_rows(args, out) is not None):
        out.storage.settle_pending(True)
        return False
    node = new_node(operation, found, out.form, THREADS.line())
    node.block, node.in_place = block, True
    node.be_value_of(out.storage, out, old)
    block.hold(out.storage)
    keep(block, node)
    return True


def defer_assigned(args: Arguments, out: Mat, block: Statements) -> bool:
    """Make an assigned expression the pending value of a Mat in a file; False if it cannot be."""
    x = args[0]
    node = value_of(x) if type(x) is Mat else None
    if node is None or node.device is not None or x.form is not out.form or (
            node.form is not out.form):
        return False
    with EXPRESSIONS.lock:
        value = value_of(out)
        waits = can_wait_in_place(out) if value is None else value.in_place
        if node.leaf is not None or not waits or block.held is None or (
                threading.get_ident() in RECORDERS):
            return False
        return defer_in_place(node.operation, node.args, out, block)


def turned_fold(operation: Any, args: Arguments) -> Arguments:
    """Return the arguments of a reduction; in place of a pending operand that is not stored by
    rows, a Mat that is, with the axes in the order of memory, in which its elements are added.
    """
    if len(args) != 4 or type(args[0]) is not _mat:
        return args
    x, out, axis, keepdims = args
    node = value_of(x)
    if node is None or node.form.layout.contiguous or x.form is not node.form:
        return args
    if keepdims or out.ndim > 1 or operation.__name__.startswith("arg"):  # indices count rows
        return args
    axes = axes_of_steps(node.form.layout)
    with EXPRESSIONS.lock:
        turned = turned_node(node, axes)
        if turned is None:
            return args
        y = turned.form.new(x.device_enabled, None)
        turned.be_value_of(y.storage, y, None)
    if type(axis) is int:
        axis = axes.index(axis % x.ndim)
    elif axis is not None:
        axis = tuple([axes.index(k % x.ndim) for k in axis])
    return y, out, axis, keepdims


def turned_node(node: Node, axes: Ints) -> Node | None:
    """Return a node that computes the elements of another one with permuted axes; None for updates
    and for what needs reductions.
    """
    if node.turned is not None and node.turned[0] == axes:
        return node.turned[1]
    if node.old is not None or node.device is not None or len(node.form.shape) != len(axes):
        return None
    args: list[Argument] = []
    for a in node.args:
        one: Any = a.leaf if isinstance(a, Node) and a.leaf is not None else a
        if isinstance(one, Leaf) and value_of(one.view) is not None:
            return None  # an update waits, whose old elements all readers see alike
        if isinstance(one, Leaf):
            one = leaf_of(one.view.over(with_axes(one.view.layout, axes)))
        elif isinstance(one, Node):
            one = turned_node(one, axes)
            if one is None:
                return None
        args.append(one)
    shape = tuple([node.form.shape[k] for k in axes])
    made = new_node(node.operation, tuple(args), form_of_result(shape, node.form.dtype), node.line)
    made.block = node.block
    node.turned = axes, made
    return made


def defer_rows(operation: Any, device: Device, args: Arguments, out: Mat,
               block: Statements) -> bool:
    """Make a reduction of rows pending, for one kernel with its readers; False if it cannot be."""
    if not uses_kernels(device, out):
        return False
    x = args[0]
    if type(x) is not Mat or x.layout.size * x.element_size < block.least or not is_new(out):
        return False
    if device.limit is not None or being_cut() or threading.get_ident() in RECORDERS:
        return False
    if not (can_wait(x, True) and reduces_rows(operation, x, out, args[2:], device)):
        return False
    with EXPRESSIONS.lock:
        value = value_of(x)
        if value is None:
            if not (x.form.whole and x.layout.contiguous):  # others are added in another order
                return False
        elif x.form is not value.form or value.device is not None or not (
                x.layout.contiguous and has_shape_of_operands(value)):
            return False
        argument: Any = leaf_of(x) if value is None else value
        defer_for_rows(operation, device, (argument, *args[2:]), out, block)
    return True


def defer_for_rows(operation: Op, device: Device, found: tuple[Argument, ...], out: Mat,
                   block: Statements) -> None:
    """Make a reduction on a device of those arguments the pending value of `out`."""
    node = new_node(operation, found, out.form, _threads.line())
    node.device, node.block, _all.rows = device, block, True
    node.be_value_of(out.storage, out, None)
    keep(block, node)


def defer_fold(operation: Op, device: Device, args: Arguments, out: Mat, block: Statements) -> bool:
    """Make a reduction pending, to be carried out with others of its operands; False for others."""
    if type(args[0]) is not _mat or not is_new(out) or not _native:
        return False
    x = args[0]
    if (_cuts and being_cut()) or (_recorders and threading.get_ident() in _recorders):
        return False
    node = value_of(x)
    if node is None and not (can_wait(x, False) and is_cut(device, x, out)):
        return False
    settings = args[2:]
    _lock.acquire()
    try:
        way = IN_TILES if node is None else way_of_waiting(operation, settings, node, x, out,
                                                           device)
        if way == OF_ELEMENTS:
            return False
        if way == IN_TILES:
            operation.check(*args)
        defer_for_rows(operation, device, (leaf_of(x) if node is None else node, *settings), out,
                       block)
    finally:
        _lock.release()
    return True


def way_of_waiting(operation: Op, settings: Arguments, node: Node, x: Mat, out: Mat,
                   device: Device) -> int:
    """Return how a reduction of a node is carried out later; `OF_ELEMENTS` if it cannot wait."""
    if node.leaf is not None or node.device is not None or x.form is not node.form:
        return OF_ELEMENTS
    if not has_shape_of_operands(node):
        return OF_ELEMENTS
    way = way_of(operation, settings, node, out, device)
    alone = way == IN_PROGRAM and (node.reduced or uses_kernels(device, out))
    return OF_ELEMENTS if alone else way


def reduces_rows(operation: Op, x: Mat, out: Mat, settings: Arguments, device: Device) -> bool:
    """Return whether a reduction has one result for each row, whose shape is kept."""
    if x.ndim < 2 or out.shape != (*x.shape[:-1], 1) or x.shape[-1] < 2 or out.size < 2:
        return False
    return _are_rows(operation, form_of_result(x.shape, x.dtype), out.form, settings, device)


@lru_cache(_MOST)
def _are_rows(operation: Op, form: Form, out: Form, settings: Arguments, device: Device) -> bool:
    """Return the same for Mats of these forms."""
    args = form.new(True, None), out.new(True, None), *settings
    part = fold_part_of(operation, args, device)
    return part is not None and device.facet.engine.is_of_rows(part)


def keep(block: Statements, node: Node) -> None:
    """Compute a value now if it takes many nodes, or if expressions keep too much."""
    block.reads = block.reads + node.reads
    if block.most < 0:
        block.most = most_kept()
    if block.reads > block.most:
        bound(block)
    if node.weight > _many and len(in_order([node])) > _many:
        EXPRESSIONS.compute([node])


def bound(block: Statements) -> None:
    """Compute the values of a block if expressions keep too many bytes that nobody else can see."""
    block.most, block.reads = most_kept(), kept_bytes()
    if block.reads > block.most:
        EXPRESSIONS.compute(block.wanted())
        block.reads = 0


def compute_values(use: Fused) -> None:
    """Compute the wanted values of a block; later, if it ends within a computation."""
    if _all.busy and _all.busy == threading.get_ident():
        EXPRESSIONS.late.append(use.statements)
        return
    statements = use.statements
    found = statements.wanted()
    if found:
        EXPRESSIONS.compute(found)
        statements.reads = 0
    statements.let_go()


def compute_updates(use: Fused) -> None:
    """Compute the updates of files, which are carried out even if nobody reads them."""
    found = [node for node in use.statements.wanted() if overwrites(node)]
    if found:
        EXPRESSIONS.compute(found)
        use.statements.reads = 0


def known_plan(operation: Any, device: Device, args: Arguments) -> Plan | None:
    """Return the plan of the host or a device for a call, if there is one."""
    root = operation.root if device is _cpu else operation.root_of(device)
    node = operation.find(root, args, NO_KEYWORDS, False)
    if node is None or node.plan is None:
        return None
    if not node.plan.joins:
        note_joining(operation, node.plan, device, args)
    return node.plan


def plan_checked(operation: Op, device: Device, args: Arguments) -> tuple[Plan | None, Arguments]:
    """Return a new plan, or None, and its arguments; raise the error of an invalid call."""
    args, kwargs, now = operation._checked(args, {})
    if operation._meets_read(now):
        return None, args
    implementation, pack = choose(operation, operation.implementations, now, device)
    if pack:
        return None, args
    plan = operation._planned(device, implementation, now, kwargs)
    note_joining(operation, plan, device, args)
    return plan, args


def note_joining(operation: Op, plan: Plan, device: Device, args: Arguments) -> None:
    """Remember whether the kernel of a plan can be part of a program."""
    only_writes = (operation.written == [operation.main] and not operation.numbers
                   and operation.role(operation.main).direction is OUTPUT)
    plan.joins = _JOINS if only_writes and (
        is_loop(plan.function) if device is CPU
        else part_of(operation, args, device) is not None) else _DOES_NOT


def compute_into(operation: Op, args: Arguments, out: Mat) -> bool:
    """Compute an operation with its pending operands into `out`; False if it has none."""
    out.storage.settle_pending(True)  # what reads the elements that are overwritten
    if not any(isinstance(args[k], Mat) and value_of(args[k]) for k in operation.others):
        return False
    if not is_row_major(out):
        return False
    with Computing():
        return computed_into(operation, args, out)


def computed_into(operation: Op, args: Arguments, out: Mat) -> bool:
    """Compute an operation into `out`; return False if that shares elements with its operands."""
    old = leaf_of(out) if any(args[k] is out for k in operation.others) else None
    found = arguments_of(operation, args, out, old)
    node = new_node(operation, found, form_of_result(out.shape, out.dtype), THREADS.line())
    EXPRESSIONS.compute_needed(node)
    leaves = [a for n in in_order([node]) for a in n.args if isinstance(a, Leaf)]
    key = new_leaf(out).key
    if any(a.view.storage is out.storage and a.key != key for a in leaves):
        return False
    EXPRESSIONS.run(Pass([node], (out,)))
    return True


def compute_fold(operation: Op, device: Device, args: Arguments, out: Mat) -> bool:
    """Compute a reduction with its operand, which stays pending; False if it cannot be."""
    x = args[0]
    node = value_of(x) if type(x) is Mat else None
    if node is None or node.reduced or x.form is not node.form or not is_new(out) or being_cut():
        return False
    with EXPRESSIONS.lock, Computing():
        EXPRESSIONS.compute_needed(node)
        if node.leaf is not None or not has_shape_of_operands(node):
            return False
        one = Pass([node], (out,), ((operation, args[2:]),))
        way = way_of(operation, args[2:], node, out, device)
        if way == OF_ELEMENTS or (way == IN_PROGRAM and uses_kernels(device, out)
                                  and not one.joins()):
            return False
        node.reduced = True
        try:
            EXPRESSIONS.run(one)
        except OutOfDeviceMemory:  # for all operands together
            node.reduced = False
            return False
    return True


def is_row_major(mat: Mat) -> bool:
    """Return whether the last axes of a Mat have the smallest steps, as kernels take elements."""
    layout = mat.layout
    steps = [abs(s) for n, s in zip(layout.shape, layout.strides, strict=True) if n > 1]
    return all(a > b for a, b in pairwise(steps))


# What an operation reads: what is pending of a storage as a node, elements that are there as a leaf


_mat, _exact = Mat, EXACT  # with types of C


def value_of(mat: MatBase) -> Node | None:
    """Return the node whose value the storage of `mat` is to have, or None."""
    pending: Any = mat.storage.pending
    return None if pending is None else pending.value


def arguments_like(operation: Any, args: Arguments, form: Form,
                   on_device: bool) -> tuple[Argument, ...] | None:
    """Return the operands of an operation; None unless all are like a result of that form."""
    if operation.binary:  # without a list
        x = argument_like(args[0], form, on_device)
        y = None if x is None else argument_like(args[1], form, on_device)
        return None if y is None else (x, y)
    found = [argument_like(args[k], form, on_device) for k in operation.others]
    return None if None in found else tuple(found)


def argument_like(value: Any, form: Form, on_device: bool) -> Argument | None:
    """Return the value or leaf of an operand; None for others, which cannot be read later."""
    if type(value) is not _mat:
        return value  # exact, as any that a plan is found by
    view = value
    if (view.storage.adopted is not None or view.storage.records
            or (on_device and not view.device_enabled)):
        return None
    pending = view.storage.pending
    if pending is None or pending.value is None:
        return leaf_of(view)  # which nobody keeps if another operand is unlike
    node: Any = pending.value
    return node if view.known_form is form and node.form is form else None


def arguments_of(operation: Any, args: Arguments, out: MatBase,
                 old: Node | Leaf | None) -> tuple[Argument, ...]:
    """Return the operands of an operation as values or leaves; `old` is that of `out`."""
    if operation.binary:  # without a list
        return (argument_of(args[0], out, old), argument_of(args[1], out, old))
    return tuple([argument_of(args[k], out, old) for k in operation.others])


def argument_of(value: Any, out: MatBase, old: Node | Leaf | None) -> Argument:
    """Return the value or leaf of an operand; `old` is that of `out`."""
    if value is out and old is not None:
        return old
    if type(value) is not _mat:
        return value  # a number
    found = value_of(value)
    return leaf_of(value) if found is None else found


def reads_its_storage(operation: Any, args: Arguments, out: MatBase) -> bool:
    """Return whether an operand has the storage of `out`: a value pending there would keep itself
    alive.
    """
    for k in operation.others:
        if type(args[k]) is _mat:
            view = args[k]
            if view.storage is out.storage:
                return True
    return False


def is_new(mat: MatBase) -> bool:
    """Return whether the elements of a Mat are arbitrary, and nobody accesses it."""
    storage = mat.storage
    if storage.pending is not None or not storage.pristine or storage.fresh:
        return False
    if storage.fill_value is not None or storage.spans is not None or storage.records:
        return False
    return storage.kept is None and storage.adopted is None and not storage.async_copies


def all_can_wait(args: Arguments, out: MatBase, on_device: bool) -> bool:
    """Return whether all operands are exact and can be read later, on a device if `on_device`."""
    if not can_wait(out, on_device):
        return False
    for value in args:
        if type(value) is _mat:
            if value is not out and not can_wait(value, on_device):
                return False
        elif isinstance(value, MatBase) or (type(value) is int and not (
                0 <= value < 128 or -_exact <= value <= _exact)):  # the first is the quicker test
            return False
    return True


def can_wait(view: MatBase, on_device: bool) -> bool:
    """Return whether a Mat can be read later, on a device if `on_device`: nobody else writes it."""
    storage = view.storage
    if on_device and not view.device_enabled:
        return False
    if storage.records and storage.is_being_written(view) and not is_recorded(view):
        return False
    if storage.adopted is None:
        return True
    pages = getattr(storage, "pages", None)
    return pages is not None and is_only_map(pages)


def is_recorded(view: MatBase) -> bool:
    """Return whether only operations of a recording access the elements of a Mat."""
    recorder = RECORDERS.get(threading.get_ident())
    return recorder is not None and recorder.accesses_all(view.storage)


def compute_unlike(operation: Any, args: Arguments, out: MatBase) -> None:
    """Compute pending operands that are views, or broadcast: they are no nodes of the same pass."""
    for k in operation.others:
        if args[k] is out:
            compute_if_unlike(out, out)
        elif type(args[k]) is _mat:
            compute_if_unlike(args[k], out)


def compute_if_unlike(view: MatBase, out: MatBase) -> None:
    """Compute the value of an operand, if it is pending and no node of the same pass."""
    value = value_of(view)
    if value is None or (view.known_form is value.form and value.form is out.known_form):
        return
    if view.form is value.form and view.layout.shape == out.layout.shape:
        return
    if not (value.device is not None and view.form is value.form
            and (is_cut_on(value.device)
                 or view.layout.shape == (*out.layout.shape[:-1], 1))):
        value.compute()


def device_of_rows(args: Arguments, out: MatBase) -> Any:
    """Return the device of a pending operand for rows of the shape of `out`, or None."""
    for x in args:
        value = value_of(x) if type(x) is Mat else None
        if value is not None and value.device is not None and x.layout.shape == out.layout.shape:
            return value.device
    return None
