"""Nodes: operations whose results are pending, and the views that they read.

A node refers to what it reads, never to what reads it: it lives as long as the storage whose value
it is, or a node that reads it. So the result of an expression that nobody can see any more is not
computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias
from weakref import ref

from ...core.coherence import LIVE
from ...core.compiled import LiveObjects as NewLiveObjects
from ...core.compiled import Lock as NewLock
from ...core.compiled import reference_count, reference_to, referent
from ...core.direction import INPUT
from ...core.pending import Pending, new_pending
from ...core.source_line import SourceLine, file_and_line
from ...devices.in_use import has_kernels, in_use
from ...facets import ARRAY
from ...layout.attributes import begin_as_nothing
from ...layout.shapes import Ints
from ...matrix.base import Form, MatBase
from ...matrix.mat import Mat
from ...matrix.storage import Storage
from ...support.fork import renew_after_fork
from ...support.formatting import counted
from ...support.types import Number
from ..engine.operation import Op

_array, _input, _cubes = ARRAY, INPUT, LIVE


class Nodes:
    """Nodes that are values of storages; those that nobody needs any more disappear."""

    def __init__(self) -> None:
        self.last: int = 0  # the number of the last node that was made
        self.rows: bool = False  # some may be reductions
        self.in_place: bool = False  # some may be updates of files
        self.busy: int = 0  # the thread that computes, by its number in the system

    def wanted(self) -> list[Node]:
        """Return the nodes that are wanted and not computed, in the order of their statements."""
        found: list[Node] = []
        for node in _live.all():
            if node.leaf is None and node.wanted() is not None:
                add_by_number(node, found)
        return found


def add_by_number(node: Node, found: list[Node]) -> None:
    """Add a node to those found, in the order of their statements: it is among the last ones."""
    at = len(found)
    while at:
        before = found[at - 1]
        if before.number < node.number:
            break
        at -= 1
    found.insert(at, node)


LIVE_NODES = _live = NewLiveObjects()
_values = VALUES = Nodes()  # of all storages; both with types of C


class Statements:
    """The statements of a block."""

    def __init__(self, least: int) -> None:
        self.least: int = least  # bytes of a result that is pending
        self.reads: int = 0  # bytes that they read since it was looked at what they keep
        self.most: int = -1  # until then; negative: it was not yet
        # storages whose updates are carried out even if nobody reads them; None: these do not wait
        self.held: dict[int, Storage] | None = {}

    def hold(self, storage: Storage) -> None:
        """Keep a storage until its value is computed."""
        self.let_go()
        if self.held is not None:
            self.held[id(storage)] = storage
        _values.in_place = True

    def let_go(self) -> None:
        """Keep storages no longer whose values are computed."""
        if self.held:
            self.held = {k: s for k, s in self.held.items() if s.is_pending}

    def wanted(self) -> list[Node]:
        """Return their nodes that are wanted and not computed."""
        found = []
        for node in _values.wanted():
            if node.block is self:
                found.append(node)  # noqa: PERF401  # with types of C, as no comprehension
        return found


def pending_of(storage: Storage) -> Pending:
    """Return the pending values of a storage; the caller holds its lock."""
    found = storage.pending
    if found is None:
        found = storage.pending = new_pending()
    return found


class Leaf:
    """A view of elements that pending expressions read."""

    view: Mat

    @property
    def key(self) -> tuple[object, ...]:
        """The key of leaves that see the same elements in the same way."""
        view = self.view
        return id(view.storage), view.layout.displacement, view.form

    def sees_like(self, view: MatBase) -> bool:
        """Return whether it sees the elements of a view of the same storage in the same way."""
        own = self.view
        return (own.known_form is view.known_form and own.known_form is not None
                and own.layout.displacement == view.layout.displacement)

    def register(self) -> None:
        """Make writers of the elements compute the expressions first."""
        storage = self.view.storage
        lock = storage._guard()
        lock.acquire()
        try:
            pending = pending_of(storage)
            found = ([r for r in pending.readers if referent(r) is not None] if pending.readers
                     else [])
            found.append(reference_to(self))
            pending.readers = found
        finally:
            lock.release()

    def compute(self) -> None:
        """Compute the values that depend on these elements."""
        expressions = Expressions.all
        expressions.compute(expressions.dependents([self]))


def new_leaf(view: Mat) -> Leaf:
    """Return a leaf with the elements of `view` that no writer knows of yet."""
    leaf = Leaf.__new__(Leaf)
    leaf.view = view
    return leaf


def leaf_of(view: Mat) -> Leaf:
    """Return a leaf with the elements of `view`; raise the error of an access that reads them."""
    pending = view.storage.pending
    if pending is not None and not view.storage.records:
        for found in pending.readers:  # who has written since has forgotten its readers
            leaf: Any = referent(found)
            if leaf is not None and leaf.sees_like(view):
                same: Leaf = leaf
                return same
    leaf = new_leaf(view._as_now())
    leaf.register()  # first: who writes from now on waits, and who writes now is a conflict
    storage = view.storage
    if storage.records or storage.torn is not None or storage.spans is not None:
        storage.check_access(view, in_use().facet if has_kernels(view) else _array, _input)
    return leaf


Argument: TypeAlias = "Node | Leaf | Number"


class Node:
    """An operation whose result is pending."""

    # what attributes are until they are set: see `begin_as_nothing`
    number: int  # in the order of the statements
    args: tuple[Argument, ...]  # the operands that it reads, in the order of the operation
    form: Form
    line: SourceLine | None
    weight: int  # of the nodes to compute, where none is read twice; up to 2**16
    reads: int  # bytes of its operands that have elements
    leaf: Leaf | None  # the result, once it is computed
    enabled: bool  # for devices
    device: Any  # of results for rows, since others add in another order; else None
    block: Statements | None  # whose result it is; None: of a pass that keeps it for others
    place: int  # among all nodes
    at: int  # its number among those of a pass; others may have changed it meanwhile
    storage_place: int  # of the storage whose value it is, among all storages
    mat: ref[Mat] | None  # that of the statement, if it is updated
    old: Leaf | None  # what that had seen before
    reduced: bool  # by a pass that did not keep the result
    turned: tuple[Ints, Node] | None  # the same elements with permuted axes
    in_place: bool  # it updates elements where they are
    spanned: bool  # an operand has its shape
    overwritten: int | None  # the version of `old` before a pass wrote there

    def begin(self, operation: Op, args: tuple[Argument, ...], form: Form,
              line: SourceLine | None) -> None:
        """Be that operation, of no storage yet."""
        _values.last += 1
        self.number = _values.last
        self.operation: Op = operation  # here, since as an attribute of the class it is a method
        self.args, self.form, self.line = args, form, line
        self.enabled, self.weight = True, 1
        for a in args:
            if type(a) is Node:
                node: Any = a
                self.weight = self.weight + node.weight
                self.spanned = self.spanned or ((node.form is form
                                                 or node.form.shape == form.shape) and (
                    node.spanned or node.leaf is not None or node.device is not None))
            elif type(a) is Leaf:
                leaf: Any = a
                self.reads = self.reads + leaf.view.storage.nbytes
                self.spanned = (self.spanned or leaf.view.known_form is form
                                or leaf.view.layout.shape == form.shape)
        if self.weight > 1 << 16:
            self.weight = 1 << 16
        self.place = _live.add(self)  # last: others see a whole node

    def be_value_of(self, storage: Storage, mat: Mat, old: Leaf | None) -> None:
        """Be the value of a storage, that of `mat`, in place of an earlier one."""
        self.belong_to(storage, mat, old)
        lock = storage._guard()
        lock.acquire()
        try:
            pending_of(storage).value = self
        finally:
            lock.release()

    def be_value_of_new(self, storage: Storage, mat: Any, old: Leaf | None) -> None:
        """Be the value of a storage, that of `mat`, which only this thread knows."""
        self.belong_to(storage, mat, old)
        storage.pending = new_pending()
        storage.pending.value = self

    def belong_to(self, storage: Storage, mat: Any, old: Leaf | None) -> None:
        """Remember the storage whose value it is to be."""
        self.storage_place, self.old = storage.place, old
        self.mat = None if old is None else reference_to(mat)
        self.enabled = mat.device_enabled

    def __dealloc__(self) -> None:  # the name that Cython has for it
        _live.remove(self.place)

    def wanted(self) -> Storage | None:
        """Return the storage whose value this still is, or None."""
        storage = _cubes.at(self.storage_place)
        if storage is None or storage.pending is None or storage.pending.value is not self:
            return None
        return storage

    def compute(self) -> None:
        """Compute the value, unless another thread has."""
        Expressions.all.compute([self])

    def settle(self, view: Mat) -> None:
        """Be the elements of `view` from now on, which have been computed."""
        storage = self.wanted()
        self.leaf = leaf = new_leaf(view)
        self.args, self.old, self.turned = (), None, None
        leaf.register()
        if storage is not None and storage.pending is not None:
            storage.pending.value = None


begin_as_nothing(Node)


def new_node(operation: Op, args: tuple[Argument, ...], form: Form,
             line: SourceLine | None) -> Node:
    """Return a node of no storage yet."""
    node = Node.__new__(Node)
    node.begin(operation, args, form, line)
    return node


class Expressions:
    """All nodes that are values of storages, and the lock that guards nodes."""

    all: ClassVar[Expressions]

    def __init__(self) -> None:
        Expressions.all = self
        self.lock: NewLock = NewLock()  # held while nodes are computed
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Compute nothing in a child, in which only the thread that forked may have the lock."""
        VALUES.busy = 0

    def pending(self) -> list[Node]:
        """Return the values that are wanted and not computed, in the order of their statements."""
        return VALUES.wanted()

    def dependents(self, leaves: Iterable[Leaf]) -> list[Node]:
        """Return the pending values that depend on one of these leaves."""
        known: dict[int, bool] = {id(leaf): True for leaf in leaves}

        def depends(one: Argument) -> bool:
            if isinstance(one, Node) and one.leaf is not None:
                one = one.leaf
            if id(one) not in known:
                known[id(one)] = isinstance(one, Node) and any(map(depends, one.args))
            return known[id(one)]

        return [n for n in self.pending() if depends(n)]

    def compute(self, nodes: list[Node]) -> None:
        """Compute those of the nodes that are not; the layer above does."""
        raise NotImplementedError


def readers_of(view: MatBase) -> list[Leaf]:
    """Return the leaves of the storage of `view`."""
    pending = view.storage.pending
    found: list[Any] = [] if pending is None else pending.read_in(None)
    return found


def count_readers(view: MatBase) -> int:
    """Return how many leaves of the storage of `view` there are."""
    pending, count = view.storage.pending, 0
    if pending is not None:
        for found in pending.readers:
            count += referent(found) is not None
    return count


def viewers(mat: Mat) -> int:
    """Return how many references to the storage of `mat` there are."""
    return reference_count(mat.storage)


# Expressions in words


MOST = 12  # operations that are listed by name
PASS = "fused: "  # what descriptions of passes begin with


def in_words(nodes: list[Any], operands: int, results: int = 0, how: str = "",
             folds: int = 0) -> str:
    """Return a pass in words: ``fused: 9 operations of lines 12-14, 3 operands, 1 result``."""
    last = f", {counted(results, 'result')}" if results else ""
    return (f"{PASS}{counted(len(nodes) + folds, 'operation')} of {lines_of(nodes)}{how}, "
            f"{counted(operands, 'operand')}{last}")


def listed(nodes: list[Any]) -> str:
    """Return the operations of an expression: ``3 operations of line 2: multiply, add, sqrt``."""
    names = [node.operation.__name__ for node in nodes]
    more = [f"and {len(names) - MOST} more"] if len(names) > MOST else []
    return (f"{counted(len(names), 'operation')} of {lines_of(nodes)}: "
            f"{', '.join(names[:MOST] + more)}")


def lines_of(nodes: list[Any]) -> str:
    """Return the lines of the statements, from the first to the last in each file."""
    found: dict[str, list[int]] = {}
    for node in nodes:
        if node.line is not None:
            file, line = file_and_line(node.line)
            found.setdefault(file, []).append(line)
    texts = []
    for file, lines in found.items():
        first, last = min(lines), max(lines)
        text = f"line {first}" if first == last else f"lines {first}-{last}"
        texts.append(text if len(found) == 1 else f"{text} of {file}")
    return " and ".join(texts)
