# Compiled, since each operand of an operation in a `fused` block is looked at.
cimport cython

from mat.core.pending cimport Pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls
from mat.ops.expressions.nodes cimport Node, leaf_of

cdef object _mat
cdef long long _exact


cpdef Node value_of(MatBase mat)
@cython.locals(found=list)
cpdef tuple arguments_like(Calls operation, tuple args, Form form, bint on_device)
@cython.locals(view=MatBase, pending=Pending, node=Node)
cpdef object argument_like(object value, Form form, bint on_device)
cpdef tuple arguments_of(Calls operation, tuple args, MatBase out, object old)
@cython.locals(found=Node)
cpdef object argument_of(object value, MatBase out, object old)
@cython.locals(storage=Storage)
cpdef bint is_new(MatBase mat) except -1
cpdef bint all_can_wait(tuple args, MatBase out, bint on_device) except -1
@cython.locals(storage=Storage)
cpdef bint can_wait(MatBase view, bint on_device) except -1
@cython.locals(k=int)
cpdef compute_unlike(Calls operation, tuple args, MatBase out)
@cython.locals(value=Node)
cpdef compute_if_unlike(MatBase view, MatBase out)
