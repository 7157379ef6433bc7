cimport cython

from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.creation cimport copy_of_array
from mat.matrix.joined cimport new_transposed, packed_copy
from mat.matrix.storage cimport Storage
from mat.support.options cimport current

cdef object _float64, _mat
cdef list _observers
cdef Registration _array_facet

@cython.locals(form=Form, made=MatBase, storage=Storage)
cdef object _of_numbers(object numbers, bint as_floats)
@cython.locals(view=MatBase, layout=Layout)
cdef object _copied(object x, object order)

@cython.locals(as_floats=bint)
cpdef object of_sequence(object values, object dtype)
