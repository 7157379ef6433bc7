# Compiled, since short expressions take little more time than their passes are chosen in.
cimport cython

from mat._core cimport Maker
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage
from mat.ops.expressions.nodes cimport Node
from mat.ops.expressions.passes cimport Pass

cdef Maker _maker


@cython.locals(storage=Storage, view=MatBase, found=MatBase)
cdef MatBase target_of(Node fold)
