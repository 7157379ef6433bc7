"""NumPy's functions on a device with less room than one of their operands: operations are cut into
tiles, so that the results are the same; but some factorisations and transforms are of the whole.
"""

import numpy as np
import pytest

import mat

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
