cimport cython

from mat.layout.shapes cimport as_axes, as_axis, integer, is_written_as, with_inferred

cdef extern from "Python.h":
    ctypedef class builtins.slice [object PySliceObject]:  # with its fields
        cdef object start, stop, step


cdef tuple _ONE
cdef Py_ssize_t _FAR

@cython.locals(i=Py_ssize_t)
cpdef Py_ssize_t position(object item, Py_ssize_t axis, Py_ssize_t n) except? -1

cdef bint _is_int(object item)

@cython.locals(step=Py_ssize_t)
cdef Py_ssize_t step_of(slice item) except? -1

@cython.locals(i=Py_ssize_t)
cdef Py_ssize_t bound(object item, Py_ssize_t default, Py_ssize_t n, Py_ssize_t back) except? -1

cdef Py_ssize_t first_of(slice item, Py_ssize_t n, Py_ssize_t step) except? -1

cdef Py_ssize_t length_of(slice item, Py_ssize_t n, Py_ssize_t step, Py_ssize_t first) except? -1

cdef Py_ssize_t _count(Py_ssize_t first, Py_ssize_t stop, Py_ssize_t step)

cdef tuple resolve(object item, Py_ssize_t n)


cdef class Known:
    cdef tuple vector, matrix
    cdef tuple items
    cdef Layout transposed, diagonal, selected, row, part, parts, reshaped


cdef class Layout


cdef class _Axes:
    cdef Layout like
    cdef Py_ssize_t count
    cdef list shape, strides
    @cython.locals(shape=tuple, strides=tuple, k=Py_ssize_t, n=Py_ssize_t, s=Py_ssize_t)
    cdef bint add(self, Py_ssize_t length, Py_ssize_t step) except -1
    @cython.locals(first=Py_ssize_t, length=Py_ssize_t, times=Py_ssize_t)
    cdef Py_ssize_t add_slice(self, slice item, Py_ssize_t n, Py_ssize_t s) except? -1
    cdef _differ(self)
    cdef Layout at(self, Py_ssize_t start)


cdef class Layout:
    cdef readonly tuple shape, strides
    cdef readonly Py_ssize_t displacement, size
    cdef readonly bint contiguous
    cdef int _injective
    cdef Known _known
    cdef readonly Layout like
    cdef public object form
    cdef Known _facts(self)
    @cython.locals(shape=tuple, strides=tuple, found=Py_ssize_t, step=Py_ssize_t, k=Py_ssize_t)
    cpdef Py_ssize_t lowest(self) except? -1
    @cython.locals(shape=tuple, strides=tuple, found=Py_ssize_t, step=Py_ssize_t, k=Py_ssize_t)
    cpdef Py_ssize_t highest(self) except? -1
    @cython.locals(shape=tuple, strides=tuple, found=Py_ssize_t, axis=Py_ssize_t, n=Py_ssize_t)
    cpdef Py_ssize_t index_at(self, Py_ssize_t k) except? -1
    @cython.locals(shape=tuple, strides=tuple, step=Py_ssize_t, k=Py_ssize_t, n=Py_ssize_t)
    cpdef bint is_by_columns(self) except -1
    @cython.locals(step=Py_ssize_t, before=Py_ssize_t, k=Py_ssize_t)
    cpdef bint descends(self) except -1
    @cython.locals(found=Layout)
    cdef Layout moved_to(self, Py_ssize_t displacement)
    @cython.locals(k=Py_ssize_t, n=Py_ssize_t, step=Py_ssize_t, packed_so_far=bint)
    cpdef fill_in(self, tuple shape, tuple strides, Py_ssize_t displacement)
    @cython.locals(known=Known)
    cpdef Layout transposed(self)
    @cython.locals(known=Known, found=Layout, lengths=tuple)
    cpdef Layout reshaped(self, object shape)
    @cython.locals(size=Py_ssize_t, length=Py_ssize_t)
    cdef bint _has_size_of(self, tuple shape)
    @cython.locals(known=Known, found=Layout)
    cdef Layout flat(self)
    cpdef Layout reshape(self, object shape)
    @cython.locals(made=_Axes, k=Py_ssize_t)
    cpdef Layout permute(self, object axes)
    @cython.locals(rank=Py_ssize_t, a=Py_ssize_t, b=Py_ssize_t, k=Py_ssize_t, from_=Py_ssize_t,
                   made=_Axes)
    cpdef Layout swapped(self, object i, object j)
    @cython.locals(k=Py_ssize_t, n=Py_ssize_t)
    cdef bint has_axes_of_1(self) except -1
    @cython.locals(axes=tuple, k=Py_ssize_t, made=_Axes)
    cpdef Layout squeeze(self, object axis=*)
    @cython.locals(rank=Py_ssize_t, a=Py_ssize_t, b=Py_ssize_t, rows=Py_ssize_t, s=Py_ssize_t,
                   columns=Py_ssize_t, t=Py_ssize_t, shift=Py_ssize_t, length=Py_ssize_t,
                   start=Py_ssize_t, k=Py_ssize_t, made=_Axes)
    cdef Layout _diagonal(self, object offset, object axis1, object axis2)
    @cython.locals(known=Known)
    cpdef Layout diagonal(self, object offset, object axis1, object axis2)
    @cython.locals(shape=tuple, strides=tuple, last=Py_ssize_t, start=Py_ssize_t, k=Py_ssize_t,
                   step=Py_ssize_t, length=Py_ssize_t, made=_Axes)
    cdef Layout in_units(self, Py_ssize_t size, Py_ssize_t of)
    cpdef Layout viewed_as(self, tuple shape)
    @cython.locals(shape=tuple, strides=tuple, step=Py_ssize_t, count=Py_ssize_t, k=Py_ssize_t,
                   n=Py_ssize_t)
    cdef Layout _at_equal_steps(self)
    @cython.locals(known=Known, like=Layout, shape=tuple, strides=tuple, n=Py_ssize_t,
                   first=Py_ssize_t, length=Py_ssize_t, step=Py_ssize_t, times=Py_ssize_t,
                   s=Py_ssize_t, start=Py_ssize_t)
    cpdef Layout rows(self, slice item)
    @cython.locals(n=Py_ssize_t, i=Py_ssize_t)
    cpdef Layout row(self, object index)
    @cython.locals(known=Known, like=Layout, start=Py_ssize_t)
    cdef Layout row_at(self, Py_ssize_t k)
    @cython.locals(shape=tuple, strides=tuple, start=Py_ssize_t, axis=Py_ssize_t, rest=Py_ssize_t,
                   step=Py_ssize_t, made=_Axes, known=Known, constant=bint, found=Layout)
    cpdef Layout selected(self, tuple items, bint plain)
    cpdef Layout part(self, tuple items)
    @cython.locals(known=Known, made=_Axes)
    cdef _Axes _axes(self)
    @cython.locals(found=Layout)
    cdef Layout _with(self, _Axes axes, Py_ssize_t start)
    @cython.locals(dots=int, used=int)
    cdef Py_ssize_t _unnamed(self, tuple items) except -1
    @cython.locals(items=tuple, shape=tuple, strides=tuple, found=Py_ssize_t, n=Py_ssize_t,
                   i=Py_ssize_t, k=Py_ssize_t, step=Py_ssize_t)
    cpdef Py_ssize_t element(self, object index) except? -1


@cython.locals(strides=list, step=Py_ssize_t, k=Py_ssize_t, n=Py_ssize_t)
cpdef tuple packed_strides(tuple shape)

@cython.locals(found=Layout)
cdef Layout _made(tuple shape, tuple strides, Py_ssize_t displacement)

cdef bint _are_plain(tuple items) except -1
