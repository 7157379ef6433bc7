"""NumPy programs, run by NumPy and in the place of it by `mat`; what they print is the same."""
