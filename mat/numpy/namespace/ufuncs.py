"""Functions of `mat` for NumPy's ufuncs, at the first use of their names: operations of `mat`, or
functions that call NumPy's with Mats, arrays, sequences and numbers.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import give_vectorcall
from ...matrix.mat import Mat
from ...ops.engine.functions import Ufunc
from ...support.types import Arguments, Function, Keywords, Operand
from ..array_ufunc import implementation_of, of_few_elements
from ..registry import COMPOSED_NAMES, is_implemented
from ..ufunc_calls import add_methods, call_ufunc, signature_of
from .functions import BY_NUMPY, BY_US, describe

_mat = Mat  # with a type of C


def make_ufunc(name: str, ufunc: np.ufunc) -> Function:
    """Return the function of `mat` for `ufunc`: the operation of that name, if there is one."""
    ours = implementation_of(ufunc)
    if isinstance(ours, Ufunc):
        return ours
    ours_too = ours is not None or is_implemented(ufunc) or ufunc.__name__ in COMPOSED_NAMES
    signature = signature_of(ufunc)
    made = describe(NumpysUfunc(ufunc), name, ufunc.__name__, signature, signature.parameters,
                    BY_US if ours_too else BY_NUMPY)
    return add_methods(made, ufunc)


class NumpysUfunc(Ufunc):
    """A ufunc of NumPy's that is no operation of `mat`."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc: np.ufunc = ufunc
        self.count: int = ufunc.nin

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if count != self.count or (type(x) is not _mat and type(y) is not _mat):
            return None
        return of_few_elements(self.ufunc, (x,) if count == 1 else (x, y))

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        return call_ufunc(self.ufunc, args, kwargs)


give_vectorcall(NumpysUfunc)
