"""Users' kernels where a device is in use: the same declaration, computed there, and errors at the
user's line.
"""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import KernelError

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels.user import UserKernel, user_source
from mat.cuda.runtime.nvrtc import Nvrtc, Program
from mat.support.c_compiler import CompileError

from ..support.layouts import LAYOUTS, check_hidden, place
from ..support.needs_nvrtc import needs_nvrtc
from .test_each import there

__all__ = ["there"]

AXPBY = {"a": "number", "x": "input", "b": "number", "y": "io"}
POLAR = """
    T norm = sqrt(x * x + y * y);   // a local variable
    if (norm > 0.5) r = exp(-norm) + fmin(norm, 1.0f);
    else r = logistic(norm);
    angle = atan2(y, x) + abs(x) * sin(y);
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_layouts(there, rng, dtype):
    axpby = mat.kernel("y = a * x + b * y", **AXPBY)
    for layout in LAYOUTS:
        for shape in ((3, 4), (700,), (), (0, 3), (2, 3, 65)):
            x, y = (np.asarray(rng.standard_normal(shape)).astype(dtype) for _ in range(2))
            one, other = place(x, layout), place(y, layout)
            assert axpby(2, one, 0.5, other) is other
            assert_allclose(other.to_numpy(), 2 * x + 0.5 * y,
                            rtol=1e-5 if dtype == "float32" else 1e-14, atol=1e-6)
            check_hidden(other)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_several_outputs_and_statements(there, rng, dtype):
    polar = mat.kernel(POLAR, x="input", y="input", r="output", angle="output")
    x, y = rng.standard_normal((2, 5003)).astype(dtype)
    r, angle = mat.empty(5003, dtype=dtype), mat.empty(5003, dtype=dtype)
    polar(mat.array(x), mat.array(y), r, angle)
    assert angle.fresh == {"cuda:0"}
    x, y = x.astype("float64"), y.astype("float64")
    norm = np.hypot(x, y)
    wanted = np.where(norm > 0.5, np.exp(-norm) + np.minimum(norm, 1), 1 / (1 + np.exp(-norm)))
    tolerance = {"rtol": 1e-5 if dtype == "float32" else 1e-13, "atol": 1e-6}
    assert_allclose(r.to_numpy(), wanted, **tolerance)
    assert_allclose(angle.to_numpy(), np.arctan2(y, x) + np.abs(x) * np.sin(y), **tolerance)


def test_inputs_broadcast_and_many_operands(there):
    roles = dict.fromkeys("abcde", "input") | dict.fromkeys("sz", "output")
    total = mat.kernel("s = a + 2 * b + 3 * c + 4 * d + 5 * e; z = s", **roles)
    s, z = mat.empty(30, 40), mat.empty(30, 40)
    parts = [mat.ones(30, 40), mat.arange(40.0), mat.ones(30, 1), mat.array(1.0), mat.ones(1, 1)]
    total(*parts, s, z)
    assert_array_equal(s.to_numpy(), np.broadcast_to(1 + 2 * np.arange(40) + 3 + 4 + 5, (30, 40)))
    assert_array_equal(z.to_numpy(), s.to_numpy())


@pytest.mark.parametrize("layout", ["packed", "strided", "column"])
def test_statements_run_for_elements_only(there, layout):
    """A thread computes no element that is not there, for which a loop might never end."""
    k = mat.kernel("y = 0; int64_t n = x; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; "
                   "y = y + 1; }", x="input int64", y="output int64")
    for shape, wanted in (((3,), [8, 0, 7]), ((), 9)):
        x = place(np.array([6, 1, 3] if shape else 12), layout)
        assert k(x).tolist() == wanted


def test_a_return_ends_the_statements_of_one_element(there):
    k = mat.kernel("y = x; if (x < 0) { z *= 10; return; } T t = y * 2; y = t + 1", x="input",
                   z="io", y="output")
    z, y = mat.ones(4), mat.empty(4)
    k(mat.array([-1.0, 0, 1, -2]), z, y)
    assert y.fresh == {"cuda:0"}
    assert z.tolist() == [10, 1, 1, 10]
    assert y.tolist() == [-1, 1, 3, -2]


def test_what_is_written_need_not_be_last(there):
    scaled = mat.kernel("y = x * s", y="output", x="input", s="input")
    y = mat.empty(70, 40)
    assert scaled(y, mat.ones(70, 40), mat.array([[3.0]])) is y
    assert_array_equal(y.to_numpy(), np.full((70, 40), 3))
    scaled(y.T, mat.arange(70.0), mat.array(2.0))
    assert_array_equal(y.to_numpy(), np.broadcast_to(2 * np.arange(70)[:, None], (70, 40)))


def test_the_same_declaration_everywhere(there):
    axpby = mat.kernel("y = a * x + b * y", **AXPBY)
    for device in ("cpu", "emulated", "cuda"):
        with mat.use_device(device):
            assert_array_equal(axpby(2, mat.ones(5), 3, mat.ones(5)).to_numpy(), np.full(5, 5))


def test_a_text_for_the_device_alone_and_its_launch(there):
    one = mat.kernel("y = x + 1", cuda="y = x + T(threadIdx.x - threadIdx.x + 2)", grid=3, block=64,
                     x="input", y="output")
    x = mat.arange(20_000.0)
    assert_array_equal(one(x, mat.empty(20_000)).to_numpy(), np.arange(20_000) + 2)
    assert_array_equal(one(x[::2], mat.empty(10_000)).to_numpy(), np.arange(0, 20_000, 2) + 2)
    assert_array_equal(pickle.loads(pickle.dumps(one))(x, mat.empty(20_000)).to_numpy(),
                       np.arange(20_000) + 2)
    with mat.use_device("cpu"):
        assert_array_equal(one(x, mat.empty(20_000)).to_numpy(), np.arange(20_000) + 1)


@pytest.mark.parametrize(("text", "message"), [
    ("y = z * x", r"line 1 of the kernel: .*z.*\n    y = z \* x"),
    ("T t = x;\ny = t +* 2", "line 2 of the kernel"),
    ("y = x; x = 2", "line 1 of the kernel")])
def test_errors_at_the_users_line(there, text, message):
    bad = mat.kernel(text, x="input", y="output")
    y = mat.zeros(3)
    with pytest.raises(KernelError, match=message) as caught:
        bad(mat.ones(3), y)
    assert caught.value.args[0].startswith(__file__)
    assert_array_equal(y.to_numpy(), np.zeros(3))


@pytest.mark.parametrize("wrong", [{"cuda": 3}, {"cuda": " "}, {"grid": 0}, {"grid": 2.0},
                                   {"block": 0}, {"block": 2000}])
def test_bad_launches(wrong):
    with pytest.raises(KernelError, match=r"cuda=|block is"):
        mat.kernel("y = 1", y="output", **wrong)


# NVRTC itself


class Source:
    """In place of the engine: has NVRTC compile the program, without a device."""

    UserKernel = UserKernel

    def prepare_user_kernel(self, kernel, mats, shape, last, places):
        group = 16 // max(x.itemsize for x in mats)
        Nvrtc().compile(user_source(kernel, group), (), "sm_90")


@needs_nvrtc
def test_nvrtc_takes_them_and_its_messages_are_understood():
    polar = mat.kernel(POLAR, x="input", y="input", r="output", angle="output")
    for dtype in ("float32", "float64"):
        polar.prepare_cuda(Source(), *(mat.ones(3, dtype=dtype) for _ in range(4)))
    for text, message in (("y = z * x",
                           r'line 1 of the kernel: .*"z" is undefined\n    y = z \* x\n        \^'),
                          ("T t = x;\n  y = t +* 2",
                           r"line 2 of the kernel: .*\n      y = t \+\* 2\n"),
                          ("y = x; x = 2", "cannot be assigned"),
                          ("y = 1.5 * nonsense(x)", r"\n    y = 1.5 \* nonsense.*\n {14}\^")):
        bad = mat.kernel(text, x="input", y="output")
        with pytest.raises(KernelError, match=message):
            bad.prepare_cuda(Source(), mat.ones(3, dtype="float32"),
                                mat.ones(3, dtype="float32"))
    with pytest.raises(CompileError):
        Program("nonsense").cubin("sm_90")
