cimport cython

from mat.matrix.base cimport MatBase, form_of_result

cpdef bint has_its_own_class(object a) except -1

@cython.locals(view=MatBase)
cdef object _like(object a, object fill, object dtype, object order, object shape, object device)
