"""Speed, measured against NumPy, SciPy and torch in one process, in turns. Prints ratios; asserts
nothing.
"""
