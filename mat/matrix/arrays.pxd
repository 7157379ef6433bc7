cimport cython

from mat.core.registration cimport Registration
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.storage cimport Storage
from mat.support.options cimport current

cdef object _float64
cdef list _observers
cdef Registration _array_facet

@cython.locals(form=Form, made=MatBase, storage=Storage)
cdef object _of_numbers(list numbers, bint as_floats)
