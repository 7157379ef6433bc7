"""NumPy's functions on a device with less room than one of their operands: operations are cut into
tiles, so that the results are the same; but some factorisations and transforms are of the whole.
"""

import re

import numpy as np
import pytest

import mat
from mat.memories import file_pages
from mat.ops.tiles import file_tiles

from ..support import composed_calls, ordinary_calls
from ..support.ordinary_calls import arrays
from .test_composed_on_devices import check_is_numpys

pytestmark = pytest.mark.host
POOL_BYTES = 280  # the matrices of the calls have 288 bytes, complex ones 576
CALLS = [*composed_calls.THERE, *composed_calls.ASKED, *ordinary_calls.THERE]
# transforms and some factorisations, which are not cut, and those of which no panel fits
WHOLE = ("np.linalg.slogdet(z)", "np.fft.irfft2(x)", "np.fft.rfftn(s, (4, 2), axes=(0, 2))",
         "np.linalg.svdvals(x)", "np.linalg.pinv(x)", "np.linalg.eigvalsh(x)", "np.linalg.cond(x)",
         "np.linalg.norm(x, 2)", 'np.linalg.norm(x, "nuc")', 'abs(np.linalg.qr(x, "r"))')


def called(call):
    """The result of a call with Mats, in the small pool."""
    mats = {name: mat.array(a) for name, a in arrays().items()}
    with mat.use_device("emulated", required=True, pool_bytes=POOL_BYTES):
        return eval(call, {"np": np, "mat": mat, **mats})


@pytest.mark.parametrize("call", [c for c in CALLS if c not in WHOLE])
def test_results_are_the_same(call):
    check_is_numpys(called(call), call)


@pytest.mark.parametrize("call", WHOLE)
def test_what_has_to_fit_says_the_least_pool(call):
    with pytest.raises(mat.OutOfDeviceMemory, match=r"give pool_bytes = \d+ or more"):
        called(call)


# Larger operands, and a tenth of the largest one


def calls():
    """Calls and the bytes that have to be copied: of what is read, and of results."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 120, 100))
    x, y, v = mat.array(a), mat.array(b), mat.array(a[0])
    n = x.nbytes
    yield lambda: x + y, 3 * n
    yield lambda: x.T + y.reshape(100, 120), 3 * n
    yield lambda: mat.multiply(x, v), 2 * n + v.nbytes
    yield lambda: mat.exp(x.astype("float32")), 1.5 * n + n
    yield lambda: x.sum(axis=1), n
    yield lambda: x.sum(axis=0), n
    yield lambda: x.argmax(), n
    yield lambda: x.argmin(axis=0), n
    yield lambda: x.std(axis=0), n
    yield lambda: np.cumsum(x, axis=0), 2 * n
    yield lambda: np.cumsum(x), 2 * n
    yield lambda: mat.clip(x, -1, 1), 2 * n
    yield lambda: mat.concat([x, y], axis=1), 4 * n
    yield lambda: mat.axpy(2, x, y.copy()), 5 * n
    yield lambda: mat.nrm2(x), n
    yield lambda: mat.allclose(x, y), 2 * n
    yield lambda: mat.zeros(120, 100).normal_(rng=mat.Rng(3)), n
    yield lambda: mat.nn.max_pool(x, mat.empty(60, 50), pool_shape=2, stride=2), 1.25 * n


MERGED = (5, 7, 8)  # calls that reduce axes which are cut


@pytest.mark.parametrize("k", range(len(list(calls()))))
def test_each_element_is_copied_once(k):
    """But for results of parts, of which one here takes a twelfth of the pool."""
    call, nbytes = list(calls())[k]
    wanted = np.asarray(call())
    with mat.use_device("emulated", pool_bytes=9600) as device:
        before = dict(device.transfers)
        found = call()
    moved = sum(device.transfers[way] - before[way] for way in ("h2d", "d2h"))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)
    assert moved <= (1.3 if k in MERGED else 1.01) * nbytes, moved / nbytes


NEIGHBOURS = {"differences": lambda x: x[1:] - x[:-1], "diff": lambda x: np.diff(x, axis=0),
              "fused": mat.fused(lambda x: x[2:] + x[:-2] - 2 * x[1:-1])}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_views_of_neighbouring_rows_copy_each_row_once(name):
    x = mat.array(np.random.default_rng(1).standard_normal((400, 30)))
    wanted = NEIGHBOURS[name](x.to_numpy())
    with mat.use_device("emulated", pool_bytes=x.nbytes // 4) as device:
        before = dict(device.transfers)
        found = np.asarray(NEIGHBOURS[name](x))
    assert np.array_equal(found, wanted)
    assert sum(device.transfers[way] - before[way] for way in ("h2d", "d2h")) <= 2 * x.nbytes


# Functions composed element by element, or line by line: each part of an operand is copied once for
# all operations

COMPOSED = [
    "np.float_power(2, y)", "np.logaddexp2(x, v)", "np.spacing(x)", "np.modf(x)",
    "np.frexp(x)", "np.ldexp(x, k)", "np.degrees(k)", "np.fabs(k)", "np.bitwise_count(k)",
    "np.isclose(x, y)", "np.isclose(x.T, 0.5, atol=0.4)", "np.isclose(x, y, equal_nan=True)",
    "np.nan_to_num(n)", "np.nan_to_num(z, nan=2.0)", "np.nan_to_num(k)", "np.sinc(x)",
    "np.sinc(w)", "np.angle(z)", "np.angle(z.T, deg=True)", "np.round(x, 2)", "np.round(z, 1)",
    "np.isreal(z)", "np.iscomplex(z)", "np.digitize(x, [-1.0, 0.0, 1.0])",
    "np.digitize(x, [1.0, 0.0, -1.0], right=True)", "np.interp(x, [-1, 0, 2], [3.0, 4.0, 5.0])",
    "np.interp(n, [-1, 0, 2], [3.0, 4.0, 5.0], left=-7)",
    "np.interp(x, [-1, 0, 2], [3.0, 4.0, 5.0], period=3)",
    "np.interp(k, [-1, 0, 2], [3j, 4.0, 5.0])", "np.polyval(v[:4], x)",
    "np.isin(k, [3, 4, -7, 1])", "np.select([q, q], [x, y], 7.0)", "np.choose(q, [x, y])",
    'np.choose(k, [x, y], mode="wrap")', "np.piecewise(x, [q], [2.5, -1.0])",
    "np.median(x, axis=1)", "np.nanmedian(n, axis=0)", "np.quantile(x, 0.3, axis=0, keepdims=True)",
    "np.nanquantile(n, 0.2, axis=1)", "np.unwrap(x[:, :17])", "np.sort(x, axis=0)",
    "np.argsort(x.T, axis=1)"]
REDUCED = {  # and how often they copy their operands
    "np.linalg.norm(x, axis=1)": 1, "np.linalg.vector_norm(w, axis=0)": 1,
    "np.linalg.norm(x, 1, axis=0)": 1, "np.nansum(n, axis=0)": 1, "np.nanprod(n, axis=1)": 1,
    "np.ptp(x, axis=0)": 1, "np.average(x, axis=1, weights=v)": 1, "np.trapezoid(x, axis=0)": 1,
    "np.nanmean(n, axis=0)": 2, "np.nanargmax(n, axis=1)": 2, "np.nanargmin(n)": 2,
    "np.nanvar(p, axis=0)": 2, "np.nanstd(p, axis=1, ddof=1)": 4}


def large_operands(rows=16):
    """Arrays by name."""
    rng = np.random.default_rng(2)
    x, y, parts = rng.standard_normal((3, rows, 25))
    n = np.where(abs(x) > 2, np.nan, np.where(y > 2, np.inf, x))
    return {"x": x, "y": y, "v": x[0].copy(), "n": n, "p": np.where(n > 9, np.nan, n), "q": y > 1,
            "z": n + 1j * parts, "w": x + 1j * parts, "k": rng.integers(-50, 50, (rows, 25))}


def in_pool(call, operands, pool_bytes=4800):
    """Results of a call with Mats, a tuple, and how many bytes were copied."""
    with mat.use_device("emulated", pool_bytes=pool_bytes) as device:
        before = dict(device.transfers)
        found = eval(call, {"np": np, **operands})
        found = found if isinstance(found, tuple) else (found,)
        results = [np.asarray(part) for part in found]
    return results, sum(device.transfers[way] - before[way] for way in ("h2d", "d2h"))


@pytest.mark.parametrize("call", COMPOSED)
def test_a_composed_function_copies_each_element_once(call):
    arrays = large_operands()
    wanted = eval(call, {"np": np, **arrays})
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    results, moved = in_pool(call, {name: mat.array(a) for name, a in arrays.items()})
    for found, whole in zip(results, wanted, strict=True):
        assert found.dtype == whole.dtype
        np.testing.assert_allclose(found, whole, rtol=1e-14, atol=1e-14)
    read = [arrays[name] for name in {*re.findall(r"\b[a-z]\b", call)}]
    nbytes = sum(a.nbytes for a in (*wanted, *read))
    assert moved <= 1.05 * nbytes


@pytest.mark.parametrize("call", REDUCED)
def test_a_composed_reduction_copies_its_operands_only(call):
    arrays = large_operands(480)  # smaller results are never pending
    with np.errstate(all="ignore"):
        wanted = eval(call, {"np": np, **arrays})
    [found], moved = in_pool(call, {name: mat.array(a) for name, a in arrays.items()}, 104_000)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    read = [arrays[name] for name in {*re.findall(r"\b[a-z]\b", call)}]
    assert moved <= 1.01 * REDUCED[call] * sum(a.nbytes for a in read) + 3 * wanted.nbytes


@pytest.mark.parametrize("call", REDUCED)
def test_a_composed_reduction_of_a_large_file(call, monkeypatch, tmp_path):
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 100)
    monkeypatch.setattr(file_tiles, "TILE", 512)
    arrays = large_operands()
    operands = {"np": np}
    for name, a in arrays.items():
        operands[name] = mat.open_memmap(tmp_path / f"{name}.npy", "w+", a.dtype, a.shape)
        operands[name][...] = a
    with np.errstate(all="ignore"):
        wanted = eval(call, {"np": np, **arrays})
    np.testing.assert_allclose(np.asarray(eval(call, operands)), wanted, rtol=1e-12)


@pytest.mark.parametrize("call", [*COMPOSED, *REDUCED])
def test_a_plan_foretells_a_composed_function(call):
    arrays, pool_bytes = (large_operands(480), 104_000) if call in REDUCED else (
        large_operands(), 4800)
    operands = {name: mat.array(a) for name, a in arrays.items()}
    plan = mat.debug.plan(lambda: eval(call, {"np": np, **operands}), pool_bytes=pool_bytes)
    assert plan.moved == in_pool(call, operands, pool_bytes)[1]


def test_lines_that_have_no_room_with_intermediate_results_are_cut_by_each_operation():
    x = mat.array(large_operands()["x"])
    plan = mat.debug.plan(np.unwrap, x, pool_bytes=4800)
    [found], moved = in_pool("np.unwrap(x)", {"x": x})
    assert np.array_equal(found, np.unwrap(x.to_numpy()))
    assert moved > 8 * x.nbytes
    assert len(plan.calls) > 8
    assert not any(call.problem for call in plan.calls)


def test_a_table_can_be_an_operand_too():
    at = np.sort(large_operands()["x"].reshape(-1))
    [found], _ = in_pool("np.interp(t, t, t)", {"t": mat.array(at)})
    assert np.array_equal(found, at)
    [found], _ = in_pool("np.interp(x, t, t)", {"t": mat.array(at[::40]), "x": mat.array(at)})
    np.testing.assert_allclose(found, np.interp(at, at[::40], at[::40]), rtol=1e-14)


def test_composed_results_can_be_given_and_are_parts_of_fused_expressions():
    arrays = large_operands()
    x, y, k = (mat.array(arrays[name]) for name in "xyk")
    out = mat.empty(x.shape)
    with mat.use_device("emulated", pool_bytes=4800):
        assert np.ldexp(x, k, out=out) is out
        with mat.fused():
            near = np.isclose(x * 2, y + x)
    assert np.array_equal(out.to_numpy(), np.ldexp(arrays["x"], arrays["k"]))
    assert np.array_equal(near.to_numpy(), np.isclose(arrays["x"] * 2, arrays["y"] + arrays["x"]))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_elements_that_leave_no_room_are_not_computed_by_many_launches(axis):
    """A sum that is not cut, since its operand has room, of products that have room only alone."""
    a, b = np.random.default_rng(3).random((2, 120, 100))
    operands = {"x": mat.array(a), "w": mat.array(b)}
    call, pool_bytes = f"np.average(x, axis={axis}, weights=w)", a.nbytes + 1000
    with mat.use_device("emulated") as device:
        before = device.launches
        [found], moved = in_pool(call, operands, pool_bytes)
        assert device.launches - before < 100
    with mat.use_device("emulated", pool_bytes=pool_bytes):
        products = operands["x"] * operands["w"]
        wanted = products.sum(axis) / operands["w"].sum(axis)
        assert np.array_equal(found, np.asarray(wanted))
    assert moved <= 5.1 * a.nbytes
    plan = mat.debug.plan(lambda: eval(call, {"np": np, **operands}), pool_bytes=pool_bytes)
    assert plan.moved == moved


@pytest.mark.parametrize("call", ["np.cov(x)", "np.cov(x.T, rowvar=False)", "np.corrcoef(x)",
                                  "np.cov(z)", "np.cov(x, aweights=w)"])
def test_covariances_copy_observations_twice(call):
    """Once for the means and once for the products, where the distances have no room."""
    x, y = np.random.default_rng(3).standard_normal((2, 40, 5000))
    arrays = {"x": x, "z": x + 1j * y, "w": abs(y[0])}
    operands = {name: mat.array(a) for name, a in arrays.items()}
    [found], moved = in_pool(call, operands, 400_000)
    wanted = eval(call, {"np": np, **arrays})
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert moved <= 2.1 * arrays["z" if "z" in call else "x"].nbytes
    if "w" not in call:  # a plan does not know the sum of the weights
        plan = mat.debug.plan(lambda: eval(call, {"np": np, **operands}), pool_bytes=400_000)
        assert plan.moved == moved
