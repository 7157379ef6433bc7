# Arrays of NumPy over memory that other objects own: a part of mat/_core.pyx.

cnp.import_array()


def array_kept_by(object owner, cnp.ndarray value, bint writable):
    """Return an array like `value` over the same memory, which keeps `owner`, and so does all that
    is made of it without copying.
    """
    cdef cnp.ndarray made
    cdef int flags = cnp.NPY_ARRAY_WRITEABLE if writable else 0
    Py_INCREF(value.descr)  # the array gets that reference
    made = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, value.descr, cnp.PyArray_NDIM(value),
                                cnp.PyArray_DIMS(value), cnp.PyArray_STRIDES(value),
                                cnp.PyArray_DATA(value), flags, NULL)
    cnp.set_array_base(made, owner)
    return made


def elements_of(cnp.ndarray handle, tuple shape, tuple strides, Py_ssize_t start, bint writable):
    """Return the elements that a layout sees of the 1-d array `handle`, the first of them at
    `start`; an array that is not `writable` cannot be made so.
    """
    cdef cnp.npy_intp lengths[MOST_AXES]
    cdef cnp.npy_intp steps[MOST_AXES]
    cdef cnp.npy_intp itemsize = cnp.PyArray_ITEMSIZE(handle)
    cdef int k, axes = len(shape), flags = 0
    cdef cnp.ndarray made
    if axes > MOST_AXES:
        raise ValueError(f"NumPy's arrays have at most {MOST_AXES} axes, not {axes}")
    for k in range(axes):
        lengths[k] = shape[k]
        steps[k] = strides[k] * itemsize
    if writable and cnp.PyArray_ISWRITEABLE(handle):
        flags = cnp.NPY_ARRAY_WRITEABLE
    Py_INCREF(handle.descr)
    made = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, handle.descr, axes, lengths, steps,
                                cnp.PyArray_BYTES(handle) + start * itemsize, flags, NULL)
    # NumPy asks what owns the memory whether it can be written, which a tuple cannot
    cnp.set_array_base(made, handle if writable else (handle,))
    return made


def array_over(HostBlock block, Py_ssize_t size, cnp.dtype dtype):
    """Return `size` elements of `dtype` in a block as an array, which keeps it."""
    cdef cnp.npy_intp length = size
    cdef cnp.ndarray made
    Py_INCREF(dtype)
    made = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, dtype, 1, &length, NULL,
                                <void *>block.address, cnp.NPY_ARRAY_WRITEABLE, NULL)
    cnp.set_array_base(made, block)
    return made


def array_in_pool(Py_ssize_t size, cnp.dtype dtype):
    """Return an array of arbitrary elements over a new block; None if there is no memory."""
    cdef size_t nbytes = size * dtype.itemsize
    cdef uintptr_t address = blocks.allocate(nbytes) if blocks.enabled else 0
    return array_over(HostBlock(blocks, address, nbytes), size, dtype) if address else None


def flat_array(object value):
    """Return the elements of an aligned, writable, C-contiguous array of NumPy's own class as a new
    array of one axis over the same memory; None for other objects.
    """
    cdef cnp.npy_intp size
    cdef cnp.ndarray given, made
    if type(value) is not cnp.ndarray:
        return None
    given = value
    if not cnp.PyArray_CHKFLAGS(given, cnp.NPY_ARRAY_CARRAY):
        return None
    size = cnp.PyArray_SIZE(given)
    Py_INCREF(given.descr)
    made = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, given.descr, 1, &size, NULL,
                                cnp.PyArray_DATA(given), cnp.NPY_ARRAY_WRITEABLE, NULL)
    cnp.set_array_base(made, given)
    return made


def array_of_numbers(list numbers, bint as_floats):
    """Return numbers of the types float and int, or lists of so many, as an array: of int64 if all
    are of type int and not `as_floats`, else of float64; None if there are others, or an int is not
    exact in it.
    """
    cdef cnp.npy_intp shape[2]
    cdef int rank = 1
    cdef cnp.ndarray made
    shape[0] = len(numbers)
    if shape[0] and PyList_CheckExact(numbers[0]):
        rank = 2
        shape[1] = len(<list>numbers[0])
        for row in numbers:
            if not PyList_CheckExact(row) or len(<list>row) != shape[1]:
                return None
    if not as_floats:
        as_floats = not shape[rank - 1] or (
            any_float(numbers) if rank == 1 else any_row_has_float(numbers))
    made = cnp.PyArray_SimpleNew(rank, shape, cnp.NPY_DOUBLE if as_floats else cnp.NPY_INT64)
    if rank == 1:
        return made if put_numbers(made, 0, shape[0], numbers, as_floats) else None
    for k, row in enumerate(numbers):
        if not PyList_CheckExact(row) or not put_numbers(made, k * shape[1], shape[1], <list>row,
                                                         as_floats):
            return None
    return made


cdef bint any_float(list numbers):
    for value in numbers:
        if PyFloat_CheckExact(value):
            return True
    return False


cdef bint any_row_has_float(list rows):
    for row in rows:
        if any_float(<list>row):
            return True
    return False


cdef bint put_numbers(cnp.ndarray made, cnp.npy_intp at, cnp.npy_intp count, list numbers,
                      bint as_floats) except -1:
    """Write `count` numbers to `made`, from its element `at` on; return False if one cannot be."""
    cdef cnp.npy_intp k
    cdef int overflow = 0
    cdef long long exact
    for k in range(count):
        value = numbers[k]
        if PyFloat_CheckExact(value):
            if not as_floats:
                return False
            (<double *>cnp.PyArray_DATA(made))[at + k] = PyFloat_AS_DOUBLE(value)
            continue
        if not PyLong_CheckExact(value):
            return False
        exact = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow or (as_floats and not -EXACT <= exact <= EXACT):
            return False
        if as_floats:
            (<double *>cnp.PyArray_DATA(made))[at + k] = <double>exact
        else:
            (<long long *>cnp.PyArray_DATA(made))[at + k] = exact
    return True
