cimport cython

from mat.core.access cimport Access
from mat.matrix.base cimport MatBase


@cython.locals(mat=MatBase, access=Access)
cdef Access _requested(tuple request)
