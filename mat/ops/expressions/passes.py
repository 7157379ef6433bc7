"""Passes: pending values of one shape that are computed together, and where their results go."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

from ...core.compiled import IN_USE, THREADS
from ...core.observers import OBSERVERS, PASSES
from ...core.pending import DEFERRALS
from ...core.source_line import line_of
from ...devices.in_use import CPU, in_use
from ...layout.orders import axes_of_steps, with_axes
from ...layout.shapes import Ints
from ...matrix.base import MAKER
from ...matrix.mat import Mat
from ...support.types import Operand
from ..engine.calls import PlanNode
from ..engine.operation import Op
from .folds import number_of
from .in_place import claim_read, keep_old, overwrites
from .nodes import (
    VALUES,
    Argument,
    Expressions,
    Leaf,
    Node,
    in_words,
    new_leaf,
    readers_of,
    viewers,
)
from .program import FusedOp, Instruction, ProgramFold, Structure

MOST_NODES = 64  # of a pass; other values are computed in the next one
ALONE = viewers(Mat(1))  # of a storage that one Mat sees
_MOST = 512
_LOWEST = 2 * MOST_NODES  # of codes, negated


class Programs:
    """The programs of all structures that passes had, by the nodes of a tree of their tokens."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self.root: PlanNode = PlanNode()
        self.known: dict[PlanNode, FusedOp] = {}


PROGRAMS = Programs()
# with types of C
_programs, _maker, _mat, _threads, _all = PROGRAMS, MAKER, Mat, THREADS, VALUES
_in_use, _deferrals, _observers, _passes = IN_USE, DEFERRALS, OBSERVERS, PASSES


def in_order(roots: list[Node]) -> list[Node]:
    """Return the nodes to compute, each after its operands; by statement if Mats are updated."""
    found: dict[Node, int] = {}
    for node in roots:
        add_after_operands(node, found)
    order = list(found)
    for node in order:
        if node.old is not None:
            return sorted(order, key=number_of)
    return order


def numbered(roots: list[Any]) -> list[Node]:
    """Return the result of `in_order`, with numbered nodes. The lock of expressions is held."""
    found: list[Node] = []
    updates, last, in_order = False, 0, True
    for root in roots:
        if type(root) is Node:
            number_after_operands(root, found)
    for node in found:
        updates = updates or node.old is not None
        in_order = in_order and node.number > last
        last = node.number
    if updates and not in_order:
        found.sort(key=number_of)
        number(found)
    return found


def number_after_operands(node: Node, found: list[Node]) -> None:
    """Add a node that is not computed to those found, after its operands, and number it."""
    if node.leaf is None and not is_among(node, found):
        for a in node.args:
            if type(a) is Node:
                number_after_operands(a, found)
        node.at = len(found)
        found.append(node)


def number(nodes: list[Node]) -> None:
    """Number nodes again, since they may have been part of another pass."""
    for k, node in enumerate(nodes):
        node.at = k


def is_among(node: Node, found: list[Node]) -> bool:
    """Return whether a node is one of those, which are numbered."""
    return node.at < len(found) and found[node.at] is node


def in_passes(nodes: list[Node]) -> Iterator[list[Node]]:
    """Yield nodes for one pass after another, each carried out before the next is asked for."""
    some: list[Node] = []
    for node in nodes:
        if some and len(in_order([*some, node])) > MOST_NODES:
            yield some
            some = []
        if node.leaf is None:
            some.append(node)
    if some:
        yield some


def add_after_operands(node: Node, found: dict[Node, int]) -> None:
    """Add a node that is not computed to those found, after its operands."""
    if node.leaf is None and node not in found:
        for a in node.args:
            if type(a) is Node:
                add_after_operands(a, found)
        found[node] = len(found)


class Pass:
    """One pass over the elements of leaves, which computes values of one shape.

    The last node's result goes to the Mat of `outs`, if there is one, or those of the roots to as
    many, reduced by the `folds`, reductions and their settings; else those of all nodes whose
    values are wanted to these. A root may be a leaf that is reduced.
    """

    def __init__(self, roots: list[Any], outs: tuple[Mat, ...] = (),
                 folds: tuple[tuple[Op, tuple[object, ...]], ...] = ()) -> None:
        self.folds = folds
        self.roots = roots
        self.order: list[Node] = numbered(roots)
        self.outs: tuple[Mat, ...] = outs
        self.targets: dict[int, Mat] = {}  # where the results of nodes go
        self.outside: set[Leaf] | None = None  # that others read, once it is known
        self.updates: dict[Leaf, int] = {}  # nodes that overwrite leaves
        self.operands: list[Operand] = []  # that are read
        self.known: FusedOp | None = None  # the program, once it was asked for

    @property
    def letters(self) -> str:
        """Return "i" for a Mat among the operands, "n" for a number."""
        return "".join(["i" if type(x) is _mat else "n" for x in self.operands])

    # Where the results go

    def choose_targets(self) -> None:
        """Decide where the results go."""
        if self.folds:
            return
        if self.outs:
            self.targets[len(self.order) - 1] = self.outs[0]
            self.updates[new_leaf(self.outs[0])] = len(self.order) - 1
            return
        for k, node in enumerate(self.order):
            if node.in_place and overwrites(node):
                keep_old(node, self.order)
                number(self.order)
            # before anything else refers to the storage
            old = None if node.old is None else self.overwritten_by(k, node)
            if old is not None:
                self.targets[k] = old.view
                self.updates[old] = k
                continue
            storage = node.wanted()
            if storage is not None:
                self.targets[k] = view = _maker.make()
                view._set_up(storage, node.form.layout, node.form, node.enabled)

    def overwritten_by(self, k: int, node: Node) -> Leaf | None:
        """Return the old elements of a node's Mat, if nothing else reads them, or later."""
        old = node.old
        if old is None or (node.in_place and overwrites(node)):
            return old
        mat = mat_of(node)
        if mat is None:
            return None
        if not (mat.form.gapless and viewers(mat) == ALONE):
            return None
        leaves = readers_of(old.view)
        if not is_plain(old.view) or viewers(old.view) != ALONE - 1 + len(leaves):
            return None
        if self.outside is None:
            self.outside = self.read_outside()
        for leaf in leaves:
            if (leaf is not old and not leaf.sees_like(old.view)) or leaf in self.outside:
                return None
        return None if self.reads_after(k, old) else old

    def read_outside(self) -> set[Leaf]:
        """Return the leaves on which pending values depend that are not in this pass."""
        found: set[Leaf] = set()
        seen: set[Node] = set()
        left: list[Argument] = []
        for node in _all.wanted():
            if not is_among(node, self.order):
                left.append(node)  # noqa: PERF401  # with types of C, as no comprehension
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
        for j in range(k + 1, len(self.order)):  # a slice would be a list
            node = self.order[j]
            for a in node.args:
                if type(a) is Leaf:
                    leaf = a
                    if leaf.view.storage is old.view.storage:
                        return True
        return False

    def is_by_rows(self) -> bool:
        """Return whether the values of all nodes are stored by rows."""
        for node in self.order:  # noqa: SIM110  # with types of C, as no generator
            if not node.form.layout.contiguous:
                return False
        return True

    # The program

    def program(self) -> FusedOp:
        """Return the operation that computes the results; collect its operands."""
        if self.known is not None:
            return self.known
        if len(_programs.known) >= _MOST:
            _programs.clear()
        at: Any = _programs.root
        for fold in self.folds:
            at = at.step(fold, True)
        for k in self.targets:
            at = at.step(k, True)
        at = at.step(None, True)
        number(self.order)
        for node in self.order:
            at = at.step(node.operation, True)
            for argument in node.args:
                at = self.step_code(argument, at)
            at = at.step(node.form.dtype, True)
        if self.folds:
            for argument in self.roots:
                at = self.step_code(argument, at)
        found = _programs.known.get(at)
        if found is None:
            found = _programs.known[at] = FusedOp(self.structure())
        self.known = found
        return found

    def joins(self) -> bool:
        """Return whether a reduction is one kernel of the device in use, together with the rest."""
        return self.program().joins((*self.operands, *self.outs))

    def step_code(self, argument: Argument, at: Any) -> Any:
        """Return the node of the tree after the tokens of a node's operands, or a reduction."""
        code = self.code_of(argument)
        if type(argument) is not Node and type(argument) is not Leaf:
            at = at.step(None, True)  # unlike the operands that are Mats
        return at.step(code + _LOWEST, True)  # small integers are the same objects each time

    def code_of(self, argument: Argument) -> int:
        """Return the number of an operand: negative and even for results, odd for old elements."""
        if type(argument) is Node:
            node: Any = argument
            if node.leaf is None:
                return -2 - 2 * node.at
            argument = node.leaf
        if type(argument) is Leaf:
            return self.code_of_leaf(argument)
        self.operands.append(argument)
        return len(self.operands) - 1

    def code_of_leaf(self, leaf: Leaf) -> int:
        """Return the number of a leaf, that of another one if it sees the same elements alike."""
        view = leaf.view
        form = view._find_form() if view.known_form is None else view.known_form
        for old, k in self.updates.items():
            other = old.view
            if old is leaf or (other.storage is view.storage and other.form is form
                               and other.layout.displacement == view.layout.displacement):
                return -1 - 2 * k
        for k, operand in enumerate(self.operands):  # there are few: hashing keys takes longer
            if type(operand) is _mat:
                other = operand
                if (other.storage is view.storage and other.known_form is form
                        and other.layout.displacement == view.layout.displacement):
                    return k
        self.operands.append(view)
        return len(self.operands) - 1

    def structure(self) -> Structure:
        """Return the structure of the program."""
        self.operands = []
        reads = [[self.code_of(a) for a in node.args] for node in self.order]
        reduced = [self.code_of(root) for root in self.roots] if self.folds else []
        count, written = len(self.operands), list(self.targets)
        at = {-1 - 2 * k: count + j for j, k in enumerate(written)}
        updated = {code for codes in reads for code in codes if code in at}
        results = ["u" if -1 - 2 * k in updated else "o" for k in written]
        letters = "".join([self.letters, *results]) + "o" * len(self.folds)
        temporary = itertools.count(len(letters))
        for k in range(len(self.order)):
            at[-2 - 2 * k] = at[-1 - 2 * k] if k in self.targets else next(temporary)
        instructions = tuple(
            Instruction(node.operation, tuple(at.get(code, code) for code in codes),
                        at[-2 - 2 * k], node.form.dtype)
            for k, (node, codes) in enumerate(zip(self.order, reads, strict=True)))
        return Structure(letters, instructions, tuple(
            ProgramFold(*fold, at.get(code, code))
            for fold, code in zip(self.folds, reduced, strict=True)))

    def shape(self) -> Ints:
        """Return the shape to which the operands of a reduction broadcast; collect them."""
        return self.program().shape((*self.operands, *self.outs))

    def has_shape_of(self, fold: Node) -> bool:
        """Return whether that is the shape of a reduction's operand."""
        argument: Any = fold.args[0]
        own = argument.view.shape if isinstance(argument, Leaf) else argument.form.shape
        return self.shape() == own

    # Carrying it out

    def run(self) -> None:
        """Compute the results."""
        self.choose_targets()
        if not self.folds and not self.targets:
            return  # other threads have dropped all that was wanted
        program = self.program()
        values = (*self.operands, *(self.outs if self.folds else self.targets.values()))
        if not self.folds:
            values = in_order_of_result(values)
        try:
            self.claim(_threads.current())
            if _observers:
                _passes[threading.get_ident()] = in_words(
                    self.order, len({id(x) for x in self.operands if isinstance(x, Mat)}),
                    max(1, len(self.targets), len(self.folds)), folds=len(self.folds))
            if not run_at_once(program, values):
                program.evaluate(values)
        except BaseException as error:
            add_lines(error, self.order)
            raise
        finally:
            self.claim(0)
            if _passes:
                _passes.pop(threading.get_ident(), None)
        if not self.outs:
            for k, view in self.targets.items():
                settle(self.order[k], view)

    def claim(self, thread: int) -> None:
        """Let that thread read the operands and write the results."""
        if _all.in_place:
            claim_read([x for x in self.operands if isinstance(x, Mat)], thread)
        for k, view in self.targets.items():
            storage, node = view.storage, self.order[k]
            pending = storage.pending
            if pending is not None:
                pending.computing = thread
            if thread and node.old is not None and view is node.old.view:
                node.overwritten = storage.version

    def interrupted(self) -> list[Node]:
        """Return the nodes whose passes were interrupted while they may have overwritten Mats."""
        return [node for node in self.order if node.overwritten is not None]


def in_order_of_result(values: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """Return the operands of a program with their axes in the order in which those of the last one,
    a result, are stored: kernels take elements by rows.
    """
    result: Any = values[len(values) - 1]
    if result.layout.contiguous:
        return values
    axes = axes_of_steps(result.layout)
    return tuple([x.over(with_axes(x.layout, axes)) if isinstance(x, Mat) else x for x in values])


def run_at_once(program: Any, values: tuple[Operand, ...]) -> bool:
    """Fast path: carry out a program by its plan on the host; False for others."""
    if len(_in_use) != len(_deferrals) or _observers or program.interpreted:
        return False
    node = program.find(program.root, values, None, False)
    plan = None if node is None else node.plan
    return plan is not None and plan.at_once and plan.call_at_once(values, None)


def add_lines(error: BaseException, nodes: list[Node]) -> None:
    """Add the lines of the statements to an error."""
    lines = ", ".join(dict.fromkeys(line_of(n.line) for n in nodes))
    error.add_note(f"in the fused statements at {lines}")


def settle(node: Node, view: Mat) -> None:
    """End the computation of a value, which is in `view` now."""
    if node.overwritten is not None and not node.in_place:
        give_back(node, view)
    node.settle(view)


def give_back(node: Node, view: Mat) -> None:
    """Let the Mat of a node see the storage again that it saw before its value was pending."""
    mat = mat_of(node)  # has a type of C
    if mat is not None:
        mat._see(mat.layout, view.storage, mat._as_now())


def mat_of(node: Node) -> Mat | None:
    """Return the Mat that the statement of a node has updated, if the node is its value."""
    mat = None if node.mat is None else node.mat()
    return None if mat is None or mat.storage is not node.wanted() else mat


def is_plain(view: Mat) -> bool:
    """Return whether the storage of `view` is like any new one, and not accessed."""
    storage = view.storage
    if storage.records or storage.adopted is not None or storage.async_copies:
        return False
    return not (storage.kept or storage.spans is not None) or not storage.keeps_any


# The memory that only pending expressions keep, and its bound


MOST_KEPT = 1 << 28  # bytes that a block's expressions may keep; on a device, a quarter of its pool


def most_kept() -> int:
    """Return how many bytes pending expressions may keep."""
    device = in_use()
    limit = None if device is CPU else device.limit
    return MOST_KEPT if limit is None else min(MOST_KEPT, limit // 4)


def kept_bytes() -> int:
    """Return the bytes of operands that nobody but pending expressions can see."""
    count = 0
    with Expressions.all.lock:
        found = Expressions.all.pending()
        updated = {id(n.old.view.storage) for n in found if n.old is not None}
        for view in operands_of(found):
            storage = id(view.storage)
            if storage not in updated and viewers(view) == ALONE - 1 + len(readers_of(view)):
                count += view.storage.nbytes
    return count


def operands_of(nodes: list[Node]) -> list[Mat]:
    """Return one view for each storage that expressions read."""
    found: dict[int, Mat] = {}
    for node in in_order(nodes):
        for argument in node.args:
            leaf = argument.leaf if isinstance(argument, Node) else argument
            if isinstance(leaf, Leaf):
                found.setdefault(id(leaf.view.storage), leaf.view)
    return list(found.values())
