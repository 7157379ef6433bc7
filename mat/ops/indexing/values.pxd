cpdef object as_source(object value, object target)
cpdef object as_array_of(object value, object dtype, tuple shape)
cpdef object packed_for(object source, object dtype, tuple shape)
cpdef object fitted(object value, tuple shape)
