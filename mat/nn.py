"""Convolution and maximum pooling over any number of axes, and their derivatives: `mat.nn`.

>>> import mat
>>> mat.nn.convolve(mat.arange(4.0), mat.array([1.0, 10.0]), mat.zeros(4))
<Mat 4 F [10. 21. 32. 3.]>
"""

from .ops.nn import convolve, derive_convolve
from .ops.pooling import derive_max_pool, max_pool

__all__ = ["convolve", "derive_convolve", "derive_max_pool", "max_pool"]
