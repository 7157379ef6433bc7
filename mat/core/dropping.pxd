from mat._core cimport Threads
from mat.core.coherence cimport Coherence

cdef list _observers
cdef Threads _threads


cdef class DroppableCopies(Coherence):
    pass
