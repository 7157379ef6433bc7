cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase
from mat.matrix.storage cimport Storage

cdef object _mat

cpdef object key_of_view(Layout layout, tuple args, dict kwargs)
cdef bint _add_integers(list key, object value) except -1
@cython.locals(view=MatBase)
cpdef object layouts_of(object found, Storage storage)
@cython.locals(layout=Layout, one=MatBase)
cpdef object views_of(MatBase view, object layouts, Py_ssize_t shift, bint fixed)
@cython.locals(view=MatBase, layout=Layout)
cpdef object at_least_1d(object x)
@cython.locals(view=MatBase)
cpdef object squeezed(object x)
