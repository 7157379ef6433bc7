cimport cython

from mat._core cimport Threads
from mat.core.access_record cimport AccessRecord
from mat.core.registration cimport Registration
from mat.core.spanned cimport SpannedCopies

cdef Threads _threads
cdef object _input


cdef class ConflictChecks(SpannedCopies):
    cdef _close(self, AccessRecord record, bint failed)
    @cython.locals(writer=AccessRecord, other=AccessRecord, thread=cython.ulonglong)
    cpdef bint covers(self, unsigned long long mask, bint writes) except -1
    cdef bint may_conflict(self, unsigned long long mask, bint writes) except -1
    @cython.locals(records=list, other=AccessRecord)
    cdef bint _writes(self) except -1
    @cython.locals(other=AccessRecord, apart=bint, mine=bint)
    cdef bint _check_conflicts(self, object view, Registration facet, object direction,
                               unsigned long long thread, object task, object where) except -1
