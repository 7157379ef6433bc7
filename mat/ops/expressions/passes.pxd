# Compiled, since short expressions take little more time than their passes are prepared in.
cimport cython

from mat._core cimport Maker, Threads
from mat.core.pending cimport Pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls, PlanNode
from mat.ops.engine.plan cimport Plan
from mat.ops.expressions.nodes cimport Leaf, Node, Nodes, new_leaf, readers_of, viewers

cdef dict _passes
cdef int _LOWEST, _MOST
cdef list _in_use, _deferrals, _observers
cdef object _mat
cdef Maker _maker
cdef Threads _threads
cdef Nodes _all


cdef class Programs:
    cdef public PlanNode root
    cdef public dict known


cdef Programs _programs


@cython.locals(found=dict, node=Node, order=list)
cpdef list in_order(list roots)
cdef add_after_operands(Node node, dict found)
@cython.locals(found=list, node=Node, updates=bint, last=cython.longlong, in_order=bint)
cpdef list numbered(list roots)
cdef number_after_operands(Node node, list found)
@cython.locals(node=Node, k=int)
cdef number(list nodes)
cdef bint is_among(Node node, list found) except -1


cdef class Pass:
    cdef readonly tuple folds, outs
    cdef readonly list roots
    cdef public set outside
    cdef public object known
    cdef readonly list order
    cdef public list operands
    cdef readonly dict targets, updates
    @cython.locals(node=Node, view=MatBase, k=int, old=Leaf, storage=Storage)
    cpdef choose_targets(self)
    @cython.locals(mat=MatBase, old=Leaf, leaf=Leaf, leaves=list)
    cdef Leaf overwritten_by(self, int k, Node node)
    @cython.locals(node=Node)
    cpdef set read_outside(self)
    @cython.locals(node=Node, leaf=Leaf, j=int)
    cdef bint reads_after(self, int k, Leaf old) except -1
    @cython.locals(node=Node)
    cpdef bint is_by_rows(self) except -1
    @cython.locals(node=Node, at=PlanNode)
    cpdef object program(self)
    @cython.locals(code=int)
    cdef PlanNode step_code(self, object argument, PlanNode at)
    @cython.locals(node=Node)
    cdef int code_of(self, object argument) except? -1
    @cython.locals(view=MatBase, other=MatBase, form=Form, k=int, old=Leaf)
    cdef int code_of_leaf(self, Leaf leaf) except? -1
    @cython.locals(view=MatBase, k=int, values=tuple)
    cpdef run(self)
    @cython.locals(node=Node)
    cpdef list interrupted(self)
    @cython.locals(node=Node, view=MatBase, storage=Storage, k=int, pending=Pending)
    cpdef claim(self, unsigned long long thread)


@cython.locals(node=PlanNode, plan=Plan)
cdef bint run_at_once(Calls program, tuple values) except -1
cpdef settle(Node node, MatBase view)
@cython.locals(mat=MatBase)
cdef MatBase mat_of(Node node)
@cython.locals(storage=Storage)
cpdef bint is_plain(MatBase view) except -1
