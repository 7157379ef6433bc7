"""SciPy with SCIPY_ARRAY_API=1, which has to be set before it is loaded: much of it computes with
Mats, and returns them.
"""

import pytest

from .apart import rows_checked_apart
from .rows import Rows
from .samples import square, wave

fft = pytest.importorskip("scipy.fft")
special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")
signal = pytest.importorskip("scipy.signal")
ndimage = pytest.importorskip("scipy.ndimage")
vq = pytest.importorskip("scipy.cluster.vq")
elementwise = pytest.importorskip("scipy.optimize.elementwise")
optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")
differentiate = pytest.importorskip("scipy.differentiate")
spatial = pytest.importorskip("scipy.spatial")
row = Rows("scipy with SCIPY_ARRAY_API=1", globals(), "scipy")
ENVIRONMENT = {"SCIPY_ARRAY_API": "1"}

row("fft.fft(x)", wave)
row("fft.dct(x)", wave)
row("special.logsumexp(x)", wave)
row("special.erf(x)", wave)
row("special.softmax(x)", wave)
row("special.expit(x)", wave)
row("special.xlogy(x * x, x * x)", wave)
row("stats.zscore(x)", wave)
row("stats.ttest_ind(x, x + 1)", wave)
row("stats.pearsonr(x, x * x)", wave)
row("stats.skew(x)", wave)
row("stats.describe(x)", wave)
row("stats.entropy(x * x)", wave)
row("signal.detrend(x)", wave)
row("signal.fftconvolve(x, x)", wave)
row("signal.sosfilt(signal.butter(2, 0.2, output='sos'), x)", wave, refuses=TypeError)
row("ndimage.gaussian_filter(x, 1)", square)
row("ndimage.median_filter(x, 3)", square)
row("vq.whiten(x)", square)
row("vq.vq(x, x[:2])", square)
row("elementwise.find_root(lambda t, c: t * t - c, (x * 0, x + 1), args=(x,)).x", square)
row("integrate.cubature(lambda t: (t * t).sum(axis=-1), x[0] * 0, x[0] * 0 + 1).estimate", square)
row("differentiate.derivative(lambda t: t * t, x).df", square)
row("optimize.rosen(x)", wave)
row("spatial.transform.Rotation.from_rotvec(x[:, :3]).as_matrix()", square)
row("signal.sosfilt(mat.array(signal.butter(2, 0.2, output='sos')), x)", wave, refuses=ValueError)

test_scipy_array_api = rows_checked_apart(row, **ENVIRONMENT)
