"""Nodes: operations whose results are pending, and the views that they read.

A node refers to what it reads, never to what reads it: it lives as long as the storage whose value
it is, or a node that reads it. So the result of an expression that nobody can see any more is not
computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import getrefcount
from typing import Any, ClassVar, TypeAlias
from weakref import ref

from ...core.compiled import Lock as NewLock
from ...core.compiled import reference_to
from ...core.direction import INPUT
from ...core.pending import Pending
from ...core.source_line import SourceLine
from ...devices.in_use import has_kernels, in_use
from ...facets.array import ARRAY
from ...matrix.base import Form, MatBase
from ...matrix.mat import Mat
from ...matrix.storage import Storage
from ...support.fork import renew_after_fork
from ...support.types import Number
from ..engine.operation import Op

_array, _input = ARRAY, INPUT


class Nodes:
    """Nodes that are values of storages; those that nobody needs any more disappear."""

    __slots__ = ("busy", "found", "last", "least", "most", "reads", "room", "rows")

    def __init__(self) -> None:
        self.found: list[ref[Node]] = []
        self.room: int = 32  # before those that are gone are removed
        self.last: int = 0  # the number of the last node that was made
        self.reads: int = 0  # bytes that they read since it was looked at what they keep
        self.rows: bool = False  # some may be reductions of rows
        self.most: int = -1  # until then; negative: it was not yet
        self.busy: int = 0  # the thread that computes, by its number in the system
        self.least: int = 0  # bytes of a result that is pending

    def add(self, node: ref[Node]) -> None:
        """Add a node."""
        if len(self.found) >= self.room:
            self.found = [r for r in self.found if r() is not None]
            self.room = 2 * len(self.found) + 32
        self.found.append(node)

    def wanted(self) -> list[Node]:
        """Return the nodes that are wanted and not computed, in the order of their statements."""
        found = []
        for r in self.found:
            node = r()
            if node is not None and node.leaf is None and node.wanted() is not None:
                found.append(node)
        return found


_values = VALUES = Nodes()  # of all storages; with a type of C


def pending_of(storage: Storage) -> Pending:
    """Return what is pending of a storage; the caller holds its lock."""
    found = storage.pending
    if found is None:
        found = storage.pending = Pending()
    return found


class Leaf:
    """A view of elements that pending expressions read."""

    __slots__ = ("__weakref__", "view")
    view: Mat

    @property
    def key(self) -> tuple[object, ...]:
        """What leaves that see the same elements in the same way have in common."""
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
            pending.readers = [*[r for r in pending.readers if r() is not None], reference_to(self)]
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
    storage = view.storage
    pending = storage.pending
    if pending is not None and not storage.records:
        for found in pending.readers:  # who has written since has forgotten its readers
            leaf: Any = found()
            if leaf is not None and leaf.sees_like(view):
                same: Leaf = leaf
                return same
    leaf = new_leaf(view._as_now())
    leaf.register()  # first: who writes from now on waits, and who writes now is a conflict
    if storage.records or storage.torn is not None or storage.spans is not None:
        storage.check_access(view, in_use().facet if has_kernels(view) else _array, _input)
    return leaf


Argument: TypeAlias = "Node | Leaf | Number"


class Node:
    """An operation whose result is pending.

    `args` are the operands that it reads, in the order of the operation. `old` is what the Mat of
    the statement had seen before, if it is updated, and `mat` that Mat.
    """

    __slots__ = ("__weakref__", "args", "device", "enabled", "form", "leaf", "line", "mat",
                 "number", "old", "operation", "overwritten", "reduced", "storage", "weight")

    # the parameters are the facts of a statement
    def begin(self, operation: Op, args: tuple[Argument, ...], form: Form,
              line: SourceLine | None) -> None:
        """Be that operation, of no storage yet."""
        _values.last += 1
        self.number: int = _values.last  # in the order of the statements
        self.operation: Op = operation
        self.args: tuple[Argument, ...] = args
        self.form: Form = form
        self.line: SourceLine | None = line
        self.weight: int = 1  # of the nodes to compute, where none is read twice; up to 2**16
        for a in args:
            if type(a) is Node:
                node: Any = a
                self.weight = self.weight + node.weight
        if self.weight > 1 << 16:
            self.weight = 1 << 16
        self.leaf: Leaf | None = None  # the result, once it is computed
        self.enabled: bool = True  # for devices
        # of results for rows, the device, since others add in another order; else None
        self.device: Any = None
        self.storage: ref[Storage] | None = None
        self.mat: ref[Mat] | None = None
        self.old: Leaf | None = None
        self.reduced: bool = False  # by a pass that did not keep the result
        self.overwritten: int | None = None  # the version of that before it is

    def be_value_of(self, storage: Storage, mat: Mat, old: Leaf | None) -> ref[Node]:
        """Be the value of a storage, that of `mat`, in place of an earlier one; return a reference
        to self.
        """
        self.storage, self.old = reference_to(storage), old
        self.mat = None if old is None else reference_to(mat)
        self.enabled = mat.device_enabled
        found = reference_to(self)
        lock = storage._guard()
        lock.acquire()
        try:
            pending_of(storage).value = self
        finally:
            lock.release()
        _values.add(found)
        return found

    def wanted(self) -> Storage | None:
        """Return the storage whose value this still is, or None."""
        storage = None if self.storage is None else self.storage()
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
        self.args, self.old = (), None
        leaf.register()
        if storage is not None and storage.pending is not None:
            storage.pending.value = None


# the parameters are the facts of a statement
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

    @property
    def busy(self) -> int:
        """The thread that computes, by its number in the system."""
        return _values.busy

    @busy.setter
    def busy(self, thread: int) -> None:
        _values.busy = thread

    def after_fork(self) -> None:
        """Compute nothing in a child, in which only the thread that forked may have the lock."""
        self.busy = 0

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


def viewers(mat: Mat) -> int:
    """Return how many references to the storage of `mat` there are."""
    return getrefcount(mat.storage)
