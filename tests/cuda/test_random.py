"""Random numbers by the device's kernels: the bits of the CPU's, whatever the launch, the order of
threads and the place.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mat.ops.primitives import philox
from mat.ops.primitives.random import blocks
from mat.support.c_compiler import HEADERS

from ..support.launching import frame_of, launch_all
from ..support.random_cases import STATES
from ..tools.mock_driver.harness import compiler, run

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import random as device

from ..support.needs_nvrtc import needs_nvrtc

on_cpu = pytest.mark.skipif(not compiler(), reason="no C++ compiler")
REFERENCE = {"uniform": philox.uniform, "normal": philox.normal, "bernoulli": philox.bernoulli}
NUMBERS = {"uniform": ((1.0, 1 - 2**-24), (0.1, 1.0), (2.5, 2.4999)),
           "normal": ((0.0, 1.0), (-3.0, 0.1), (2.5, 0.0)),
           "bernoulli": ((2.0**31, 1.0), (0.0, 1.0), (0.0, 0.0))}
SIZES = (1, 2, 3, 4, 5, 255, 1024, 1027, 4100, 8300)
TASKS = [(name, dtype) for name in NUMBERS
         for dtype in ("float32", "float64", "complex64", "complex128")
         if name != "bernoulli" or dtype[0] == "f"]


def prepared(name, x):
    return device.prepare_random(name, blocks(name, x.dtype, x.size), x)


def wanted(name, x, numbers):
    found = np.empty_like(x)
    REFERENCE[name](found.view(found.real.dtype), *numbers)
    return found


def rounded(pair, x):
    return tuple(float(x.real.dtype.type(v)) for v in pair)


@on_cpu
@pytest.mark.parametrize(("name", "dtype"), TASKS)
@pytest.mark.parametrize("size", SIZES)
def test_the_bits_are_those_of_the_cpu(name, dtype, size):
    x = np.empty(size, dtype)
    for pair, state in zip(NUMBERS[name], STATES, strict=True):
        numbers = (*rounded(pair, x), *state)
        launch_all(prepared(name, x), [x], numbers)
        assert_array_equal(x, wanted(name, x, numbers))


@on_cpu
@pytest.mark.parametrize(("name", "dtype"), TASKS)
def test_they_depend_neither_on_the_launch_nor_on_the_order_of_threads(name, dtype):
    x = np.empty(1003, dtype)
    launch, numbers = prepared(name, x), (*rounded(NUMBERS[name][0], x), *STATES[1])
    target = wanted(name, x, numbers)
    for threads, seed in ((256, 1), (32, 2), (1, 3), (96, 4)):
        x[:] = 0
        count = -(-blocks(name, x.dtype, x.size) // (threads * device.BLOCKS))
        run(launch.program, launch.kernel, frame_of(launch), [x], numbers, (count, 1, 1),
            (threads, 1, 1), seed=seed)
        assert_array_equal(x, target)


@on_cpu
@pytest.mark.parametrize(("name", "dtype"), TASKS)
@pytest.mark.parametrize("offset", [1, 2, 3])
def test_where_elements_do_not_lie_at_16_bytes(name, dtype, offset):
    whole = np.zeros(1000, dtype)
    x = whole[offset:offset + 521]
    numbers = (*rounded(NUMBERS[name][1], x), *STATES[2])
    launch_all(prepared(name, x), [x], numbers)
    assert_array_equal(x, wanted(name, x, numbers))
    assert not whole[:offset].any()
    assert not whole[offset + 521:].any()


def test_nothing_is_launched_for_no_elements():
    assert 0 in prepared("uniform", np.empty((0, 3))).grid


def test_a_counter_beyond_32_bits_of_blocks():
    """Sizes that no test can draw: the grid still reaches the last block, within what can be
    launched.
    """
    x = SimpleNamespace(dtype=np.dtype("float32"), size=2**40)
    launch = device.prepare_random("uniform", blocks("uniform", x.dtype, x.size), x)
    assert launch.grid == (2**28, 1, 1)
    assert frame_of(launch)[0] == 2**40


@needs_nvrtc
@pytest.mark.parametrize(("letter", "bits"), [("f", 32), ("d", 64)])
def test_nothing_is_contracted(letter, bits):
    """The compiler's text for the device: no product is fused with a sum, and division and roots
    are rounded as IEEE says.
    """
    program = device.program("normal", letter)
    assert "--fmad=false" in program.options
    text = ptx(program)
    for name in REFERENCE:
        assert re.search(r"\b(fma|mad)\.(rn|ftz|f)", ptx(device.program(name, letter))) is None
    assert {f"div.rn.f{bits}",
            f"sqrt.rn.f{bits}"} <= set(re.findall(r"(?:div|sqrt)\.\w+\.\w+", text))
    assert not re.search(r"\.approx|\.ftz", text)
    fused = re.search(r"\bfma\.rn", ptx(program._replace(options=())))
    assert fused, "the option is needed, or this test finds nothing"


def ptx(program):
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-python is not installed")
    _, made = nvrtc.nvrtcCreateProgram(program.text.encode(), b"random.cu", 0, [], [])
    options = [b"--gpu-architecture=compute_90", b"-std=c++17",
               *(f"-I{HEADERS / name}".encode() for name in ("shared", "cuda")),
               *(o.encode() for o in program.options)]
    (status,) = nvrtc.nvrtcCompileProgram(made, len(options), options)
    assert int(status) == 0
    text = bytearray(nvrtc.nvrtcGetPTXSize(made)[1])
    nvrtc.nvrtcGetPTX(made, text)
    return text.decode()
