"""Users' kernels of all types, and those that know places, where a device is in use: the tests of
the host, computed there, with the same bits.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

from ..ops import test_kernel_places as places
from ..ops import test_kernel_types as types
from ..support.layouts import LAYOUTS, NUMPY_DTYPES
from .test_each import there

__all__ = ["there"]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.sample(4)
def test_all_types(there, dtype):
    types.test_all_types_and_layouts(dtype, "packed")
    types.test_all_types_and_layouts(dtype, "strided")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sample(3)
def test_operands_of_different_types(there, layout):
    types.test_operands_of_different_types(layout, "float16", "int8", "float32")
    types.test_operands_of_different_types(layout, "bool", "int64", "int64")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions(there, dtype):
    types.test_complex_functions(dtype)


def test_floats_of_8_bits(there):
    for dtype in ("float8_e4m3fn", "float8_e5m2"):
        types.test_floats_of_8_bits_are_float_in_the_source(dtype, "packed")
        types.test_floats_of_8_bits_are_float_in_the_source(dtype, "strided")


def test_numbers_and_what_is_unset(there):
    types.test_numbers_are_of_the_common_type()
    types.test_integers_wrap_around()
    types.test_absolute_values_of_integers_are_exact()
    for dtype in ("int32", "int64", "uint8", "uint64"):
        types.test_checked_division(dtype)
    for dtype, unset in (("float16", np.nan), ("int8", 127), ("uint64", 2**64 - 1)):
        types.test_what_is_not_assigned_shows(dtype, unset)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sample(3)
def test_places(there, layout):
    places.test_indices_and_lengths(layout)
    places.test_elements_by_position(layout)


@pytest.mark.parametrize("outside", places.MODES)
@pytest.mark.sample(2)
def test_neighbours(there, outside):
    places.test_neighbours("packed", outside)
    places.test_neighbours("transposed", outside)


def test_tiles_and_made_outputs(there):
    places.test_places_in_tiles()
    for outside in ("nearest", "reflect", "wrap"):
        places.test_windows_in_tiles_have_halos(*places.TILED[0], outside)
        places.test_windows_in_tiles_have_halos(*places.TILED[3], outside)
    places.test_some_outputs_are_given()
    places.test_a_gather_of_another_shape()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_reductions_are_those_of_the_host(there, dtype):
    a, b = (100 * np.random.default_rng(4).standard_normal((2, 40, 703))).astype(dtype)
    for name in ("sum", "max", "any"):
        k = mat.kernel("y = x * z + x / 3", x="input", z="input", y="output", reduce=name)
        values = mat.kernel("y = x * z + x / 3", x="input", z="input", y="output")
        for axis in (None, 0, 1):
            found = k(mat.array(a), mat.array(b), axis=axis)
            assert found.fresh == {"cuda:0"}
            steps = getattr(mat, name)(values(mat.array(a), mat.array(b)), axis=axis)
            assert found.to_numpy().tobytes() == steps.to_numpy().tobytes()
            with mat.use_device("cpu"):
                wanted = k(mat.array(a), mat.array(b), axis=axis).to_numpy()
            assert found.dtype == wanted.dtype
            assert_allclose(found.to_numpy(), wanted, rtol=1e-4)
