"""What Python cannot do by itself, for the modules that Cython compiles beside it: locks that no
interrupt leaves locked, the identity of threads, blocks of host memory, and calls of kernels.

Where nothing is compiled, `mat.core.compiled` has Python's ways to do the first two; kernels and
blocks of memory are compiled ones only.
"""

import os
import sys

import numpy

cimport numpy as cnp
from cpython.buffer cimport (PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE,
                             PyBuffer_FillInfo, PyObject_GetBuffer)
from cpython.exc cimport PyErr_Occurred
from cpython.float cimport (PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_Check,
                            PyFloat_CheckExact)
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject, PyTypeObject, ternaryfunc
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_New, PyTuple_SET_ITEM
from cpython.weakref cimport PyWeakref_GetRef, PyWeakref_NewRef
from libc.stdint cimport (int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                          uint64_t, uintptr_t)
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)
    size_t PY_SSIZE_T_MAX
    Py_ssize_t Py_SIZE(object)
    int PyLong_Check(object)
    int PyLong_CheckExact(object)
    int PyContextVar_Get(object, PyObject *, PyObject **) except -1
    int PyBool_Check(object)
    int PyComplex_Check(object)
    int PyComplex_CheckExact(object)
    long long PyLong_AsLongLongAndOverflow(object, int *) except? -1
    double PyComplex_RealAsDouble(object)
    double PyComplex_ImagAsDouble(object)

cdef extern from "numpy/arrayobject.h":
    int NPY_HALF
    object PyArray_NewFromDescr(PyTypeObject *, cnp.dtype, int, cnp.npy_intp *, cnp.npy_intp *,
                                void *, int, PyObject *)
    object PyArray_Scalar(void *, cnp.dtype, object)

cdef extern from *:
    """
    #include "numpy/arrayscalars.h"

    /* as PyArray_Scalar does, but in less time */
    static PyObject *mat_float64(const double *value) {
        PyObject *made = PyArrayScalar_New(Double);
        if (made)
            PyArrayScalar_ASSIGN(made, Double, *value);
        return made;
    }

    int mat_add_dlpack(PyObject *module); /* dlpack.h is written in the limited interface */

    /* for Cython, the owner is an object that was set before */
    static void mat_set_owner(Py_buffer *buffer, PyObject *owner) {
        Py_XINCREF(owner);
        buffer->obj = owner;
    }

    static void mat_release_buffer(PyObject *Py_UNUSED(owner), Py_buffer *Py_UNUSED(buffer)) {
    }

    /* From Python 3.12 on, Python calls __buffer__ by itself. Consumers that do not keep a buffer
       but its owner, as numpy.frombuffer, do keep it if there is a function that releases it. */
    static void mat_set_buffer(PyObject *type, void *get) {
        if (PY_VERSION_HEX < 0x030C0000) {
            ((PyTypeObject *)type)->tp_as_buffer->bf_getbuffer = (getbufferproc)get;
            ((PyTypeObject *)type)->tp_as_buffer->bf_releasebuffer = mat_release_buffer;
        }
    }
    """
    object mat_float64(const double *)
    int mat_add_dlpack(object module) except -1
    void mat_set_buffer(object kind, void *get)
    void mat_set_owner(Py_buffer *buffer, PyObject *owner)

cdef enum:
    ONE_THREAD  # how a kernel runs: without the GIL
    UNDER_GIL  # at once, since it is so little
    SHARED  # by several threads
    SHARED_AT_ONCE  # by several threads, while the caller keeps the GIL

# NumPy's scalars that are no subclasses of Python's numbers
cdef frozenset _real_scalars = frozenset((numpy.float16, numpy.float32))
cdef frozenset _integer_scalars = frozenset((
    numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16, numpy.uint32,
    numpy.uint64))
cdef object _bool_scalar = numpy.bool_

cdef enum:
    MOST_AXES = 64  # of NumPy's arrays

cdef long long EXACT = 1LL << 53  # integers up to here are floating-point numbers, too

include "native/python/threads.pxi"
include "native/python/few.pxi"

cdef object INT64 = numpy.dtype(numpy.int64)


cdef class HostBlocks:
    """The allocator of blocks of host memory: the pool of host_pool.h, which is in another
    extension.
    """

    def __cinit__(self):
        self.largest = PY_SSIZE_T_MAX  # bytes of a block; larger ones may be wanted in files
        self.kept = [numpy.empty(0) for _ in range(4)]

    def use(self, uintptr_t allocate, uintptr_t free):
        """Set the addresses of `mat_host_allocate` and `mat_host_free`."""
        self.allocate_block = <mat_allocate *>allocate
        self.free_block = <mat_free *>free
        self.enabled = True

    cdef uintptr_t allocate(self, size_t nbytes):
        """Return the address of a block; 0 if there is no memory, or it is too large."""
        if nbytes > self.largest:
            return 0
        return <uintptr_t>self.allocate_block(nbytes if nbytes else 1)

    cdef void free(self, uintptr_t address, size_t nbytes) noexcept:
        self.free_block(<void *>address, nbytes if nbytes else 1)

    cdef object scalar(self, uintptr_t address, object dtype):
        """Return the element of NumPy's `dtype` at an address as its scalar."""
        if (<cnp.dtype>dtype).type_num == cnp.NPY_DOUBLE:
            return mat_float64(<const double *>address)
        return PyArray_Scalar(<void *>address, <cnp.dtype>dtype, None)

    cdef object number(self, uintptr_t address, object dtype):
        """Return the element of NumPy's `dtype` at an address as a number of Python's; None of
        dtypes that are rare, or that other libraries define.
        """
        cdef int kind = (<cnp.dtype>dtype).type_num
        if kind == cnp.NPY_DOUBLE:
            return (<const double *>address)[0]
        if kind == cnp.NPY_FLOAT:
            return <double>(<const float *>address)[0]
        if kind == cnp.NPY_BOOL:
            return (<const uint8_t *>address)[0] != 0
        if kind == cnp.NPY_CDOUBLE:
            return complex((<const double *>address)[0], (<const double *>address)[1])
        if kind == NPY_HALF or kind == cnp.NPY_CFLOAT:
            return mat_item(<PyObject *>dtype, <char *>address)
        if kind > cnp.NPY_ULONGLONG:
            return None
        return integer_at(address, (<cnp.dtype>dtype).itemsize, kind & 1)

    cdef int put_number(self, uintptr_t address, object dtype, object value) except -1:
        """Write a number to an element of NumPy's own `dtype`, as NumPy converts it."""
        return mat_put_item(<PyObject *>dtype, <char *>address, value)

    cdef int fill_floats(self, uintptr_t address, Py_ssize_t size, Py_ssize_t count,
                         double value) except -1:
        """Write a number to adjacent float64, or float32 if `size` is 4."""
        cdef Py_ssize_t k, first = min(count, FIRST_FILLED)
        if size == 8:
            for k in range(first):
                (<double *>address)[k] = value
        else:
            for k in range(first):
                (<float *>address)[k] = <float>value
        repeat(<char *>address, size * first, size * count)
        return 0

    cdef int fill_integers(self, uintptr_t address, Py_ssize_t size, Py_ssize_t count,
                           int64_t value) except -1:
        """Write a number to adjacent integers of `size` bytes, which can represent it."""
        cdef Py_ssize_t k, first = min(count, FIRST_FILLED)
        for k in range(first):
            if size == 8:
                (<int64_t *>address)[k] = value
            elif size == 4:
                (<int32_t *>address)[k] = <int32_t>value
            elif size == 2:
                (<int16_t *>address)[k] = <int16_t>value
            else:
                (<int8_t *>address)[k] = <int8_t>value
        repeat(<char *>address, size * first, size * count)
        return 0

    cdef void copy(self, uintptr_t target, uintptr_t source, size_t nbytes) noexcept:
        """Copy bytes from one address to another; arrays of the user may share memory."""
        memmove(<void *>target, <const void *>source, nbytes)

    cdef void move_rows(self, uintptr_t target, uintptr_t source, Py_ssize_t rows, size_t nbytes,
                        Py_ssize_t step, Py_ssize_t step_from) noexcept:
        """Move rows of bytes, `step_from` bytes apart, to places that are `step` bytes apart; they
        may overlap if both are the same.
        """
        cdef Py_ssize_t k, row
        for k in range(rows):
            row = rows - 1 - k if target > source else k  # so that none is overwritten before
            memmove(<char *>target + row * step, <const char *>source + row * step_from, nbytes)

    cdef void spread(self, uintptr_t address, Py_ssize_t size, tuple shape, tuple strides):
        """Copy the element at an address, of at most 16 bytes, to all places of a layout that
        begins there.
        """
        spread_element(<char *>address, size, shape, strides)

    cdef bint gather(self, uintptr_t target, uintptr_t address, Py_ssize_t size, tuple shape,
                     tuple strides) except -1:
        """Copy the elements of a layout that begins at an address to adjacent places; return False
        for one of more axes than NumPy's arrays have.
        """
        return gather_elements(<char *>target, <const char *>address, size, shape, strides)

    cdef bint sort(self, uintptr_t address, tuple shape, object dtype, int axis,
                   bint stable) except -1:
        """Sort packed elements along an axis, as NumPy does; other threads may run."""
        cdef cnp.npy_intp lengths[MOST_AXES]
        cdef int k, axes = len(shape)
        if axes > MOST_AXES:
            return False
        for k in range(axes):
            lengths[k] = shape[k]
        Py_INCREF(dtype)  # the array gets that reference
        cnp.PyArray_Sort(PyArray_NewFromDescr(
            <PyTypeObject *>cnp.ndarray, <cnp.dtype>dtype, axes, lengths, NULL, <void *>address,
            cnp.NPY_ARRAY_CARRAY, NULL), axis, cnp.NPY_MERGESORT if stable else cnp.NPY_QUICKSORT)
        return True

    cdef bint sort_lines(self, uintptr_t address, Py_ssize_t length, Py_ssize_t lines,
                         object dtype) noexcept:
        """Sort adjacent lines of elements of one of NumPy's own dtypes, as NumPy does, while the
        GIL is kept; return False if it has no function for that.
        """
        return mat_sort_lines(<PyObject *>dtype, <char *>address, length, lines)

    cdef bint argsort_lines(self, uintptr_t target, uintptr_t address, Py_ssize_t length,
                            Py_ssize_t lines, Py_ssize_t step, object dtype) noexcept:
        """Write the indices that sort each of lines whose elements are `step` elements apart: so
        many lines begin side by side.
        """
        return mat_argsort_lines(<PyObject *>dtype, <char *>address, length, lines, step,
                                 <cnp.npy_intp *>target)

    cdef void count(self, uintptr_t address, Py_ssize_t count, int64_t first,
                    int64_t step) noexcept:
        """Write integers of 64 bits at equal distances."""
        cdef Py_ssize_t k
        for k in range(count):
            (<int64_t *>address)[k] = first + k * step

    cdef bint copy_integers(self, uintptr_t address, list numbers) except -1:
        """Write integers of 64 bits; return False if one is none of Python's, or too large."""
        return put_integers(<int64_t *>address, numbers)

    cdef void count_in_floats(self, uintptr_t address, Py_ssize_t count, double first,
                              double step) noexcept:
        """Write float64 numbers at equal distances, rounded as those of ``numpy.arange``."""
        cdef double *to = <double *>address
        cdef Py_ssize_t k
        cdef double second = first + step
        step = second - first
        for k in range(count):
            to[k] = first + k * step if k > 1 else second if k else first

    cdef bint copy_of_array(self, uintptr_t target, object value, size_t nbytes,
                            bint strided) except -1:
        """Copy an array of NumPy's own class with so many bytes of elements by rows; return False
        for others, and unless `strided` for one that stores them in another order.
        """
        cdef cnp.ndarray given
        if type(value) is not cnp.ndarray:
            return False
        given = value
        if <size_t>cnp.PyArray_NBYTES(given) != nbytes:
            return False
        if cnp.PyArray_CHKFLAGS(given, cnp.NPY_ARRAY_CARRAY_RO):
            memcpy(<void *>target, cnp.PyArray_DATA(given), nbytes)
            return True
        if not strided or not cnp.PyArray_ISBEHAVED_RO(given):
            return False
        if cnp.PyArray_NDIM(given) == 1:
            self.move_rows(target, <uintptr_t>cnp.PyArray_DATA(given), cnp.PyArray_DIM(given, 0),
                           cnp.PyArray_ITEMSIZE(given), cnp.PyArray_ITEMSIZE(given),
                           cnp.PyArray_STRIDE(given, 0))
            return True
        Py_INCREF(given.descr)  # the array gets that reference
        cnp.PyArray_CopyInto(PyArray_NewFromDescr(
            <PyTypeObject *>cnp.ndarray, given.descr, cnp.PyArray_NDIM(given),
            cnp.PyArray_DIMS(given), NULL, <void *>target, cnp.NPY_ARRAY_CARRAY, NULL), given)
        return True

    cdef object copied_array(self, uintptr_t source, tuple shape, object dtype, size_t nbytes):
        """Return an array of NumPy's with a copy of so many bytes; no code of Python runs."""
        return array_with(self.kept, source, shape, dtype, nbytes)

    cdef object dtype_of(self, object value):
        """Return the dtype of an array."""
        return (<cnp.ndarray>value).descr

    cdef tuple shape_of(self, object value):
        """Return the shape of an array."""
        return shape_of_array(<cnp.ndarray>value)

    cdef Py_ssize_t nbytes_of(self, object value) noexcept:
        """Return the bytes of the elements of an array."""
        return cnp.PyArray_NBYTES(<cnp.ndarray>value)

    cdef bytes bytes_at(self, uintptr_t address, Py_ssize_t nbytes):
        """Return a copy of so many bytes."""
        return (<const char *>address)[:nbytes]

    cdef object array_at(self, uintptr_t address, tuple shape, tuple strides, object dtype,
                         bint writable):
        """Return an array over memory that it does not keep, with `strides` in elements."""
        cdef cnp.npy_intp lengths[MOST_AXES]
        cdef cnp.npy_intp steps[MOST_AXES]
        cdef cnp.npy_intp itemsize = (<cnp.dtype>dtype).itemsize
        cdef int k, axes = len(shape)
        if axes > MOST_AXES:
            raise ValueError(f"NumPy's arrays have at most {MOST_AXES} axes, not {axes}")
        for k in range(axes):
            lengths[k] = shape[k]
            steps[k] = strides[k] * itemsize
        Py_INCREF(dtype)  # the array gets that reference
        return PyArray_NewFromDescr(
            <PyTypeObject *>cnp.ndarray, <cnp.dtype>dtype, axes, lengths, steps, <void *>address,
            cnp.NPY_ARRAY_WRITEABLE if writable else 0, NULL)

    cdef void lock_array(self, object value) noexcept:
        """Make an array that owns its memory read-only."""
        cnp.PyArray_CLEARFLAGS(<cnp.ndarray>value, cnp.NPY_ARRAY_WRITEABLE)

    cdef int number_of(self, object dtype) noexcept:
        """Return `num` of NumPy's `dtype`."""
        return (<cnp.dtype>dtype).type_num

    cdef Py_ssize_t bins_of(self, uintptr_t address, Py_ssize_t n) noexcept:
        """Return one more than the largest of n integers of 64 bits; -1 if one is negative."""
        cdef const int64_t *x = <const int64_t *>address
        cdef int64_t low = 0, high = -1
        cdef Py_ssize_t k
        for k in range(n):
            low = min(low, x[k])
            high = max(high, x[k])
        return -1 if low < 0 or high == PY_SSIZE_T_MAX else high + 1

    cdef void count_each(self, uintptr_t target, Py_ssize_t bins, uintptr_t address,
                         Py_ssize_t n) noexcept:
        """Write how often 0, 1, ... occur in n integers of 64 bits."""
        cdef const int64_t *x = <const int64_t *>address
        cdef int64_t *y = <int64_t *>target
        cdef Py_ssize_t k
        memset(y, 0, bins * sizeof(int64_t))
        for k in range(n):
            if 0 <= x[k] < bins:
                y[x[k]] += 1

    cdef Py_ssize_t count_true(self, uintptr_t address, int size, Py_ssize_t n,
                               uint64_t mask) noexcept:
        """Return how many of n elements of `size` bytes have bits in `mask`."""
        cdef Py_ssize_t k, found = 0
        if size == 8:
            for k in range(n):
                found += ((<const uint64_t *>address)[k] & mask) != 0
        elif size == 4:
            for k in range(n):
                found += ((<const uint32_t *>address)[k] & mask) != 0
        elif size == 1:
            found = bytes_with(<const uint8_t *>address, n, mask & 0xFF)
        else:
            for k in range(n):
                found += (bits_at(address, size, k) & mask) != 0
        return found

    cdef Py_ssize_t first_true(self, uintptr_t address, Py_ssize_t n) noexcept:
        """Return the index of the first of n bools that is true; 0 if none is. Each byte but 0 is
        true: views of other elements have such ones.
        """
        cdef const uint8_t *start = <const uint8_t *>address
        cdef uint64_t words[4]
        cdef Py_ssize_t k = 0
        while k + 32 <= n:
            memcpy(words, start + k, 32)
            if words[0] | words[1] | words[2] | words[3]:
                break
            k += 32
        while k < n:
            if start[k]:
                return k
            k += 1
        return 0

    cdef Py_ssize_t places_of(self, uintptr_t address, int size, tuple shape, uint64_t mask,
                              list targets, Py_ssize_t most) except -1:
        """Write the index along each axis of the elements that have bits in `mask` to its address
        in `targets`, of at most so many; return how many there are.
        """
        return find_places(address, size, shape, mask, targets, most)

    cdef bint pick(self, uintptr_t target, uintptr_t address, int size, Py_ssize_t n, list indices,
                   tuple shape, tuple strides) except -1:
        """Write n elements of a layout that begins at an address, by the addresses of n integers of
        64 bits for each axis, or 0 for its begin; return False if an integer is out of range.
        """
        return pick_elements(<char *>target, <const char *>address, size, n, indices, shape,
                             strides)

    cdef bint unravel(self, uintptr_t address, Py_ssize_t n, tuple shape, list targets) except -1:
        """Write the index along each axis of n row-major ones, integers of 64 bits, to its address
        in `targets`; return False if one is out of range.
        """
        return split_places(<const int64_t *>address, n, shape, targets)

    cdef bint ravel(self, uintptr_t target, Py_ssize_t n, list indices, tuple shape,
                    bint wraps) except -1:
        """Write the row-major indices of n elements, by the addresses of n integers of 64 bits for
        each axis, negative ones from its end if `wraps`; return False if one is out of range.
        """
        return join_places(<int64_t *>target, n, indices, shape, wraps)

    cdef bint take(self, uintptr_t target, uintptr_t address, Py_ssize_t count, size_t nbytes,
                   uintptr_t index, Py_ssize_t n) noexcept:
        """Write the items of `nbytes` bytes, of so many, at n integers of 64 bits; return False if
        one of these is out of range.
        """
        return take_items(<char *>target, <const char *>address, count, nbytes,
                          <const int64_t *>index, n)

    cdef void repeat(self, uintptr_t target, uintptr_t address, int size, Py_ssize_t n,
                     Py_ssize_t times) noexcept:
        """Write each of n elements of 1, 4 or 8 bytes so many times."""
        if size == 8:
            repeat_each(<uint64_t *>target, <const uint64_t *>address, n, times)
        elif size == 4:
            repeat_each(<uint32_t *>target, <const uint32_t *>address, n, times)
        else:
            repeat_each(<uint8_t *>target, <const uint8_t *>address, n, times)

    cdef bint search(self, uintptr_t target, uintptr_t sorted_values, Py_ssize_t n,
                     uintptr_t address, Py_ssize_t count, object dtype) noexcept:
        """Write to `target` before which of n sorted elements each of `count` others comes first;
        return whether elements of that dtype are known.
        """
        return search_typed(self.number_of(dtype), <const void *>address, count,
                            <const void *>sorted_values, n, <int64_t *>target)

    cdef bint correlate(self, uintptr_t target, Py_ssize_t first, Py_ssize_t count, uintptr_t a,
                        Py_ssize_t n, uintptr_t v, Py_ssize_t m, bint reverse,
                        object dtype) noexcept:
        """Write `count` sums, from `first` on, of the n + m - 1 of products of two vectors that are
        moved along each other, the second one reversed or not; return whether elements of that
        dtype are known.
        """
        return correlate_typed(self.number_of(dtype), <const void *>a, n, <const void *>v, m,
                               reverse, first, count, <void *>target)

    cdef bint put_doubles(self, double *to, uintptr_t address, Py_ssize_t n,
                          object dtype) noexcept:
        """Write n elements as float64; return whether those of that dtype are known."""
        cdef int number = self.number_of(dtype)
        if number == cnp.NPY_DOUBLE:
            memcpy(to, <const void *>address, 8 * n)
        elif number == cnp.NPY_FLOAT:
            as_doubles(<const float *>address, n, to)
        elif number == self.number_of(INT64):
            as_doubles(<const int64_t *>address, n, to)
        elif number == cnp.NPY_UINT8:
            as_doubles(<const uint8_t *>address, n, to)
        else:
            return False
        return True

    cdef bint interpolate(self, uintptr_t target, uintptr_t address, Py_ssize_t count,
                          uintptr_t points, uintptr_t values, Py_ssize_t n, tuple dtypes) noexcept:
        """Write the values at `count` places of the function through n points as float64, as NumPy
        does; return False for points that are not in ascending order, and dtypes not known here.
        """
        cdef double *x = <double *>target
        cdef double *given = <double *>realloc(NULL, 2 * n * sizeof(double))
        cdef bint done = given != NULL and (
            self.put_doubles(x, address, count, dtypes[0])
            and self.put_doubles(given, points, n, dtypes[1])
            and self.put_doubles(given + n, values, n, dtypes[2])
            and interpolate_at(given, given + n, n, x, count))
        free(given)
        return done

    # the parameters are those of two tables
    cdef bint add_at(self, uintptr_t target, Py_ssize_t rows, Py_ssize_t columns, uintptr_t index,
                     Py_ssize_t m, uintptr_t values, Py_ssize_t step, double number,
                     object dtype) noexcept:
        """Add to the row of each of m indices, one after another, a row of values, which begin
        `step` elements apart, or the number if `values` is 0; return False, with nothing written,
        for indices of other rows, and a dtype not known here.
        """
        cdef int kind = self.number_of(dtype)
        cdef const int64_t *at = <const int64_t *>index
        if not are_within(at, m, rows):
            return False
        if kind == cnp.NPY_DOUBLE:
            add_rows(<double *>target, rows, columns, at, m, <const double *>values, step, number)
        elif kind == cnp.NPY_FLOAT:
            add_rows(<float *>target, rows, columns, at, m, <const float *>values, step,
                     <float>number)
        elif kind == self.number_of(INT64):
            add_rows(<int64_t *>target, rows, columns, at, m, <const int64_t *>values, step,
                     <int64_t>number)
        elif kind == cnp.NPY_UINT8:
            add_rows(<uint8_t *>target, rows, columns, at, m, <const uint8_t *>values, step,
                     <uint8_t>number)
        else:
            return False
        return True

    cdef bint sum_between(self, uintptr_t target, uintptr_t address, Py_ssize_t rows,
                          Py_ssize_t columns, uintptr_t index, Py_ssize_t m,
                          object dtype) noexcept:
        """Write to `target` the sums of rows from each of m indices to the next one, as NumPy's
        `reduceat`; return whether elements of that dtype are known.
        """
        cdef int number = self.number_of(dtype)
        cdef const int64_t *at = <const int64_t *>index
        if number == cnp.NPY_DOUBLE:
            sums_between(<const double *>address, rows, columns, at, m, <double *>target)
        elif number == cnp.NPY_FLOAT:
            sums_between(<const float *>address, rows, columns, at, m, <float *>target)
        elif number == self.number_of(INT64):
            sums_between(<const int64_t *>address, rows, columns, at, m, <int64_t *>target)
        elif number == cnp.NPY_UINT8:
            sums_of_bytes(<const uint8_t *>address, rows, columns, at, m, <uint64_t *>target)
        else:
            return False
        return True


cdef class HostBlock:
    """A block of host memory, which objects made of it keep."""

    def __init__(self, HostBlocks blocks, uintptr_t address, size_t nbytes):
        self.blocks = blocks
        self.address = address
        self.nbytes = nbytes

    def give_up(self):
        """Leave the memory to another owner."""
        self.address = 0

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, <void *>self.address, self.nbytes, 0, flags)

    def __dealloc__(self):
        if self.address:
            self.blocks.free(self.address, self.nbytes)


cdef HostBlocks blocks = HostBlocks()
BLOCKS = blocks


include "native/python/objects.pxi"

# mat_share of share.h, which is in another extension, and the number of its threads; with 0, large
# work is left to Python, which starts them.
cdef mat_share *share = NULL
cdef int64_t share_threads = 0


def share_by(uintptr_t address, int64_t threads):
    """Have compiled calls divide large work among `threads` threads, which must be running."""
    global share, share_threads
    share = <mat_share *>address
    share_threads = threads


# the parameters are those of a kernel
cdef inline void share_stage(mat_kernel *kernel, const void *frame, char *const *operands,
                             const double *numbers, double *result, int64_t units, int64_t least,
                             int64_t threads) noexcept nogil:
    """Call a kernel in so many threads at most; 0 and 1 are this one."""
    if threads > 1 and units >= 2 * least:
        share(<uintptr_t>kernel, frame, operands, numbers, result, units, least, threads)
    else:
        kernel(frame, operands, numbers, result, 0, units)


cdef class KernelCall:
    """A kernel, and its operands and numbers while they are gathered for a call."""

    # the parameters are the facts of a kernel
    def set_kernel(self, uintptr_t kernel, uintptr_t frame, int64_t units, int64_t least, int way,
                   str returns):
        """Set the address of the kernel and its frame, its units of work, and how it runs."""
        self.kernel = <mat_kernel *>kernel
        self.kernel_frame = <const void *>frame
        self.units = units
        self.least = least
        self.way = way
        self.returns = ord(returns) if returns else 0

    def set_finish(self, uintptr_t kernel, int64_t units, size_t workspace, bint shared):
        """Set a second kernel, the bytes of a buffer that both get as a last operand, and whether
        it is shared, too.
        """
        self.finish_shared = shared
        self.finish_kernel = <mat_kernel *>kernel
        self.finish_units = units
        self.workspace = workspace

    cdef void set_units(self, int64_t units) noexcept:
        """Set the units of work anew, before operands are."""
        self.units = units

    def set_operands(self, int count, int numbers, bint takes_complex):
        """Set how many operands and numbers there are; return False if there is no room."""
        self.operand_count = count
        self.takes_complex = takes_complex
        return count <= MOST_OPERANDS and numbers <= MOST_NUMBERS

    cdef bint set_number(self, int k, object value):
        """Store a number as pair `k`; return False for types that are not converted here."""
        cdef int overflow = 0
        cdef long long exact
        self.pair[2 * k + 1] = 0
        if PyFloat_Check(value):  # NumPy's float64, too
            self.pair[2 * k] = PyFloat_AS_DOUBLE(value)
            return True
        if PyLong_Check(value) or type(value) in _integer_scalars:
            exact = PyLong_AsLongLongAndOverflow(value, &overflow)
            self.pair[2 * k] = <double>exact
            return not overflow and -EXACT <= exact <= EXACT
        if type(value) in _real_scalars:
            self.pair[2 * k] = PyFloat_AsDouble(value)
            return True
        if type(value) is _bool_scalar:
            self.pair[2 * k] = 1 if value else 0
            return True
        if self.takes_complex and PyComplex_Check(value):
            self.pair[2 * k] = PyComplex_RealAsDouble(value)
            self.pair[2 * k + 1] = PyComplex_ImagAsDouble(value)
            return True
        return False

    cdef void set_operand(self, int k, uintptr_t address) noexcept:
        self.operand[k] = <char *>address

    cdef void repeat_operand(self, int k, int other) noexcept:
        self.operand[k] = self.operand[other]

    cdef int run_at_once(self) except -1:
        """Call the kernel under the GIL, which the threads that share it do not need."""
        cdef void *buffer = NULL
        cdef int64_t threads = share_threads if self.way >= SHARED else 0
        self.found[0] = self.found[1] = 0  # what no units give
        if self.finish_kernel != NULL:
            buffer = blocks.allocate_block(self.workspace)
            if buffer == NULL:
                raise MemoryError
            self.operand[self.operand_count] = <char *>buffer
        share_stage(self.kernel, self.kernel_frame, self.operand, self.pair, self.found, self.units,
                    self.least, threads)
        if buffer != NULL:
            share_stage(self.finish_kernel, self.kernel_frame, self.operand, self.pair, self.found,
                        self.finish_units, self.least, threads if self.finish_shared else 0)
            blocks.free_block(buffer, self.workspace)
        return 0

    cdef object run_released(self):
        """Call the kernel without the GIL, in one thread or several; return the result."""
        return self.run_by(share_threads if self.way >= SHARED else 0, self.least)

    cdef object run_by(self, int64_t threads, int64_t least):
        """Do so in that many threads at most, each of which gets at least so many units."""
        cdef char *operand[MOST_OPERANDS + 1]
        cdef double pair[2 * (MOST_OPERANDS + MOST_NUMBERS)]
        cdef double found[2]
        cdef int k
        cdef int64_t units = self.units
        found[0] = found[1] = 0  # what no units give
        memcpy(operand, self.operand, sizeof(operand))
        memcpy(pair, self.pair, sizeof(pair))
        for k in range(self.operand_count):  # numbers among the operands are in the pairs
            if <char *>self.pair <= operand[k] < <char *>self.pair + sizeof(pair):
                operand[k] = <char *>pair + (operand[k] - <char *>self.pair)
        if self.finish_kernel != NULL:
            operand[self.operand_count] = <char *>blocks.allocate_block(self.workspace)
            if operand[self.operand_count] == NULL:
                raise MemoryError
        with nogil:
            share_stage(self.kernel, self.kernel_frame, operand, pair, found, units, least, threads)
            if self.finish_kernel != NULL:
                share_stage(self.finish_kernel, self.kernel_frame, operand, pair, found,
                            self.finish_units, least, threads if self.finish_shared else 0)
                blocks.free_block(operand[self.operand_count], self.workspace)
        return number(self.returns, found)

    cdef object result_number(self):
        """Return what a kernel that ran at once gave, if it gives a number."""
        return number(self.returns, self.found)

    cdef bint can_share(self):
        """Return whether there are threads for a kernel that is to be shared."""
        return self.way < SHARED or share_threads != 0

    cdef uintptr_t number_address(self, int k) noexcept:
        """Return the address of pair `k`, which takes the place of an operand."""
        return <uintptr_t>(self.pair + 2 * k)


include "native/python/cuda_calls.pxi"
include "native/python/arrays.pxi"
include "native/python/methods.pxi"

mat_add_dlpack(sys.modules[__name__])


cpdef object reference_to(object x):
    """Return a weak reference, without a call of its type."""
    return PyWeakref_NewRef(x, None)


cpdef Py_ssize_t reference_count(object x) noexcept:
    """Return how many references to an object there are, without a call of Python's function."""
    return Py_REFCNT(<PyObject *>x)


cpdef object referent(object reference):
    """Return what a weak reference refers to, or None, without a call of it."""
    cdef PyObject *found = NULL
    PyWeakref_GetRef(reference, &found)
    one = None if found == NULL else <object>found
    Py_XDECREF(found)
    return one


cpdef object context_value(object variable):
    """Return the value of a context variable with a default, without a call of its method."""
    cdef PyObject *found = NULL
    PyContextVar_Get(variable, NULL, &found)
    value = <object>found
    Py_XDECREF(found)
    return value
