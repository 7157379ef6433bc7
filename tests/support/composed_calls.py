"""Calls of NumPy's functions that devices have no kernels of, and that are made there of operations
that have some.
"""

import numpy as np

UFUNCS = """
np.logaddexp2(x, y); np.spacing(x); np.float_power(abs(x), 2.5); np.float_power(x, 2)
np.ldexp(x, k); np.frexp(x); np.modf(x); np.bitwise_count(k); np.degrees(x); np.radians(x)
np.positive(x); np.fabs(x); np.isposinf(x); np.isneginf(x); np.fix(x); np.vecdot(x, y)
np.matvec(x, v); np.vecmat(v, x); np.add.reduceat(v, [0, 2, 4])
np.maximum.reduceat(x, [0, 3], axis=1); np.bitwise_or.reduce(k); np.bitwise_and.reduce(k, axis=1)
np.bitwise_xor.reduce(k); np.hypot.reduce(v); np.subtract.reduce(x); np.fmax.accumulate(v)
np.logaddexp.reduce(v); np.subtract.accumulate(v); np.bitwise_or.accumulate(k)
np.logical_or.accumulate(m); np.add.reduceat(x, [0, 3], axis=0); np.logical_xor.reduce(m)
np.minimum.reduceat(v, [0, 3, 1]); np.ldexp(x, -1070); np.ldexp(x * 1e300, k * 20)
np.frexp(x * 1e-310); np.frexp(np.where(m, np.inf, x)); np.modf(np.where(m, -np.inf, x))
np.spacing(x.astype('float32')); np.spacing(np.where(m, 0.0, x))
np.logaddexp2(np.where(m, np.inf, x), np.inf); np.logaddexp2(x, 2.0); np.gcd(k, 4); np.lcm(k, k.T)
np.gcd.reduce(k, axis=1); np.gcd.reduce(-k[:, :1], axis=1); np.hypot.reduce(x[:1])
np.delete(x, [], axis=0); np.gcd(k.astype('int8') - 4, k.astype('int8')); np.bitwise_count(k - 4)
np.bitwise_count(k.astype('uint8')); np.bitwise_count(k.astype('int16') * -999); np.vecdot(z, x)
np.float_power(k, 2); np.vecdot(s, s[0]); np.subtract.reduceat(x, [3, 1, 1, 4], axis=1)
np.bitwise_xor.accumulate(k, axis=1); np.logical_xor.reduce(k, axis=None)
np.fmin.accumulate(x, axis=1); np.multiply.reduceat(v, [5])
np.hypot.reduce(x, axis=1, keepdims=True); np.float_power(z, 1.5)
"""
FUNCTIONS = """
np.linalg.det(x); np.linalg.slogdet(z); np.linalg.det(s[0]); np.real(z); np.imag(z); z.real + 1
z.imag * 2; z.T.real[1]
np.interp(v, w, w, period=2); np.convolve(z[0], w); np.quantile(x, 0.5, method='nearest')
np.pad(x, 1, mode='mean'); np.gradient(v, edge_order=2); np.sinc(x); np.sinc(z); np.angle(z)
np.angle(x); np.isreal(z); np.iscomplex(z); np.real_if_close(x); np.unwrap(v)
np.unwrap(x, axis=0); np.nan_to_num(z); np.linalg.vecdot(x, y)
np.quantile(x, 0.5, method='lower'); np.quantile(x, 0.5, method='higher')
np.quantile(x, 0.5, method='midpoint'); np.quantile(x, [0.2, 0.5], method='hazen')
np.linalg.norm(z); np.cov(v, w); np.corrcoef(v, w); np.corrcoef(z); np.gradient(x, 2.0, 3.0)
np.linalg.norm(x, 1); np.linalg.norm(x, np.inf); np.linalg.norm(x, -1); np.linalg.norm(x, 'fro')
np.linalg.norm(v, 1); np.linalg.norm(v, np.inf); np.linalg.norm(v, 0); np.linalg.norm(v, 3)
np.linalg.norm(x, 2, axis=1); np.linalg.norm(x, np.inf, axis=0); np.linalg.norm(x, keepdims=True)
np.linalg.vector_norm(x); np.linalg.vector_norm(x, axis=0, ord=1); np.linalg.matrix_norm(x)
np.linalg.matrix_norm(s, ord=1); np.linalg.norm(z, axis=1); np.linalg.norm(z, 1)
np.linalg.norm(k); np.linalg.norm(k, axis=0); np.linalg.matrix_power(x, 3)
np.linalg.matrix_power(x, -1); np.linalg.cross(x[:, :3], y[:, :3]); np.polyval(v, w)
np.polyadd(v, w); np.polysub(v, w[:3]); np.polymul(v, w); np.polyder(v); np.polyint(v)
np.vander(v); np.vander(v, 3, increasing=True); np.unique(k, axis=0); np.sort_complex(v)
np.ediff1d(v); np.ediff1d(x, to_begin=0.0); np.pad(x, 1, mode='maximum')
np.pad(x, 1, mode='minimum'); np.pad(x, 2, mode='linear_ramp', end_values=1.0)
np.pad(x, 1, mode='median'); np.pad(v, 9, mode='reflect'); np.pad(v, 9, mode='wrap')
np.pad(v, 9, mode='symmetric'); np.pad(v, 2, mode='mean', stat_length=2)
np.pad(v, 2, mode='reflect', reflect_type='odd'); np.pad(m, 1); np.block([[x, y], [y, x]])
np.concatenate([x, y], axis=None); np.resize(x, (4, 20)); np.repeat(v, [1, 2, 0, 1, 1, 3])
np.delete(v, [0, 2]); np.delete(v, slice(0, 6, 2)); np.insert(v, [1, 3], 2.0)
np.insert(x, 1, v, axis=0); np.insert(x, 2, 0.0, axis=1); np.append(v, 3.0); np.diagflat(v)
np.linspace(v, w, 5); np.logspace(v, w, 3); (np.fill_diagonal(x, 0.0), x)[1]
(np.fill_diagonal(x, v), x)[1]; np.full_like(x, v); np.full_like(k, 3); np.full_like(x, 1)
np.apply_over_axes(np.sum, s, [0, 2]); np.piecewise(x, [x < 0, x >= 0], [-1.0, 1.0])
np.piecewise(x, [x < 0], [lambda t: -t, lambda t: t]); np.tril_indices_from(x)
np.triu_indices_from(x); np.diag_indices_from(x); np.unravel_index(k, (3, 3))
np.ravel_multi_index((k % 6, k % 3), (6, 6)); np.packbits(m); np.packbits(m, axis=1)
np.unpackbits(m.astype('uint8')); np.cross(x[:, :3], y[:, :3]); np.kron(np.eye(2), x)
np.kron(v, x); np.vdot(z, z); np.einsum('...ij->...ji', s); np.einsum('...i,...i->...', x, y)
np.einsum('ij,j', k, k[0]); np.einsum(x, [0, 1], y, [1, 2]); np.correlate(z[0], z[1], 'full')
np.interp(x, np.sort(w), z[0]); np.round(k); np.round(z, 1); np.isclose(z, z); np.isclose(k, k)
np.fft.fftshift(v); np.fft.ifftshift(x); np.gradient(x, edge_order=2, axis=1); np.gradient(k)
np.gradient(x.astype('float32'), 2); np.gradient(z)
np.quantile(x, [0.0, 0.3, 1.0], method='averaged_inverted_cdf', axis=0)
np.quantile(v, 0.37, method='inverted_cdf'); np.quantile(v, 0.37, method='closest_observation')
np.percentile(x, [5, 50, 99], method='weibull', axis=1)
np.quantile(k, 0.5, method='median_unbiased'); np.quantile(x, [0, 1])
np.median(x, axis=[0]); np.quantile(x, 0.5, axis=[1]); np.add(x, y, dtype='float64')
np.multiply(x, 2.0, dtype=float); np.exp(v, dtype=None); np.subtract(k, 1, dtype=k.dtype)
np.einsum('ij,kj->ik', x, y, dtype='float64', order='K', casting='safe')
np.quantile(v, 0.6, method='normal_unbiased')
np.quantile(v, 0.6, method='interpolated_inverted_cdf')
np.pad(x, ((0, 2), (3, 0)), mode='maximum'); np.pad(k, 2, mode='mean')
np.pad(k, 1, mode='median'); np.pad(x, (7, 8), mode='symmetric')
np.pad(v, (2, 3), mode='linear_ramp', end_values=(-1, 2))
np.pad(v, 3, mode='symmetric', reflect_type='odd'); np.insert(v, 2, [1.0, 2.0])
np.insert(v, [0, 6, 3], w[:3]); np.insert(x, [1], v.reshape(6, 1), axis=1)
np.delete(x, [1, -1], axis=1); np.repeat(x, [2], axis=1); np.block([v, w])
np.block([[x, v.reshape(6, 1)]])
np.linspace(v, 2.0, 4, axis=-1); np.linspace(k[0], k[1], 3, endpoint=False)
np.unwrap(x * 9, discont=4.0); np.unwrap(v * 300, period=360); np.linalg.norm(s, axis=(0, 2))
np.linalg.norm(s, 'fro', axis=(2, 0), keepdims=True); np.linalg.norm(x, -np.inf, axis=(1, 0))
np.linalg.norm(v, -1); np.linalg.norm(m.astype(bool), axis=0)
np.linalg.vector_norm(s, axis=(0, 1), ord=np.inf, keepdims=True); np.linalg.matrix_power(x, 0)
np.linalg.matrix_power(k, 5); np.cov(z, ddof=0); np.cov(x, y, rowvar=False); np.corrcoef(x, y)
np.convolve(z[0], z[1], 'same'); np.correlate(v, z[1]); np.einsum('ii->i', k)
np.einsum('...j,j', x, k[0]); np.angle(k - 4); np.angle(z, deg=True); np.sinc(k - 2)
np.nan_to_num(z * np.inf); np.isclose(z, z + 1e-9); np.cross(x[:3], y[:3], axis=0)
np.cross(k[:, :3], y[0, :3]); np.kron(x, s); np.unpackbits(k.astype('uint8'), axis=1, count=-3)
np.packbits(k, axis=0, bitorder='little')
np.unpackbits(k.astype('uint8'), bitorder='little', count=9)
np.unravel_index(k, (2, 2, 3), order='F'); np.ravel_multi_index((k % 6, k % 3), (6, 6), order='F')
np.polyval(v, x); np.polyder(v, 2); np.polyint(v, 2)
np.polymul(np.concatenate([w[:1] * 0, v]), w)
np.piecewise(x, [x < 0, x > 1], [-1, lambda t: t * t, 5]); np.apply_over_axes(np.max, s, 1)
np.array_equal(x, np.where(m, x, x)); np.round(z, -1); np.round(k, 2)
np.ediff1d(k, to_end=[1, 2], to_begin=9); np.fft.fftshift(x, axes=1); np.fft.ifftshift(s, (0, 2))
np.resize(v, 4); np.diagflat(x[:2, :2], 1); np.vander(k[0], 4); np.sort_complex(z)
np.unique(k % 2, axis=1); np.append(x, [[1.0] * 6], axis=0); np.tri(6, 4, -1) @ x[:4]
"""
# of which the host has to know a number, such as the least element, the length of the result, or
# whether all elements are what a rule needs
ASKING = """
np.cov(x, aweights=v * v); np.gradient(v, np.sort(w)); np.gradient(v, np.sort(w), edge_order=2)
np.gradient(v, np.arange(6)); np.histogram(v, weights=w); np.histogram(x, density=True)
np.histogram(x, bins=[-1, 0, 0.5], weights=y); np.histogram2d(v, w, bins=3)
np.histogram2d(v, w, bins=[2, [-1, 0, 1]], weights=x[0], density=True); np.histogram_bin_edges(x)
np.histogramdd(x[:, :2], bins=3)
np.histogramdd(x[:, :3], bins=(2, 3, 4), range=[None, (-1, 1), None])
np.repeat(x, k[0] % 3, axis=0)
np.geomspace(abs(v), abs(w) + 1, 4); np.geomspace(-abs(v), -abs(w) - 1, 5, axis=1)
np.array_equal(x, x, equal_nan=True); np.array_equal(x, y, equal_nan=True)
np.array_equiv(x, x[0]); np.delete(v, k[0] % 3); np.real_if_close(z * 1.0)
np.real_if_close(x + 0j); np.trim_zeros(np.concatenate([w[:2] * 0, v, w[:1] * 0]))
np.trim_zeros(v * 0); np.trim_zeros(v)
"""


def _calls(*groups):
    """Return the calls of groups, but those of ufuncs that NumPy before 2.2 does not have."""
    found = [call.strip() for group in groups for line in group.strip().splitlines()
             for call in line.split(";")]
    missing = tuple(f"np.{name}(" for name in ("matvec", "vecmat") if not hasattr(np, name))
    return [call for call in found if not call.startswith(missing)]


THERE = _calls(UFUNCS, FUNCTIONS)
ASKED = _calls(ASKING)
# calls whose results have a shape, or edges, that depend on elements, and how often the host reads:
# a number of each, or the least and the largest element at once; never where arguments say it all
READS = {
    0: """np.bincount(m[0], minlength=2); np.bincount(k[0].astype('u1'), minlength=256)
np.bincount(m[0], w, minlength=3); np.histogram(x, 7, (-1, 1)); np.histogram(k, 4, (0, 9))
np.histogram(x, range=(-1, 2), density=True); np.histogram(v, 5, (-1, 1), weights=w)
np.histogram(x.astype('f4'), 5, range=(0, 1)); np.histogram(x, [-1, 0, 2])
np.histogram(np.where(m, np.nan, x), 6, (-1, 1)); np.histogram_bin_edges(k, 3, (0, 5))
np.histogram(np.where(m, np.nan, x), 6, (-1, 1), weights=y)
np.histogram2d(v, w, 3, [(-1, 1), (-2, 2)]); np.histogram2d(v, w, [2, [-1, 0, 1]], [(0, 1), None])
np.histogram2d(v, w, 3, [(-1, 1), (-2, 2)], weights=v)
np.histogramdd(x[:, :2], 3, [(-1, 1), (-2, 2)])""",
    1: """np.bincount(k[0]); np.bincount(k[0], minlength=20); np.bincount(k[0], minlength=3)
np.bincount(k[0], w); np.bincount(k[0], w, 30); np.bincount(k[0].astype('u1'), minlength=255)
np.bincount(k[0].astype('i1'), minlength=np.int64(200)); np.bincount(m[0])
np.histogram(x); np.histogram(k, 5); np.histogram(v, weights=w); np.histogram(x.astype('f4'), 3)
np.histogram_bin_edges(x, 7); np.histogram2d(v, w, 3); np.histogramdd(x[:, :2], 3)
np.histogram2d(v, w, [2, 3], [None, (-1, 1)]); np.histogram(k.astype('u1'), density=True)"""}
READING = [(call, reads) for reads, calls in READS.items() for call in _calls(calls)]
