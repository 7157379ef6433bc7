# Compiled, since each operation in a `fused` block is looked at.
cimport cython

from mat._core cimport Lock, Threads, context_value
from mat.core.pending cimport Pending
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls, Deferral, PlanNode
from mat.ops.engine.plan cimport Plan
from mat.support.open_blocks cimport Body, Nested
from mat.ops.expressions.folds cimport has_shape_of_operands, uses_kernels, way_of
from mat.ops.expressions.nodes cimport (
    Leaf, Node, Nodes, Statements, count_readers, leaf_of, new_leaf, new_node, viewers
)
from mat.ops.expressions.passes cimport is_plain

cdef object _mat, _innermost, _cpu
cdef long long _exact
cdef list _cuts
cdef int _JOINS, _DOES_NOT, _many
cdef dict _recorders
cdef bint _native
cdef Nodes _all
cdef Lock _lock
cdef Threads _threads


cdef class Fused(Nested):
    cdef readonly Statements statements


cdef class FusedBody(Body):
    cdef public Fused use
    cpdef Body copied(self)


cdef class ByBlocks(Deferral):
    @cython.locals(out=MatBase, block=Statements)
    cdef bint take(self, Calls operation, object device, tuple args) except -1
    @cython.locals(form=Form, block=Statements, plan=Plan, value=Node, on_device=bint, found=tuple)
    cdef bint take_new(self, Calls operation, PlanNode node, object device, tuple args,
                       MatBase out) except -1


@cython.locals(block=Fused)
cdef Statements block_now()
@cython.locals(on_device=bint, plan=Plan)
cdef bint defer_elements(Calls operation, object device, tuple args, MatBase out,
                         Statements block) except -1
@cython.locals(node=Node, value=Node, found=tuple)
cdef bint defer(Calls operation, tuple args, MatBase out, Statements block) except -1
@cython.locals(storage=Storage, node=Node, old=Leaf, found=tuple)
cdef bint defer_apart(Calls operation, tuple args, MatBase out, Form form,
                      Statements block) except -1
cdef begin_in(Statements block, Node node, tuple args, MatBase out)
@cython.locals(node=Node, x=MatBase, settings=tuple)
cdef bint defer_fold(Calls operation, object device, tuple args, MatBase out,
                     Statements block) except -1
@cython.locals(node=Node)
cdef defer_for_rows(Calls operation, object device, tuple found, MatBase out, Statements block)
@cython.locals(way=int)
cdef int way_of_waiting(Calls operation, tuple settings, Node node, MatBase x, MatBase out,
                        object device) except -1
@cython.locals(statements=Statements, found=list)
cpdef compute_values(Fused use)
@cython.locals(node=PlanNode)
cdef Plan known_plan(Calls operation, object device, tuple args)
cdef keep(Statements block, Node node)


cdef Node value_of(MatBase mat)
@cython.locals(found=list)
cdef tuple arguments_like(Calls operation, tuple args, Form form, bint on_device)
@cython.locals(view=MatBase, pending=Pending, node=Node)
cdef object argument_like(object value, Form form, bint on_device)
cdef tuple arguments_of(Calls operation, tuple args, MatBase out, object old)
@cython.locals(found=Node)
cdef object argument_of(object value, MatBase out, object old)
@cython.locals(view=MatBase)
cdef bint reads_its_storage(object operation, tuple args, MatBase out) except -1
@cython.locals(storage=Storage)
cdef bint is_new(MatBase mat) except -1
cdef bint all_can_wait(tuple args, MatBase out, bint on_device) except -1
@cython.locals(storage=Storage)
cdef bint can_wait(MatBase view, bint on_device) except -1
@cython.locals(k=int)
cdef compute_unlike(Calls operation, tuple args, MatBase out)
@cython.locals(value=Node)
cdef compute_if_unlike(MatBase view, MatBase out)
