# Loops over a few elements with NumPy's results: a part of mat/_core.pyx.

cdef extern from *:
    """
    /* of the scalars, float64 is a Python float, too */
    static int mat_is_float64(PyObject *value) {
        return PyFloat_CheckExact(value) || Py_TYPE(value) == &PyDoubleArrType_Type;
    }

    static int mat_is_int64(PyObject *value) {
        return Py_TYPE(value) == &PyInt64ArrType_Type;
    }

    static long long mat_value_of_int64(PyObject *value) {
        return PyArrayScalar_VAL(value, Int64);
    }

    static int mat_is_number_of_numpy(PyObject *value) {
        return PyArray_IsScalar(value, Number) || PyArray_IsScalar(value, Bool);
    }
    """
    bint is_float64 "mat_is_float64" (object value)
    bint is_int64 "mat_is_int64" (object value)
    long long value_of_int64 "mat_value_of_int64" (object value)
    bint is_number_of_numpy "mat_is_number_of_numpy" (object value)

ctypedef fused Ordered:
    double
    float
    int64_t
    uint8_t

ctypedef fused Summed:
    double
    float
    int64_t

ctypedef fused Word:
    uint64_t
    uint32_t
    uint8_t


cdef void repeat_each(Word *target, const Word *x, Py_ssize_t n, Py_ssize_t times) noexcept:
    """Write each of n words so many times."""
    cdef Py_ssize_t k, j
    for k in range(n):
        for j in range(times):
            target[0] = x[k]
            target += 1


cdef inline bint comes_before(Ordered a, Ordered b) noexcept:
    return a < b or (b != b and a == a)  # NaN comes last


cdef void search_for(const Ordered *values, Py_ssize_t count, const Ordered *of, Py_ssize_t n,
                     int64_t *target) noexcept:
    """See `HostBlocks.search`; the steps are NumPy's, which give the same also if `of` is not
    sorted.
    """
    cdef Py_ssize_t k, middle, low = 0, high = n
    cdef Ordered last = values[0]
    for k in range(count):
        if comes_before(last, values[k]):
            high = n
        else:
            low = 0
            high = high + 1 if high < n else n
        last = values[k]
        while low < high:
            middle = low + ((high - low) >> 1)
            if comes_before(of[middle], values[k]):
                low = middle + 1
            else:
                high = middle
        target[k] = low


cdef bint search_typed(int number, const void *values, Py_ssize_t count, const void *of,
                       Py_ssize_t n, int64_t *target) noexcept:
    """Search by NumPy's number of the dtype; return whether it is known here."""
    if number == cnp.NPY_DOUBLE:
        search_for(<const double *>values, count, <const double *>of, n, target)
    elif number == cnp.NPY_FLOAT:
        search_for(<const float *>values, count, <const float *>of, n, target)
    elif number == cnp.NPY_INT64:
        search_for(<const int64_t *>values, count, <const int64_t *>of, n, target)
    elif number == cnp.NPY_UINT8:
        search_for(<const uint8_t *>values, count, <const uint8_t *>of, n, target)
    else:
        return False
    return True


cdef inline Ordered sum_of_products(const Ordered *x, const Ordered *y, Py_ssize_t step,
                                    Py_ssize_t n) noexcept:
    """Return the sum of n products; in four parts, so that additions need not wait for others."""
    cdef Ordered a = 0, b = 0, c = 0, d = 0
    cdef Py_ssize_t k
    for k in range(0, n - 3, 4):
        a += x[k] * y[step * k]
        b += x[k + 1] * y[step * (k + 1)]
        c += x[k + 2] * y[step * (k + 2)]
        d += x[k + 3] * y[step * (k + 3)]
    for k in range(n - n % 4, n):
        a += x[k] * y[step * k]
    return <Ordered>((a + b) + (c + d))


cdef void correlate(const Ordered *a, Py_ssize_t n, const Ordered *v, Py_ssize_t m,
                    bint reverse, Py_ssize_t first, Py_ssize_t count, Ordered *target) noexcept:
    """See `HostBlocks.correlate`."""
    cdef Py_ssize_t k, at, low, step = -1 if reverse else 1
    if reverse:
        v += m - 1
    for k in range(count):
        at = first + k - m + 1  # the index in `a` beside the first element of `v`
        low = -at if at < 0 else 0
        target[k] = sum_of_products(a + at + low, v + step * low, step,
                                    (m if at + m < n else n - at) - low)


cdef bint correlate_typed(int number, const void *a, Py_ssize_t n, const void *v, Py_ssize_t m,
                          bint reverse, Py_ssize_t first, Py_ssize_t count,
                          void *target) noexcept:
    """Correlate by NumPy's number of the dtype; return whether it is known here."""
    if number == cnp.NPY_DOUBLE:
        correlate(<const double *>a, n, <const double *>v, m, reverse, first, count,
                  <double *>target)
    elif number == cnp.NPY_FLOAT:
        correlate(<const float *>a, n, <const float *>v, m, reverse, first, count,
                  <float *>target)
    elif number == cnp.NPY_INT64:
        correlate(<const int64_t *>a, n, <const int64_t *>v, m, reverse, first, count,
                  <int64_t *>target)
    elif number == cnp.NPY_UINT8:
        correlate(<const uint8_t *>a, n, <const uint8_t *>v, m, reverse, first, count,
                  <uint8_t *>target)
    else:
        return False
    return True


cdef void as_doubles(const Ordered *x, Py_ssize_t n, double *target) noexcept:
    cdef Py_ssize_t k
    for k in range(n):
        target[k] = <double>x[k]


cdef bint interpolate_at(const double *points, const double *values, Py_ssize_t n, double *x,
                         Py_ssize_t count) noexcept:
    """See `HostBlocks.interpolate`; numbers are combined as in ``numpy.interp``."""
    cdef Py_ssize_t k, low, rest, half
    cdef double slope, y
    for k in range(n - 1):
        if not points[k] <= points[k + 1]:
            return False
    for k in range(count):
        low, rest = 0, n
        while rest > 1:  # without branches, which could not be predicted
            half = rest >> 1
            low += half * (points[low + half] <= x[k])
            rest -= half
        if x[k] != x[k]:
            x[k] = x[k] if n > 1 else values[0]
        elif points[low] >= x[k] or low == n - 1:
            x[k] = values[low]
        else:
            slope = (values[low + 1] - values[low]) / (points[low + 1] - points[low])
            y = slope * (x[k] - points[low]) + values[low]
            if y != y:
                y = slope * (x[k] - points[low + 1]) + values[low + 1]
                if y != y and values[low] == values[low + 1]:
                    y = values[low]
            x[k] = y
    return True


cdef Summed paired_sum(const Summed *x, Py_ssize_t n, Py_ssize_t step) noexcept:
    """Return the sum of n elements, added in the order of NumPy's sums."""
    cdef Summed r[8]
    cdef Summed total = <Summed>-0.0
    cdef Py_ssize_t k, j
    if n < 8:
        for k in range(n):
            total += x[k * step]
        return total
    if n > 128:
        k = n // 2
        k -= k % 8
        return paired_sum(x, k, step) + paired_sum(x + k * step, n - k, step)
    for j in range(8):
        r[j] = x[j * step]
    k = 8
    while k < n - n % 8:
        for j in range(8):
            r[j] += x[(k + j) * step]
        k += 8
    total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    while k < n:
        total += x[k * step]
        k += 1
    return total


cdef void sums_between(const Summed *x, Py_ssize_t rows, Py_ssize_t columns, const int64_t *index,
                       Py_ssize_t m, Summed *target) noexcept:
    """See `HostBlocks.sum_between`."""
    cdef Py_ssize_t i, c, begin, end
    cdef const Summed *first
    for i in range(m):
        begin = index[i]
        end = index[i + 1] if i + 1 < m else rows
        for c in range(columns):
            first = x + begin * columns + c
            target[0] = first[0]
            if end > begin + 1:
                target[0] += paired_sum(first + columns, end - begin - 1, columns)
            target += 1


cdef bint are_within(const int64_t *index, Py_ssize_t m, Py_ssize_t n) noexcept:
    """Return whether m integers are indices of n elements."""
    cdef Py_ssize_t k
    for k in range(m):
        if not -n <= index[k] < n:
            return False
    return True


cdef void add_rows(Ordered *x, Py_ssize_t rows, Py_ssize_t columns, const int64_t *index,
                   Py_ssize_t m, const Ordered *values, Py_ssize_t step, Ordered number) noexcept:
    """See `HostBlocks.add_at`."""
    cdef Py_ssize_t k, c
    cdef Ordered *row
    for k in range(m):
        row = x + (index[k] + rows if index[k] < 0 else index[k]) * columns
        if values == NULL:
            for c in range(columns):
                row[c] += number
        else:
            for c in range(columns):
                row[c] += values[c]
            values += step


cdef void sums_of_bytes(const uint8_t *x, Py_ssize_t rows, Py_ssize_t columns,
                        const int64_t *index, Py_ssize_t m, uint64_t *target) noexcept:
    """The same of bytes, as 64-bit integers."""
    cdef Py_ssize_t i, c, k, begin, end
    for i in range(m):
        begin = index[i]
        end = max(begin + 1, index[i + 1] if i + 1 < m else rows)
        for c in range(columns):
            target[0] = 0
            for k in range(begin, end):
                target[0] += x[k * columns + c]
            target += 1


cdef Py_ssize_t bytes_with(const uint8_t *x, Py_ssize_t n, uint64_t mask) noexcept:
    """Return how many of n bytes have bits in `mask`, found for eight at once."""
    cdef uint64_t ones = 0x0101010101010101, sevens = 0x7F7F7F7F7F7F7F7F, w
    cdef Py_ssize_t k = 0, found = 0
    while k + 8 <= n:
        memcpy(&w, x + k, 8)
        w &= mask * ones
        w |= (w & sevens) + sevens  # the highest bit of each byte that is not 0
        found += ((w >> 7 & ones) * ones) >> 56
        k += 8
    while k < n:
        found += (x[k] & mask) != 0
        k += 1
    return found


cdef Py_ssize_t find_bytes(const uint8_t *at, Py_ssize_t n, uint8_t mask, int64_t *to,
                           Py_ssize_t most) noexcept:
    """Write the places of at most so many bytes with bits in `mask`, without a branch for each."""
    cdef Py_ssize_t k = 0, found = 0
    while k < n and found < most:
        to[found] = k
        found += (at[k] & mask) != 0
        k += 1
    return found


cdef Py_ssize_t find_places(uintptr_t address, int size, tuple shape, uint64_t mask,
                            list targets, Py_ssize_t most) except -1:
    """See `HostBlocks.places_of`."""
    cdef Py_ssize_t lengths[MOST_AXES]
    cdef Py_ssize_t index[MOST_AXES]
    cdef int64_t *to[MOST_AXES]
    cdef Py_ssize_t k, j, last, n = 1, found = 0
    cdef int a, axes = len(shape)
    for a in range(axes):
        lengths[a], index[a] = shape[a], 0
        to[a] = <int64_t *><uintptr_t>targets[a]
        n *= lengths[a]
    if axes == 1 and size == 1:
        return find_bytes(<const uint8_t *>address, n, mask & 0xFF, to[0], most)
    last = lengths[axes - 1]
    k = 0
    while k < n:
        for j in range(last):
            if bits_at(address, size, k + j) & mask:
                if found < most:
                    for a in range(axes - 1):
                        to[a][found] = index[a]
                    to[axes - 1][found] = j
                found += 1
        k += last
        a = axes - 2
        while a >= 0:
            index[a] += 1
            if index[a] < lengths[a]:
                break
            index[a] = 0
            a -= 1
    return found


cdef inline void copy_item(char *to, const char *at, Py_ssize_t size) noexcept:
    """Copy an item of so many bytes: of a few sizes by one instruction, not by a call."""
    if size == 8:
        memcpy(to, at, 8)
    elif size == 4:
        memcpy(to, at, 4)
    elif size == 1:
        to[0] = at[0]
    elif size == 2:
        memcpy(to, at, 2)
    else:
        memcpy(to, at, size)


cdef bint take_items(char *to, const char *source, Py_ssize_t count, size_t nbytes,
                     const int64_t *at, Py_ssize_t n) noexcept:
    """See `HostBlocks.take`."""
    cdef Py_ssize_t k, at_k
    if not are_within(at, n, count):
        return False
    for k in range(n):
        at_k = at[k] + count if at[k] < 0 else at[k]
        copy_item(to + k * nbytes, source + at_k * nbytes, nbytes)
    return True


cdef char *gather_along(char *to, const char *at, Py_ssize_t size, int axes,
                        const Py_ssize_t *lengths, const Py_ssize_t *steps) noexcept:
    """Copy elements along so many axes to adjacent places; return the place after them."""
    cdef Py_ssize_t k
    for k in range(lengths[0]):
        if axes > 1:
            to = gather_along(to, at, size, axes - 1, lengths + 1, steps + 1)
        else:
            copy_item(to, at, size)
            to += size
        at += steps[0]
    return to


cdef bint gather_elements(char *to, const char *at, Py_ssize_t size, tuple shape,
                          tuple strides) except -1:
    """See `HostBlocks.gather`."""
    cdef Py_ssize_t lengths[MOST_AXES]
    cdef Py_ssize_t steps[MOST_AXES]
    cdef int k, axes = len(shape)
    if not 0 < axes <= MOST_AXES:
        return False
    for k in range(axes):
        lengths[k], steps[k] = shape[k], size * <Py_ssize_t>strides[k]
    gather_along(to, at, size, axes, lengths, steps)
    return True


cdef bint pick_elements(char *target, const char *first, int size, Py_ssize_t n, list indices,
                        tuple shape, tuple strides) except -1:
    """See `HostBlocks.pick`."""
    cdef Py_ssize_t lengths[MOST_AXES]
    cdef Py_ssize_t steps[MOST_AXES]
    cdef const int64_t *at[MOST_AXES]
    cdef Py_ssize_t k, i, offset
    cdef int a, axes = len(shape)
    for a in range(axes):
        lengths[a], steps[a] = shape[a], size * <Py_ssize_t>strides[a]
        at[a] = <const int64_t *><uintptr_t>indices[a]
    for k in range(n):
        offset = 0
        for a in range(axes):
            i = at[a][k] if at[a] != NULL else 0
            i += lengths[a] if i < 0 else 0
            if not 0 <= i < lengths[a]:
                return False
            offset += i * steps[a]
        copy_item(target + k * size, first + offset, size)
    return True


cdef bint split_places(const int64_t *at, Py_ssize_t n, tuple shape, list targets) except -1:
    """See `HostBlocks.unravel`."""
    cdef int64_t lengths[MOST_AXES]
    cdef int64_t *to[MOST_AXES]
    cdef int64_t left, size = 1
    cdef Py_ssize_t k
    cdef int a, axes = len(shape)
    if axes > MOST_AXES:
        return False
    for a in range(axes):
        lengths[a], to[a] = shape[a], <int64_t *><uintptr_t>targets[a]
        size *= lengths[a]
    for k in range(n):
        if not 0 <= at[k] < size:
            return False
        left = at[k]
        for a in range(axes - 1, 0, -1):
            to[a][k] = left % lengths[a]
            left //= lengths[a]
        to[0][k] = left
    return True


cdef bint join_places(int64_t *to, Py_ssize_t n, list indices, tuple shape, bint wraps) except -1:
    """See `HostBlocks.ravel`."""
    cdef int64_t lengths[MOST_AXES]
    cdef const int64_t *at[MOST_AXES]
    cdef int64_t i
    cdef Py_ssize_t k
    cdef int a, axes = len(shape)
    if axes > MOST_AXES:
        return False
    for a in range(axes):
        lengths[a], at[a] = shape[a], <const int64_t *><uintptr_t>indices[a]
    for k in range(n):
        to[k] = 0
        for a in range(axes):
            i = at[a][k]
            if not 0 <= i < lengths[a]:
                if not wraps or not -lengths[a] <= i < 0:
                    return False
                i += lengths[a]
            to[k] = to[k] * lengths[a] + i
    return True


cdef bint put_integers(int64_t *to, list numbers) except -1:
    """See `HostBlocks.copy_integers`."""
    cdef int overflow = 0
    for number in numbers:
        if type(number) is not int:
            return False
        to[0] = PyLong_AsLongLongAndOverflow(number, &overflow)
        if overflow:
            return False
        to += 1
    return True
