"""The memory that only pending expressions keep, and its bound."""

from __future__ import annotations

from ...devices.in_use import CPU, in_use
from ...matrix.mat import Mat
from .nodes import Expressions, Leaf, Node, readers_of, viewers
from .passes import ALONE, in_order

MOST = 1 << 28  # bytes that a block's expressions may keep; on a device, a quarter of its pool


def most_kept() -> int:
    """Return how many bytes pending expressions may keep."""
    device = in_use()
    limit = None if device is CPU else device.limit
    return MOST if limit is None else min(MOST, limit // 4)


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
