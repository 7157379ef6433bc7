cimport cython

from mat._core cimport Threads
from mat.core.export cimport ExportRecord
from mat.core.registration cimport Registration
from mat.matrix.base cimport MatBase

cdef object _array_kept_by
cdef Registration _array
cdef Threads _threads


cdef class Export:
    cdef object __weakref__
    cdef readonly ExportRecord record
    cpdef begin(self, MatBase view, Registration facet)


@cython.locals(export=Export)
cpdef object exported_array(MatBase view)
