"""NumPy's views by strides, `numpy.lib.stride_tricks`, for Mats.

>>> import mat
>>> mat.lib.stride_tricks.sliding_window_view(mat.array([1.0, 2.0, 3.0]), 2).tolist()
[[1.0, 2.0], [2.0, 3.0]]
"""

from ..numpy.namespace.lookup import module_functions, public_names

__all__ = public_names("lib.stride_tricks")
__getattr__, __dir__ = module_functions("lib.stride_tricks", globals())
