"""Types of `mat.nn`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""



from .ops.channel_pooling import derive_pool as derive_pool
from .ops.channel_pooling import pool as pool
from .ops.conv import conv as conv
from .ops.conv import derive_conv as derive_conv
from .ops.nn import convolve as convolve
from .ops.nn import derive_convolve as derive_convolve
from .ops.pooling import derive_max_pool as derive_max_pool
from .ops.pooling import max_pool as max_pool

__all__ = [
    "conv", "convolve", "derive_conv", "derive_convolve", "derive_max_pool", "derive_pool",
    "max_pool", "pool",
]


