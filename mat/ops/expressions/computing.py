"""How pending values are computed: in which passes, in which order, and what is done where a device
has no room for them. One thread computes at a time, and nothing else in the middle of it.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, suppress
from typing import Any

from ...core.compiled import IN_USE, THREADS
from ...core.observers import OBSERVERS, PASSES
from ...core.pending import DEFERRALS
from ...devices.device import use_device
from ...devices.in_use import CPU, Device, devices_in_use, in_use, used
from ...errors import OutOfDeviceMemory
from ...layout.orders import axes_of_steps
from ...layout.shapes import Ints
from ...matrix.base import MAKER
from ...matrix.mat import Mat
from ..tiles.tile import CUTS, calls_of_their_own
from .folds import (
    IN_PROGRAM,
    IN_TILES,
    is_cut_on,
    joined_with,
    leaf_or_node,
    number_of,
    unit_of,
    uses_kernels,
    views_read_by,
    way_of,
)
from .in_place import claim_read, overwrites, with_readers
from .nodes import VALUES, Expressions, Leaf, Node, Statements, in_words, new_leaf
from .passes import MOST_NODES, Pass, add_lines, in_order, in_passes, numbered, settle
from .program import JoinedFold, NotOnePassError, Operands, RowPrograms, together

MOST_PROGRAMS = 7  # of a kernel of rows, as their frames have room for
# with types of C
_maker, _all, _threads, _cuts = MAKER, VALUES, THREADS, CUTS
_in_use, _deferrals, _ident = IN_USE, DEFERRALS, threading.get_ident


class Computing:
    """A block, with the lock held, in which this thread computes and nothing new is pending."""

    def __enter__(self) -> None:
        self.before: int = begin_computing()

    def __exit__(self, *error: object) -> None:
        end_computing(self.before)


def begin_computing() -> int:
    """Begin a block `Computing`; return the argument of its end."""
    before = _all.busy
    _all.busy = _ident()
    return before


def end_computing(before: int) -> None:
    """End a block `Computing`."""
    _all.busy = before
    if not before and EXPRESSIONS.late:
        EXPRESSIONS.compute_late()


def on(device: Device) -> AbstractContextManager[object]:
    """Return a block in which a device is the one in use, perhaps again, or in another thread."""
    return used(device) if device in devices_in_use() else use_device(device)


def target_of(fold: Node) -> Mat:
    """Return where the results of a reduction of rows go."""
    storage = fold.wanted()
    if storage is None:
        return fold.form.new(fold.enabled, None)
    view = _maker.make()
    view._set_up(storage, fold.form.layout, fold.form, fold.enabled)
    return view


def are_of_same_rows(values: list[Node], passes: list[Pass]) -> bool:
    """Return whether passes reduce the same rows, or compute with results of such."""
    shape = passes[0].shape()
    for node, one in zip(values, passes, strict=True):
        of_rows = (one.has_shape_of(node) and one.shape() == shape if node.operation.folds
                   else node.form.shape == (*shape[:-1], 1))
        if not of_rows:
            return False
    return values[0].operation.folds


def pass_of(fold: Node, view: Mat) -> Pass:
    """Return the pass that computes a reduction of rows, or of their results, into `view`."""
    if not fold.operation.folds:
        one = Pass([fold], (view,))
        one.choose_targets()
        return one
    return Pass([leaf_or_node(fold.args[0])], (view,), ((fold.operation, fold.args[1:]),))


def claim_all(passes: list[Pass], last: Pass, thread: int) -> None:
    """Let that thread write the results of passes."""
    claim_views([view for one in passes for view in one.outs], thread)
    last.claim(thread)


def claim_views(views: list[Any], thread: int) -> None:
    """Let that thread write Mats whose values were pending."""
    for view in views:
        pending = view.storage.pending
        if pending is not None:
            pending.computing = thread


def how_of(fold: Node, view: Mat) -> tuple[int, int]:
    """Return how a reduction is carried out, and the units of a program of it."""
    argument, settings = fold.args[0], fold.args[1:]
    way = way_of(fold.operation, settings, argument, view, fold.device)
    one: Any = leaf_or_node(argument)
    return way, 0 if way != IN_PROGRAM else unit_of(fold.operation, one.form, view.form, settings,
                                                    CPU)


def run_together(folds: list[Node], views: list[Mat]) -> bool:
    """Carry out reductions in tiles; return False if there is no room for parts of all operands."""
    found, members, nodes = Operands(), [], dict[Node, None]()
    for fold, view in zip(folds, views, strict=True):
        one = pass_of(fold, view)
        program = one.program()  # which collects the operands
        nodes |= dict.fromkeys([*one.order, fold])
        places = found.places_of((*one.operands, view), one.letters + "o")
        members.append(JoinedFold(program if one.order else None, fold.operation, fold.args[1:],
                              places))
    if OBSERVERS:
        PASSES[threading.get_ident()] = in_words(
            sorted(nodes, key=number_of), len(found.places) - len(views), len(views), ", in parts")
    try:
        together("".join(found.letters), tuple(members)).evaluate(tuple(found.values))
    except OutOfDeviceMemory:
        if not any(one.program for one in members):
            raise
        return False
    return True


def run_in_program(folds: list[Node], views: list[Mat]) -> bool:
    """Carry out reductions in as few programs as may be; return False if there is no room."""
    one = Pass([fold.args[0] for fold in folds], tuple(views),
               tuple((fold.operation, fold.args[1:]) for fold in folds))
    if len(one.order) > MOST_NODES and len(folds) > 1:
        half = len(folds) // 2
        return (run_in_program(folds[:half], views[:half])
                and run_in_program(folds[half:], views[half:]))
    try:
        EXPRESSIONS.run(one)
    except OutOfDeviceMemory:
        return False
    for fold in folds:
        reduced: Any = fold.args[0]
        reduced.reduced = True
    return True


def compute_all(nodes: list[Node]) -> None:
    """Compute those of the nodes that are not; nothing else computes meanwhile."""
    if _all.in_place:
        nodes = with_readers(nodes)
    if _all.rows:
        if len(nodes) == 1 and not _all.in_place and compute_lone_fold(nodes[0]):
            return
        nodes = EXPRESSIONS.compute_rows(nodes)
    if are_of_one_shape(nodes):
        compute_alike(nodes)
        return
    by_shape: dict[Ints, list[Node]] = {}
    for node in nodes:
        by_shape.setdefault(node.form.shape, []).append(node)
    groups = list(by_shape.values())
    if _all.in_place:  # last, since others read what they overwrite
        groups.sort(key=lambda found: any(map(overwrites, found)))
    for group in groups:
        compute_alike(group)


def are_of_one_shape(nodes: list[Node]) -> bool:
    """Return whether all nodes have the form of the first one."""
    first = None
    for node in nodes:
        if first is None:
            first = node
        elif node.form is not first.form:
            return False
    return first is not None


def compute_lone_fold(fold: Node) -> bool:
    """Fast path: compute the only pending value, a reduction on the host; False for others."""
    if not (fold.device is CPU and fold.leaf is None and fold.operation.folds and is_alone(fold)):
        return False
    view, settings = target_of(fold), fold.args[1:]
    reduced: Any = fold.args[0]
    if way_of(fold.operation, settings, reduced, view, CPU) != IN_PROGRAM:
        return False
    pending: Any = view.storage.pending
    pending.computing = _threads.current()
    try:
        EXPRESSIONS.run(Pass([reduced], (view,), ((fold.operation, settings),)))
    except BaseException as error:
        add_lines(error, [fold])
        raise
    finally:
        pending.computing = 0
    reduced.reduced = True
    settle(fold, view)
    _all.rows = False
    return True


def is_alone(fold: Node) -> bool:
    """Return whether a reduction is all that is pending, and nothing else computes."""
    if len(_in_use) != len(_deferrals) or _cuts:
        return False
    wanted = _all.wanted()
    if len(wanted) != 1 or wanted[0] is not fold or type(fold.args[0]) is not Node:
        return False
    order = numbered([fold])
    for node in order:
        if node.device is not None and node is not fold:
            return False
    return len(order) > 1  # what is reduced is not computed yet


def compute_alike(nodes: list[Node]) -> None:
    """Compute nodes of one shape, in as few passes as may be."""
    one = Pass(nodes)
    interrupted = one.interrupted()
    if interrupted:
        for node in interrupted:
            finish_overwritten(node)
        one = Pass(nodes)
    if not one.order:
        return
    results = [] if one.is_by_rows() else [n for n in one.order if n.wanted() is not None]
    # kernels take the elements of all of them in one order
    if len({axes_of_steps(n.form.layout) for n in results}) > 1:
        for node in sorted(results, key=number_of):
            compute_alike([node])
        return
    if len(one.order) <= MOST_NODES:
        run_within(one, nodes)
        return
    for some in in_passes(sorted(nodes, key=number_of)):
        run_within(Pass(some), some)


def run_within(one: Pass, nodes: list[Node]) -> None:
    """Carry out the pass of some nodes, or several where a device has no room."""
    try:
        EXPRESSIONS.run(one)
        return
    except OutOfDeviceMemory:
        if len(one.order) == 1:
            raise
    parts: list[Any] = nodes if len(nodes) > 1 else [
        a for a in nodes[0].args if type(a) is Node and a.leaf is None]
    kept = []  # until what reads them is computed
    for node in parts:
        if node.wanted() is None:
            kept.append(node.form.new(node.enabled, None))
            node.be_value_of(kept[-1].storage, kept[-1], None)
    for node in (*parts, *nodes):
        compute_alike([node])


def finish_overwritten(node: Node) -> None:
    """Settle a node if its pass was interrupted after it had overwritten the old elements."""
    old = node.old
    if old is not None:
        storage: Any = old.view.storage
        restored = None if storage.pending is None else storage.pending.restored
        if storage.version not in (node.overwritten, restored):
            settle(node, old.view)
    node.overwritten = None


class Passes(Expressions):
    """All nodes, and how they are computed."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[Statements] = []  # of blocks that ended in the middle of a computation

    def compute(self, nodes: list[Node]) -> None:
        _lock.acquire()
        try:
            before = begin_computing()
            try:
                compute_all(nodes)
            finally:
                end_computing(before)
        finally:
            _lock.release()

    def compute_late(self) -> None:
        """Compute the values of blocks that ended in the middle of a computation."""
        while self.late:
            statements = self.late.pop(0)
            with suppress(Exception):  # whoever reads them gets the error
                self.compute(statements.wanted())
            statements.let_go()

    def compute_needed(self, node: Node) -> None:
        """Compute the pending reductions of which a node needs the results."""
        if VALUES.rows:
            self.compute_rows([node], False)

    def compute_rows(self, nodes: list[Node], together: bool = True) -> list[Node]:
        """Compute the results for rows that nodes need; return the nodes that are left."""
        folds = sorted([n for n in in_order(nodes) if n.device is not None], key=number_of)
        rest = [n for n in nodes if n.device is None]
        for node in nodes:
            if node.leaf is not None and node.device is not None and node.wanted() is not None:
                settle(node, node.leaf.view)  # an interrupt has come before
        if not folds:
            return rest
        if together and rest and self.run_rows(folds, rest):
            return []
        if len(folds) == 1 or not self.run_rows(folds, []):
            for fold in folds:
                if fold.device is in_use():
                    self.run_fold(fold)
                    continue
                with on(fold.device):
                    self.run_fold(fold)
        VALUES.rows = any(n.device is not None for n in in_order(VALUES.wanted()))
        return rest

    def run_rows(self, folds: list[Node], rest: list[Node]) -> bool:
        """Carry out reductions of rows, and the rest, in one kernel; False if there is none."""
        device = in_use()
        if (len(folds) >= MOST_PROGRAMS or is_cut_on(device)
                or any(fold.device is not device for fold in folds)
                or len({n.form.shape for n in rest}) > 1):
            return False
        views, done = [target_of(fold) for fold in folds], False
        try:
            passes = []
            for fold, view in zip(folds, views, strict=True):
                passes.append(pass_of(fold, view))
                fold.leaf = new_leaf(view)  # for what reads it in the same kernel
            done = are_of_same_rows(folds, passes) and self.run_programs(folds, passes, rest)
        finally:
            if not done:
                for fold in folds:
                    fold.leaf = None
        if done:
            for fold, view in zip(folds, views, strict=True):
                settle(fold, view)
        return done

    def run_programs(self, folds: list[Node], passes: list[Pass], rest: list[Node]) -> bool:
        """Carry out passes, and one that computes the rest, as programs of one kernel."""
        last = Pass(rest)
        if rest:
            if (last.interrupted() or len(last.order) > MOST_NODES
                    or rest[0].form.shape != passes[0].shape()):
                return False
            last.choose_targets()
            if not all(view.layout.contiguous for view in last.targets.values()):
                return False
        rows = RowPrograms()
        for one in passes:
            rows.add(one.program(), (*one.operands, *one.outs))
        if last.targets:
            rows.add(last.program(), (*last.operands, *last.targets.values()))
        operation, values = rows.operation(), tuple(rows.values)
        nodes = sorted({*folds, *last.order, *(n for one in passes for n in one.order)},
                       key=number_of)
        try:
            if not operation.joins(values):
                return False
            claim_all(passes, last, THREADS.current())
            if OBSERVERS:
                PASSES[threading.get_ident()] = in_words(nodes, len(rows.places), how=", over rows")
            operation(*values)
        except (OutOfDeviceMemory, NotOnePassError):
            return False
        except BaseException as error:
            add_lines(error, nodes)
            raise
        finally:
            claim_all(passes, last, 0)
            PASSES.pop(threading.get_ident(), None)
        for k, view in last.targets.items():
            settle(last.order[k], view)
        return True

    def run_fold(self, fold: Node) -> None:
        """Compute one reduction of rows, or what is computed of some, unless it is."""
        if fold.leaf is not None:
            return
        if not fold.operation.folds:
            self.elements_of(fold)
            return
        if is_cut_on(fold.device) or not uses_kernels(fold.device, fold.form.new(True, None)):
            self.run_folds(joined_with(fold, in_order([fold, *VALUES.wanted()])))
            return
        view, argument = target_of(fold), fold.args[0]
        claim_views([view], THREADS.current())
        try:
            one = pass_of(fold, view)
            if one.order and one.has_shape_of(fold) and one.joins():
                self.run(one)
            else:
                fold.operation(self.elements_of(argument), view, *fold.args[1:])
        finally:
            claim_views([view], 0)
        settle(fold, view)

    def run_folds(self, folds: list[Node]) -> None:
        """Carry out reductions that share an operand, by the way and the units of each."""
        views = [target_of(fold) for fold in folds]
        claim_views(views, THREADS.current())
        try:
            groups: dict[tuple[int, int], list[int]] = {}
            for k, fold in enumerate(folds):
                groups.setdefault(how_of(fold, views[k]), []).append(k)
            for (way, _), some in groups.items():
                self.run_group(way, [folds[k] for k in some], [views[k] for k in some])
        finally:
            claim_views(views, 0)

    def run_group(self, way: int, folds: list[Node], views: list[Mat]) -> None:
        """Carry out reductions in the same way; their results are in `views` then."""
        read = [x for fold in folds for x in views_read_by(fold.args[0])] if VALUES.in_place else []
        try:
            claim_read(read, THREADS.current())
            with calls_of_their_own():
                run = {IN_TILES: run_together, IN_PROGRAM: run_in_program}.get(way)
                if run is None or not run(folds, views):
                    self.run_alone(folds, views)
        except BaseException as error:
            add_lines(error, folds)
            raise
        finally:
            claim_read(read, 0)
            PASSES.pop(threading.get_ident(), None)
        for fold, view in zip(folds, views, strict=True):
            settle(fold, view)

    def run_alone(self, folds: list[Node], views: list[Mat]) -> None:
        """Carry out reductions one after another, of elements that are there."""
        for fold, view in zip(folds, views, strict=True):
            x = self.elements_of(fold.args[0])
            claim_read([x], THREADS.current())
            fold.operation(x, view, *fold.args[1:])

    def elements_of(self, argument: Any) -> Mat:
        """Return the elements that a reduction reads, computed if need be."""
        kept = None  # until it is computed
        if isinstance(argument, Node) and argument.leaf is None:
            if argument.wanted() is None:
                kept = argument.form.new(argument.enabled, None)
                argument.be_value_of(kept.storage, kept, None)
            compute_alike([argument])
        leaf = argument if isinstance(argument, Leaf) else argument.leaf
        view: Mat = leaf.view
        del kept
        return view

    @staticmethod
    def run(one: Pass) -> None:
        """Carry out a pass, as a part of a computation."""
        one.run()


EXPRESSIONS = Passes()
_lock = EXPRESSIONS.lock  # with a type of C
