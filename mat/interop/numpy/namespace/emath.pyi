"""Types of `mat.emath`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""



from ....support.types import ArrayLike
from ....matrix.mat import Mat

__all__ = [
    "arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt",
]

def arccos(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.arccos`` returns, with Mats for arrays."""

def arcsin(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.arcsin`` returns, with Mats for arrays."""

def arctanh(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.arctanh`` returns, with Mats for arrays."""

def log(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.log`` returns, with Mats for arrays."""

def log10(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.log10`` returns, with Mats for arrays."""

def log2(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.log2`` returns, with Mats for arrays."""

def logn(n: object, x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.logn`` returns, with Mats for arrays."""

def power(x: ArrayLike, p: ArrayLike) -> Mat:
    """Return what ``numpy.emath.power`` returns, with Mats for arrays."""

def sqrt(x: ArrayLike) -> Mat:
    """Return what ``numpy.emath.sqrt`` returns, with Mats for arrays."""

