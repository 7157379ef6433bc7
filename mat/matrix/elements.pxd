cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase
from mat.matrix.brief_copies cimport copy_bytes, copy_rows, is_brief, none_else
from mat.matrix.storage cimport Storage

cdef HostBlocks _blocks
cdef list _observers, _in_use, _only_mats, _unchanging
cdef object _host, _float64, _float32, _int64, _float64_scalar, _int64_scalar, _bool, _complex128
cdef Registration _array, _foreign
cdef dict _EXACT
cdef tuple _NEW_AXIS
cdef Py_ssize_t MOST_APART, MOST_AT_ONCE, _MOST_MOVED, _WORTH_A_CALL
cdef double _MOST_INTEGER, _NO_OVERFLOW
cdef int _INTEGERS


cdef class Elements(MatBase):
    @cython.locals(layout=Layout, part=Layout, k=Py_ssize_t)
    cdef object _get_quickly(self, object index)
    @cython.locals(storage=Storage, address=uintptr_t)
    cdef object _element(self, Py_ssize_t k)
    @cython.locals(storage=Storage, address=uintptr_t)
    cpdef object _number_at(self, Py_ssize_t k)
    @cython.locals(layout=Layout, k=Py_ssize_t)
    cdef object _number_in_order(self, object index)
    @cython.locals(layout=Layout, storage=Storage, address=uintptr_t)
    cpdef bint _are_natural(self) except -1
    cdef bint _set_quickly(self, object index, object value) except -1
    cpdef bint _fill_quickly(self, object value) except -1
    @cython.locals(layout=Layout, part=Layout, storage=Storage, facet=Registration,
                   address=uintptr_t, k=Py_ssize_t, count=Py_ssize_t, size=Py_ssize_t,
                   most=Py_ssize_t, integers=bint)
    cdef bint _set_number(self, object index, object value) except -1
    @cython.locals(count=Py_ssize_t, adjacent=Py_ssize_t, floats=bint, alone=bint)
    cdef _write_number(self, uintptr_t address, Py_ssize_t size, object value, object given,
                       Layout part)
    @cython.locals(form=Form)
    cdef Py_ssize_t _size_if_it_has(self, object value) except -1
    @cython.locals(layout=Layout, part=Layout)
    cdef bint _set_part_quickly(self, object index, MatBase source) except -1
    cdef object _only(self)
    cpdef object _as_number(self)
    cpdef object _as_array(self)
    cdef object _real(self)


cdef class RowIterator:
    cdef Elements mat
    cdef Layout layout, like
    cdef Py_ssize_t at, count, step
    @cython.locals(mat=Elements, layout=Layout, like=Layout)
    cdef object _following(self, Py_ssize_t k)


cdef object _plain(object index)
@cython.locals(n=Py_ssize_t)
cdef bint _may_be_of_element(tuple index) except -1
cdef Layout _part_of(Layout layout, object index)
cdef Py_ssize_t _size_if_plain(object dtype, bint of_integer) except -1
cdef Py_ssize_t _rows_of(Layout one, Layout other) except -1

@cython.locals(one=Layout, given=Storage, storage=Storage, to=uintptr_t, at=uintptr_t,
               nbytes=Py_ssize_t, itemsize=Py_ssize_t, rows=Py_ssize_t, step=Py_ssize_t,
               step_from=Py_ssize_t, gathers=bint)
cpdef bint copied_to_part(MatBase target, Layout layout, Layout part, MatBase source) except -1

@cython.locals(nbytes=size_t, to=uintptr_t)
cpdef bint copied_from_array(MatBase target, Layout layout, Storage storage,
                             object value) except -1
