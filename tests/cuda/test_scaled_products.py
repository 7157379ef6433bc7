"""Scaled products of narrow types on the device: 8-bit floats by cuBLASLt where it has them, and
otherwise as float16; integers and halves by cuBLAS and one kernel that scales.
"""

import gc
import importlib
import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.extend import Observer, observe

from ..tools.mock_driver.fixtures import cuda_is_real

pytest.importorskip("cuda.core", reason="cuda-python is not installed")
pytest.importorskip("ml_dtypes")

KINDS = {"4": "float8_e4m3fn", "5": "float8_e5m2", "b": "int8", "B": "uint8", "e": "float16",
         "E": "bfloat16"}


def lt():
    return importlib.import_module("mat.cuda.libraries.cublaslt")


def some(rng, shape, kind):
    if "int" in kind:
        info = np.iinfo(kind)
        return mat.array(rng.integers(info.min, info.max, shape, kind, endpoint=True))
    return mat.array(rng.standard_normal(shape).astype("float32")).astype(kind)


def scales(rng, *shape):
    return mat.array(rng.uniform(0.5, 2, shape).astype("float32"))


def exact(a, a_scales, b, b_scales):
    a, a_scales, b, b_scales = (x.to_numpy().astype("float64") for x in (a, a_scales, b, b_scales))
    return (a @ b) * a_scales * b_scales


def check(found, operands):
    """A card's instructions for 8-bit floats keep fewer bits of sums than float32 has."""
    wanted = exact(*operands)
    few = cuda_is_real() and str(operands[0].dtype) in (KINDS["4"], KINDS["5"])
    tolerance = 1e-3 if few else 2e-5
    assert_allclose(found.to_numpy(), wanted, rtol=tolerance,
                    atol=tolerance * max(1, abs(wanted).max() if few else 1))


def forget():
    """Have prepared products ask for their plans again."""
    for x in gc.get_objects():
        if isinstance(x, lt().Float8Product):
            x.plans.clear()


@pytest.fixture
def calls(cuda, monkeypatch):
    """A function of names that returns how often each was called since the last time."""
    monkeypatch.setattr(lt(), "_plans", type(lt()._plans)(lt().MOST))
    forget()
    if not cuda.is_mock:
        pytest.skip("about what the mock driver counts")
    last = {}

    def count(*names):
        found = {name: cuda.calls(name) for name in names}
        new = [found[name] - last.get(name, 0) for name in names]
        last.update(found)
        return new
    return count


CALLS = "cublasLtMatmul", "cublasGemmEx", "cublasLtMatmulAlgoGetHeuristic"


@pytest.mark.parametrize("pair", ["44", "45", "54", "55", "bb", "bB", "BB", "ee", "EE"])
@pytest.mark.parametrize("scaled", ["one one", "rows columns", "rows one", "one columns"])
def test_products_of_every_kind(dev, rng, pair, scaled):
    one, other = scaled.split()
    for m, n, k in ((5, 16, 32), (16, 32, 48), (7, 16, 21), (5, 6, 7), (1, 16, 16), (16, 1, 16)):
        a, b = some(rng, (m, k), KINDS[pair[0]]), some(rng, (k, n), KINDS[pair[1]])
        operands = (a, scales(rng, m if one == "rows" else 1, 1), b,
                    scales(rng, 1, n if other == "columns" else 1))
        check(mat.scaled_matmul(*operands), operands)


# how operands lie in memory
PLACES = {
    "packed": lambda x: x.copy(),
    "transposed": lambda x: x.T.contiguous().T,
    "wider": lambda x: mat.concat([x, x], axis=1)[:, :x.shape[1]],
    "displaced": lambda x: mat.concat([x, x], axis=1)[:, x.shape[1] - 3:2 * x.shape[1] - 3],
    "backwards": lambda x: x[::-1].contiguous()[::-1],
}


def placed(rng, shape, kind, place):
    x = some(rng, shape, kind).view("uint8")
    return PLACES[place](x).view(kind)


@pytest.mark.parametrize(("one", "other"), [
    *itertools.product(PLACES, repeat=2)])
def test_operands_lie_anywhere(dev, rng, one, other):
    a = placed(rng, (16, 32), "float8_e4m3fn", one)
    b = placed(rng, (32, 16), "float8_e4m3fn", other)
    operands = a, scales(rng, 16, 1), b, scales(rng, 1, 16)
    check(mat.scaled_matmul(*operands), operands)


def test_what_is_read_where_it_is_is_not_copied(dev, rng, calls):
    a, b = some(rng, (8, 32), "float8_e4m3fn"), some(rng, (16, 32), "float8_e4m3fn")
    operands = a, scales(rng, 8, 1), b.T, scales(rng, 1, 16)
    mat.scaled_matmul(*operands)
    calls(*CALLS, "cuLaunchKernel")
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS, "cuLaunchKernel") == [1, 0, 0, 0]


@pytest.mark.parametrize("make", [
    lambda: mat.zeros(16, 16, dtype="float32"),
    lambda: mat.zeros(16, 16, dtype="float32").T,
    lambda: mat.zeros(16, 40, dtype="float32")[:, 4:20],
    lambda: mat.zeros(16, 40, dtype="float32")[:, 3:19],
    lambda: mat.zeros(16, 40, dtype="float32").T[5:21],
    lambda: mat.zeros(32, 32, dtype="float32")[::2, ::2],
    lambda: mat.zeros(16, 16, dtype="float32")[::-1]])
@pytest.mark.parametrize("kind", ["float8_e4m3fn", "int8", "float16"])
def test_results_lie_anywhere(dev, rng, make, kind):
    operands = (some(rng, (16, 32), kind), scales(rng, 16, 1), some(rng, (32, 16), kind),
                scales(rng, 1, 16))
    out = make()
    assert mat.scaled_matmul(*operands, out=out) is out
    check(out, operands)


STACKS = [((3, 5, 16), (3, 16, 16)), ((3, 5, 16), (16, 16)), ((2, 1, 5, 16), (3, 16, 16)),
          ((2, 3, 5, 16), (2, 3, 16, 16)), ((1, 5, 16), (1, 16, 16)), ((4, 5, 9), (4, 9, 6))]


@pytest.mark.parametrize(("left", "right"), STACKS)
@pytest.mark.parametrize("kind", ["float8_e4m3fn", "int8", "bfloat16"])
def test_stacks(dev, rng, left, right, kind):
    a, b = some(rng, left, kind), some(rng, right, kind)
    ones = (1, 1), (1, 1)
    for one, other in (ones, ((left[-2], 1), (1, right[-1])),
                       ((*left[:-1], 1), (*right[:-2], 1, right[-1]))):
        operands = a, scales(rng, *one), b, scales(rng, *other)
        check(mat.scaled_matmul(*operands), operands)


def test_a_stack_is_one_call(dev, rng, calls):
    a, b = (some(rng, (3, 16, 32), "float8_e4m3fn") for _ in range(2))
    operands = a, scales(rng, 1, 1), b.swapaxes(-1, -2), scales(rng, 1, 1)
    calls(*CALLS)
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS) == [1, 0, 1]


def test_integers_are_exact_whatever_their_lengths(dev, rng):
    a, b = (mat.array(np.full(shape, -128, "int8")) for shape in ((2, 33000), (33000, 4)))
    one = mat.ones(1, 1, dtype="float32")
    assert_array_equal(mat.scaled_matmul(a, one, b, one).to_numpy(),
                       np.full((2, 4), np.float32(33000 * 128 * 128)))


def test_scales_are_multiplied_in_one_launch(dev, rng, calls):
    operands = (some(rng, (8, 16), "int8"), scales(rng, 8, 1), some(rng, (16, 12), "int8"),
                scales(rng, 1, 12))
    mat.scaled_matmul(*operands)
    calls(*CALLS, "cuLaunchKernel")
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS, "cuLaunchKernel") == [0, 1, 0, 1]


def float8_operands(rng, m=8, n=16):
    return (some(rng, (m, 32), "float8_e4m3fn"), scales(rng, m, 1),
            some(rng, (32, n), "float8_e4m3fn"), scales(rng, 1, n))


def test_an_algorithm_is_kept_for_a_form(dev, rng, calls):
    calls(*CALLS)
    for _ in range(3):
        operands = float8_operands(rng)
        check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS) == [3, 0, 1]
    mat.scaled_matmul(*float8_operands(rng, n=32))
    assert calls(*CALLS) == [1, 0, 1]


def test_a_refused_form_is_not_asked_for_again(dev, rng, calls):
    calls(*CALLS)
    for asked in (2, 0):  # with scales and without
        operands = float8_operands(rng, n=20)
        check(mat.scaled_matmul(*operands), operands)
        assert calls(*CALLS) == [0, 1, asked]


def test_plans_that_are_not_kept_are_destroyed(dev, rng, calls, monkeypatch):
    monkeypatch.setattr(lt()._plans, "most", 1)
    mat.scaled_matmul(*float8_operands(rng))
    names = "cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy", "cublasLtMatrixLayoutDestroy"
    calls(*names)
    forget()
    mat.scaled_matmul(*float8_operands(rng, n=32))
    assert calls(*names) == [1, 1, 3]


def test_cards_before_ada_multiply_float16(dev, rng, calls, monkeypatch):
    monkeypatch.setattr(lt().cublas, "capability_of", lambda gpu: 80)
    calls(*CALLS)
    operands = float8_operands(rng)
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS) == [0, 1, 0]


def test_scales_of_lines_are_a_launch_where_only_hopper_has_them(dev, cuda, rng, calls):
    calls(*CALLS, "cuLaunchKernel")
    cuda.capability(0, 100)
    operands = float8_operands(rng)
    found = mat.scaled_matmul(*operands)
    assert calls(*CALLS) == [1, 0, 2]
    check(found, operands)


def test_without_the_library_float16_is_multiplied(dev, rng, calls, monkeypatch):
    monkeypatch.setattr(lt().library, "reason", "it is missing")
    calls(*CALLS)
    operands = float8_operands(rng)
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS) == [0, 1, 0]


@pytest.mark.parametrize("name", ["cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"])
def test_what_is_not_supported_is_computed_otherwise(dev, cuda, rng, calls, name):
    cuda.fail(name, times=2, status=15)
    operands = float8_operands(rng)
    calls(*CALLS)
    check(mat.scaled_matmul(*operands), operands)
    assert calls(*CALLS)[1] == 1


def test_an_error_of_the_library_is_raised(dev, cuda, rng, calls):
    cuda.fail("cublasLtMatmul", status=14)
    with pytest.raises(mat.DeviceError, match="cublasLtMatmul"):
        mat.scaled_matmul(*float8_operands(rng))


def test_a_graph_repeats_it(dev, rng, calls):
    a, one, b, other = float8_operands(rng)
    out = mat.zeros(8, 16, dtype="float32")

    @mat.graph
    def step(a, out):
        mat.scaled_matmul(a, one, b, other, out=out)

    for _ in range(4):
        a.assign_(some(rng, (8, 32), "float8_e4m3fn"))
        step(a, out)
        check(out, (a, one, b, other))


def test_small_pools_compute_it_too(cuda, rng):
    operands = float8_operands(rng, 64, 64)
    with mat.use_device("cuda", required=True, pool_bytes=12 << 10):
        found = mat.scaled_matmul(*operands)
    check(found, operands)


def test_observers_see_the_call(dev, rng, calls):
    seen = []

    class Calls(Observer):
        def called(self, routine, **arguments):
            seen.append((routine, arguments.get("kind"), arguments.get("scales")))

    with observe(Calls()):
        mat.scaled_matmul(*float8_operands(rng))
    assert ("cublasLtMatmul", "44f", 3) in seen
