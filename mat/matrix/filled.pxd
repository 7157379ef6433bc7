cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase, form_of_result
from mat.matrix.joined cimport new_transposed

cpdef bint has_its_own_class(object a) except -1

@cython.locals(view=MatBase, layout=Layout)
cdef object _like(object a, object fill, object dtype, object order, object shape, object device)
