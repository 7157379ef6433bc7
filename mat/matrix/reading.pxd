cimport cython

from mat._core cimport HostBlocks, Threads
from mat.core.access_record cimport AccessRecord
from mat.core.cube cimport Cube
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase
from mat.matrix.creation cimport over_memory

cdef Registration _array
cdef Threads _threads
cdef HostBlocks _blocks
cdef frozenset _COPYING
cdef object _input, _ndarray, _generic, _getrefcount, _flat_array
cdef list _in_use, _observers
cdef set _PLAIN


cdef class Reading:
    cdef readonly list records, arrays, others
    cdef object where
    cdef bint writable
    cpdef object presented(self, object value, Py_ssize_t depth)
    @cython.locals(found=list, changed=bint)
    cdef object items_presented(self, object values, Py_ssize_t depth)
    @cython.locals(found=dict, changed=bint)
    cpdef object values_presented(self, object values, Py_ssize_t depth)
    @cython.locals(k=Py_ssize_t, storage=Cube, record=AccessRecord, layout=Layout)
    cdef object array_of(self, MatBase mat)
    @cython.locals(record=AccessRecord, mat=MatBase, storage=Cube)
    cpdef end(self, object error)
    cpdef notify(self, str name)
    @cython.locals(record=AccessRecord, mat=MatBase)
    cpdef bint enabled(self) except -1
    cpdef object with_mats(self, object value)
    @cython.locals(shared=bint)
    cpdef object mat_of(self, object value)
    cpdef object adopt(self, object a)
    cdef MatBase as_enabled(self, MatBase result)


cdef object _closed(Cube storage, AccessRecord record, object fault)
cdef bint _shares(object value, list others) except -1
cdef bint _fits(object a) except -1
cdef bint _can_become_mat(object a) except -1
cdef bint _is_alone(object a) except -1
cpdef object rebuilt(object like, list items)
cpdef object call_reading(object function, object args, dict kwargs, str name=*)
@cython.locals(reading=Reading, arguments=list, keywords=dict)
cdef object _called(object function, object args, dict kwargs, str name)
