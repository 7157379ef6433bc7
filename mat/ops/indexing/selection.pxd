cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, KernelCall
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, is_numpys
from mat.matrix.creation cimport vector_of_integers
from mat.ops.primitives.few_indices cimport items

cdef list _in_use, _observers
cdef Registration _foreign
cdef object _INDICES, _BOOL, _mat
cdef HostBlocks _blocks
cdef int _NOT_CALLED, _AXES
cdef Py_ssize_t _LARGE, _MANY, _TILE


cdef class SelectionKernels:
    cdef readonly Form form
    cdef readonly Py_ssize_t count, elements, lines, worth
    cdef readonly int axis, axes
    cdef readonly bint whole, integral, real
    cdef readonly tuple before, rest
    cdef readonly str letter
    cdef readonly KernelCall number, check, get, put, put_one, fill
    cdef Form result


cdef SelectionKernels _last

@cython.locals(found=SelectionKernels)
cdef SelectionKernels _kernels_for(Form form, int axis, int axes, Py_ssize_t count)


@cython.locals(form=Form, found=Selection, mat=MatBase, axes=int, shape=tuple)
cpdef Selection selected(MatBase view, object index, int axis)

@cython.locals(mat=MatBase, few=MatBase)
cpdef MatBase as_index(object index)


cdef bint _is_plain(object value, str letter) except -1


cdef class Selection:
    cdef MatBase view, index
    cdef SelectionKernels kernels
    cdef tuple shape
    cdef Py_ssize_t size
    cdef readonly bint masked
    cdef bint large
    cdef object starts
    cdef uintptr_t starts_address
    @cython.locals(found=Py_ssize_t)
    cpdef Py_ssize_t count(self) except? -2
    @cython.locals(elements=Py_ssize_t)
    cdef fill_in(self, MatBase view, MatBase index, SelectionKernels kernels, bint masked)
    cdef Py_ssize_t tiles(self)
    cdef Py_ssize_t work(self)
    cdef bint in_range(self) except -1
    cdef Py_ssize_t threads(self) except -1
    cdef Py_ssize_t worth(self, Py_ssize_t units)
    cdef keep_index(self)
    cpdef tuple shape_of(self, Py_ssize_t count)
    @cython.locals(form=Form, count=Py_ssize_t, shape=tuple)
    cpdef object get(self)
    @cython.locals(source=object, count=Py_ssize_t, shape=tuple)
    cpdef bint set(self, object value) except? -1
    cdef bint takes(self, MatBase source, tuple shape) except? -1
    @cython.locals(units=Py_ssize_t)
    cdef bint overwrite(self, KernelCall kernel, MatBase source, object value,
                        Py_ssize_t count) except? -1
    @cython.locals(at=uintptr_t, address=uintptr_t, address_of_index=uintptr_t, found=Py_ssize_t,
                   threads=Py_ssize_t, least=Py_ssize_t)
    cdef Py_ssize_t call(self, KernelCall kernel, MatBase other, object value, Py_ssize_t count,
                         Py_ssize_t units, bint writes, bint writes_other) except? -4
    @cython.locals(size=Py_ssize_t)
    cdef set_operands(self, KernelCall kernel, uintptr_t address, uintptr_t address_of_index,
                      uintptr_t at, object value, Py_ssize_t count, Py_ssize_t units)
    @cython.locals(view=MatBase, index=MatBase, at=uintptr_t, address=uintptr_t,
                   address_of_index=uintptr_t)
    cdef Py_ssize_t call_if_ready(self, KernelCall kernel, MatBase other, object value,
                                 object element, Py_ssize_t count, Py_ssize_t units,
                                 bint writes, bint writes_other) except? -4


@cython.locals(chosen=Selection)
cpdef object written(MatBase x, object index, object value, bint masked)
@cython.locals(view=MatBase, at=MatBase, layout=Layout, chosen=Selection)
cpdef object taken_of(object x, object indices, object axis)
@cython.locals(layout=Layout)
cdef MatBase _as_vector(MatBase view)
@cython.locals(view=MatBase, mask=MatBase, chosen=Selection)
cpdef object compressed(object condition, object x, object axis)


cpdef object as_source(object value, object target)
cpdef object as_array_of(object value, object dtype, tuple shape)
cdef object packed_for(object source, object dtype, tuple shape)
cpdef object fitted(object value, tuple shape)
