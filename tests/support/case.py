"""`CASES`: for each operation in the registry, operands to try and the expected result, computed by
NumPy and SciPy.

Modules ``cases_*.py`` declare them by `case`; `cases` imports them all. They know nothing of `mat`.
"""

import numpy as np

from .layouts import BLAS_DTYPES, FLOATS, INTEGERS

REAL = (*INTEGERS, *FLOATS)
SHAPES = ((3, 4), (5,), (0, 3), (2, 3, 2), ())
FACTORS = ((1, 0), (2, 1), (-3, 2), (0, 3))  # alpha and beta


class Case:
    """Operands to try for an operation, which ``samples(rng, dtype)`` yields as (args, kwargs), and
    the ``reference`` that computes the expected result.

    The reference gives the new array of the written operand (all of them as a dict by position), or
    the result.
    """

    def __init__(self, samples, reference, dtypes=BLAS_DTYPES):
        self.samples, self.reference, self.dtypes = samples, reference, dtypes


CASES = {}


def case(name, reference, dtypes=BLAS_DTYPES):
    """Declare the samples of an operation."""
    def declare(samples):
        CASES[name] = Case(samples, reference, dtypes)
        return samples
    return declare


def reordered(samples, *order):
    """Return the samples with these of their arrays, in that order."""
    def make(rng, dtype):
        for *arrays, settings in samples(rng, dtype):
            yield tuple(arrays[k] for k in order), settings
    return make


def plus(term, beta, c):
    """Return ``term + beta c``; if beta is 0, `c` is not read."""
    return term + beta * c if beta else term + np.zeros_like(c)


def transposed(a, transpose):
    return a.swapaxes(-1, -2) if transpose else a
