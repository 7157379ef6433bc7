"""Tiles: parts of an operation that are carried out one by one, and the cutters that yield them."""
