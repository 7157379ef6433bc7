"""Quantized numbers and their products where a device is in use: nothing falls back to the host."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

pytest.importorskip("cuda.core", reason="cuda-python is not installed")
pytest.importorskip("ml_dtypes")


@pytest.mark.parametrize("kind", ["int8", "float8_e4m3fn"])
@pytest.mark.slow
def test_quantized_products_stay_on_the_device(cuda, rng, kind):
    a, b = (rng.standard_normal(shape).astype("float32") for shape in ((5, 12), (12, 8)))
    wanted = [(q.to_numpy(), s.to_numpy()) for q, s in (
        mat.quantize(mat.array(a), kind, -1), mat.quantize(mat.array(b), kind, -2))]
    with mat.use_device("cuda", required=True), mat.debug.count_copies() as n:
        one, other = mat.quantize(mat.array(a), kind, -1), mat.quantize(mat.array(b), kind, -2)
        found = mat.scaled_matmul(*one, *other)
        back = mat.dequantize(*one)
        less = one.values < one.values[:, ::-1]
        assert found.fresh == back.fresh == less.fresh == {"cuda:0"}
        assert (n.fallbacks, n.d2h) == (0, 0)
    for (values, scales), (q, s) in zip((one, other), wanted, strict=True):
        assert_array_equal(values.to_numpy().view("uint8"), q.view("uint8"))
        assert_array_equal(scales.to_numpy(), s)
    products = (q.astype("float64") * s for q, s in wanted)
    exact = next(products) @ next(products)
    assert_allclose(found.to_numpy(), exact, rtol=1e-5, atol=1e-5)
    assert_allclose(back.to_numpy(), a, rtol=0.07, atol=0.02)
    q = wanted[0][0]
    assert_array_equal(less.to_numpy(), q < q[:, ::-1])
