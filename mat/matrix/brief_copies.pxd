cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, KernelCall

cdef KernelCall _rows
cdef HostBlocks _blocks
cdef Py_ssize_t _large, _shared, _FEW
cdef list _in_use, _observers

cpdef bint none_else() except -1

cpdef bint is_brief(Py_ssize_t nbytes) except -1

cpdef copy_bytes(uintptr_t at, uintptr_t to, Py_ssize_t nbytes)

cpdef copy_rows(uintptr_t at, uintptr_t to, Py_ssize_t rows, Py_ssize_t nbytes, Py_ssize_t step,
                Py_ssize_t step_from)

@cython.locals(kernel=KernelCall)
cpdef set_rows(uintptr_t at, uintptr_t to, Py_ssize_t rows, Py_ssize_t nbytes, Py_ssize_t step,
               Py_ssize_t step_from)
