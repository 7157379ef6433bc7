"""Expressions: element-wise operations whose results are pending, computed in one pass."""
