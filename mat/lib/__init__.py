"""The parts of `numpy.lib` for Mats: `stride_tricks`, and NumPy's own modules."""

from ..numpy.namespace.lookup import module_functions, public_names
from . import stride_tricks

__all__ = [*public_names("lib"), "stride_tricks"]
__getattr__, __dir__ = module_functions("lib", globals())
