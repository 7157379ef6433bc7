"""Ordinary calls of NumPy's functions and operators on Mats that are on a device: those that
compute there, and some that go to the host and back.
"""

import numpy as np

import mat

ELEMENTS = """
x + y; x * 2.0; -x; abs(x); x > 0; x == y; x // 2.0; x % 2.0; x ** 2; m & n; k << 2; k // 3; k % 4
~m; np.exp(x); np.sqrt(abs(x)); np.tanh(x); np.clip(x, -1, 1); np.divmod(x, y); np.fmod(x, y)
np.log2(abs(x)); np.log10(abs(x)); np.exp2(x); np.arctan(x); np.arcsin(u); np.arctan2(x, y)
np.hypot(x, y); np.arcsinh(x); np.cbrt(x); np.copysign(x, y); np.nextafter(x, y); np.isnan(x)
np.isinf(x); np.isfinite(x); np.signbit(x); np.logical_and(m, n); np.logical_not(m); np.trunc(x)
np.round(x); np.round(x, 2); np.heaviside(x, y); np.floor(x); np.sign(x); np.maximum(x, y)
np.fmax(x, y); np.square(x); np.reciprocal(x); np.power(abs(x), 1.5); np.deg2rad(x); np.conj(z)
abs(z); z * z; z + 1j; np.exp(z); np.isclose(x, y); np.allclose(x, y); np.array_equal(x, y)
np.where(x > 0, x, y); np.where(m, x, 0.0); np.nan_to_num(x)
"""
REDUCTIONS = """
np.any(m); np.all(m, axis=0); np.count_nonzero(m); x.sum(); x.sum(axis=0); x.mean(axis=1); k.sum()
x.var(); x.std(axis=0); x.argmin(); x.argmax(axis=1); x.max(axis=0); x.prod(); np.linalg.norm(x)
np.linalg.norm(x, axis=0); np.trapezoid(v); np.gradient(v); np.cov(x); np.corrcoef(x)
np.median(x); np.median(x, axis=0); np.percentile(x, 75); np.quantile(x, [0.1, 0.9], axis=1)
np.nanmedian(x, axis=1); np.nanpercentile(x, 30); np.average(x, 1, None, True)
np.interp(x, np.sort(w), v); np.convolve(v, w); np.correlate(v, w, "same")
"""
ORDER = """
np.cumsum(x, axis=0); np.cumsum(v); np.cumprod(v); np.diff(v); np.diff(x, 2, axis=0)
np.maximum.accumulate(v); np.minimum.accumulate(x, axis=1); np.cumulative_sum(v); np.sort(x)
np.sort(x, axis=0); np.argsort(v); np.argsort(k, axis=0, kind="stable"); np.sort(z, axis=None)
np.searchsorted(np.sort(v), x); np.searchsorted(np.sort(v), 0.5, "right")
np.searchsorted(v, x, sorter=np.argsort(v)); np.digitize(x, [-1, 0, 1]); np.lexsort((v, k[0]))
np.isin(k, [1, 4, 7]); np.intersect1d(k[0], k[1]); np.union1d(k[0], k); np.setdiff1d(k, k[1])
np.setxor1d(k[0], k[1])
"""
PLACES = """
np.concatenate([x, y]); np.stack([x, y]); np.vstack([x, y]); np.hstack([x, y])
np.column_stack([v, v]); np.tile(x, 2); np.repeat(x, 2, axis=0); np.repeat(v, 3)
np.roll(x, 1, axis=0); np.roll(x, 3); np.pad(x, 1); np.pad(x, 1, mode="edge"); np.flip(x).copy()
np.rot90(x); np.diag(v); np.diag(x); np.trace(x); np.tril(x); np.triu(x, 1)
np.meshgrid(v, v); np.broadcast_to(v, (6, 6))
np.moveaxis(x, 0, 1); np.split(x, 2); np.append(v, v); np.insert(v, 1, 2.0); np.delete(v, 1)
np.ravel(x); x.T.reshape(-1); x.astype("float32"); x.copy(); np.zeros_like(x); np.full_like(x, 2.5)
"""
PRODUCTS = """
x @ v; np.matmul(s, s); np.dot(x, y); np.vdot(v, v); np.outer(v, v); np.inner(x, y); np.kron(x, y)
np.tensordot(x, y, 1); np.tensordot(s, s, ([1, 2], [1, 2])); np.einsum("ij,jk->ik", x, y)
np.einsum("ij->j", x); np.einsum("ii", x); np.einsum("ij,ij->i", x, y); np.einsum("i,j->ij", v, v)
np.einsum("bij,bjk->bik", s, s); np.linalg.solve(x, v); np.linalg.inv(x); np.fft.fft(v)
np.fft.irfft2(x); np.fft.rfftn(s, (4, 2), axes=(0, 2)); np.linalg.svdvals(x); np.linalg.pinv(x)
np.linalg.eigvalsh(x); np.linalg.cond(x); np.linalg.matrix_rank(s); np.linalg.slogdet(s)
np.linalg.det(s); np.linalg.norm(x, 2); np.linalg.norm(x, "nuc"); abs(np.linalg.qr(x, "r"))
"""
SELECTED = """
x[[0, 2]]; x[m]; x[1, [0, 2]]; x[[0, 1], [2, 3]]; x[:, [0, -1]]; (x.__setitem__(m, 0), x)[1]
(x.__setitem__([0, 2], y[:2]), x)[1]; np.take(x, [1, 0], axis=0); np.take_along_axis(x, k % 6, 0)
np.compress(m[0], x, axis=1); np.extract(m, x); np.nonzero(m); np.flatnonzero(m); np.argwhere(m)
np.where(m); (np.add.at(v, [0, 1, 0], w[:3]), v)[1]; (np.maximum.at(x, [1, 1], y[:2]), x)[1]
(np.put(v, [0, 1], w), v)[1]; (np.copyto(x, y, where=m), x)[1]; np.choose(m, [x, y])
"""
THERE = [call.strip() for group in (ELEMENTS, REDUCTIONS, ORDER, PLACES, PRODUCTS, SELECTED)
         for line in group.strip().splitlines() for call in line.split(";")]
# NumPy computes these on the host
BACK = ["np.i0(x)", "np.apply_along_axis(np.sum, 0, x)", "x[True]", "np.divide.at(v, [0, 1], 2.0)"]


def arrays():
    rng = np.random.default_rng(0)
    found = {n: rng.standard_normal(s) for n, s in
             {"x": (6, 6), "y": (6, 6), "s": (3, 3, 3), "v": 6, "w": 6}.items()}
    found |= {"u": rng.uniform(-1, 1, (6, 6)), "m": rng.random((6, 6)) > 0.5,
              "n": rng.random((6, 6)) > 0.5, "k": rng.integers(0, 9, (6, 6)),
              "z": rng.standard_normal((6, 6)) + 1j}
    return found


def call_there(call, device):
    """Return the result for Mats that are fresh on the device only, and the copies."""
    mats = {name: mat.array(a) for name, a in arrays().items()}
    for x in mats.values():
        with x.facet(device.facet, "io"):
            pass
    with mat.debug.count_copies() as copies:
        found = eval(call, {"np": np, "mat": mat, **mats})
    return found, copies


def leaves(value):
    several = isinstance(value, list | tuple)
    return [leaf for v in value for leaf in leaves(v)] if several else [value]


def check_computes_there(call, device, rtol=1e-12):
    """Check that nothing goes to the host, and that the result is NumPy's."""
    found, copies = call_there(call, device)
    assert (copies.d2h, copies.fallbacks) == (0, 0)
    with np.errstate(all="ignore"):
        wanted = eval(call, {"np": np, **arrays()})
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=rtol, atol=rtol)
