# What other compiled modules use of `mat._core`.

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint64_t, uintptr_t

cdef extern from "call.h":
    ctypedef void mat_kernel(const void *frame, char *const *operands, const double *numbers,
                             double *result, int64_t begin, int64_t end) noexcept nogil

ctypedef void mat_share(uintptr_t kernel, const void *frame, char *const *operands,
                        const double *numbers, double *result, int64_t count, int64_t grain,
                        int64_t threads) noexcept nogil

cdef enum:
    MOST_OPERANDS = 15
    MOST_NUMBERS = 8


cdef class Lock:
    cdef void *lock
    cdef unsigned long long owner
    cdef readonly unsigned int count
    cdef unsigned int waiting
    cdef bint is_open
    cdef unsigned int generation
    cpdef bint acquire(self) except -1
    cpdef bint acquire_surely(self) except -1
    cpdef bint try_acquire(self)
    cpdef bint acquire_free(self)
    cpdef int release(self) except -1
    cdef int wait(self, bint can_be_interrupted) except -1
    cdef void forget_parent(self)


cdef class ClosedLock(Lock):
    cdef object error


cdef enum:
    KNOWN_LINES = 256  # a power of 2; of code of the package, too


cdef enum Source:
    OF_USER
    OF_PACKAGE
    BETWEEN


@cython.final
cdef class Threads:
    cpdef unsigned long long current(self)
    cdef str package
    cdef object is_between
    cdef object running_loop, current_task  # of asyncio, once it is loaded
    cdef Py_ssize_t modules_before  # that there were when asyncio was not among them
    cdef bint find_asyncio(self)
    cpdef unsigned long ident(self, unsigned long long thread)
    cpdef object task(self)
    cdef object user_code, consumer_code
    cdef list lines, kept
    # of each line that was found last: its code, and twice its instruction, plus 1 if a line of the
    # package called compiled code; and the code that was seen last of the package and in between,
    # which `kept` has
    cdef PyObject *codes[KNOWN_LINES]
    cdef int instructions[KNOWN_LINES]
    cdef PyObject *passed[KNOWN_LINES]
    cdef bint ours[KNOWN_LINES]
    cdef object line_of_frames(self)
    cdef object known_line(self, object code, int at, bint inside)
    cdef Source source_of(self, PyObject *code) except? BETWEEN
    cpdef object consumer_line(self, object is_installed)
    cdef object consumer_line_of_frames(self, object is_installed)
    cpdef object line(self)


ctypedef void *mat_allocate(size_t nbytes) noexcept nogil
ctypedef void mat_free(void *block, size_t nbytes) noexcept nogil


cdef class HostBlocks:
    cdef public bint enabled
    cdef public size_t largest
    cdef mat_allocate *allocate_block
    cdef mat_free *free_block
    cdef list kept  # small arrays that were copies; one that nobody else has is used again
    cdef uintptr_t allocate(self, size_t nbytes)
    cdef void free(self, uintptr_t address, size_t nbytes) noexcept
    cdef object scalar(self, uintptr_t address, object dtype)
    cdef object number(self, uintptr_t address, object dtype)
    cdef int put_number(self, uintptr_t address, object dtype, object value) except -1
    cdef int fill_floats(self, uintptr_t address, Py_ssize_t size, Py_ssize_t count,
                         double value) except -1
    cdef int fill_integers(self, uintptr_t address, Py_ssize_t size, Py_ssize_t count,
                           int64_t value) except -1
    cdef void copy(self, uintptr_t target, uintptr_t source, size_t nbytes) noexcept
    cdef void move_rows(self, uintptr_t target, uintptr_t source, Py_ssize_t rows, size_t nbytes,
                        Py_ssize_t step, Py_ssize_t step_from) noexcept
    cdef void spread(self, uintptr_t address, Py_ssize_t size, tuple shape, tuple strides)
    cdef bint gather(self, uintptr_t target, uintptr_t address, Py_ssize_t size, tuple shape,
                     tuple strides) except -1
    cdef bint sort(self, uintptr_t address, tuple shape, object dtype, int axis,
                   bint stable) except -1
    cdef bint sort_lines(self, uintptr_t address, Py_ssize_t length, Py_ssize_t lines,
                         object dtype) noexcept
    cdef bint argsort_lines(self, uintptr_t target, uintptr_t address, Py_ssize_t length,
                            Py_ssize_t lines, Py_ssize_t step, object dtype) noexcept
    cdef void count(self, uintptr_t address, Py_ssize_t count, int64_t first,
                    int64_t step) noexcept
    cdef bint copy_integers(self, uintptr_t address, list numbers) except -1
    cdef void count_in_floats(self, uintptr_t address, Py_ssize_t count, double first,
                              double step) noexcept
    cdef bint copy_of_array(self, uintptr_t target, object value, size_t nbytes,
                            bint strided) except -1
    cdef object copied_array(self, uintptr_t source, tuple shape, object dtype, size_t nbytes)
    cdef object dtype_of(self, object value)
    cdef tuple shape_of(self, object value)
    cdef Py_ssize_t nbytes_of(self, object value) noexcept
    cdef bytes bytes_at(self, uintptr_t address, Py_ssize_t nbytes)
    cdef object array_at(self, uintptr_t address, tuple shape, tuple strides, object dtype,
                         bint writable)
    cdef void lock_array(self, object value) noexcept
    cdef int number_of(self, object dtype) noexcept
    cdef Py_ssize_t bins_of(self, uintptr_t address, Py_ssize_t n) noexcept
    cdef void count_each(self, uintptr_t target, Py_ssize_t bins, uintptr_t address,
                         Py_ssize_t n) noexcept
    cdef Py_ssize_t count_true(self, uintptr_t address, int size, Py_ssize_t n,
                               uint64_t mask) noexcept
    cdef Py_ssize_t first_true(self, uintptr_t address, Py_ssize_t n) noexcept
    cdef Py_ssize_t places_of(self, uintptr_t address, int size, tuple shape, uint64_t mask,
                              list targets, Py_ssize_t most) except -1
    cdef bint pick(self, uintptr_t target, uintptr_t address, int size, Py_ssize_t n, list indices,
                   tuple shape, tuple strides) except -1
    cdef bint unravel(self, uintptr_t address, Py_ssize_t n, tuple shape, list targets) except -1
    cdef bint ravel(self, uintptr_t target, Py_ssize_t n, list indices, tuple shape,
                    bint wraps) except -1
    cdef bint take(self, uintptr_t target, uintptr_t address, Py_ssize_t count, size_t nbytes,
                   uintptr_t index, Py_ssize_t n) noexcept
    cdef void repeat(self, uintptr_t target, uintptr_t address, int size, Py_ssize_t n,
                     Py_ssize_t times) noexcept
    cdef bint add_at(self, uintptr_t target, Py_ssize_t rows, Py_ssize_t columns, uintptr_t index,
                     Py_ssize_t m, uintptr_t values, Py_ssize_t step, double number,
                     object dtype) noexcept
    cdef bint sum_between(self, uintptr_t target, uintptr_t address, Py_ssize_t rows,
                          Py_ssize_t columns, uintptr_t index, Py_ssize_t m,
                          object dtype) noexcept
    cdef bint put_doubles(self, double *to, uintptr_t address, Py_ssize_t n, object dtype) noexcept
    cdef bint interpolate(self, uintptr_t target, uintptr_t address, Py_ssize_t count,
                          uintptr_t points, uintptr_t values, Py_ssize_t n, tuple dtypes) noexcept
    cdef bint search(self, uintptr_t target, uintptr_t sorted_values, Py_ssize_t n,
                     uintptr_t address, Py_ssize_t count, object dtype) noexcept
    cdef bint correlate(self, uintptr_t target, Py_ssize_t first, Py_ssize_t count, uintptr_t a,
                        Py_ssize_t n, uintptr_t v, Py_ssize_t m, bint reverse,
                        object dtype) noexcept


cdef class ArrayLender:
    cdef object value, view, other  # arrays; of the views, `other` is the last one made
    cdef PyObject *base  # that of a view
    cdef object lend(self)
    cdef bint is_as_made(self, object view) noexcept


cdef class HostBlock:
    cdef readonly uintptr_t address
    cdef readonly size_t nbytes
    cdef HostBlocks blocks


cdef class LiveObjects:
    cdef void **slots
    cdef Py_ssize_t room, used, free_slot
    cdef Py_ssize_t add(self, object one) except -1
    cdef void remove(self, Py_ssize_t place) noexcept
    cdef object at(self, Py_ssize_t place)
    cpdef list all(self)


cdef class Maker:
    cdef type kind
    cdef bint making  # that all attributes are set afterwards
    cdef object begun  # an object whose attributes are not set, and how many of them are None
    cdef Py_ssize_t fields_of_none
    cdef object make(self)
    cdef object make_like(self, object other)


cdef class Callee:
    cdef void *vectorcall
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class Relay:
    cdef void *vectorcall
    cdef dict __dict__
    cdef object function, kind, returned, failed
    cdef tuple passing, errors
    cdef public object of_numbers


cdef class RelayMethod(Relay):
    pass


cdef class PackedMethod:
    cdef dict __dict__
    cdef object function


cdef class KernelCall:
    cdef mat_kernel *kernel
    cdef mat_kernel *finish_kernel
    cdef const void *kernel_frame
    cdef int64_t units, least, finish_units
    cdef bint finish_shared
    cdef size_t workspace
    cdef readonly int way
    cdef readonly int operand_count
    cdef bint takes_complex
    cdef char returns
    cdef char *operand[MOST_OPERANDS + 1]
    cdef double pair[2 * (MOST_OPERANDS + MOST_NUMBERS)]
    cdef double found[2]
    cdef bint set_number(self, int k, object value)
    cdef void set_operand(self, int k, uintptr_t address) noexcept
    cdef void repeat_operand(self, int k, int other) noexcept
    cdef int run_at_once(self) except -1
    cdef object run_released(self)
    cdef object run_by(self, int64_t threads, int64_t least)
    cdef void set_units(self, int64_t units) noexcept
    cdef object result_number(self)
    cdef bint can_share(self)
    cdef uintptr_t number_address(self, int k) noexcept


cdef enum:
    CALL_OPERANDS = 16  # of mat_call in native/cuda/device.cuh
    CALL_NUMBERS = 24

ctypedef int cu_launch(void *function, unsigned int grid_x, unsigned int grid_y,
                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                       unsigned int block_z, unsigned int shared, void *stream, void **parameters,
                       void **extra) noexcept nogil
ctypedef int cu_context(void **context) noexcept nogil
ctypedef int cu_push(void *context) noexcept nogil
ctypedef int cu_fetch(void *host, uintptr_t address, size_t nbytes, void *stream) noexcept nogil
ctypedef int cu_send(uintptr_t address, const void *host, size_t nbytes,
                     void *stream) noexcept nogil
ctypedef int cu_record(void *event, void *stream) noexcept nogil
ctypedef int cu_fill(uintptr_t address, unsigned int value, size_t count,
                     void *stream) noexcept nogil

ctypedef struct CudaCall:  # mat_call
    uint64_t operand[CALL_OPERANDS]
    double pair[2 * CALL_NUMBERS]


ctypedef int cublas_gemm(void *handle, int trans_a, int trans_b, int m, int n, int k,
                        const void *alpha, uintptr_t a, int lda, uintptr_t b, int ldb,
                        const void *beta, uintptr_t c, int ldc) noexcept nogil
ctypedef int cublas_gemm_ex(void *handle, int trans_a, int trans_b, int m, int n, int k,
                            const void *alpha, uintptr_t a, int type_a, int lda, uintptr_t b,
                            int type_b, int ldb, const void *beta, uintptr_t c, int type_c, int ldc,
                            int compute, int algo) noexcept nogil
ctypedef int cublas_axpy(void *handle, int n, const void *alpha, uintptr_t x, int incx, uintptr_t y,
                        int incy) noexcept nogil
ctypedef int cublas_scal(void *handle, int n, const void *alpha, uintptr_t x,
                        int incx) noexcept nogil
ctypedef int cublas_gemv(void *handle, int trans, int m, int n, const void *alpha, uintptr_t a,
                        int lda, uintptr_t x, int incx, const void *beta, uintptr_t y,
                        int incy) noexcept nogil


cdef class DriverCall(KernelCall):
    cdef cu_context *current
    cdef cu_context *pop
    cdef cu_push *push
    cdef void *context
    cdef object failed
    cdef int enter(self, bint *entered) noexcept nogil
    cdef void leave(self, bint entered) noexcept nogil
    cdef void fill(self, CudaCall *call) noexcept


cdef class CudaLaunch(DriverCall):
    cdef cu_launch *launch
    cdef void *function
    cdef void *stream
    cdef unsigned int grid[3]
    cdef unsigned int block[3]
    cdef unsigned int shared
    cdef int integer_bits
    cdef object keep
    cdef bint set_number(self, int k, object value)
    cdef int queue(self, CudaCall *call) noexcept nogil


cdef class CudaLaunches(DriverCall):
    cdef list chains
    cdef object make, lock, workspace, take, free
    cdef bint aligned


cdef class CublasCall(DriverCall):
    cdef void *function
    cdef void *handle
    cdef int argument[12]
    cdef int64_t offset[3]
    cdef bint swap, single
    cdef object lock
    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil


cdef class CublasProduct(CublasCall):
    pass


cdef class CublasTypedProduct(CublasCall):
    pass


cdef class CublasVectorProduct(CublasCall):
    pass


cdef class CublasUpdate(CublasCall):
    pass


cdef class CublasScale(CublasCall):
    pass


cdef class CudaFetch(DriverCall):
    cdef cu_fetch *copy
    cdef cu_push *wait
    cdef void *stream
    cdef cu_record *record
    cdef cu_push *wait_for
    cdef readonly list free
    cdef int into_slot(self, void *slot, void *event, uintptr_t address,
                       size_t nbytes) noexcept nogil


cdef class CudaSend(DriverCall):
    cdef cu_send *copy
    cdef cu_record *record
    cdef cu_push *wait_for
    cdef void *stream
    cdef readonly list free
    cdef int from_slot(self, void *slot, void *event, const void *host, uintptr_t address,
                       size_t nbytes) noexcept nogil


cdef class CudaFill(DriverCall):
    cdef cu_fill *function[3]
    cdef void *stream


cpdef object reference_to(object x)
cpdef object referent(object reference)
cpdef Py_ssize_t reference_count(object x) noexcept
cpdef object context_value(object variable)
