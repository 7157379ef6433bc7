# Compiled, since every new copy on a device is registered; `barrier`, whose blocks warn if nobody
# enters them, is not.
from mat._core cimport HostBlocks

cdef HostBlocks _blocks
cdef object _innermost


cdef class MadeCopies:
    cpdef add(self, object cube, object memory)
    cpdef _add(self, object cube, object memory)


cpdef register(object copies, object cube, object memory)
