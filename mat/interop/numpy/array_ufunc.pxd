cdef dict _implementations
cdef set _NUMBERS
cdef object _mat_type
cdef list _in_use

cdef bint _are_operands(tuple inputs) except -1
