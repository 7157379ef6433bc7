from mat._core cimport Threads
from mat.core.access_record cimport AccessRecord
from mat.core.dropping cimport DroppableCopies

cdef Threads _threads


cdef class SpannedCopies(DroppableCopies):
    pass
