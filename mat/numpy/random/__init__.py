"""Random numbers with NumPy's names, from the streams of `mat`."""
