"""Syntax trees of sources, each parsed once for neighbouring modules of tests."""

import ast
import gc
from functools import cache


@cache
def parsed(text):
    """Return the tree of a source."""
    return ast.parse(text)


@cache
def nodes(tree):
    """Return all nodes of a tree, as `ast.walk` yields them."""
    return tuple(ast.walk(tree))


def leave():
    """Leave the trees to the next module: collections of garbage do not pass through them."""
    gc.freeze()


def forget():
    """Forget all trees: collections of garbage would pass through them in later tests."""
    parsed.cache_clear()
    nodes.cache_clear()
