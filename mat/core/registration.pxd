cdef class Registration:
    cdef readonly unsigned long long bit, mask
    cdef readonly int reading, writing
    cdef readonly bint of_device, chooses, of_storage
