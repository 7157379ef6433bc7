# Compiled, since every new copy on a device is registered; `barrier`, whose blocks warn if nobody
# enters them, is not.
from mat._core cimport Lock

cdef Lock _lock
cdef object _innermost

cpdef register_copy(object cube, object memory)
cpdef register(object copies, object cube, object memory)
