from mat.core.access_record cimport AccessRecord
from mat.core.dropping cimport DroppableCopies


cdef class SpannedCopies(DroppableCopies):
    pass
