"""NumPy's names in `mat`: their table, and the functions made from it."""
