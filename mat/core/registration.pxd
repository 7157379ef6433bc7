cdef class Registration:
    cdef readonly unsigned long long bit, mask
    cdef readonly object reading, writing  # as keys of a dict are objects
    cdef readonly bint of_device, chooses, of_storage
