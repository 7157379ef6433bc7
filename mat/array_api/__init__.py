"""The Python array API standard, version 2025.12, for Mats: the module that
``x.__array_namespace__()`` returns.

Operations of `mat` compute in its kernels and on the device in use, NumPy computes the rest on the
host. The module is imported when it is first used.

>>> from mat import array_api as xp
>>> xp.sum(xp.asarray([1, 2, 3]))
<Mat () int64 F 6>
"""

from __future__ import annotations

import sys
from math import e, inf, nan, pi

from ..support.close_names import no_attribute
from ..support.plugins import plugin
from . import (
    conversion,
    creation,
    data_types,
    elementwise,
    fft,
    linalg,
    manipulation,
    products,
    searching,
    statistical,
)
from .conversion import *
from .creation import *
from .data_types import *
from .elementwise import *
from .info import __array_namespace_info__
from .manipulation import *
from .products import *
from .products import einsum  # noqa: F401
from .searching import *
from .statistical import *

__array_api_version__ = "2025.12"
newaxis = None

__all__ = ["__array_api_version__", "__array_namespace_info__", "e", "fft", "inf", "linalg", "nan",
           "newaxis", "pi"]
__all__ += conversion.__all__
__all__ += creation.__all__
__all__ += data_types.__all__
__all__ += elementwise.__all__
__all__ += manipulation.__all__
__all__ += products.__all__
__all__ += searching.__all__
__all__ += statistical.__all__


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    """Return what NumPy has beyond the standard, which programs for several libraries may use."""
    if name.startswith("_"):
        raise AttributeError(f"module 'mat.array_api' has no attribute {name!r}")
    try:
        found: object = plugin("numpy_names").lookup("", name)
    except AttributeError:
        raise no_attribute(sys.modules[__name__], "module 'mat.array_api'", name,
                           __all__) from None
    return found
