"""Types of `mat.lib`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""



from . import stride_tricks as stride_tricks
from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import add_docstring as add_docstring
from numpy.lib import array_utils as array_utils
from numpy.lib import format as format
from numpy.lib import introspect as introspect
from numpy.lib import mixins as mixins
from numpy.lib import npyio as npyio
from numpy.lib import scimath as scimath

__all__ = [
    "NumpyVersion", "add_docstring", "array_utils", "format", "introspect", "mixins", "npyio",
    "scimath", "stride_tricks",
]


