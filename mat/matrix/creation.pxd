cimport cython

from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, Maker
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_made_before, form_of_result, is_numpys
from mat.matrix.brief_copies cimport none_else
from mat.matrix.foreign_storage cimport ForeignStorage
from mat.matrix.storage cimport Storage
from mat.support.options cimport Options, current

cdef dict _FORMS, _named
cdef list _TABLES
cdef set _DTYPES
cdef HostBlocks _blocks
cdef Maker _maker
cdef Registration _array
cdef object _float64, _int64
cdef long long _FAR
cdef double _EXACT
cdef Py_ssize_t MOST_AT_ONCE
cdef list _observers


@cython.locals(form=Form, options=Options, own=bint)
cpdef object filled(tuple lengths, object dtype, object value)
cdef tuple _all_lengths(object shape, tuple more)
cdef bint _names_dtype(object value) except -1

@cython.locals(form=Form, layout=Layout, storage=Storage, foreign=ForeignStorage, mat=MatBase,
               size=Py_ssize_t, itemsize=Py_ssize_t)
cpdef object over_memory(object a, object flat, bint owned)

@cython.locals(form=Form, made=MatBase, storage=Storage, nbytes=Py_ssize_t, address=uintptr_t)
cpdef object copy_of_array(object a, object order)

@cython.locals(made=MatBase, count=Py_ssize_t, first=cython.longlong, last=cython.longlong,
               by=cython.longlong)
cpdef object range_of_few(object start, object stop, object step)

@cython.locals(made=MatBase, count=Py_ssize_t)
cpdef MatBase vector_of_integers(list numbers)

@cython.locals(made=MatBase, storage=Storage)
cdef MatBase _written_vector(Py_ssize_t count, object dtype)

@cython.locals(made=MatBase, count=Py_ssize_t, first=double, last=double, by=double,
               length=double)
cdef object _range_of_floats(object start, object stop, object step)
