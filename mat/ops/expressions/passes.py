"""Passes: how pending values are computed, those of one shape together."""

from __future__ import annotations

import itertools
import threading
from typing import Any, TypeAlias

from ...core.compiled import THREADS
from ...core.source_line import line_of
from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.types import Operand
from ..engine.operation import Op
from .nodes import Argument, Expressions, Leaf, Node, viewers
from .program import Instruction, Structure, program_of

MOST_NODES = 64  # of a pass; other values are computed in the next one
ALONE = viewers(Mat(1))  # of a storage that one Mat sees
# what an instruction reads: an operand, the result of a node, or the place where one goes to
Place: TypeAlias = tuple[str, int]


def in_order(roots: list[Node]) -> list[Node]:
    """Return the nodes to compute for some values: each after those that it reads."""
    found: dict[int, Node] = {}
    left = list(roots)
    while left:
        node = left.pop()
        if node.leaf is None and node.number not in found:
            found[node.number] = node
            left += [a for a in node.args if isinstance(a, Node)]
    return [found[number] for number in sorted(found)]


class Pass:
    """One pass over the elements of leaves, which computes values of one shape.

    The last node's result goes to the Mat `into`, if one is given, perhaps reduced by `fold`, a
    reduction and its settings; else those of all nodes whose values are wanted to these.
    """

    def __init__(self, roots: list[Node], into: Mat | None = None,
                 fold: tuple[Op, tuple[object, ...]] | None = None) -> None:
        self.fold = fold
        self.order: list[Node] = in_order(roots)
        self.into: Mat | None = into
        self.position: dict[int, int] = {n.number: k for k, n in enumerate(self.order)}
        self.targets: dict[int, Mat] = {}  # where the results of nodes go
        self.updates: dict[object, int] = {}  # nodes that overwrite leaves, by their keys
        self.operands: dict[object, Operand] = {}  # that are read

    # Where the results go

    def choose_targets(self) -> None:
        """Decide where the results go."""
        if self.fold is not None:
            return
        if self.into is not None:
            self.targets[len(self.order) - 1] = self.into
            self.updates[Leaf(self.into).key] = len(self.order) - 1
            return
        for k, node in enumerate(self.order):
            if node.wanted() is None:
                continue
            old = self.overwritten_by(k, node)  # before anything else refers to the storage
            if old is not None:
                self.targets[k] = old.view
                self.updates[old.key] = k
                continue
            storage = node.wanted()
            if storage is not None:  # another thread may have dropped it
                self.targets[k] = view = node.form.new(node.enabled, None)
                view._set_layout(view.layout, storage)

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
        if any(leaf.key != old.key for leaf in leaves):
            return None
        if any(n.number not in self.position for n in Expressions.all.dependents(leaves)):
            return None
        later = any(isinstance(a, Leaf) and a.key == old.key
                    for n in self.order[k + 1:] for a in n.args)
        return None if later else old

    # The program

    def structure(self) -> Structure:
        """Return the structure of the program; collect its operands."""
        reads = [[self.place_of(a) for a in node.args] for node in self.order]
        count = len(self.operands)
        at: dict[Place, int] = {("operand", k): k for k in range(count)}
        at |= {("target", k): count + j for j, k in enumerate(self.targets)}
        used = {place for places in reads for place in places}
        letters = ["i" if isinstance(x, Mat) else "n" for x in self.operands.values()]
        letters += ["u" if ("target", k) in used else "o" for k in self.targets]
        if self.fold is not None:
            letters.append("o")
        temporary = itertools.count(len(letters))
        for k in range(len(self.order)):
            at["node", k] = at["target", k] if k in self.targets else next(temporary)
        return Structure("".join(letters), tuple(
            Instruction(node.operation, tuple(at[place] for place in places), at["node", k],
                        node.form.dtype)
            for k, (node, places) in enumerate(zip(self.order, reads, strict=True))), self.fold)

    def place_of(self, argument: Argument) -> Place:
        """Return the place of what a node reads; a new one is a new operand."""
        if isinstance(argument, Node):
            if argument.leaf is None:
                return "node", self.position[argument.number]
            argument = argument.leaf
        if not isinstance(argument, Leaf):
            key: object = len(self.operands)
            self.operands[key] = argument
            return "operand", len(self.operands) - 1
        if argument.key in self.updates:
            return "target", self.updates[argument.key]
        self.operands.setdefault(argument.key, argument.view)
        return "operand", list(self.operands).index(argument.key)

    # Carrying it out

    def run(self) -> None:
        """Compute the results."""
        self.choose_targets()
        program = program_of(self.structure())
        try:
            self.claim(THREADS.current())
            results = self.targets.values() if self.fold is None else [self.into]
            program.evaluate((*self.operands.values(), *results))
        except BaseException as error:
            error.add_note(f"in the fused statements at {self.lines()}")
            raise
        finally:
            self.claim(0)
        if self.into is None:
            for k, view in self.targets.items():
                self.settle(self.order[k], view)

    def claim(self, thread: int) -> None:
        """Let that thread write the results."""
        for k, view in self.targets.items():
            storage, node = view.storage, self.order[k]
            if storage.pending is not None:
                storage.pending.computing = thread
            if thread and node.old is not None and view is node.old.view:
                node.overwritten = storage.version

    @staticmethod
    def settle(node: Node, view: Mat) -> None:
        """End the computation of a value, which is in `view` now."""
        if node.overwritten is not None:
            give_back(node, view)
        node.settle(view)

    def lines(self) -> str:
        """Return the lines of the statements."""
        return ", ".join(dict.fromkeys(line_of(n.line) for n in self.order))


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


class Passes(Expressions):
    """All nodes, and how they are computed."""

    def compute(self, nodes: list[Node]) -> None:
        with self.lock:
            self.finish_overwritten(nodes)
            by_shape: dict[Ints, list[Node]] = {}
            for node in sorted(nodes, key=lambda n: n.number):
                by_shape.setdefault(node.form.shape, []).append(node)
            for group in by_shape.values():
                self.compute_alike(group)

    @staticmethod
    def finish_overwritten(nodes: list[Node]) -> None:
        """Settle nodes whose pass was interrupted after it had overwritten old elements."""
        for node in in_order(nodes):
            old = node.old
            if node.overwritten is not None and old is not None:
                if old.view.storage.version != node.overwritten:
                    Pass.settle(node, old.view)
                node.overwritten = None

    def compute_alike(self, nodes: list[Node]) -> None:
        """Compute nodes of one shape, in as few passes as may be."""
        group: list[Node] = []
        for node in nodes:
            if group and len(in_order([*group, node])) > MOST_NODES:
                self.run(Pass(group))
                group = []
            if node.leaf is None:
                group.append(node)
        if in_order(group):
            self.run(Pass(group))

    def run(self, one: Pass) -> None:
        """Carry out a pass, in which nothing new is pending."""
        before, self.busy = self.busy, threading.get_ident()
        try:
            one.run()
        finally:
            self.busy = before


EXPRESSIONS = Passes()
