cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, KernelCall, Lock, Threads
from mat.core.access_record cimport AccessRecord
from mat.core.cube cimport Cube
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase
from mat.matrix.exports cimport copied_array

cdef list _large_files, _observers
cdef Threads _threads
cdef HostBlocks _blocks
cdef object _state, _quiet, _clock
cdef dict _running
cdef int _accessed, _repeated
cdef object _elements_of


cdef class PlannedOperand:
    cdef readonly int kind, position, other
    cdef readonly Form form
    cdef readonly object direction
    cdef readonly bint reads, writes


cdef class Plan:
    cdef public object operation, function, refusal
    cdef public dict number_types
    cdef readonly Registration facet
    cdef readonly unsigned long long mask, bit
    cdef readonly tuple operands, accesses, repeated, number_positions
    cdef readonly int result
    cdef public int joins
    cdef public bint quiet, keywords, armed, at_once, by_ufunc, by_copies, of_device, lent
    cdef public bint through_array
    cdef readonly KernelCall kernel
    cpdef object run(self, tuple args, dict kwargs)
    cdef bint call_at_once(self, tuple args, MatBase out) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, values=list, layout=Layout,
                   address=uintptr_t)
    cdef bint call_ufunc(self, tuple args, MatBase out) except -1
    @cython.locals(operand=PlannedOperand)
    cdef bint _called(self, list values, tuple args, MatBase out) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, values=list, layout=Layout,
                   address=uintptr_t)
    cdef bint call_with_copies(self, tuple args, MatBase out) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube)
    cdef commit(self, tuple args, MatBase out)
    @cython.locals(operand=PlannedOperand, view=MatBase)
    cdef locate(self, tuple args)
    @cython.locals(kernel=KernelCall, operand=PlannedOperand, view=MatBase, count=int, k=int,
                   position=int, address=uintptr_t)
    cdef bint gather(self, tuple args, MatBase out) except -1
    cdef arm_launch(self, list values)
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube)
    cdef bint has_spans(self, tuple args) except -1
    @cython.locals(lock=Lock, parts=dict, begun=bint, failed=bint)
    cdef check_numbers(self, tuple args, MatBase out)
    cdef bint launch_at_once(self, tuple args, MatBase out) except -1
    @cython.locals(storage=Cube)
    cdef bint allocate(self, MatBase out) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, copies=dict, ready=bint)
    cdef bint refresh(self, tuple args) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, lock=Lock, k=int)
    cdef bint hold(self, tuple args, MatBase out, list held, dict parts) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, copies=dict, k=int)
    cdef bint are_ready(self, tuple args, MatBase out, dict parts) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase, record=AccessRecord, storage=Cube)
    cdef roll_back(self, tuple args, MatBase out)
    @cython.locals(kernel=KernelCall, operand=PlannedOperand, view=MatBase, copies=dict, count=int,
                   k=int, position=int, address=uintptr_t)
    cdef bint launch(self, tuple args, MatBase out, dict parts) except -1
    cpdef object execute(self, tuple args, dict kwargs)
    @cython.locals(operand=PlannedOperand, view=MatBase, storage=Cube, record=AccessRecord,
                   values=list, needs_values=bint)
    cdef list open_all(self, tuple args, list records, object line)
    @cython.locals(storage=Cube, record=AccessRecord)
    cdef AccessRecord open_one(self, MatBase view, PlannedOperand operand, list records,
                               object line)
    @cython.locals(storage=Cube)
    cdef bint is_covered(self, MatBase view, PlannedOperand operand) except -1
    @cython.locals(operand=PlannedOperand, view=MatBase)
    cdef present_all(self, tuple args, list values)
    @cython.locals(layout=Layout)
    cdef object presented(self, MatBase view, object handle, bint writes)
    @cython.locals(record=AccessRecord)
    cdef undo_all(self, list records)
    @cython.locals(record=AccessRecord)
    cdef close_all(self, list records, bint failed)
    cdef leave_running(self)
    cdef object compute(self, tuple args, dict kwargs, list values)
