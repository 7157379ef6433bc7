"""SciPy by default: it uses Mats as arrays, and returns arrays."""

import pytest

from .rows import Rows, rows_checked
from .samples import line, spd, square, wave

pytest.importorskip("scipy")
linalg = pytest.importorskip("scipy.linalg")
fft = pytest.importorskip("scipy.fft")
integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")
ndimage = pytest.importorskip("scipy.ndimage")
optimize = pytest.importorskip("scipy.optimize")
signal = pytest.importorskip("scipy.signal")
sparse = pytest.importorskip("scipy.sparse")
spatial = pytest.importorskip("scipy.spatial")
special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")
row = Rows("scipy", globals())

row("linalg.solve(x, x[0])", spd)
row("linalg.cholesky(x)", spd)
row("linalg.svd(x)", spd)
row("linalg.eigh(x)[0]", spd)
row("linalg.expm(x / 100)", spd)
row("fft.fft(x)", wave)
row("signal.fftconvolve(x, x)", wave)
row("signal.detrend(x)", wave)
row("stats.zscore(x)", wave)
row("stats.ttest_ind(x, x + 1)", wave)
row("stats.norm.cdf(x)", wave)
row("special.expit(x)", wave)
row("special.logsumexp(x)", wave)
row("ndimage.gaussian_filter(x, 1)", square)
row("optimize.minimize(lambda p: ((p - 1) ** 2).sum(), x).x.round(3)", line)
row("optimize.linear_sum_assignment(x)", square)
row("integrate.simpson(x)", wave)
row("interpolate.CubicSpline(np.arange(64.0), x)(2.5)", wave)
row("sparse.csr_array(x).toarray()", square)
row("sparse.csr_array(np.eye(4)) @ x[0]", square)
row("x @ sparse.csr_array(np.eye(4))", square)
row("spatial.distance.cdist(x, x)", square)
row("spatial.cKDTree(x).query(x[1])", square)

test_scipy = rows_checked(row)
