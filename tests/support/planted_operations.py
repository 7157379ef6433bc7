"""Operations that are declared wrongly."""

from __future__ import annotations

import mat

from .planted import (
    LATE,
    LEFT,
    ONLY_READ,
    UNSEEN,
    operation,
    planted,
)


@planted("by operation increment changed what it promised to only read")
def a_kernel_that_increments_is_declared_input():
    """MGL-MAT's documented example of a kernel."""
    def increment(x):
        for k in range(x.size):
            x.pointer[k] += 1

    operation("foreign", increment, x="input")(mat.zeros(3))


@planted("by operation exchange changed what it promised to only read")
def an_operation_writes_both():
    def exchange(x, y):
        for k in range(x.size):
            x.pointer[k], y.pointer[k] = y.pointer[k], x.pointer[k]

    operation("foreign", exchange, x="input", y="io")(mat.zeros(3), mat.ones(3))


@planted("by operation half promised to overwrite everything and left as it was 3 elements")
def an_operation_writes_half_of_its_output():
    def half(x, y):
        y[:3] = x[:3]

    operation("array", half, x="input", y="output")(mat.zeros(6), mat.ones(6))


@planted(LEFT)
def an_operation_adds_to_its_output():
    def add(x, y):
        y += x

    operation("array", add, x="input", y="output")(mat.zeros(6), mat.ones(6))


@planted(LEFT)
def an_operation_writes_its_input_instead():
    def assign(x, y):
        for k in range(x.size):
            x.pointer[k] = y.pointer[k]

    operation("foreign", assign, x="io", y="output")(mat.zeros(3), mat.ones(3))


@planted(UNSEEN)
def an_operation_writes_beyond_its_operand():
    def clear(y):
        for k in range(y.size + 1):
            y.pointer[k] = 0

    operation("foreign", clear, y="io")(mat.ones(4, 4)[2])


@planted(ONLY_READ)
def an_operation_on_two_rows_writes_the_wrong_one():
    def assign(x, y):
        x.pointer[0] = 9

    a = mat.zeros(4, 4)
    operation("foreign", assign, x="input", y="io")(a[0], a[2])


@planted(LATE)
def an_operation_keeps_its_operand():
    kept = []

    def keep(x):
        kept.append(x)

    operation("foreign", keep, x="input")(mat.zeros(3))
    kept[0].pointer[0] = 1
