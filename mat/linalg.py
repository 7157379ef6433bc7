"""NumPy's linear algebra, `numpy.linalg`, for Mats: each function is made at its first use.

>>> import mat
>>> mat.linalg.norm([3.0, 4.0])
<Mat () A 5.>
"""

from .numpy.namespace.lookup import module_functions, public_names

__all__ = public_names("linalg")
__getattr__, __dir__ = module_functions("linalg", globals())
