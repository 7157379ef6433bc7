cdef Options _permanent
cdef bint _blocks_began


cdef class Options:
    cdef readonly object dtype, torn, page_locked_bytes, threads, host_pool_bytes, spill_dir
    cdef readonly object spill_above, progress, float32_products
    cdef readonly bint print_contents, print_facets, device_enabled, page_locked, scalars, fused


cpdef Options current()
