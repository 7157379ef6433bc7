# Compiled, so that an interrupt comes between its steps only where they call others.
cimport cython

from mat._core cimport HostBlocks, Lock, Threads

cdef HostBlocks _blocks
cdef Threads _threads
cdef object _clock
cdef Py_ssize_t FEW_FREED


cpdef Py_ssize_t size_class(Py_ssize_t nbytes) except -1


cdef class FreedHandles:
    cdef readonly object handles
    cdef readonly dict leases
    cdef readonly Lock lock
    cdef readonly bint renews
    @cython.locals(number=Py_ssize_t, k=Py_ssize_t)
    cdef object take(self, object pool, Py_ssize_t size, object cube)


@cython.locals(size=Py_ssize_t)
cdef object _take(object pool, FreedHandles recent, Py_ssize_t granule, Py_ssize_t nbytes,
                  object cube)
