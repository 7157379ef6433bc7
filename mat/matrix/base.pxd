cimport cython

from mat._core cimport HostBlocks, LiveObjects, Lock, Maker
from mat.core.access cimport Access
from mat.core.cube cimport View
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.operators cimport Operators
from mat.matrix.storage cimport Storage

cdef dict _facets, _directions
cdef Registration _array
cdef object _array_name, _input_name, _input, _float64
cdef Maker _maker
cdef LiveObjects _mats
cdef bint _is_compiled
cdef dict _FORMS, _RESULTS
cdef list _OWN, _TABLES, _LAST
cdef HostBlocks _blocks
cdef Lock _changing
cdef Storage _closed
cdef Layout _closed_layout


@cython.final
cdef class Form:
    cdef readonly tuple shape, strides
    cdef readonly Py_ssize_t size, itemsize
    cdef readonly object dtype, lowest, highest
    cdef readonly bint whole, writable, gapless
    cdef readonly Layout layout
    @cython.locals(storage=Storage)
    cdef Storage new_storage(self, object fill_value)
    @cython.locals(result=MatBase)
    cpdef MatBase new(self, bint device_enabled, object fill_value)


@cython.locals(k=int)
cpdef bint is_numpys(object dtype) except -1
@cython.locals(number=int, place=Py_ssize_t, last=Form)
cpdef Form form_of_result(tuple shape, object dtype)
@cython.locals(number=int, place=Py_ssize_t, last=Form, table=dict)
cpdef Form form_made_before(object shape, object dtype)
cdef Form _form_in(dict forms, object key, tuple shape, object dtype)
cdef Form _form(Layout layout, object dtype, bint whole, bint writable)


@cython.locals(storage=Storage)
cdef Storage _closed_storage()


cdef class MatBase(Operators):
    cdef public Layout layout
    cdef public Form known_form
    cdef public bint device_enabled, is_view, read_only
    cdef public Py_ssize_t element_size
    cdef public object element_type
    cdef readonly Py_ssize_t _place
    cdef _set_up(self, Storage storage, Layout layout, Form form, bint device_enabled)
    @cython.locals(view=MatBase)
    cdef MatBase _view_of(self, Layout layout)
    @cython.locals(view=MatBase)
    cpdef MatBase _typed(self, Layout layout, object dtype)
    @cython.locals(now=MatBase, layout=Layout, found=Layout)
    cdef MatBase _halves(self, Py_ssize_t first, object dtype)
    cpdef bint _is_closed(self)
    cdef Layout _seen(self)
    cpdef _set_layout(self, Layout layout, Storage storage)
    cpdef MatBase _as_now(self)
    cdef MatBase _alone(self)
    @cython.locals(now=MatBase)
    cdef MatBase _copied(self)
    @cython.locals(storage=Storage, old=MatBase)
    cpdef _see_again(self, list before)
    @cython.locals(before=Storage, lock=Lock)
    cpdef MatBase _see(self, Layout layout, Storage storage, MatBase now)
    @cython.locals(storage=Storage, layout=Layout)
    cdef object _direction_allowed(self, object direction)
    cpdef bint _sees_all(self) except -1
    cpdef object _touched(self)
    cpdef View _whole(self)
    @cython.locals(layout=Layout, storage=Storage, before=Py_ssize_t)
    cpdef object _relative_to(self, Py_ssize_t start)
    @cython.locals(storage=Storage)
    cpdef object _presentable(self, object handle)
    @cython.locals(storage=Storage, size=Py_ssize_t)
    cpdef object _runs(self, Py_ssize_t most)
    cpdef Py_ssize_t _room(self) except -1
    cdef Access _facet(self, object name, object direction)
    @cython.locals(access=Access)
    cdef Access _access(self, Registration facet, object direction)
    @cython.locals(storage=Storage)
    cdef _locate(self)
    cdef Form _find_form(self)
    @cython.locals(layout=Layout, like=Layout, storage=Storage, form=Form, whole=bint,
                   writable=bint)
    cdef Form _form_found(self)
