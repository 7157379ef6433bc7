"""Windows of convolution and pooling over images with channels: padding, stride and dilation.

Along each spatial axis, tap p of point i is at index ``i * step + p * dilation + off`` of the
input, where ``off`` is minus the padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

from ..errors import ShapeError
from .shapes import Ints, integer
from .sliding_window import Setting, each

MOST_SPATIAL = 3


class SpacedAxis(NamedTuple):
    """The windows along one axis: `n` points over an input of length `nx`, each with `k` taps."""

    n: int
    nx: int
    k: int
    step: int
    dilation: int
    off: int

    def first(self, p: int) -> int:
        """Return the index in the input of tap `p` of point 0."""
        return self.off + p * self.dilation


class Channels(NamedTuple):
    """The sizes of a convolution: `n` images, channels and outputs of each of the groups, and the
    spatial axes.
    """

    n: int
    groups: int
    channels: int
    outputs: int
    axes: tuple[SpacedAxis, ...]

    @property
    def shape(self) -> Ints:
        """The shape of the result."""
        return (self.n, self.groups * self.outputs, *(a.n for a in self.axes))


class Remainder(NamedTuple):
    """The positions ``first, first + every, ...`` of the input as points over the output, for the
    derivative by the input: `axis` has the taps ``last, last - between, ...`` of the window that
    reach them.
    """

    axis: SpacedAxis
    first: int
    every: int
    last: int
    between: int


def spaced(name: str, shape: Ints, taps: Ints, stride: Setting, padding: Setting,
           dilation: Setting) -> tuple[SpacedAxis, ...]:
    """Return the axes of windows of shape `taps` over an input of `shape`, after checking them."""
    count = len(taps)
    if len(shape) != count:
        raise ShapeError(f"{name}: a window of shape {taps} requires as many spatial axes in x, "
                         f"whose spatial shape is {shape}")
    steps, pads = each(stride, 1, "stride", count), each(padding, 0, "padding", count)
    spaces = each(dilation, 1, "dilation", count)
    for text, given, least in (("stride", steps, 1), ("padding", pads, 0), ("dilation", spaces, 1),
                               ("window", taps, 1)):
        if any(integer(value, text) < least for value in given):
            raise ShapeError(f"{name}: a {text} is at least {least} along each axis, got {given}")
    for nx, k, pad, space in zip(shape, taps, pads, spaces, strict=True):
        if nx + 2 * pad < (k - 1) * space + 1:
            raise ShapeError(f"{name}: a window of {k} taps with dilation {space} spans "
                             f"{(k - 1) * space + 1} elements, the input of {nx} with padding "
                             f"{pad} has {nx + 2 * pad}; use more padding")
    return tuple(SpacedAxis((nx + 2 * pad - (k - 1) * space - 1) // step + 1, nx, k, step, space,
                            -pad)
                 for nx, k, step, pad, space in zip(shape, taps, steps, pads, spaces, strict=True))


def remainders(a: SpacedAxis) -> Iterator[Remainder]:
    """Yield the positions of an axis by their remainder modulo the step, as points.

    Position ``step * m + f`` is tap p of point i where ``i * step = step * m + f - off - p *
    dilation``. The taps for which that is divisible follow each other at a fixed distance, and the
    points move back by a fixed number from one to the next: a window of step 1 over the points.
    """
    common = gcd(a.step, a.dilation)
    between, space = a.step // common, a.dilation // common
    for f in range(min(a.step, a.nx)):
        reach = [p for p in range(min(between, a.k)) if (f - a.off - p * a.dilation) % a.step == 0]
        if reach:
            count = len(range(reach[0], a.k, between))
            last = reach[0] + (count - 1) * between
            off = (f - a.off - last * a.dilation) // a.step
            axis = SpacedAxis(len(range(f, a.nx, a.step)), a.n, count, 1, space, off)
            yield Remainder(axis, f, a.step, last, between)
