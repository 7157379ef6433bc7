"""Syntax trees of sources, each parsed once for neighbouring modules of tests."""

import ast
import gc
from functools import cache


@cache
def parsed(text):
    """Return the tree of a source."""
    return _frozen(ast.parse(text))


@cache
def nodes(tree):
    """Return all nodes of a tree, as `ast.walk` yields them."""
    return _frozen(tuple(ast.walk(tree)))


def _frozen(found):
    """Have collections of garbage pass over what was found, as over all else that there is."""
    gc.freeze()
    return found


def forget():
    """Forget all trees."""
    parsed.cache_clear()
    nodes.cache_clear()
