"""The device's convolution of images with channels, run on the CPU: NumPy's results, for any
settings.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mat.ops.nn import conv as ops

from ..support import cases_conv as reference
from ..support.launching import launch_all
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import conv as device

from .test_nn import filled, form, host, same, scale_of

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler")

SHAPES = [(x, w, settings) for x, w, settings in reference.SHAPES
          if 0 not in x and 0 not in w] + [
    ((3, 5, 13, 9), (70, 5, 3, 3), {"padding": 1}), ((2, 70, 4, 5), (3, 70, 2, 2), {"stride": 2})]


def check_all(x, w, y, settings):
    found = ops.channels("conv", x.shape, w.shape, **settings)
    for prepare, operation, arrays in (
            (device.prepare_conv, ops.correlation, (x, w, y)),
            (device.prepare_conv_to_x, ops.correlation_to_x, (y, w, x)),
            (device.prepare_conv_to_w, ops.correlation_to_w, (x, y, w))):
        arrays = [*arrays[:-1], np.array(arrays[-1])]
        wanted = host(operation, *arrays, sizes=found)
        launch_all(prepare(found, *map(form, arrays)), arrays)
        same(arrays[-1], wanted, scale_of(w, y) ** 0.5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_numpys_results(dtype, rng):
    for x, w, settings in SHAPES:
        y = reference.output_shape(x, w, **settings)
        check_all(*(filled(rng, s, dtype) for s in (x, w, y)), settings)


def test_strides_of_memory(rng):
    x, w, settings = (2, 4, 6, 5), (6, 2, 3, 3), {"padding": 1, "groups": 2}
    y = reference.output_shape(x, w, **settings)
    check_all(*(filled(rng, s[::-1], "float32").T for s in (x, w, y)), settings)


def test_sums_of_several_pieces(rng):
    x, w = (2, 1, 40, 30), (1, 1, 2, 2)
    y = reference.output_shape(x, w)
    x, w, y = (filled(rng, s, "float32") for s in (x, w, y))
    found = ops.channels("conv", x.shape, w.shape)
    assert device.prepare_conv_to_w(found, *map(form, (x, y, w))).room > 8 * w.size
    check_all(x, w, y, {})


def test_elements_outside_add_nothing_even_to_what_is_not_finite(rng):
    x, w = rng.integers(1, 4, (1, 2, 5, 6)).astype("float32"), np.ones((3, 2, 3, 3), "float32")
    y = rng.integers(1, 4, (1, 3, 5, 6)).astype("float32")
    w[1, 1, 0, 0], y[0, 2, 4, 5], x[0, 1, 0, 0] = np.inf, np.nan, -np.inf
    sizes = ops.channels("conv", x.shape, w.shape, padding=1)
    for prepare, operation, arrays in (
            (device.prepare_conv, ops.correlation, (x, w, y)),
            (device.prepare_conv_to_x, ops.correlation_to_x, (y, w, 0 * np.ones_like(x))),
            (device.prepare_conv_to_w, ops.correlation_to_w, (x, y, 0 * np.ones_like(w)))):
        arrays = [*arrays[:-1], np.array(arrays[-1])]
        wanted = host(operation, *arrays, sizes=sizes)
        launch_all(prepare(sizes, *map(form, arrays)), arrays)
        assert_array_equal(arrays[-1], wanted)
