cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlock, HostBlocks, LiveObjects, Lock, Threads
from mat.core.access_record cimport AccessRecord
from mat.core.barrier_copies cimport MadeCopies
from mat.core.pending cimport Pending

cdef HostBlocks _blocks
cdef list _observers, _transfers
cdef LiveObjects _live
cdef MadeCopies _made
cdef Threads _threads


cdef class Coherence:
    cdef object __weakref__
    cdef public Py_ssize_t size, nbytes, split, align
    cdef public object dtype, fill_value
    cdef public unsigned long long fresh, seen
    cdef public long long version
    cdef public bint pristine, frees_handles, shared, guarded
    cdef public AccessRecord writer
    cdef public object torn, torn_memory, adopted, made, kept, async_copies, history, viewers, spans
    cdef public Pending pending
    cdef Lock own_lock
    cdef dict copies
    cdef list records
    cdef readonly uintptr_t address
    cdef Py_ssize_t place
    cdef bint owns_block
    cpdef begin(self)
    cpdef free_handles(self)
    cdef Lock _guard(self)
    cpdef replace_host(self, object handle)
    cpdef adopt_host(self, object handle, bint owned)
    cpdef prepare(self, object view, object memory, object direction)
    cpdef _refresh(self, object memory)
    @cython.locals(unit=Py_ssize_t)
    cpdef divide(self, Py_ssize_t size)
    cpdef settle(self)
    cpdef _allocate(self, object memory)
    cpdef expect_copy(self, object memory)
    cpdef notify_allocated(self, object memory)
    @cython.locals(viewers=list)
    cdef _register_viewer(self, object view)


cdef _free_all(dict handles)
