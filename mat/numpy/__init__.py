"""NumPy's functions, ufuncs and methods for Mats."""
