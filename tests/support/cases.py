"""All `CASES`."""

from . import (  # noqa: F401
    cases_blas,
    cases_elementwise,
    cases_gathering,
    cases_linalg,
    cases_reduce,
    cases_sorting,
)
from .case import CASES, Case
from .cases_conv import CONV_CASES
from .cases_nn import NN_CASES

__all__ = ["CASES"]

CASES.update({name: Case(*parts) for name, parts in (NN_CASES | CONV_CASES).items()})
