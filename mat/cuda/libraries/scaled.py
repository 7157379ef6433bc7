"""Products in steps: of operands that are converted before, with scales that sums are multiplied by
afterwards. It knows none of the steps.
"""

from __future__ import annotations

from ...support.types import Function
from .cublas import DeviceOperand, areas


class ThroughWider:
    """``out <- a b``, by a product of what `convert_a` and `convert_b` make of a and b.

    `sizes` are the bytes that these need.
    """

    def __init__(self, converts: tuple[Function, Function], sizes: tuple[int, int],
                 product: Function) -> None:
        self.converts, self.sizes, self.product = converts, sizes, product

    def __call__(self, a: DeviceOperand, b: DeviceOperand, out: DeviceOperand) -> None:
        with areas(out.gpu, *self.sizes) as (one, other):
            for convert, x, wider in zip(self.converts, (a, b), (one, other), strict=True):
                convert(x, wider)
            self.product(one, other, out)


class ScaledSums:
    """``out <- (a b) * a_scales * b_scales``: a product, whose sums `scale` multiplies.

    They are where the result is, or with `room` in so many bytes of their own.
    """

    def __init__(self, product: Function, scale: Function, room: int = 0) -> None:
        self.product, self.scale, self.room = product, scale, room

    # the parameters are those of the operation
    def __call__(self, a: DeviceOperand, a_scales: DeviceOperand, b: DeviceOperand,
                 b_scales: DeviceOperand, out: DeviceOperand) -> None:
        if not self.room:
            self.product(a, b, out)
            self.scale(out, a_scales, b_scales, out)
            return
        with areas(out.gpu, self.room) as (sums,):
            self.product(a, b, sums)
            self.scale(sums, a_scales, b_scales, out)


class ScalingProduct:
    """The same by a product that takes scales, after its operands and the result."""

    def __init__(self, product: Function) -> None:
        self.product = product

    # the parameters are those of the operation
    def __call__(self, a: DeviceOperand, a_scales: DeviceOperand, b: DeviceOperand,
                 b_scales: DeviceOperand, out: DeviceOperand) -> None:
        self.product(a, b, out, a_scales, b_scales)
