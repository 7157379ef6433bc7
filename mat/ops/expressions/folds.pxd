# Compiled, since each reduction of a pending expression is looked at.
cimport cython

from mat.ops.expressions.nodes cimport Leaf, Node

cdef dict _units


@cython.locals(node=Node)
cpdef object leaf_or_node(object argument)
cpdef bint has_shape_of_operands(Node node) except -1
