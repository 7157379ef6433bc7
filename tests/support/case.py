"""`CASES`: for each operation in the registry, operands to try and what must come out."""

from .layouts import BLAS_DTYPES

SHAPES = ((3, 4), (5,), (0, 3), (2, 3, 2), ())
FACTORS = ((1, 0), (2, 1), (-3, 2), (0, 3))


class Case:
    """Operands to try for an operation: ``samples(rng, dtype)`` yields (args, kwargs),
    ``reference`` computes what comes out.

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
