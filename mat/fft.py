"""NumPy's discrete Fourier transforms, `numpy.fft`, for Mats: each is made at its first use.

>>> import mat
>>> mat.fft.fft([1.0, 0.0])
<Mat 2 complex128 A [1.+0.j 1.+0.j]>
"""

from .numpy.namespace.lookup import module_functions, public_names

__all__ = public_names("fft")
__getattr__, __dir__ = module_functions("fft", globals())
