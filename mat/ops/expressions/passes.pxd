# Compiled, since short expressions take little more time than their passes are prepared in.
cimport cython

from mat._core cimport Maker
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.expressions.nodes cimport Leaf, Node

cdef dict _programs
cdef object _mat
cdef Maker _maker


cpdef list in_order(list roots)
@cython.locals(found=dict, node=Node)
cpdef dict positions(list roots)
cdef add_after_operands(Node node, dict found)


cdef class Pass:
    cdef readonly tuple folds, outs
    cdef readonly list roots
    cdef public list reduced
    cdef public set outside
    cdef public object known
    cdef readonly list order, operands, codes, letters
    cdef readonly dict position, targets, updates
    @cython.locals(node=Node, view=MatBase, k=int, old=Leaf, storage=Storage)
    cpdef choose_targets(self)
    @cython.locals(node=Node)
    cpdef set read_outside(self)
    @cython.locals(node=Node, leaf=Leaf)
    cdef bint reads_after(self, int k, Leaf old) except -1
    @cython.locals(node=Node, key=list, code=int)
    cpdef object program(self)
    @cython.locals(node=Node)
    cpdef int code_of(self, object argument) except? -1
    @cython.locals(view=MatBase, other=MatBase, form=Form, k=int)
    cdef int code_of_leaf(self, Leaf leaf) except? -1
    @cython.locals(view=MatBase, k=int)
    cpdef run(self)
    @cython.locals(node=Node)
    cpdef list interrupted(self)
    @cython.locals(node=Node, view=MatBase, storage=Storage, k=int)
    cpdef claim(self, unsigned long long thread)


cpdef settle(Node node, MatBase view)
@cython.locals(storage=Storage)
cpdef bint is_plain(MatBase view) except -1
