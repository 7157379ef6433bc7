# Compiled, since short expressions take little more time than their passes are chosen in.
cimport cython

from mat._core cimport Lock, Maker, Threads
from mat.core.pending cimport Pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.expressions.folds cimport way_of
from mat.ops.expressions.nodes cimport Node, Nodes
from mat.ops.expressions.passes cimport Pass, numbered

cdef Maker _maker
cdef Nodes _all
cdef Threads _threads
cdef list _in_use, _deferrals, _cuts
cdef object _ident
cdef Lock _lock


cdef unsigned long begin_computing() except? 1
cdef end_computing(unsigned long before)


@cython.locals(storage=Storage, view=MatBase, found=MatBase)
cdef MatBase target_of(Node fold)
@cython.locals(node=Node)
cdef compute_all(list nodes)
@cython.locals(node=Node, first=Node)
cdef bint are_of_one_shape(list nodes) except -1
@cython.locals(reduced=Node, view=MatBase, pending=Pending)
cdef bint compute_lone_fold(Node fold) except -1
@cython.locals(node=Node, wanted=list, order=list)
cdef bint is_alone(Node fold) except -1
@cython.locals(one=Pass, node=Node)
cdef compute_alike(list nodes)
cdef run_within(Pass one, list nodes)
