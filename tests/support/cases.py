"""All `CASES`, and the operations that they are of."""

from mat import blas, fft, linalg, nn, random  # noqa: F401  # which import all operations
from mat.ops.engine.operation import REGISTRY

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

__all__ = ["BUILT_IN", "CASES"]

# in the order of names: the registry has that of imports, which differs between processes
BUILT_IN = {name: op for name, op in sorted(REGISTRY.items()) if op.__module__.startswith("mat.")}

CASES.update({name: Case(*parts) for name, parts in (NN_CASES | CONV_CASES).items()})
