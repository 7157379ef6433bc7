"""Passes: how pending values are computed, those of one shape together."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from ...core.compiled import THREADS
from ...core.observers import OBSERVERS, PASSES
from ...core.source_line import line_of
from ...devices.device import use_device
from ...devices.in_use import CPU, Device, devices_in_use, in_use
from ...errors import OutOfDeviceMemory
from ...layout.shapes import Ints
from ...matrix.base import MAKER
from ...matrix.mat import Mat
from ...support.types import Operand
from ..engine.operation import Op
from ..tiles.tiling import calls_of_their_own
from .described import described, of_parts, of_rows
from .nodes import VALUES, Argument, Expressions, Leaf, Node, new_leaf, viewers
from .program import FusedOp, Instruction, NotOnePassError, Structure
from .row_program import RowPrograms
from .together import together

MOST_NODES = 64  # of a pass; other values are computed in the next one
MOST_PROGRAMS = 7  # of a kernel of rows, as their frames have room for
ALONE = viewers(Mat(1))  # of a storage that one Mat sees
PROGRAMS: dict[tuple[object, ...], FusedOp] = {}
_programs, _maker, _mat = PROGRAMS, MAKER, Mat  # with types of C
_MOST = 512


def in_order(roots: list[Node]) -> list[Node]:
    """Return the nodes to compute for some values: each after those that it reads."""
    return list(positions(roots))


def positions(roots: list[Node]) -> dict[Node, int]:
    """Return the nodes to compute for some values, in their order, and their positions in that.

    It is the order of the statements if Mats are updated, so that what was read before can be
    overwritten.
    """
    found: dict[Node, int] = {}
    for node in roots:
        add_after_operands(node, found)
    for node in found:
        if node.old is not None:
            return {n: k for k, n in enumerate(sorted(found, key=number_of))}
    return found


def in_passes(nodes: list[Node]) -> Iterator[list[Node]]:
    """Yield the nodes for one pass after another, as many as it may compute; each pass is carried
    out before the next one is asked for.
    """
    some: list[Node] = []
    found: dict[Node, int] = {}
    for node in nodes:
        grown = dict(found)
        add_after_operands(node, grown)
        if some and len(grown) > MOST_NODES:
            yield some
            some, grown = [], {}
            add_after_operands(node, grown)
        found = grown
        if node in found:
            some.append(node)
    if some:
        yield some


def add_after_operands(node: Node, found: dict[Node, int]) -> None:
    """Add a node that is not computed to those found, after what it reads."""
    if node.leaf is None and node not in found:
        for a in node.args:
            if type(a) is Node:
                add_after_operands(a, found)
        found[node] = len(found)


class Pass:
    """One pass over the elements of leaves, which computes values of one shape.

    The last node's result goes to the Mat `into`, if one is given, perhaps reduced by `fold`, a
    reduction and its settings; else those of all nodes whose values are wanted to these.
    """

    def __init__(self, roots: list[Node], into: Mat | None = None,
                 fold: tuple[Op, tuple[object, ...]] | None = None) -> None:
        self.fold = fold
        self.position: dict[Node, int] = positions(roots)
        self.order: list[Node] = list(self.position)
        self.into: Mat | None = into
        self.targets: dict[int, Mat] = {}  # where the results of nodes go
        self.outside: set[Leaf] | None = None  # that others read, once it is known
        self.updates: dict[object, int] = {}  # nodes that overwrite leaves, by their keys
        self.operands: list[Operand] = []  # that are read
        self.letters: list[str] = []  # "i" for a Mat among them, "n" for a number
        self.codes: list[int] = []  # of what nodes read, in their order
        self.known: FusedOp | None = None  # the program, once it was asked for

    # Where the results go

    def choose_targets(self) -> None:
        """Decide where the results go."""
        if self.fold is not None:
            return
        if self.into is not None:
            self.targets[len(self.order) - 1] = self.into
            self.updates[new_leaf(self.into).key] = len(self.order) - 1
            return
        for k, node in enumerate(self.order):
            # before anything else refers to the storage
            old = None if node.old is None else self.overwritten_by(k, node)
            if old is not None:
                self.targets[k] = old.view
                self.updates[old.key] = k
                continue
            storage = node.wanted()
            if storage is not None:
                self.targets[k] = view = _maker.make()
                view._set_up(storage, node.form.layout, node.form, node.enabled)

    def overwritten_by(self, k: int, node: Node) -> Leaf | None:
        """Return the leaf with the old elements of the Mat whose value a node is, if the results
        can overwrite these: nothing else reads them, or later.
        """
        old, mat = node.old, None if node.mat is None else node.mat()
        if old is None or mat is None or mat.storage is not node.wanted():
            return None
        if not (mat.form.whole and mat.is_contiguous and viewers(mat) == ALONE):
            return None
        leaves = readers_of(old.view)
        if not is_plain(old.view) or viewers(old.view) != ALONE - 1 + len(leaves):
            return None
        if any(leaf is not old and leaf.key != old.key for leaf in leaves):
            return None
        if self.outside is None:
            self.outside = self.read_outside()
        if self.outside and any(leaf in self.outside for leaf in leaves):
            return None
        return None if self.reads_after(k, old) else old

    def read_outside(self) -> set[Leaf]:
        """Return the leaves on which pending values depend that are not in this pass."""
        found: set[Leaf] = set()
        seen: set[Node] = set()
        left: list[Argument] = [n for n in VALUES.wanted() if n not in self.position]
        while left:
            one = left.pop()
            if type(one) is Node and one.leaf is not None:
                one = one.leaf
            if type(one) is Leaf:
                found.add(one)
            elif type(one) is Node and one not in seen:
                seen.add(one)
                left += one.args
        return found

    def reads_after(self, k: int, old: Leaf) -> bool:
        """Return whether a node after that at position `k` reads elements of a leaf."""
        for node in self.order[k + 1:]:
            for a in node.args:
                if type(a) is Leaf:
                    leaf = a
                    if leaf.view.storage is old.view.storage:
                        return True
        return False

    # The program

    def program(self) -> FusedOp:
        """Return the operation that computes the results; collect what it reads."""
        if self.known is not None:
            return self.known
        key: list[object] = [self.fold, *self.targets]
        for node in self.order:
            key.append(node.operation)
            for argument in node.args:
                code = self.code_of(argument)
                self.codes.append(code)
                key.append(code)
            key.append(id(node.form.dtype))  # that of the structure; hashing a dtype takes long
        key += self.letters
        known = tuple(key)
        found = _programs.get(known)
        if found is None:
            if len(_programs) >= _MOST:
                _programs.clear()
            found = _programs[known] = FusedOp(self.structure())
        self.known = found
        return found

    def joins(self) -> bool:
        """Return whether a reduction is one kernel of the device in use, together with the rest."""
        return self.program().joins((*self.operands, self.into))

    def code_of(self, argument: Argument) -> int:
        """Return a number for what a node reads: that of an operand, an even negative one for the
        result of a node, or an odd one for the old elements where one goes to.
        """
        if type(argument) is Node:
            node: Any = argument
            if node.leaf is None:
                return -2 - 2 * self.position[node]
            argument = node.leaf
        if type(argument) is not Leaf:
            self.operands.append(argument)
            self.letters.append("n")
            return len(self.operands) - 1
        return self.code_of_leaf(argument)

    def code_of_leaf(self, leaf: Leaf) -> int:
        """Return the number of a leaf, that of another one if it sees the same elements alike."""
        if self.updates:
            key = leaf.key
            if key in self.updates:
                return -1 - 2 * self.updates[key]
        view = leaf.view
        form = view._find_form() if view.known_form is None else view.known_form
        for k, operand in enumerate(self.operands):  # there are few: hashing keys takes longer
            if type(operand) is _mat:
                other = operand
                if (other.storage is view.storage and other.known_form is form
                        and other.layout.displacement == view.layout.displacement):
                    return k
        self.operands.append(view)
        self.letters.append("i")
        return len(self.operands) - 1

    def structure(self) -> Structure:
        """Return the structure of the program."""
        count, written = len(self.operands), list(self.targets)
        at = {-1 - 2 * k: count + j for j, k in enumerate(written)}
        updated = {code for code in self.codes if code in at}
        results = ["u" if -1 - 2 * k in updated else "o" for k in written]
        letters = "".join([*self.letters, *results]) + "o" * (self.fold is not None)
        temporary = itertools.count(len(letters))
        for k in range(len(self.order)):
            at[-2 - 2 * k] = at[-1 - 2 * k] if k in self.targets else next(temporary)
        codes, instructions = iter(self.codes), []
        for k, node in enumerate(self.order):
            reads = tuple(at.get(code, code) for code in itertools.islice(codes, len(node.args)))
            instructions.append(Instruction(node.operation, reads, at[-2 - 2 * k],
                                            node.form.dtype))
        return Structure(letters, tuple(instructions), self.fold)

    def shape(self) -> Ints:
        """Return the shape to which the operands of a reduction broadcast; collect them."""
        return self.program().shape((*self.operands, self.into))

    def has_shape_of(self, fold: Node) -> bool:
        """Return whether that is the shape of what a reduction reads: from its operands a program
        has it.
        """
        argument: Any = fold.args[0]
        own = argument.view.shape if isinstance(argument, Leaf) else argument.form.shape
        return self.shape() == own

    # Carrying it out

    def run(self) -> None:
        """Compute the results."""
        self.choose_targets()
        if self.fold is None and not self.targets:
            return  # other threads have dropped all that was wanted
        program = self.program()
        try:
            self.claim(THREADS.current())
            if OBSERVERS:
                PASSES[threading.get_ident()] = described(self)
            results = self.targets.values() if self.fold is None else (self.into,)
            program.evaluate((*self.operands, *results))
        except BaseException as error:
            add_lines(error, self.order)
            raise
        finally:
            self.claim(0)
            if PASSES:
                PASSES.pop(threading.get_ident(), None)
        if self.into is None:
            for k, view in self.targets.items():
                settle(self.order[k], view)

    def claim(self, thread: int) -> None:
        """Let that thread write the results."""
        for k, view in self.targets.items():
            storage, node = view.storage, self.order[k]
            if storage.pending is not None:
                storage.pending.computing = thread
            if thread and node.old is not None and view is node.old.view:
                node.overwritten = storage.version

    def interrupted(self) -> list[Node]:
        """Return the nodes whose passes were interrupted while they may have overwritten Mats."""
        return [node for node in self.order if node.overwritten is not None]


def add_lines(error: BaseException, nodes: list[Node]) -> None:
    """Add the lines of the statements to an error."""
    lines = ", ".join(dict.fromkeys(line_of(n.line) for n in nodes))
    error.add_note(f"in the fused statements at {lines}")


def of_leaf(leaf: Leaf, into: Mat, fold: tuple[Op, tuple[object, ...]]) -> Pass:
    """Return the pass that reduces what a leaf has."""
    one = Pass([], into, fold)
    one.code_of(leaf)
    return one


def settle(node: Node, view: Mat) -> None:
    """End the computation of a value, which is in `view` now."""
    if node.overwritten is not None:
        give_back(node, view)
    node.settle(view)


def give_back(node: Node, view: Mat) -> None:
    """Let the Mat of a node see the storage again that it saw before its value was pending."""
    mat = None if node.mat is None else node.mat()
    if mat is not None and mat.storage is node.wanted():
        mat._see(mat.layout, view.storage, mat._as_now())


def readers_of(view: Mat) -> list[Leaf]:
    """Return the leaves of the storage of `view`."""
    pending = view.storage.pending
    found: list[Any] = [] if pending is None else pending.read_in(None)
    return found


def is_plain(view: Mat) -> bool:
    """Return whether the storage of `view` is like any new one, and not accessed."""
    storage = view.storage
    return not (storage.accesses or storage.keeps_any or storage.adopted is not None
                or storage.async_copies)


def target_of(fold: Node) -> Mat:
    """Return where the results of a reduction of rows go."""
    storage = fold.wanted()
    if storage is None:
        found: Mat = fold.form.new(fold.enabled, None)
        return found
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
        one = Pass([fold], view)
        one.choose_targets()
        return one
    argument: Any = fold.args[0]
    how = fold.operation, fold.args[1:]
    leaf = argument if isinstance(argument, Leaf) else argument.leaf
    return Pass([argument], view, how) if leaf is None else of_leaf(leaf, view, how)


def claim_all(passes: list[Pass], last: Pass, thread: int) -> None:
    """Let that thread write the results of passes."""
    claim_views([one.into for one in passes], thread)
    last.claim(thread)


def claim_views(views: list[Any], thread: int) -> None:
    """Let that thread write Mats whose values were pending."""
    for view in views:
        pending = view.storage.pending
        if pending is not None:
            pending.computing = thread


def is_cut_on(device: Device) -> bool:
    """Return whether reductions that are pending for a device are carried out in tiles."""
    return device is CPU or device.limit is not None


def folds_like(fold: Node) -> list[Node]:
    """Return the pending reductions of the Mat that one reads, in the order of the statements."""
    leaf = fold.args[0]
    assert isinstance(leaf, Leaf)
    found = {n for n in positions([fold, *VALUES.wanted()]) if n.operation.folds
             and n.device is fold.device and isinstance(n.args[0], Leaf)
             and n.args[0].key == leaf.key}
    return sorted(found, key=number_of)


def number_of(node: Node) -> int:
    """Return the number of a node, in the order of the statements."""
    return node.number


class Passes(Expressions):
    """All nodes, and how they are computed."""

    def compute(self, nodes: list[Node]) -> None:
        with self.lock:
            if VALUES.rows:
                nodes = self.compute_rows(nodes)
            if len(nodes) == 1:
                self.compute_alike(nodes)
                return
            by_shape: dict[Ints, list[Node]] = {}
            for node in nodes:
                by_shape.setdefault(node.form.shape, []).append(node)
            for group in by_shape.values():
                self.compute_alike(group)

    def compute_rows(self, nodes: list[Node], together: bool = True) -> list[Node]:
        """Compute the results for rows that nodes need, and `together` with them perhaps these;
        return the nodes that are left.
        """
        folds = sorted((n for n in positions(nodes) if n.device is not None), key=number_of)
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
                there = nullcontext() if fold.device in devices_in_use() else (
                    use_device(fold.device))  # in another thread
                with there:
                    self.run_fold(fold)
        return rest

    def run_rows(self, folds: list[Node], rest: list[Node]) -> bool:
        """Carry out reductions of rows and programs over their results, in their order, and the
        pass of the rest, in one kernel of the device in use; return False if there is none.
        """
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
            done = (are_of_same_rows(folds, passes)
                    and self.run_programs(folds, passes, rest))
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
        rows = RowPrograms()
        for one in passes:
            rows.add(one.program(), (*one.operands, one.into))
        if last.targets:
            rows.add(last.program(), (*last.operands, *last.targets.values()))
        operation, values = rows.operation(), tuple(rows.values)
        nodes = sorted({*folds, *last.order, *(n for one in passes for n in one.order)},
                       key=number_of)
        before, self.busy = self.busy, threading.get_ident()
        try:
            if not operation.joins(values):
                return False
            claim_all(passes, last, THREADS.current())
            if OBSERVERS:
                PASSES[threading.get_ident()] = of_rows(nodes, len(rows.places))
            operation(*values)
        except (OutOfDeviceMemory, NotOnePassError):
            return False
        except BaseException as error:
            add_lines(error, nodes)
            raise
        finally:
            self.busy = before
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
        if is_cut_on(fold.device):
            self.run_together(folds_like(fold))
            return
        view, argument = target_of(fold), fold.args[0]
        before, self.busy = self.busy, threading.get_ident()
        claim_views([view], THREADS.current())
        try:
            one = pass_of(fold, view)
            if (one.order and in_use() is fold.device and one.has_shape_of(fold)
                    and one.joins()):
                self.run(one)
            else:
                x = self.elements_of(argument)
                fold.operation.call_on(fold.device, (x, view, *fold.args[1:]), {})
        finally:
            self.busy = before
            claim_views([view], 0)
        settle(fold, view)

    def run_together(self, folds: list[Node]) -> None:
        """Carry out reductions of one Mat in tiles."""
        views, leaf = [target_of(fold) for fold in folds], folds[0].args[0]
        before, self.busy = self.busy, threading.get_ident()
        assert isinstance(leaf, Leaf)
        try:
            claim_views(views, THREADS.current())
            if OBSERVERS:
                PASSES[threading.get_ident()] = of_parts(folds)
            with calls_of_their_own():
                together(tuple((fold.operation, fold.args[1:]) for fold in folds)).evaluate(
                    (leaf.view, *views))
        except BaseException as error:
            add_lines(error, folds)
            raise
        finally:
            self.busy = before
            claim_views(views, 0)
            PASSES.pop(threading.get_ident(), None)
        for fold, view in zip(folds, views, strict=True):
            settle(fold, view)

    def elements_of(self, argument: Any) -> Mat:
        """Return the elements of what a reduction reads, computed if need be."""
        kept = None  # until it is computed
        if isinstance(argument, Node) and argument.leaf is None:
            if argument.wanted() is None:
                kept = argument.form.new(argument.enabled, None)
                argument.be_value_of(kept.storage, kept, None)
            self.compute_alike([argument])
        leaf = argument if isinstance(argument, Leaf) else argument.leaf
        view: Mat = leaf.view
        del kept
        return view

    def compute_alike(self, nodes: list[Node]) -> None:
        """Compute nodes of one shape, in as few passes as may be."""
        one = Pass(nodes)
        interrupted = one.interrupted()
        if interrupted:
            for node in interrupted:
                self.finish_overwritten(node)
            one = Pass(nodes)
        if not one.order:
            return
        if len(one.order) <= MOST_NODES:
            self.run_within(one, nodes)
            return
        for some in in_passes(sorted(nodes, key=number_of)):
            self.run_within(Pass(some), some)

    def run_within(self, one: Pass, nodes: list[Node]) -> None:
        """Carry out the pass of some nodes, in several ones where a device has no room for all
        operands together.
        """
        try:
            self.run(one)
            return
        except OutOfDeviceMemory:
            if len(one.order) == 1:
                raise
        parts = nodes if len(nodes) > 1 else [
            a for a in nodes[0].args if type(a) is Node and a.leaf is None]
        kept = []  # until what reads them is computed
        for node in parts:
            if node.wanted() is None:
                kept.append(node.form.new(node.enabled, None))
                node.be_value_of(kept[-1].storage, kept[-1], None)
        for node in (*parts, *nodes):
            self.compute_alike([node])

    @staticmethod
    def finish_overwritten(node: Node) -> None:
        """Settle a node if its pass was interrupted after it had overwritten the old elements."""
        old = node.old
        if old is not None:
            storage: Any = old.view.storage
            restored = None if storage.pending is None else storage.pending.restored
            if storage.version not in (node.overwritten, restored):
                settle(node, old.view)
        node.overwritten = None

    def run(self, one: Pass) -> None:
        """Carry out a pass, in which nothing new is pending."""
        before, self.busy = self.busy, threading.get_ident()
        try:
            one.run()
        finally:
            self.busy = before


EXPRESSIONS = Passes()
