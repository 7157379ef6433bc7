"""All `CASES`."""

from . import cases_blas, cases_elementwise, cases_linalg, cases_reduce  # noqa: F401
from .case import CASES, Case
from .cases_conv import CONV_CASES
from .cases_nn import NN_CASES

__all__ = ["CASES"]

CASES.update({name: Case(*parts) for name, parts in (NN_CASES | CONV_CASES).items()})
