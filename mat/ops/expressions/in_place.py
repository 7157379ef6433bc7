"""Updates of Mats in files that wait: the value of a storage that keeps its old elements meanwhile,
which are overwritten where they are.

Other updated Mats see a new storage until their value is computed. A file is what it is: all that
reads the old elements is computed before, or in the same pass, and the update is carried out even
if nobody reads it.
"""

from __future__ import annotations

from typing import Any

from ...core.compiled import THREADS
from ...core.registry import host
from ...matrix.base import MatBase
from ...matrix.mat import Mat
from ...memories.file_pages import is_only_map
from ..tiles.tile import calls_of_their_own
from .folds import leaf_or_node, read_by
from .nodes import VALUES, Argument, Leaf, Node, new_leaf, readers_of


def overwrites(node: Node) -> bool:
    """Return whether the elements of a storage are overwritten when a node is computed."""
    return node.in_place and node.leaf is None and node.wanted() is not None


def can_wait_in_place(out: Mat) -> bool:
    """Return whether a Mat, all of a file by rows, can be updated later: nobody else sees it."""
    storage: Any = out.storage
    pages = getattr(storage, "pages", None)
    if pages is None or not out.form.writable or storage.adopted is not host():
        return False
    if not out.form.whole or not out.layout.contiguous:
        return False
    if (storage.accesses or storage.keeps_any or storage.async_copies
            or storage.torn_error(out) is not None):
        return False
    return is_only_map(pages)


def updates_all(out: Mat, found: tuple[Argument, ...], key: object) -> bool:
    """Return whether an update reads the elements that it overwrites at the same places only."""
    return all(leaf.view.storage is not out.storage or leaf.key == key
               for one in found for leaf in read_by(one) if isinstance(leaf, Leaf))


def compute_other_readers(out: MatBase, key: object) -> None:
    """Compute the values that read `out` in another way than whole and in order."""
    for leaf in readers_of(out):
        if leaf.key != key:
            leaf.compute()


def with_readers(nodes: list[Node]) -> list[Node]:
    """Return nodes, and the pending values that read the elements that their updates overwrite."""
    found = list(nodes)
    VALUES.in_place = any(map(overwrites, VALUES.wanted()))
    while True:
        updates = [one for one in needed_by(found) if overwrites(one)]
        more = [n for n in VALUES.wanted() if n not in found
                and any(reads_old(n, update) for update in updates)]
        if not more:
            return found
        found += more


def needed_by(nodes: list[Node]) -> set[Node]:
    """Return the nodes that are not computed on which nodes depend, and these."""
    found: set[Node] = set()
    left: list[Any] = list(nodes)
    while left:
        one = leaf_or_node(left.pop())
        if type(one) is Node and one not in found:
            found.add(one)
            left += one.args
    return found


def reads_old(node: Argument, update: Node) -> bool:
    """Return whether a value needs old elements that an update overwrites."""
    old: Any = update.old
    seen: set[object] = {update}
    left: list[Any] = [node]
    while left:
        one = leaf_or_node(left.pop())
        if one in seen:
            continue
        if type(one) is Leaf and one.view.storage is old.view.storage:
            return True
        if type(one) is Node:
            left += one.args
        seen.add(one)
    return False


def keep_old(update: Node, together: list[Node]) -> None:
    """Copy the elements that an update overwrites if values of other passes read them."""
    if any(n not in together and reads_old(n, update) for n in VALUES.wanted()):
        old: Any = update.old
        view = old.view
        try:
            claim_read([view], THREADS.current())
            with calls_of_their_own():
                kept = view.copy()
        finally:
            claim_read([view], 0)
        for leaf in readers_of(view):
            leaf.view = kept
        with view.storage.lock:
            view.storage.pending.readers = []
        update.old = new_leaf(view)


def claim_read(views: list[Mat], thread: int) -> None:
    """Let a thread read elements that pending updates are to overwrite; 0: none."""
    for view in views:
        pending: Any = view.storage.pending
        if pending is not None and pending.value is not None:
            pending.computing = thread
