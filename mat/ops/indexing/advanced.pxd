cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase

cdef HostBlocks _blocks
cdef Registration _foreign
cdef list _observers


cdef class Advanced:
    cdef readonly MatBase view
    cdef readonly tuple indices, counts, chosen
    cdef readonly int place


cpdef object advanced(object x, object index)
@cython.locals(layout=Layout, shape=tuple, ndim=int)
cdef Advanced _by_one(MatBase x, MatBase index)
@cython.locals(view=MatBase)
cpdef bint all_within(object index, object low, object high) except -1
@cython.locals(layout=Layout, address=uintptr_t)
cpdef object within_at_once(MatBase view, object low, object high)
@cython.locals(now=MatBase)
cpdef object taken_there(MatBase x, MatBase at, int axis)
cpdef object gathered_at(MatBase x, MatBase at, int place, tuple chosen)
