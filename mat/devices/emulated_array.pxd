cdef class EmulatedBlock:
    cdef object __weakref__
    cdef public object device, address, nbytes, room, raw, before, bytes, after, first, line, tick
    cdef public bint alive
    cdef public dict typed


cdef class EmulatedArray:
    cdef public object handle, device, layout, dtype, shape, strides, size, address, array, foreign
    cdef public bint writable
