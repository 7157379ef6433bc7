"""NumPy's functions that give complex numbers where real ones have no result, `numpy.emath`."""

from .lookup import module_functions, public_names

__all__ = public_names("emath")
__getattr__, __dir__ = module_functions("emath", globals())
