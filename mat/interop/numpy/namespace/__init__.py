"""NumPy's names in `mat`: the table of them, and what makes functions of it."""
