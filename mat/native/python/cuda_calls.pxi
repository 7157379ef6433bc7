# The part of `mat._core` with calls of the CUDA driver and of cuBLAS by the addresses of their
# functions. ``_core.pyx`` includes it.

cdef class DriverCall(KernelCall):
    """A call that queues work on a CUDA device, in its context: by way of Python this takes longer
    than all the rest of a call.
    """

    def set_context(self, tuple driver, uintptr_t context, object failed):
        """Set the addresses of three functions of the driver, the context, and what is called with
        a status that is an error.
        """
        cdef uintptr_t current, push, pop
        current, push, pop = driver
        self.current = <cu_context *>current
        self.push = <cu_push *>push
        self.pop = <cu_context *>pop
        self.context = <void *>context
        self.failed = failed

    cdef int enter(self, bint *entered) noexcept nogil:
        """Make the context current, if it is not; return the status."""
        cdef void *now = NULL
        cdef int status = self.current(&now)
        entered[0] = not status and now != self.context
        if entered[0]:
            status = self.push(self.context)
            entered[0] = status == 0
        return status

    cdef void leave(self, bint entered) noexcept nogil:
        cdef void *now = NULL
        if entered:
            self.pop(&now)

    cdef void fill(self, CudaCall *call) noexcept:
        """Set the operands and numbers of a launch: other threads may gather theirs meanwhile."""
        cdef int k
        memset(call, 0, sizeof(CudaCall))
        for k in range(self.operand_count):
            call.operand[k] = <uint64_t>self.operand[k]
        memcpy(call.pair, self.pair, sizeof(self.pair))


cdef class CudaLaunch(DriverCall):
    """A kernel of a CUDA device, which is launched by the driver's own function."""

    # the parameters are those of a launch
    def __init__(self, uintptr_t launch, uintptr_t function, uintptr_t stream, tuple grid,
                 tuple block, unsigned int shared, uintptr_t frame, object keep):
        """Set what every launch has in common: the address of `cuLaunchKernel`, the kernel, its
        stream and sizes, and the frame, which `keep` keeps.
        """
        cdef int k
        self.launch = <cu_launch *>launch
        self.function = <void *>function
        self.stream = <void *>stream
        for k in range(3):
            self.grid[k] = grid[k]
            self.block[k] = block[k]
        self.shared = shared
        self.kernel_frame = <const void *>frame
        self.keep = keep

    def take_integers(self, int bits):
        """Have the kernel get numbers as the bits of integers of that size, or with 1 of bools."""
        self.integer_bits = bits

    cdef bint set_number(self, int k, object value):
        """Store a number as pair `k`: itself, or the two halves of the bits of an integer, of which
        a float cannot represent all; return False for types that are not converted here.
        """
        cdef int overflow = 0
        cdef unsigned long long exact
        if not self.integer_bits:
            return KernelCall.set_number(self, k, value)
        if type(value) is _bool_scalar:
            exact = 1 if value else 0
        elif PyLong_Check(value) or type(value) in _integer_scalars:
            exact = <unsigned long long>PyLong_AsLongLongAndOverflow(value, &overflow)
        else:
            return False
        if self.integer_bits == 1:
            exact = exact != 0
        elif self.integer_bits < 64:
            exact &= (1ull << self.integer_bits) - 1
        self.pair[2 * k] = <double>(exact & 0xffffffff)
        self.pair[2 * k + 1] = <double>(exact >> 32)
        return not overflow

    cdef int queue(self, CudaCall *call) noexcept nogil:
        """Launch the kernel in its context; return the status."""
        cdef void *parameters[2]
        cdef bint entered = False
        cdef int status = self.enter(&entered)
        parameters[0] = <void *>self.kernel_frame
        parameters[1] = call
        if not status:
            status = self.launch(self.function, self.grid[0], self.grid[1], self.grid[2],
                                 self.block[0], self.block[1], self.block[2], self.shared,
                                 self.stream, parameters, NULL)
        self.leave(entered)
        return status

    cdef object run_released(self):
        """Launch the kernel; return None."""
        cdef CudaCall call
        cdef int status
        self.fill(&call)
        with nogil:
            status = self.queue(&call)
        if status:
            self.failed(status)
        return None


cdef class CudaLaunches(DriverCall):
    """Kernels that are launched one after another with the same operands, by the alignment of the
    first two if that matters, and with a workspace: one that all such calls of a device share, or a
    block that is taken for a call.
    """

    # the parameters are those of all calls
    def __init__(self, object make, bint aligned, object lock, object workspace, object take,
                 object free):
        """Set the function that returns the launches, for the last four bits of both addresses,
        the lock of those who use the shared workspace, and the function that returns its address,
        or those that take and free a block, or None.
        """
        self.make = make
        self.aligned = aligned
        self.chains = [None] * (256 if aligned else 1)
        self.lock = lock
        self.workspace = workspace
        self.take, self.free = take, free

    cdef object run_released(self):
        """Launch the kernels; return None."""
        cdef CudaCall call
        cdef CudaLaunch step = None
        cdef int key = 0
        cdef int status = 0
        self.fill(&call)
        if self.aligned:
            key = <int>((call.operand[0] & 15) << 4 | (call.operand[1] & 15))
        chain = self.chains[key]
        if chain is None:
            chain = self.chains[key] = self.make(key >> 4, key & 15)
        block = None if self.take is None else self.take()
        try:
            if block is not None:
                call.operand[self.operand_count] = <uint64_t>block.address
            self.lock.acquire()  # no other thread's launches come in between
            try:
                if self.workspace is not None:
                    call.operand[self.operand_count] = <uint64_t>self.workspace()
                for step in chain:
                    with nogil:
                        status = step.queue(&call)
                    if status:
                        break
            finally:
                self.lock.release()
        finally:
            if block is not None:
                self.free(block)
        if status:
            step.failed(status)
        return None


cdef class CublasCall(DriverCall):
    """A call of cuBLAS with factors, such as ``C <- alpha A B + beta C`` of the operands a, b, c;
    others have fewer.
    """

    # the parameters are those of a call
    def __init__(self, uintptr_t function, uintptr_t handle, object lock, tuple arguments,
                 tuple offsets=(0, 0, 0)):
        """Set what all calls have in common: the function's address, a handle and its lock, other
        arguments that are int, and how many bytes after its address each operand begins.
        """
        cdef int k
        self.function = <void *>function
        self.handle = <void *>handle
        self.lock = lock
        for k in range(len(arguments)):
            self.argument[k] = arguments[k]
        for k in range(3):
            self.offset[k] = offsets[k]

    def use_factors(self, bint single, bint swap, tuple factors):
        """Say whether factors are of single precision, whether b is cuBLAS's first operand, and
        what the factors are; None: the numbers of a call.
        """
        self.single, self.swap = single, swap
        if factors is not None:  # and no call has numbers
            self.pair[0], self.pair[2] = factors

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        """Call the function; return its status."""
        return -1

    cdef object run_released(self):
        """Call the function in its context; return None."""
        cdef float singles[4]
        cdef double doubles[4]
        cdef const void *factors[2]
        cdef uintptr_t a = <uintptr_t>self.operand[1 if self.swap else 0]
        cdef uintptr_t b = <uintptr_t>self.operand[0 if self.swap else 1]
        cdef uintptr_t c = <uintptr_t>self.operand[2]
        cdef bint entered = False
        cdef int k, status
        memcpy(doubles, self.pair, sizeof(doubles))
        if doubles[2] == 0 and doubles[3] == 0:
            doubles[2] = doubles[3] = 0  # not -0: C is not read then
        for k in range(4):
            singles[k] = <float>doubles[k]
        for k in range(2):
            factors[k] = <void *>&singles[2 * k] if self.single else <void *>&doubles[2 * k]
        self.lock.acquire()  # other threads may run, and gather operands
        try:
            with nogil:
                status = -1 if self.enter(&entered) else 0
                if not status:
                    status = self.call(factors[0], a + self.offset[0], b + self.offset[1],
                                       factors[1], c + self.offset[2])
                self.leave(entered)
        finally:
            self.lock.release()
        if status:
            self.failed(status, complex(doubles[0], doubles[1]), a, b,
                        complex(doubles[2], doubles[3]), c)
        return None


cdef class CublasProduct(CublasCall):
    """A product by cublas?gemm: its operations, m, n, k, and three leading dimensions."""

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        cdef int *n = self.argument
        return (<cublas_gemm *>self.function)(
            self.handle, n[0], n[1], n[2], n[3], n[4], alpha, a, n[5], b, n[6], beta, c, n[7])


cdef class CublasTypedProduct(CublasCall):
    """A product by cublasGemmEx: the same, the types of factors and result, that of sums, and the
    algorithm.
    """

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        cdef int *n = self.argument
        return (<cublas_gemm_ex *>self.function)(
            self.handle, n[0], n[1], n[2], n[3], n[4], alpha, a, n[8], n[5], b, n[8], n[6],
            beta, c, n[9], n[7], n[10], n[11])


cdef class CublasVectorProduct(CublasCall):
    """A product of a matrix and a vector by cublas?gemv: its operation, m, n, the leading
    dimension, and the steps of the vectors.
    """

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        cdef int *n = self.argument
        return (<cublas_gemv *>self.function)(
            self.handle, n[0], n[1], n[2], alpha, a, n[3], b, n[4], beta, c, n[5])


cdef class CublasUpdate(CublasCall):
    """``y <- alpha x + y`` by cublas?axpy, of the operands x and y: n, and the steps of both."""

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        cdef int *n = self.argument
        return (<cublas_axpy *>self.function)(self.handle, n[0], alpha, a, n[1], b, n[2])


cdef class CublasScale(CublasCall):
    """``x <- alpha x`` by cublas?scal, of the operand x: n, and its step."""

    cdef int call(self, const void *alpha, uintptr_t a, uintptr_t b, const void *beta,
                  uintptr_t c) noexcept nogil:
        cdef int *n = self.argument
        return (<cublas_scal *>self.function)(self.handle, n[0], alpha, a, n[1])


cdef class CudaFetch(DriverCall):
    """Short copies to the host, each of which waits for all work that is queued on a stream.

    Numbers go through slots in page-locked memory, to which the device writes by itself: for
    other memory the driver would copy once more, and wait twice.
    """

    def __init__(self, uintptr_t copy, uintptr_t wait, uintptr_t stream):
        """Set the addresses of `cuMemcpyDtoHAsync` and `cuStreamSynchronize`, and the stream."""
        self.copy = <cu_fetch *>copy
        self.wait = <cu_push *>wait
        self.stream = <void *>stream
        self.free = []

    def use_slots(self, uintptr_t record, uintptr_t wait_for, list slots):
        """Set the addresses of `cuEventRecord` and `cuEventSynchronize`, and the slots: each an
        address and an event. The caller keeps them.
        """
        self.record = <cu_record *>record
        self.wait_for = <cu_push *>wait_for
        self.free = slots

    def fetch(self, cnp.ndarray host, uintptr_t address):
        """Copy to an array of adjacent elements from an address of the device; return the status.
        """
        cdef void *to = cnp.PyArray_DATA(host)
        cdef size_t nbytes = cnp.PyArray_NBYTES(host)
        cdef bint entered = False
        cdef int status
        with nogil:
            status = self.enter(&entered)
            if not status:
                status = self.copy(to, address, nbytes, self.stream)
            if not status:
                status = self.wait(self.stream)
            self.leave(entered)
        return status

    def fetch_number(self, cnp.ndarray host, uintptr_t address):
        """Do so through a slot; return -1, with nothing done, if all of them are in use."""
        cdef uintptr_t slot, event
        cdef size_t nbytes = cnp.PyArray_NBYTES(host)
        cdef int status
        if not self.free:
            return -1
        taken = self.free.pop()  # no other thread has it until it is back
        slot, event = taken
        with nogil:
            status = self.into_slot(<void *>slot, <void *>event, address, nbytes)
        if not status:  # else the device may still write to it
            memcpy(cnp.PyArray_DATA(host), <void *>slot, nbytes)
            self.free.append(taken)
        return status

    cdef int into_slot(self, void *slot, void *event, uintptr_t address,
                       size_t nbytes) noexcept nogil:
        """Copy to a slot and wait for that alone; return the status."""
        cdef bint entered = False
        cdef int status = self.enter(&entered)
        if not status:
            status = self.copy(slot, address, nbytes, self.stream)
        if not status:
            status = self.record(event, self.stream)
        if not status:
            status = self.wait_for(event)
        self.leave(entered)
        return status


cdef class CudaSend(DriverCall):
    """Short copies to the device, through slots in page-locked memory that are used in turns."""

    def __init__(self, uintptr_t copy, uintptr_t record, uintptr_t wait_for, uintptr_t stream,
                 list slots):
        """Set the addresses of `cuMemcpyHtoDAsync`, `cuEventRecord` and `cuEventSynchronize`, the
        stream, and the slots: each an address and an event. The caller keeps them.
        """
        self.copy = <cu_send *>copy
        self.record = <cu_record *>record
        self.wait_for = <cu_push *>wait_for
        self.stream = <void *>stream
        self.free = slots

    def send(self, cnp.ndarray host, uintptr_t address):
        """Copy an array of adjacent elements, which may be written again then; return the status,
        or -1, with nothing done, if all slots are in use by other threads.
        """
        cdef uintptr_t slot, event
        cdef size_t nbytes = cnp.PyArray_NBYTES(host)
        cdef const void *source = cnp.PyArray_DATA(host)
        cdef int status
        if not self.free:
            return -1
        taken = self.free.pop(0)  # the one that was used longest ago
        slot, event = taken
        with nogil:
            status = self.from_slot(<void *>slot, <void *>event, source, address, nbytes)
        if not status:  # else the device may still read it
            self.free.append(taken)
        return status

    cdef int from_slot(self, void *slot, void *event, const void *host, uintptr_t address,
                       size_t nbytes) noexcept nogil:
        """Copy to the slot, once the copy from it before is over, and from there; return the
        status.
        """
        cdef bint entered = False
        cdef int status = self.enter(&entered)
        if not status:
            status = self.wait_for(event)
        if not status:
            memcpy(slot, host, nbytes)
            status = self.copy(address, slot, nbytes, self.stream)
        if not status:
            status = self.record(event, self.stream)
        self.leave(entered)
        return status


cdef class CudaFill(DriverCall):
    """Fills of memory with a value of 1, 2 or 4 bytes, queued on a stream."""

    def __init__(self, tuple functions, uintptr_t stream):
        """Set the addresses of `cuMemsetD8Async`, `cuMemsetD16Async` and `cuMemsetD32Async`, and
        the stream.
        """
        cdef int k
        for k in range(3):
            self.function[k] = <cu_fill *><uintptr_t>functions[k]
        self.stream = <void *>stream

    def fill(self, uintptr_t address, int size, unsigned int value, size_t count):
        """Write a value of that many bytes so many times; return the status."""
        cdef bint entered = False
        cdef int status
        with nogil:
            status = self.enter(&entered)
            if not status:
                status = self.function[size >> 1](address, value, count, self.stream)
            self.leave(entered)
        return status
