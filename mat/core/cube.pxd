cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, Lock, Threads
from mat.core.access_record cimport AccessRecord
from mat.core.dropping cimport DroppableCopies
from mat.core.export cimport ExportRecord
from mat.core.registration cimport Registration

cdef HostBlocks _blocks
cdef list _observers, _barriers, _pending
cdef Threads _threads
cdef object _input, _io, _output


cdef class View:
    cdef object __weakref__
    cdef public Cube storage
    cdef public dict presented
    cdef object _direction_allowed(self, object direction)
    cpdef bint _sees_all(self) except -1
    cpdef object _touched(self)
    cpdef View _whole(self)
    cpdef object _relative_to(self, Py_ssize_t start)
    cpdef object _presentable(self, object handle)


cdef class Cube(DroppableCopies):
    @cython.locals(writer=AccessRecord, other=AccessRecord, thread=cython.ulonglong)
    cpdef bint covers(self, unsigned long long mask, bint writes) except -1
    cdef bint may_conflict(self, unsigned long long mask, bint writes) except -1
    @cython.locals(records=list, other=AccessRecord)
    cdef bint _writes(self) except -1
    @cython.locals(other=AccessRecord, apart=bint, mine=bint)
    cdef bint _check_conflicts(self, object view, Registration facet, object direction,
                               unsigned long long thread, object task, object where) except -1
    cdef _close(self, AccessRecord record, bint failed)
    @cython.locals(lock=Lock, record=AccessRecord)
    cpdef AccessRecord open(self, View view, Registration facet, object direction, object where)
    @cython.locals(lock=Lock, record=AccessRecord, thread=cython.ulonglong)
    cpdef AccessRecord open_unpresented(self, View view, Registration facet, object direction,
                                        object where)
    cdef bint ready_there(self, unsigned long long mask, unsigned long long bit, bint reads,
                          bint writes, bint whole) except -1
    @cython.locals(lock=Lock)
    cdef bint provide_there(self, Registration facet, bint reads, bint whole) except -1
    cpdef fail_write(self, AccessRecord record)
    cdef bint is_arbitrary(self) except -1
    cdef bint leaves_nothing_fresh(self, unsigned long long mask) except -1
    cdef bint _is_apart(self, View view, Registration facet, object direction,
                        unsigned long long thread, object task, object where=*) except -1
    cdef bint _holds_back(self, View view, object direction) except -1
    cdef bint _allocate_block(self) except -1
    cdef _begin(self, AccessRecord record, View view, object direction, unsigned long long thread,
                object task)
    cdef _add(self, AccessRecord record)
    @cython.locals(records=list)
    cdef bint _forget(self, AccessRecord record) except -1
    @cython.locals(record=AccessRecord, thread=cython.ulonglong)
    cdef AccessRecord _open(self, View view, Registration facet, object direction)
    @cython.locals(record=AccessRecord)
    cdef AccessRecord _ready(self, View view, Registration facet, object direction, object key,
                             dict presented)
    @cython.locals(record=AccessRecord)
    cdef AccessRecord _present(self, View view, Registration facet, object key, object handle,
                               dict presented)
    @cython.locals(lock=Lock, record=ExportRecord)
    cpdef object export(self, View view, Registration facet, object where)
    @cython.locals(found=AccessRecord, record=ExportRecord, presented=dict)
    cdef object _export(self, View view, Registration facet, object where)
    @cython.locals(lock=Lock)
    cpdef close(self, AccessRecord record, bint failed)
    cdef _commit(self, AccessRecord record)
    @cython.locals(view=View)
    cdef _end_write(self, AccessRecord record, bint failed)
    @cython.locals(other=AccessRecord)
    cdef AccessRecord _next_writer(self)
    cpdef undo(self, AccessRecord record)
    cpdef uintptr_t ready(self, unsigned long long mask, unsigned long long bit, bint reads,
                          bint writes) except? 1
    cpdef find_address(self)
    cdef uintptr_t element_address(self, unsigned long long mask,
                                   unsigned long long bit) except? 1
    cpdef object host_array(self, object memory, Registration facet, bint writes)
    cpdef written(self, unsigned long long mask)
