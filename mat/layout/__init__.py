"""Arithmetic of shapes and strides, independent of NumPy and of `Mat`."""
