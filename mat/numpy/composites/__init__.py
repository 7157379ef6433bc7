"""Implementations of NumPy's functions by operations of `mat`, a module for each group."""
