# Arrays of NumPy over memory that other objects own, and what writes elements: a part of
# mat/_core.pyx.

cnp.import_array()

cdef extern from *:
    """
    static int mat_sort_lines(PyObject *type, char *at, npy_intp length, npy_intp lines) {
        PyArray_Descr *dtype = (PyArray_Descr *)type;
        PyArray_SortFunc *sort = PyDataType_GetArrFuncs(dtype)->sort[NPY_QUICKSORT];
        if (!sort)
            return 0;
        for (npy_intp k = 0; k < lines; k++)
            if (sort(at + k * length * PyDataType_ELSIZE(dtype), length, NULL))
                return 0;
        return 1;
    }

    static int mat_argsort_lines(PyObject *type, char *at, npy_intp length, npy_intp lines,
                                 npy_intp step, npy_intp *to) {
        PyArray_Descr *dtype = (PyArray_Descr *)type;
        PyArray_ArgSortFunc *argsort = PyDataType_GetArrFuncs(dtype)->argsort[NPY_QUICKSORT];
        npy_intp size = PyDataType_ELSIZE(dtype), sorted = 0;
        npy_intp *room = step == 1 ? NULL : PyMem_Malloc(length * (sizeof(npy_intp) + size));
        if (!argsort || (step != 1 && !room))
            lines = -1;
        for (; sorted < lines; sorted++) {
            npy_intp first = sorted / step * step * length + sorted % step;
            npy_intp *order = room ? room : to + first;
            char *line = room ? (char *)(room + length) : at + first * size;
            for (npy_intp i = 0; i < length; i++) {
                order[i] = i;
                if (room)
                    memcpy(line + i * size, at + (first + i * step) * size, size);
            }
            if (argsort(line, order, length, NULL))
                break;
            for (npy_intp i = 0; room && i < length; i++)
                to[first + i * step] = order[i];
        }
        PyMem_Free(room);
        return sorted == lines;
    }

    /* the element at an address as a number of Python's, and the other way round */
    static PyObject *mat_item(PyObject *dtype, char *at) {
        return PyDataType_GetArrFuncs((PyArray_Descr *)dtype)->getitem(at, NULL);
    }

    static int mat_put_item(PyObject *dtype, char *at, PyObject *value) {
        return PyDataType_GetArrFuncs((PyArray_Descr *)dtype)->setitem(value, at, NULL);
    }

    /* an array of a list, as it was made, that has no other user; NULL if there is none */
    static PyObject *mat_unused_of(PyObject *list, PyObject *dtype, int axes,
                                   const npy_intp *lengths) {
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list); k++) {
            PyArrayObject *array = (PyArrayObject *)PyList_GET_ITEM(list, k);
            if (Py_REFCNT(array) == 1 && (PyObject *)PyArray_DESCR(array) == dtype
                && PyArray_NDIM(array) == axes && !((PyArrayObject_fields *)array)->weakreflist
                && PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_CARRAY_RO)
                && PyArray_CompareLists(PyArray_DIMS(array), lengths, axes)) {
                PyArray_ENABLEFLAGS(array, NPY_ARRAY_WRITEABLE);
                return (PyObject *)array;
            }
        }
        return NULL;
    }

    static PyObject *mat_view_of(PyObject *array) {
        return PyArray_View((PyArrayObject *)array, NULL, NULL);
    }

    /* whether nobody has changed an attribute of a view, or has a weak reference to it */
    static int mat_is_like(PyObject *one, PyObject *other) {
        PyArrayObject_fields *view = (PyArrayObject_fields *)one;
        PyArrayObject_fields *value = (PyArrayObject_fields *)other;
        if (view->weakreflist || view->data != value->data || view->descr != value->descr
            || (view->flags | NPY_ARRAY_OWNDATA) != (value->flags | NPY_ARRAY_OWNDATA)
            || view->nd != value->nd)
            return 0;
        for (int k = 0; k < view->nd; k++)
            if (view->dimensions[k] != value->dimensions[k]
                || view->strides[k] != value->strides[k])
                return 0;
        return 1;
    }
    """
    object mat_item(PyObject *, char *)
    int mat_put_item(PyObject *, char *, object) except -1
    PyObject *mat_unused_of(PyObject *, PyObject *, int, const cnp.npy_intp *) noexcept
    object mat_view_of(object)
    bint mat_is_like(object, object) noexcept
    bint mat_sort_lines(PyObject *, char *, Py_ssize_t, Py_ssize_t) noexcept
    bint mat_argsort_lines(PyObject *, char *, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                           cnp.npy_intp *) noexcept

cdef object number(char kind, const double *found):
    if kind == b"d":
        return found[0]
    if kind == b"i":
        return int(found[0])
    if kind == b"D":
        return complex(found[0], found[1])
    return None


cdef enum:
    FIRST_FILLED = 16  # elements that are written one by one
    MOST_KEPT = 2048  # bytes


cdef object array_with(list kept, uintptr_t source, tuple shape, object dtype, size_t nbytes):
    """See `HostBlocks.copied_array`; small arrays replace others in the list `kept`."""
    cdef cnp.npy_intp lengths[MOST_AXES]
    cdef int k, axes = len(shape)
    cdef PyObject *unused = NULL
    if axes > MOST_AXES:
        raise ValueError(f"NumPy's arrays have at most {MOST_AXES} axes, not {axes}")
    for k in range(axes):
        lengths[k] = shape[k]
    if nbytes <= MOST_KEPT:
        unused = mat_unused_of(<PyObject *>kept, <PyObject *>dtype, axes, lengths)
    if unused != NULL:
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>unused), <const void *>source, nbytes)
        return <object>unused
    Py_INCREF(dtype)  # the array gets that reference
    made = PyArray_NewFromDescr(<PyTypeObject *>cnp.ndarray, <cnp.dtype>dtype, axes, lengths, NULL,
                                NULL, 0, NULL)
    memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), <const void *>source, nbytes)
    if nbytes <= MOST_KEPT:
        kept.append(made)
        del kept[0]
    return made


cdef tuple shape_of_array(cnp.ndarray value):
    """See `HostBlocks.shape_of`."""
    cdef int k, axes = cnp.PyArray_NDIM(value)
    found = PyTuple_New(axes)
    for k in range(axes):
        n = <object>cnp.PyArray_DIM(value, k)
        Py_INCREF(n)  # the tuple gets that reference
        PyTuple_SET_ITEM(found, k, n)
    return found


cdef inline void repeat(char *at, size_t done, size_t nbytes) noexcept:
    """Repeat the first `done` of so many bytes, twice as many each time."""
    while done < nbytes:
        memcpy(at + done, at, min(done, nbytes - done))
        done *= 2


cdef inline uint64_t bits_at(uintptr_t address, int size, Py_ssize_t k) noexcept:
    """Return element k of `size` bytes as an integer."""
    if size == 1:
        return (<const uint8_t *>address)[k]
    if size == 8:
        return (<const uint64_t *>address)[k]
    return (<const uint32_t *>address)[k] if size == 4 else (<const uint16_t *>address)[k]


cdef object integer_at(uintptr_t address, int size, bint is_signed):
    """Return an integer of `size` bytes."""
    if not is_signed:
        return bits_at(address, size, 0)
    if size == 8:
        return (<const int64_t *>address)[0]
    if size == 4:
        return (<const int32_t *>address)[0]
    return (<const int8_t *>address)[0] if size == 1 else (<const int16_t *>address)[0]


cdef void spread_element(char *at, Py_ssize_t size, tuple shape, tuple strides):
    """See `HostBlocks.spread`."""
    cdef Py_ssize_t lengths[MOST_AXES]
    cdef Py_ssize_t steps[MOST_AXES]
    cdef uint64_t element[2]
    cdef int k, axes = len(shape)
    memcpy(element, at, size)
    for k in range(axes):
        lengths[k], steps[k] = shape[k], size * <Py_ssize_t>strides[k]
    if axes:
        repeat_along(at, <const char *>element, size, axes, lengths, steps)


cdef void repeat_along(char *to, const char *element, Py_ssize_t size, int axes,
                       const Py_ssize_t *lengths, const Py_ssize_t *steps) noexcept:
    """Write an element of `size` bytes to all places of `axes` axes that begin at `to`."""
    cdef Py_ssize_t k, n = lengths[axes - 1]
    cdef bint in_rows = axes == 2 and steps[1] == size
    if axes == 1:
        if steps[0] == size and n > FIRST_FILLED:
            repeat_apart(to, element, size, FIRST_FILLED, size)
            repeat(to, size * FIRST_FILLED, size * n)
        else:
            repeat_apart(to, element, size, n, steps[0])
        return
    for k in range(lengths[0]):
        if in_rows and k:
            memcpy(to + k * steps[0], to, size * n)
        else:
            repeat_along(to + k * steps[0], element, size, axes - 1, lengths + 1, steps + 1)


cdef void repeat_apart(char *to, const char *element, Py_ssize_t size, Py_ssize_t count,
                       Py_ssize_t step) noexcept:
    """Write an element of `size` bytes to places that are `step` bytes apart."""
    cdef Py_ssize_t k
    if size == 8:
        for k in range(count):
            (<uint64_t *>(to + k * step))[0] = (<const uint64_t *>element)[0]
    elif size == 4:
        for k in range(count):
            (<uint32_t *>(to + k * step))[0] = (<const uint32_t *>element)[0]
    elif size == 2:
        for k in range(count):
            (<uint16_t *>(to + k * step))[0] = (<const uint16_t *>element)[0]
    elif size == 1:
        for k in range(count):
            to[k * step] = element[0]
    else:
        for k in range(count):
            memcpy(to + k * step, element, size)


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


def integers_within(cnp.ndarray value, int64_t low, int64_t high):
    """Return whether all integers of 64 bits are at least `low` and below `high`; None for an array
    that has not adjacent elements.
    """
    cdef const int64_t *x = <const int64_t *>cnp.PyArray_DATA(value)
    cdef int64_t least = low, most = low
    cdef Py_ssize_t k, n = cnp.PyArray_SIZE(value)
    if not cnp.PyArray_CHKFLAGS(value, cnp.NPY_ARRAY_CARRAY_RO):
        return None
    for k in range(n):
        least = min(least, x[k])
        most = max(most, x[k])
    return not n or (least >= low and most < high)


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


cdef class ArrayLender:
    """Returns views of an array. A view that is not used any more, and that nobody has changed, is
    returned again: there are two, since a variable has that of one block until the next begins.
    """

    def __init__(self, cnp.ndarray value not None):
        self.value = value

    def __call__(self):
        return self.lend()

    cdef object lend(self):
        """Return a view that only the caller has."""
        if Py_REFCNT(<PyObject *>self.view) == 1 and self.is_as_made(self.view):
            return self.view
        if not (Py_REFCNT(<PyObject *>self.other) == 1 and self.is_as_made(self.other)):
            self.view, self.other = self.other, mat_view_of(self.value)
            self.base = cnp.PyArray_BASE(<cnp.ndarray>self.other)
        return self.other

    cdef bint is_as_made(self, object view) noexcept:
        """Return whether the attributes of the view are those of the array, and nothing has a weak
        reference to it.
        """
        return (mat_is_like(view, self.value)
                and cnp.PyArray_BASE(<cnp.ndarray>view) == self.base)


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


cdef enum:
    BOOLS
    INTEGERS
    FLOATS
    COMPLEX

cdef Py_ssize_t[4] SIZES
SIZES[:] = [1, 8, 8, 16]


def shape_of_numbers(numbers, bint as_floats):
    """Return the shape of numbers in a list or tuple, or of such sequences of so many, and whether
    they are to be bools, integers, floats or complex numbers, as the number 0 to 3, for
    `write_numbers`, which finds out whether they are. Return None for other sequences.
    """
    cdef Py_ssize_t count = Py_SIZE(numbers), length, k
    cdef int kind = BOOLS
    if not count or not is_nest(item_of(numbers, 0)):
        return (count,), FLOATS if as_floats or not count else kind_of(numbers, kind)
    length = Py_SIZE(item_of(numbers, 0))
    for k in range(count):
        row = item_of(numbers, k)
        if not is_nest(row) or Py_SIZE(row) != length:
            return None
    if as_floats or not length:
        return (count, length), FLOATS
    for k in range(count):
        kind = kind_of(item_of(numbers, k), kind)
        if kind >= FLOATS:
            break
    return (count, length), kind


cdef inline bint is_nest(object value):
    """Return whether a value is a list or a tuple, whose items `item_of` returns."""
    return PyList_CheckExact(value) or PyTuple_CheckExact(value)


cdef inline object item_of(object values, Py_ssize_t k):
    """Return an item of a list or a tuple."""
    return (<list>values)[k] if PyList_CheckExact(values) else (<tuple>values)[k]


cdef int kind_of(object numbers, int kind) except -1:
    """Return what numbers are to be: at least `kind`, and what the first is that is no integer."""
    cdef Py_ssize_t k
    for k in range(Py_SIZE(numbers)):
        value = item_of(numbers, k)
        if is_float64(value):
            return FLOATS
        if PyComplex_CheckExact(value):
            return COMPLEX
        if not PyBool_Check(value):
            kind = INTEGERS
    return kind


def write_numbers(uintptr_t address, numbers, tuple shape, int kind):
    """Write numbers of that shape to memory, as `kind` says; return False if there are others, if
    another thread has changed a list, or an int is not exact.
    """
    cdef Py_ssize_t rows = Py_SIZE(numbers), length = shape[len(shape) - 1], k
    if rows != shape[0]:
        return False
    if len(shape) == 1:
        return put_numbers(address, length, numbers, kind)
    for k in range(rows):
        row = item_of(numbers, k)
        if not is_nest(row) or not put_numbers(address + SIZES[kind] * k * length, length, row,
                                               kind):
            return False
    return True


cdef bint put_numbers(uintptr_t address, Py_ssize_t count, object numbers, int kind) except -1:
    """Write `count` numbers to memory; return False if these are not the numbers of the sequence,
    or one cannot be written.
    """
    cdef Py_ssize_t k
    if Py_SIZE(numbers) != count:
        return False
    for k in range(count):
        if not put_number(address + SIZES[kind] * k, item_of(numbers, k), kind):
            return False
    return True


cdef inline bint put_number(uintptr_t address, object value, int kind) except -1:
    """Write a number to memory; return False if it is of no such kind, or too large."""
    cdef int overflow = 0
    cdef long long exact
    if is_float64(value):
        if kind < FLOATS:
            return False
        (<double *>address)[0] = PyFloat_AS_DOUBLE(value)
    elif PyLong_CheckExact(value) or PyBool_Check(value) or is_int64(value):
        exact = (value_of_int64(value) if is_int64(value)
                 else PyLong_AsLongLongAndOverflow(value, &overflow))
        if overflow or (kind >= FLOATS and not -EXACT <= exact <= EXACT):
            return False
        if kind == BOOLS:
            (<uint8_t *>address)[0] = exact != 0
            return PyBool_Check(value)
        if kind == INTEGERS:
            (<long long *>address)[0] = exact
        else:
            (<double *>address)[0] = <double>exact
    elif kind == COMPLEX and PyComplex_CheckExact(value):
        (<double *>address)[0] = PyComplex_RealAsDouble(value)
        (<double *>address)[1] = PyComplex_ImagAsDouble(value)
        return True
    else:
        return False
    if kind == COMPLEX:
        (<double *>address)[1] = 0
    return True


def address_of(cnp.ndarray array):
    """Return the address of the first element of an array, by far faster than Python does."""
    return <uintptr_t>cnp.PyArray_DATA(array)


cdef enum:
    NEEDS_ORDER = 0xE0  # what PyBUF_C_CONTIGUOUS and its like have besides PyBUF_STRIDES


# of NumPy's types of elements, by number
cdef const char *FORMATS[17]
FORMATS[:] = [b"?", b"b", b"B", b"h", b"H", b"i", b"I", b"l", b"L", b"q", b"Q", b"f", b"d", b"g",
              b"Zf", b"Zd", b"Zg"]


cdef int get_buffer(object self, Py_buffer *buffer, int flags) except -1:
    """Fill in the memory of the array that `self._exported` returns after its owner, an object that
    keeps it.
    """
    mat_set_owner(buffer, NULL)
    if PyErr_Occurred():  # torch.asarray tries again for bytes, of which it would make float32
        return -1
    cdef tuple exported = self._exported(flags)
    cdef cnp.ndarray a = exported[1]
    cdef int number = cnp.PyArray_TYPE(a)
    if number >= 17 or flags & PyBUF_STRIDES != PyBUF_STRIDES or flags & NEEDS_ORDER:
        return PyObject_GetBuffer(array_kept_by(exported[0], a, False), buffer,
                                  flags & ~PyBUF_WRITABLE)
    buffer.buf, buffer.len = cnp.PyArray_DATA(a), cnp.PyArray_NBYTES(a)
    buffer.itemsize, buffer.readonly, buffer.ndim = cnp.PyArray_ITEMSIZE(a), 1, cnp.PyArray_NDIM(a)
    buffer.format = <char *>FORMATS[number] if flags & PyBUF_FORMAT else NULL
    buffer.shape = <Py_ssize_t *>cnp.PyArray_DIMS(a)
    buffer.strides = <Py_ssize_t *>cnp.PyArray_STRIDES(a)
    buffer.suboffsets, buffer.internal = NULL, NULL
    mat_set_owner(buffer, <PyObject *>exported[0])
    return 0


def give_buffer(type kind):
    """Give objects of a class in Python a buffer: that of the array in what their `_exported`
    returns.
    """
    mat_set_buffer(kind, <void *>get_buffer)
