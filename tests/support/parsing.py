"""Syntax trees of sources, each parsed once for all tests of a module."""

import ast
from functools import cache


@cache
def parsed(text):
    """Return the tree of a source."""
    return ast.parse(text)


@cache
def nodes(tree):
    """Return all nodes of a tree, as `ast.walk` yields them."""
    return tuple(ast.walk(tree))


def forget():
    """Forget all trees: collections of garbage would pass through them in later tests."""
    parsed.cache_clear()
    nodes.cache_clear()
