"""`OnePass`: a kernel and the reduction of what it computes, on the host in one pass over the
operands: elements are computed into a block that stays in the caches, and reduced there.
"""

from __future__ import annotations

import inspect
from math import prod
from typing import Any

from ...cpu.composed import KernelStep
from ...cpu.kernel import CpuKernel
from ...cpu.program import Slot, prepare_program, writes_to_caches
from ...layout.shapes import Ints
from ...matrix.base import Form
from ...matrix.mat import Mat
from ...support.dtypes import STORED
from ...support.types import Arguments, AxisLike, DType, Engine, Operand
from ..engine.operation import Input, Op, Output
from ..expressions.program import NotOnePassError, fold_of


class OnePass(Op):
    """The reduction along certain axes of what a kernel computes: call `new` with the operands that
    this reads, and None.

    Elements are taken in the order of the reduction alone, so that the bits are the same.
    """

    listed = False

    # so many parameters: the kernel, the reduction and its settings
    def __init__(self, kernel: Any, reduction: Op, axis: AxisLike, keepdims: bool) -> None:
        self.kernel = kernel
        self.reduction = reduction
        self.axis_and_keepdims: Arguments = axis, keepdims
        self.left: set[tuple[Form, ...]] = set()  # forms of operands that it does not take
        names = [x.name for x in kernel.declared[:-1]]

        def check(*args: Any) -> None:
            values = self.values(args[:-1])
            kernel.check(*args[:-1], values, *kernel.hidden)
            reduction.check(values, args[-1], axis, keepdims)

        roles = dict.fromkeys(names, Input) | {"mat_out": Output}
        vars(check)["__signature__"] = inspect.Signature([
            inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=role)
            for n, role in roles.items()])
        check.__annotations__ = roles
        check.__name__ = check.__qualname__ = kernel.__name__
        check.__module__, check.__doc__ = kernel.__module__, kernel.__doc__
        super().__init__(check, "", True, None)
        self.result_of = self._result_of
        self.prepare("foreign", dtypes=STORED)(self.prepare_cpu)

    def reduced(self, mats: tuple[Mat, ...]) -> Mat | None:
        """Return the result for operands of a kernel; None where it cannot be in one pass."""
        if self.left and tuple(x.form for x in mats) in self.left:
            return None
        try:
            found: Any = self.new((*mats, None))
        except NotOnePassError:
            self.left.add(tuple(x.form for x in mats))
            return None
        return found

    def values(self, mats: tuple[Operand, ...]) -> Mat:
        """Return a Mat of the form of what the kernel computes, whose elements are never there."""
        names = (x.name for x in self.kernel.declared)
        found: Mat = self.kernel.made(self.kernel.declared[-1],
                                      dict(zip(names, mats, strict=False)))
        return found

    def _result_of(self, *args: Any) -> tuple[Ints, DType]:
        assert self.reduction.result_of is not None
        return self.reduction.result_of(self.values(args[:-1]), None, *self.axis_and_keepdims)

    def prepare_cpu(self, cpu: Engine, *args: Mat) -> CpuKernel:
        """Prepare the kernel and the reduction for operands of these forms."""
        *mats, out = args
        values, count = self.values(tuple(mats)), len(mats)
        kernel = self.kernel.prepare_cpu(cpu, *mats, values, *self.kernel.hidden)
        fold = None
        if values.size:
            fold = fold_of(self.reduction, (values, out, *self.axis_and_keepdims))
        if fold is None or not isinstance(kernel, CpuKernel):
            raise NotOnePassError
        slots = [*(Slot(k, x.itemsize) for k, x in enumerate(args)), Slot(-1, values.itemsize)]
        step = KernelStep(writes_to_caches(kernel), (*range(count), count + 1))
        return prepare_program([step], slots, count + 1, prod(values.shape),
                               [fold._replace(slot=count + 1, out=count)])
