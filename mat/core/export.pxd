cimport cython

from mat.core.access_record cimport AccessRecord
from mat.core.coherence cimport Coherence

cdef list _observers
cdef bint _is_compiled


cdef class ExportRecord(AccessRecord):
    cdef public object retained
    cpdef export(self, object view, object facet, unsigned long long mask, object handle,
                 object value, object where)
    @cython.locals(storage=Coherence, accesses=list)
    cpdef end(self)


cdef _remove(list accesses, ExportRecord record)
