"""Convolution and pooling, of images with channels too, and their derivatives: `mat.nn`.

>>> import mat
>>> mat.nn.convolve(mat.arange(4.0), mat.array([1.0, 10.0]), mat.zeros(4))
<Mat 4 F [10. 21. 32. 3.]>
"""

from .ops.nn.conv import conv, derive_conv
from .ops.nn.nn import convolve, derive_convolve, derive_max_pool, derive_pool, max_pool, pool
from .support.close_names import name_what_is_close as _name_what_is_close

__all__ = ["conv", "convolve", "derive_conv", "derive_convolve", "derive_max_pool", "derive_pool",
           "max_pool", "pool"]


_name_what_is_close(__name__)
