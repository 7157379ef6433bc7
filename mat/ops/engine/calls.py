"""Calls: how a call of an operation finds its plan.

Keys of plans are made in `Calls.find` only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.compiled import IN_USE
from ...core.observers import OBSERVERS, notify_fallback
from ...core.pending import DEFERRALS
from ...core.registry import Memory
from ...devices.in_use import CPU, Device, in_use
from ...errors import OutOfDeviceMemory, ShapeError
from ...matrix.base import MAKER, Form, MatBase
from ...matrix.elements import copied_to_part
from ...matrix.operators import Operation
from ...memories.pooled import CLOCK
from ...support.dtypes import EXACT
from ...support.options import REDUCED, float32_products
from ...support.types import Arguments, Keywords, Operand
from .plan import Plan

# with types of C
_in_use, _observers, _reduced = IN_USE, OBSERVERS, REDUCED
_cpu, _clock, _device_in_use = CPU, CLOCK, in_use
_maker = MAKER  # objects of its class are Mats, all others are numbers
_deferrals = DEFERRALS
RULES: list[Deferral] = []  # the only one, once there may be blocks
_rules = RULES  # with a type of C
_NO_KEYWORDS: Keywords = {}
_negative = object()  # token of a negative integer
# types of numbers whose values matter to no check, and of integers, with tokens of negative ones
UNCHECKED = frozenset((bool, complex, np.bool_, np.float16, np.float32, np.float64, np.complex64,
                       np.complex128))
_unchecked = UNCHECKED  # with a type of C
_INTEGERS = {kind: object() for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8,
                                         np.uint16, np.uint32, np.uint64)}
_same = object()  # token of an operand that is the main one again
_beside = object()  # token before that of one elsewhere in the main one's storage
_MOST_APART = 1 << 20  # bytes of a result whose copy takes less time than a plan
# types of settings that a plan can depend on, besides tuples
_PLAIN = frozenset((bool, int, str, type(None)))
_MOST_PLANS = 1024


class Deferral:
    """The rule of the blocks in which results may be pending."""

    __slots__ = ()

    def take(self, operation: Any, device: Device, args: Arguments) -> bool:
        """Make the result of a call pending; return False where it is to be carried out alone."""
        raise NotImplementedError

    def take_new(self, operation: Any, node: PlanNode, device: Device, args: Arguments,
                 out: MatBase) -> bool:
        """Fast path: make the new Mat `out` pending by the plan at `node`; False for `take`."""
        raise NotImplementedError


class PlanNode:
    """A node of the tree of plans: one step for each token of a call's key."""

    def __init__(self) -> None:
        self.first_token: object = None
        self.first: PlanNode | None = None
        self.branches: dict[object, PlanNode] | None = None
        self.plan: Plan | None = None
        self.result_form: Form | None = None  # of a new Mat for the result
        self.device: Device | None = None  # that computed such a result last
        self.device_plan: Plan | None = None

    def step(self, token: object, add: bool) -> PlanNode | None:
        """Return the node for the next token of a key; None if there is none to `add`."""
        if self.first is not None and self.first_token is token:
            return self.first
        found = None if self.branches is None else self.branches.get(token)
        if found is None and add:
            found = PlanNode()
            if self.branches is None:
                self.branches = {}
            self.branches[token] = found
            if self.first is None:
                self.first_token = token
                self.first = found
        return found


class Calls(Operation):
    """The part of an operation that finds plans of calls and carries them out."""

    def set_positions(self, arity: int, main: int, others: tuple[int, ...],
                      settings: tuple[int, ...], zero_at: int) -> None:
        """Set the positions of those arguments that a plan depends on."""
        self.arity: int = arity
        self.main: int = main
        self.others: tuple[int, ...] = others
        self.settings: tuple[int, ...] = settings
        self.zero_at: int = zero_at
        # whether operands are read about once each, by which tiles of files are cut
        self.reads_once: bool = False
        # two operands are read, then comes the one that is written
        self.binary: bool = (arity, main, others) == (3, 2, (0, 1))
        self.folds: bool = False  # it is a reduction
        self.assigns: bool = False  # it copies or converts its first operand
        self.of_elements: bool = False  # each element of the result depends on those at its place
        # whether the result is to go to a Mat of its own first, since `main` overlaps what is read
        self.meets_read: Callable[[Arguments], bool] | None = None
        self.forget_plans()

    def forget_plans(self) -> None:
        """Drop all plans."""
        self.root: PlanNode = PlanNode()
        # while a device is in use; there are one or two
        self.device_roots: list[tuple[Device, str, PlanNode]] = []
        self.new_root: PlanNode = PlanNode()
        self.count: int = 0

    def __call__(self, *args: Operand, **kwargs: object) -> Operand:
        return self.carry_out(args, kwargs)

    def run(self, args: Arguments) -> Operand:
        """Carry out the operation."""
        return self.carry_out(args, _NO_KEYWORDS)

    def carry_out(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation by a plan, if there is one."""
        if _in_use:  # by blocks of `fused` only, or of devices
            device = _cpu if len(_in_use) == len(_deferrals) else _device_in_use()
            return self.carry_out_on(device, args, kwargs)
        node = self.find(self.root, args, kwargs, False)
        plan = None if node is None else node.plan  # compiled code keeps local variables only alive
        if plan is None:
            if self.meets_read is not None and not kwargs and self.carry_out_apart(args):
                return args[self.main]
            return self.call(args, kwargs)
        return plan.run(args, kwargs)

    def carry_out_apart(self, args: Arguments) -> bool:
        """Fast path: carry out a small call with overlaps by way of a new Mat; False for others."""
        if len(args) != self.arity or type(args[self.main]) is not _maker.kind:
            return False
        out: MatBase = args[self.main]
        layout, meets = out.layout, False
        if layout.size * out.element_size > _MOST_APART:
            return False
        for k in self.others:
            if type(args[k]) is _maker.kind and args[k] is not out:
                meets = meets or may_meet(args[k], out)
        if not meets or out.read_only or not out.storage.writable or not (
                layout.contiguous or layout.injective):
            return False
        found = self.make((*args[:self.main], None, *args[self.main + 1:]))
        if type(found) is not _maker.kind:
            return False
        made: MatBase = found
        if made.layout.shape != layout.shape or made.element_type is not out.element_type:
            return False
        if not copied_to_part(out, layout, layout, made):
            target: Any = out
            target.assign_(made)
        return True

    def carry_out_on(self, device: Device, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation on the device in use, if all Mats allow it."""
        if len(args) != self.arity:
            args, kwargs = self.bind_arguments(args, kwargs)
        if _deferrals and (self.of_elements or self.folds) and not kwargs:
            rule: Any = _rules[0]
            if rule.take(self, device, args):
                return args[self.main]
        for value in args:
            if type(value) is _maker.kind:
                view = value
                if not view.device_enabled:
                    device = device.host
        if device is _cpu:
            return self.carry_out_whole(device, args, kwargs)
        limit = device.memory.limit
        if limit is not None:
            if self.may_exceed(limit, args):
                return self.carry_out_within(device, args, kwargs, None)
            self.note_uses(device.memory, args)
        try:
            return self.carry_out_whole(device, args, kwargs)
        except OutOfDeviceMemory as error:
            shortage = error.with_traceback(None)  # whose frames keep what the callers have
        return self.carry_out_within(device, args, kwargs, shortage)

    def carry_out_whole(self, device: Device, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation on a device in one piece, or on the CPU."""
        node = self.find(self.root_of(device), args, kwargs, False)
        plan = None if node is None else node.plan
        if plan is None:
            return self.call_on(device, args, kwargs)
        return self._run_on(device, plan, args, kwargs)

    def may_exceed(self, limit: int, args: Arguments) -> bool:
        """Return whether the operands may need more than `limit` bytes on a device."""
        needed = 0
        for value in args:
            if type(value) is _maker.kind:
                view = value
                storage = view.storage
                layout = view.layout
                needed += view.element_size * layout.size if layout.contiguous else storage.nbytes
        return needed > limit

    def note_uses(self, memory: Memory, args: Arguments) -> None:
        """Mark the operands' copies in `memory` as used: they are not evicted for the others."""
        for value in args:
            if type(value) is _maker.kind:
                value.storage.note_use(memory, value)

    def carry_out_within(self, device: Device, args: Arguments, kwargs: Keywords,
                         shortage: OutOfDeviceMemory | None) -> Operand:
        """Carry out the operation on a device that may lack room, as a known `shortage` says."""
        raise NotImplementedError

    def carry_out_over_files(self, args: Arguments, kwargs: Keywords) -> tuple[object] | None:
        """Carry out the operation in tiles of files; return its result in a tuple, or None."""
        raise NotImplementedError

    def root_of(self, device: Device) -> PlanNode:
        """Return the root of the tree with the plans for `device`, with the settings in force."""
        if device is _cpu:
            return self.root
        products = float32_products() if _reduced else "ieee"
        for known, kind, root in self.device_roots:
            if known is device and kind == products:
                return root
        root = PlanNode()
        self.device_roots.append((device, products, root))
        return root

    def run_on(self, device: Device, plan: Plan, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out a plan made for `device`, and note when its memory was used."""
        return self._run_on(device, plan, args, kwargs)

    def _run_on(self, device: Device, plan: Plan, args: Arguments, kwargs: Keywords) -> Operand:
        if device is _cpu:
            return plan.run(args, kwargs)
        if plan.armed and plan.of_device and not _observers and plan.launch_at_once(args, None):
            return args[plan.result]
        if plan.facet is not device.facet or plan.lent:
            operation: Any = self
            notify_fallback(operation.__name__, device.name, operation.lacking(device))
        result = plan.run(args, kwargs)
        memory, now = device.memory, next(_clock)
        for value in args:
            if type(value) is _maker.kind:
                view = value
                copies = view.storage.copies
                handle = None if copies is None else copies.get(memory)
                if handle is not None:
                    handle.tick = now
        return result

    def new(self, args: Arguments) -> Operand:
        """Carry out the operation into a new Mat; `args` has None in its place."""
        return self.make(args)

    def of_operands(self, given: Arguments, first: int, out: Operand) -> Operand:
        """Fast path: carry out operands that need no conversion; return None for others."""
        kind, x = _maker.kind, given[first]
        if out is not None and type(out) is not kind:
            return None
        if len(given) == first + 1:
            if type(x) is not kind:
                return None
            args: Arguments = (x, out)
        else:
            y = given[first + 1]
            if not (type(x) is kind or (type(y) is kind and is_plain_number(x))):
                return None
            if not (type(y) is kind or is_plain_number(y)):
                return None
            args = (x, y, out)
        return self.make(args) if out is None else self.carry_out(args, _NO_KEYWORDS)

    def make(self, args: Arguments) -> Operand:
        """Return the result of `new`."""
        node = (self.find_binary(args) if self.binary and len(args) == 3
                else self.find(self.new_root, args, None, False))
        if node is None or node.result_form is None:
            return self.call_new(args)
        form, plan = node.result_form, node.plan
        out = form.new(self.device_enabled(args), None)
        if _observers:
            return self.call_into(out, args)
        if _in_use:
            if self.defer_new(node, args, out) if _deferrals else self.launch_new(node, args, out):
                return out
        elif plan is not None and (
                (plan.at_once and plan.call_at_once(args, out))
                or (plan.by_ufunc and plan.call_ufunc(args, out))
                or (plan.by_copies and plan.call_with_copies(args, out))):
            return out
        return self.call_into(out, args)

    def new_into(self, out: MatBase, args: Arguments) -> Operand:
        """Carry out the operation into the new Mat `out`, of a shape that other operands do not
        tell; `args` has None in its place. A device's plan is that of the first such call: its
        kernels must not depend on that shape.
        """
        if not _in_use or _observers or _deferrals:
            return self.call_into(out, args)
        node = self.find(self.new_root, args, None, False)
        if node is not None and self.launch_new(node, args, out):
            return out
        result = self.call_into(out, args)
        if node is None:
            self.remember(self.new_root, args, None, None)
            node = self.find(self.new_root, args, None, False)
        if node is not None:
            self.plan_on(_device_in_use(), node, args, out)
        return result

    def defer_new(self, node: PlanNode, args: Arguments, out: MatBase) -> bool:
        """Fast path: make the new Mat `out` a pending result; return False if nothing was done."""
        if not self.of_elements:
            return False
        rule: Any = _rules[0]
        device = _cpu if len(_in_use) == len(_deferrals) else _device_in_use()
        return rule.take_new(self, node, device, args, out)

    def launch_new(self, node: PlanNode, args: Arguments, out: MatBase) -> bool:
        """Fast path: launch the kernel that computes the new Mat `out`; False if none is."""
        device = _device_in_use()
        if device is _cpu or device.memory.limit is not None:
            return False
        if _reduced and float32_products() != "ieee":  # which has plans of its own
            return False
        for value in args:
            if type(value) is _maker.kind:
                view = value
                if not view.device_enabled:
                    return False
        plan = self.plan_on(device, node, args, out)
        return plan is not None and plan.armed and plan.of_device and plan.launch_at_once(args, out)

    def plan_on(self, device: Device, node: PlanNode, args: Arguments, out: MatBase) -> Plan | None:
        """Return the plan of `device` for the call at `node` with result `out`; None if unknown."""
        if device is _cpu:
            return node.plan
        if node.device is not device:
            all_args = (*args[:self.main], out, *args[self.main + 1:])
            found = self.find(self.root_of(device), all_args, _NO_KEYWORDS, False)
            if found is None or found.plan is None:
                return None
            node.device, node.device_plan = device, found.plan
        return node.device_plan

    def call_into(self, out: MatBase, args: Arguments) -> Operand:
        """Carry out the operation into `out`, or a new Mat if another thread changed operands."""
        try:
            if len(args) == self.main + 1 == 3:  # without a list
                return self.carry_out((args[0], args[1], out), _NO_KEYWORDS)
            return self.carry_out((*args[:self.main], out, *args[self.main + 1:]), _NO_KEYWORDS)
        except ShapeError:
            if self.fits(out, args):
                raise
        return self.make(args)

    def device_enabled(self, args: Arguments) -> bool:
        """Return `device_enabled` of the first Mat among the operands; the result is not yet."""
        for value in args:
            if type(value) is _maker.kind:
                view: MatBase = value
                return view.device_enabled
        return True

    # What operations do with calls that have no plan

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out a call that has no plan yet."""
        raise NotImplementedError

    def fits(self, out: MatBase, args: Arguments) -> bool:
        """Return whether `out` has the form of the result for `args`, with None in its place."""
        raise NotImplementedError

    def call_new(self, args: Arguments) -> Operand:
        """Carry out a call that has no plan yet into a new Mat."""
        raise NotImplementedError

    def call_on(self, device: Device, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out a call that has no plan yet on a device."""
        raise NotImplementedError

    def bind_arguments(self, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
        """Return all positional parameters as a tuple, and the keywords that were given."""
        raise NotImplementedError

    # Finding plans

    def walk(self, root: PlanNode, args: Arguments, kwargs: Keywords | None,
             add: bool) -> PlanNode | None:
        """Return the result of `find`."""
        return self.find(root, args, kwargs, add)

    def find(self, root: PlanNode, args: Arguments, kwargs: Keywords | None,
             add: bool) -> PlanNode | None:
        """Return the node of the tree below `root` with the plan for a call; None if there is none,
        unless it is to be added, or if the plan depends on more than a key can have.

        A key has a token for what the checks and the choice of an implementation depend on: for
        each operand its form, or the type of a number; for settings and keywords their types and
        values.
        """
        if len(args) != self.arity:
            return None
        node: Any = root
        main, reads_mat = args[self.main], False
        other: Operand = main if type(main) is _maker.kind else None
        for k in self.others:
            value = args[k]
            if type(value) is not _maker.kind:
                node = self.step_number(node, value, args, add)
            elif value is main:
                node, reads_mat = node.step(_same, add), True
            else:
                view, reads_mat = value, True
                if other is not None and other.storage is view.storage:
                    node = None if may_meet(view, other) else node.step(_beside, add)
                if node is not None:
                    node = step_form(node, view, add)
            if node is None:
                return None
        if other is not None:
            node = step_form(node, other, add)
        elif main is not None or not reads_mat:
            return None
        if node is not None and self.zero_at >= 0:
            beta = args[self.zero_at]
            if type(beta) is not float and type(beta) is not int:
                return None
            node = node.step(beta == 0, add)
        if self.settings or kwargs:
            node = self.step_settings(node, args, kwargs or _NO_KEYWORDS, add)
        return node

    def find_binary(self, args: Arguments) -> PlanNode | None:
        """Return the result of `find` for a new result of two operands."""
        node = self.step_operand(self.new_root, args[0], args)
        return None if node is None else self.step_operand(node, args[1], args)

    def step_operand(self, node: PlanNode, value: Operand, args: Arguments) -> PlanNode | None:
        """Return the node for an operand of a new result, if there is one."""
        if type(value) is _maker.kind:
            return step_form(node, value, False)
        return self.step_number(node, value, args, False)

    def step_number(self, node: PlanNode, value: Operand, args: Arguments,
                    add: bool) -> PlanNode | None:
        """Return the node for a number; None if its value matters to checks."""
        token = self.number_token(value, args)
        return None if token is None else node.step(token, add)

    def step_settings(self, node: PlanNode | None, args: Arguments, kwargs: Keywords,
                      add: bool) -> PlanNode | None:
        """Return the node for all settings and keywords of a call."""
        for k in self.settings:
            if node is None:
                return None
            node = self.step_setting(node, args[k], add)
        for name, value in kwargs.items():
            if node is not None:
                node = node.step(name, add)
            if node is not None:
                node = self.step_setting(node, value, add)
        return node

    def step_setting(self, node: PlanNode, value: object, add: bool) -> PlanNode | None:
        """Return the node for a setting: by its type, too, since True is 1 but not to a check."""
        if value is None or value is False or value is True:  # beside types nothing equals these
            return node.step(value, add)
        if type(value) is not int and not (
                _of_integers(value) if isinstance(value, tuple) else type(value) in _PLAIN):
            return None
        found = node.step(type(value), add)
        return None if found is None else found.step(value, add)

    def number_token(self, value: Operand, args: Arguments) -> object:
        """Return the token of a number among the operands; None if its value matters to checks."""
        kind = type(value)
        if kind is float:
            return kind
        if kind is int:
            if 0 <= value < 128:
                return kind
            if self.is_plain(value, args):
                return kind if value > 0 else _negative
        elif kind in _unchecked:
            return kind
        elif kind in _INTEGERS and self.is_plain(value, args):
            return kind if value >= 0 else _INTEGERS[kind]
        return None

    def is_plain(self, value: int, args: Arguments) -> bool:
        """Return whether checks take that integer beside any of the Mats."""
        for k in (self.main, *self.others):
            if type(args[k]) is _maker.kind:
                view: MatBase = args[k]
                form = view.form
                if not form.lowest <= value <= form.highest:
                    return False
        return True

    def remember(self, root: PlanNode, args: Arguments, kwargs: Keywords | None,
                 plan: Plan | None, result_form: Form | None = None) -> None:
        """Store `plan`, and the form of a new result, for later calls with such arguments."""
        if self.count > _MOST_PLANS:
            self.forget_plans()
            return
        node = self.find(root, args, kwargs, True)
        if node is not None:
            node.plan = plan
            node.result_form = result_form
            self.count += 1


def step_form(node: PlanNode, view: MatBase, add: bool) -> PlanNode | None:
    """Return the node for the form of a Mat."""
    return node.step(view._find_form() if view.known_form is None else view.known_form, add)


def may_meet(x: MatBase, y: MatBase) -> bool:
    """Return whether Mats of one storage have bytes between common bounds."""
    if x.storage is not y.storage or not x.layout.size or not y.layout.size:
        return False
    one, other, size, other_size = x.layout, y.layout, x.element_size, y.element_size
    return other.lowest() * other_size < (one.highest() + 1) * size and (
        one.lowest() * size < (other.highest() + 1) * other_size)


def is_plain_number(value: Operand) -> bool:
    """Return whether `value` is a number that needs no check; larger integers do."""
    kind = type(value)
    return kind is float or (kind is int and -EXACT <= value <= EXACT) or kind in _unchecked


def _of_integers(values: tuple[object, ...]) -> bool:
    """Return whether a tuple has only integers, and tuples of them."""
    for value in values:
        if type(value) is not int and not (isinstance(value, tuple) and _of_integers(value)):
            return False
    return True
