# Compiled, since each operation in a `fused` block is looked at.
cimport cython

from mat._core cimport Lock, Threads
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls, Deferral, PlanNode
from mat.ops.engine.plan cimport Plan
from mat.ops.expressions.nodes cimport Leaf, Node, Nodes, leaf_of, new_node

cdef object _mat, _innermost, _cut_now
cdef Nodes _all
cdef Lock _lock
cdef Threads _threads
cdef long long _exact


cdef class ByBlocks(Deferral):
    @cython.locals(out=MatBase, values=Nodes)
    cdef bint take(self, Calls operation, object device, tuple args) except -1


@cython.locals(storage=Storage, node=Node, value=Node, old=Leaf, found=tuple)
cdef bint defer(Calls operation, tuple args, MatBase out, Nodes values) except -1
@cython.locals(node=PlanNode, plan=Plan)
cdef tuple plan_of(Calls operation, object device, tuple args)
cpdef Node value_of(MatBase mat)
@cython.locals(storage=Storage)
cdef bint is_new(MatBase mat) except -1
@cython.locals(view=MatBase, storage=Storage)
cdef bint can_wait(object value) except -1
@cython.locals(k=int, value=Node, view=MatBase)
cdef compute_unlike(Calls operation, tuple args, MatBase out)
cdef tuple arguments_of(Calls operation, tuple args, MatBase out, object old)
@cython.locals(found=Node)
cdef object argument_of(object value, MatBase out, object old)
cdef bint uses_kernels(object device, MatBase out) except -1
@cython.locals(leaf=Leaf, storage=Storage)
cdef keep(Nodes values, Node node)
