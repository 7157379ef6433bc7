"""NumPy programs that run with `mat` in the place of their `numpy`: ``python -m mat run``."""
