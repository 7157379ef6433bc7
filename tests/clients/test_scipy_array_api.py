"""SciPy with SCIPY_ARRAY_API=1, which has to be set before it is loaded: much of it computes with
Mats, and returns them.
"""

from .apart import rows_checked_apart
from .rows import Library, Rows
from .samples import square, wave

fft = Library("scipy.fft")
special = Library("scipy.special")
stats = Library("scipy.stats")
signal = Library("scipy.signal")
ndimage = Library("scipy.ndimage")
vq = Library("scipy.cluster.vq")
elementwise = Library("scipy.optimize.elementwise")
optimize = Library("scipy.optimize")
integrate = Library("scipy.integrate")
differentiate = Library("scipy.differentiate")
spatial = Library("scipy.spatial")
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
