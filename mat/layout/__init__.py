"""Shapes and strides: arithmetic that knows neither NumPy nor Mats."""
