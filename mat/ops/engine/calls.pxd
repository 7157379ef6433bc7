cimport cython

from mat._core cimport Maker
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase
from mat.matrix.elements cimport copied_to_part
from mat.matrix.storage cimport Storage
from mat.matrix.operators cimport Operation
from mat.ops.engine.plan cimport Plan

cdef Maker _maker
cdef list _in_use, _observers, _reduced, _deferrals, _rules
cdef dict _NO_KEYWORDS
cdef object _same, _beside, _negative, _cpu, _clock, _device_in_use
cdef frozenset _PLAIN, _unchecked
cdef dict _INTEGERS
cdef Py_ssize_t _MOST_APART


cdef class PlanNode


cdef class Deferral:
    cdef bint take(self, Calls operation, object device, tuple args) except -1
    cdef bint take_new(self, Calls operation, PlanNode node, object device, tuple args,
                       MatBase out) except -1


@cython.final
cdef class PlanNode:
    cdef object first_token
    cdef PlanNode first
    cdef dict branches
    cdef public Plan plan
    cdef public Form result_form
    cdef object device
    cdef Plan device_plan
    @cython.locals(found=PlanNode)
    cdef PlanNode step(self, object token, bint add)


cdef class Calls(Operation):
    cdef readonly int arity, main, zero_at
    cdef readonly tuple others, settings
    cdef public PlanNode root, new_root
    cdef public list device_roots
    cdef public int count
    cdef readonly bint binary
    cdef public bint assigns, folds, of_elements, reads_once
    cdef public object meets_read
    @cython.locals(node=PlanNode, plan=Plan)
    cdef object carry_out(self, tuple args, dict kwargs)
    @cython.locals(out=MatBase, made=MatBase, layout=Layout, k=int, meets=bint)
    cdef bint carry_out_apart(self, tuple args) except -1
    @cython.locals(view=MatBase, rule=Deferral)
    cdef object carry_out_on(self, object device, tuple args, dict kwargs)
    @cython.locals(node=PlanNode, plan=Plan)
    cpdef object carry_out_whole(self, object device, tuple args, dict kwargs)
    @cython.locals(view=MatBase, storage=Storage, layout=Layout, needed=double)
    cdef bint may_exceed(self, double limit, tuple args) except -1
    @cython.locals(root=PlanNode)
    cpdef PlanNode root_of(self, object device)
    @cython.locals(view=MatBase, copies=dict)
    cdef object _run_on(self, object device, Plan plan, tuple args, dict kwargs)
    @cython.locals(args=tuple)
    cdef object of_operands(self, tuple given, Py_ssize_t first, object out)
    @cython.locals(node=PlanNode, plan=Plan, form=Form, out=MatBase)
    cdef object make(self, tuple args)
    @cython.locals(node=PlanNode)
    cpdef object new_into(self, MatBase out, tuple args)
    @cython.locals(rule=Deferral)
    cdef bint defer_new(self, PlanNode node, tuple args, MatBase out) except -1
    @cython.locals(plan=Plan, view=MatBase)
    cdef bint launch_new(self, PlanNode node, tuple args, MatBase out) except -1
    @cython.locals(found=PlanNode)
    cdef Plan plan_on(self, object device, PlanNode node, tuple args, MatBase out)
    cpdef object call_into(self, MatBase out, tuple args)
    @cython.locals(view=MatBase)
    cdef bint device_enabled(self, tuple args) except -1
    @cython.locals(node=PlanNode, k=int, view=MatBase, other=MatBase, reads_mat=bint)
    cdef PlanNode find(self, PlanNode root, tuple args, dict kwargs, bint add)
    @cython.locals(node=PlanNode)
    cdef PlanNode find_binary(self, tuple args)
    cdef PlanNode step_operand(self, PlanNode node, object value, tuple args)
    cdef PlanNode step_number(self, PlanNode node, object value, tuple args, bint add)
    @cython.locals(k=int)
    cdef PlanNode step_settings(self, PlanNode node, tuple args, dict kwargs, bint add)
    @cython.locals(found=PlanNode)
    cdef PlanNode step_setting(self, PlanNode node, object value, bint add)
    cdef object number_token(self, object value, tuple args)
    @cython.locals(view=MatBase, form=Form)
    cdef bint is_plain(self, object value, tuple args) except -1


cdef PlanNode step_form(PlanNode node, MatBase view, bint add)
@cython.locals(one=Layout, other=Layout, size=Py_ssize_t, other_size=Py_ssize_t)
cpdef bint may_meet(MatBase x, MatBase y) except -1

cpdef bint is_plain_number(object value)
