cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.brief_calls cimport call_briefly, write_briefly
from mat.matrix.called_methods cimport MatMethod
from mat.matrix.elements cimport copied_to_part
from mat.matrix.storage cimport Storage
from mat.matrix.joined cimport as_packed
from mat.numpy.views cimport key_of_view, layouts_of, views_of
from mat.ops.engine.calls cimport Calls
from mat.ops.indexing.selection cimport taken_of, written
from mat.ops.primitives.few_elements cimport leaves_dtype
from mat.ops.primitives.few_indices cimport places

cdef list _in_use, _observers
cdef object _mat, _not_brief, _nrm2, _result_type, _bool, _int64, _partition, _copyto
cdef dict _NO_KEYWORDS
cdef Calls _product, _conjugate, _select, _trunc
cdef dict _products, _ways, _writers
cdef Py_ssize_t _FEW, _MANY, _MOST_VIEWS
cdef set _of_many


cdef class Way:
    cdef public bint in_blocks
    cpdef object call(self, tuple args, dict kwargs)


cdef class ByPlan(Way):
    cdef Calls operation
    cdef object axis
    @cython.locals(view=MatBase)
    cpdef object call(self, tuple args, dict kwargs)


cdef class Decision(ByPlan):
    cdef bint decides
    @cython.locals(view=MatBase)
    cpdef object call(self, tuple args, dict kwargs)


cdef class Running(ByPlan):
    cdef object rule
    @cython.locals(view=MatBase)
    cpdef object call(self, tuple args, dict kwargs)


cdef class Along(Way):
    cdef object function, axis
    cpdef object call(self, tuple args, dict kwargs)


cdef class Of(Way):
    cdef object function
    cdef Py_ssize_t count
    cpdef object call(self, tuple args, dict kwargs)


cdef class ByLayout(Way):
    cdef object function
    cdef dict known
    @cython.locals(view=MatBase)
    cpdef object call(self, tuple args, dict kwargs)
    cdef object learn(self, MatBase view, object key, tuple args, dict kwargs)


cdef class OfFew(Way):
    cdef object function
    cdef Py_ssize_t limit
    cdef bint in_lines
    @cython.locals(view=MatBase, shape=tuple)
    cpdef object call(self, tuple args, dict kwargs)


cdef class OrNumPy(Way):
    cdef object function
    cdef Way other
    cdef Py_ssize_t count
    cdef tuple defaults
    cpdef object call(self, tuple args, dict kwargs)


cdef class AlongOrNumPy(OrNumPy):
    cdef object axis
    cdef str name
    cdef bint named
    cpdef object call(self, tuple args, dict kwargs)


cdef class ByNumPy(Way):
    cdef object function, usual
    cdef Py_ssize_t most
    cpdef object call(self, tuple args, dict kwargs)


cdef object only_axis(tuple args, dict kwargs, object default)
@cython.locals(view=MatBase)
cpdef object raveled(object x)
cpdef object flat_places(object x)
cpdef object rows_of_places(object x)
@cython.locals(view=MatBase)
cpdef object real_parts(object x)


cdef class ResultType(Way):
    @cython.locals(view=MatBase, dtypes=list, alike=bint)
    cpdef object call(self, tuple args, dict kwargs)


cpdef Calls product()
@cython.locals(view=MatBase)
cpdef object length(object x)
@cython.locals(one=MatBase, other=MatBase)
cpdef object vector_product(object a, object b)
@cython.locals(one=MatBase, other=MatBase)
cpdef object ranked_product(object a, object b, tuple ranks)
@cython.locals(one=MatBase, other=MatBase)
cpdef object matrix_product(object a, object b)
@cython.locals(one=MatBase, other=MatBase, shape=tuple)
cpdef object inner_product(object a, object b)
@cython.locals(one=MatBase, other=MatBase)
cpdef object product_by_einsum(object subscripts, object a, object b)
@cython.locals(one=MatBase, other=MatBase)
cpdef object contracted(object a, object b, object axes)
@cython.locals(way=Way)
cpdef object called_shortly(object function, tuple args, dict kwargs)

@cython.locals(view=MatBase, layout=Layout, storage=Storage)
cpdef bint copied_to(tuple args) except -1
@cython.locals(view=MatBase, mask=MatBase, given=MatBase)
cpdef bint masked(tuple args) except -1
@cython.locals(view=MatBase, at=MatBase, source=MatBase)
cpdef bint put_in_order(tuple args) except -1
cpdef bint partitioned(tuple args) except -1
@cython.locals(view=MatBase, layout=Layout)
cpdef bint diagonal_filled(tuple args) except -1
cpdef bint written_shortly(object function, tuple args, dict kwargs) except -1


cdef class ShortMethod(MatMethod):
    cdef object numpys
    cdef bint second
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class TakeMethod(ShortMethod):
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)
