"""Programs on devices that break the promise of a direction."""

from __future__ import annotations

import ctypes

import numpy as np

import mat

from .planted import (
    LATE,
    LEFT,
    ONLY_READ,
    UNSEEN,
    in_use,
    operation,
    planted,
)


@planted(ONLY_READ, device="emulated")
def an_implementation_on_the_device_writes_its_input():
    with in_use("emulated") as dev:
        x = mat.ones(3, 2)

        def implementation(a):
            ctypes.memset(a.ctypes.data, 0, 8)

        with x.facet("emulated", "input") as a:
            dev.launch(implementation, a)


@planted(LEFT + r" 4 elements, first \(1, 0\)", device="emulated")
def an_implementation_on_the_device_leaves_rows():
    with in_use("emulated") as dev:
        x = mat.ones(3, 2)

        def implementation(a):
            a[0] = 1

        with x.facet("emulated", "output") as a:
            dev.launch(implementation, a)


@planted(UNSEEN, device="emulated")
def an_implementation_on_the_device_writes_the_next_row():
    with in_use("emulated") as dev:
        x = mat.ones(4, 2)

        def implementation(a):
            np.lib.stride_tricks.as_strided(a, (3,))[:] = 0

        with x[1].facet("emulated", "io") as a:
            dev.launch(implementation, a)


@planted(LATE, device="emulated")
def an_array_of_the_device_is_kept():
    with in_use("emulated") as dev:
        x = mat.ones(4)
        with x.facet("emulated", "input") as a:
            pass
        dev.launch(np.sum, a)


@planted("by operation increment changed what it promised to only read", device="emulated")
def an_operation_on_the_device_writes_its_input():
    def increment(x):
        for k in range(x.size):
            x.pointer[k] += 1

    with in_use("emulated"):
        operation("foreign", increment, x="input")(mat.zeros(3))


@planted(LEFT, device="emulated")
def an_operation_on_the_device_leaves_some():
    def half(x, y):
        y[:3] = x[:3]

    with in_use("emulated"):
        operation("array", half, x="input", y="output")(mat.zeros(6), mat.ones(6))


def set_bytes(a, at, value, count):
    """Write bytes as a kernel with a wrong signature would."""
    from cuda.bindings import driver
    with a.gpu.current():
        assert driver.cuMemsetD8Async(a.address + at, value, count, a.gpu.stream)[0] == 0


@planted(ONLY_READ + r", 1 element, \(1\)", device="cuda")
def a_program_on_the_gpu_writes_its_input():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "input") as a:
            set_bytes(a, 8, 0, 8)


@planted(LEFT + r" 2 elements, \(1\), \(2\)", device="cuda")
def a_program_on_the_gpu_leaves_some():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "output") as a:
            set_bytes(a, 0, 0, 8)


@planted(UNSEEN, device="cuda")
def a_program_on_the_gpu_writes_the_next_row():
    with in_use("cuda"):
        x = mat.ones(4, 2)
        with x[1].facet("cuda", "io") as a:
            set_bytes(a, 0, 0, 24)


@planted(LATE, device="cuda")
def an_array_of_the_gpu_is_kept():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "input") as a:
            pass
        a.pointer  # noqa: B018
