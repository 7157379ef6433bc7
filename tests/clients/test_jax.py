"""JAX: arrays of Mats for reading, on the CPU."""

import numpy as np
import pytest

import mat

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def of_64_bits():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("transposed", [False, True])
def test_arrays_over_the_memory_of_a_mat(transposed):
    a = np.arange(12_000.0).reshape(300, 40)
    x = mat.array(a).copy()  # which is aligned
    x, a = (x.T, a.T) if transposed else (x, a)
    with x.facet("jax", "input") as j:
        with x.facet("array", "input") as own:
            assert j.unsafe_buffer_pointer() == own.ctypes.data
        total = jax.numpy.sum(j * j).block_until_ready()
    assert total == (a * a).sum()


@pytest.mark.parametrize(("make", "direction", "error", "text"), [
    (lambda: mat.ones(300), "io", mat.DirectionError, "got 'io'"),
    (lambda: mat.ones(300), "output", mat.DirectionError, "got 'output'"),
    (lambda: mat.ones(300)[::2], "input", mat.ShapeError, "no gaps"),
    (lambda: mat.ones(300)[::-1], "input", mat.ShapeError, "no gaps"),
    (lambda: mat.ones(300)[1:], "input", mat.ExchangeError, "64 bytes"),
    (lambda: mat.ones(300, dtype="bfloat16"), "input", mat.DTypeError, "bfloat16"),
])
def test_what_jax_lacks(make, direction, error, text):
    with pytest.raises(error, match=text):
        make().facet("jax", direction).__enter__()


def test_without_64_bits_no_copy_of_32_is_made():
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(mat.DTypeError, match="jax_enable_x64"):
        mat.ones(300).facet("jax", "input").__enter__()
    with mat.ones(300, dtype="float32").facet("jax", "input") as j:
        assert j.dtype == "float32"


def test_an_array_that_outlives_its_block_is_found():
    def late():
        x = mat.ones(300)
        with x.facet("jax", "input") as j:
            pass
        j.sum().block_until_ready()
        mat.ones(1).sum()

    text = r"facet 'jax' for 'input'.*used after its end"
    with mat.debug.check_directions() as c, pytest.raises(mat.DirectionError, match=text):
        late()
    assert len(c.faults) == 1
