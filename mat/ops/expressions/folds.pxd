# Compiled, since each reduction of a pending expression is looked at.
cimport cython

from mat.matrix.base cimport Form, MatBase
from mat.ops.expressions.nodes cimport Leaf, Node



@cython.locals(node=Node)
cpdef object leaf_or_node(object argument)
cpdef bint has_shape_of_operands(Node node) except -1
@cython.locals(nbytes=Py_ssize_t, node=Node)
cpdef int way_of(object operation, tuple settings, object argument, MatBase out,
                 object device) except -1
cpdef bint uses_kernels(object device, MatBase out) except -1
cpdef int unit_of(object operation, Form form, Form out, tuple settings, object device) except -1
