from mat.core.access cimport Access
from mat.matrix.base cimport MatBase


cdef Access _requested(MatBase mat, object facet, object direction)
