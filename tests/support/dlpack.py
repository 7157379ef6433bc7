"""Exporters of DLPack capsules, and the contents of capsules."""

from contextlib import suppress

import numpy as np
import pytest

import mat

LAYOUTS = {
    "whole": lambda a: a, "transposed": lambda a: a.T, "strided": lambda a: a[::2, 1::2],
    "displaced": lambda a: a[1:],
    "block": lambda a: a[1:3, 2:4], "reversed": lambda a: a[::-1],
    "element": lambda a: a[1, 2, ...], "empty": lambda a: a[:0],
    "column": lambda a: a[:, 2],
}
READ_ONLY, COPIED = 1, 2
HOST = (1, 0)


def sample(dtype="float64"):
    """Return an array of 4 x 5 elements."""
    return (np.arange(20) % 2 if dtype == "bool"
            else np.arange(20)).reshape(4, 5).astype(mat.Mat(0, dtype).dtype)


def address(a):
    return a.__array_interface__["data"][0]


def own_address(x):
    with x.facet("foreign", "input") as p:
        return p.address


def contents(capsule):
    """Take a capsule: return the object that keeps the memory, and the facts about it."""
    return pytest.importorskip("mat._core").take(capsule)


def facts(x, **wanted):
    """Return (address, shape, strides, device, type, flags) of an export of `x`, and end it."""
    return contents(x.__dlpack__(**{"max_version": (1, 0), **wanted}))[1]


class Exporter:
    """An array of another library, which exports any capsule."""

    def __init__(self, capsule, device=HOST):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **wanted):
        self.wanted = wanted
        return self.capsule() if callable(self.capsule) else self.capsule

    def __dlpack_device__(self):
        return self.device


def never_called():
    raise AssertionError("must not be called")


PROTOCOLS = ["__array_interface__", "__array_struct__", "__cuda_array_interface__", "__dlpack__",
             "__dlpack_device__",
             "__array__", "__buffer__", "__cupy_get_ndarray__", "__cuda_stream__",
             "__arrow_array__", "__arrow_c_array__",
             "__dataframe__", "__torch_function__", "__jax_array__", "_repr_html_",
             "_ipython_canary_method_should_not_exist_"]


def probe(x):
    """Do what inspectors, completion and protocol probes do."""
    for name in {*dir(x), *PROTOCOLS} - {"data", "ctypes"}:  # which are exports
        with suppress(mat.ShapeError):
            getattr(x, name, None)
    repr(x)
    format(x)
    x.__dlpack_device__()
