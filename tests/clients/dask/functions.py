"""Functions of dask.array as expressions of `x`, `y`, `v`, `i` and `s`, which are dask arrays: two
matrices, a vector, integers, and a symmetric positive definite matrix.
"""

import numpy as np

MAPS = """x + y;x - 2.5;x * y;x / (y + 3);x ** 2;da.power(x, 2);-x;abs(x);x > y;da.maximum(x, y)
da.exp(x);da.log(x + 2);da.sqrt(x + 2);da.sin(x);da.tanh(x);da.floor(x);da.sign(x);da.isfinite(x)
da.where(x > 0, x, y);da.clip(x, -0.5, 0.5);da.logical_and(x > 0, y > 0);da.square(x)
da.hypot(x, y);da.arctan2(x, y);x.astype('float32');da.round(x, 2);da.nan_to_num(x);da.angle(x)
x.real;da.isclose(x, y);da.add(x, v);x % 2;x // 2;i & 3;da.log1p(x + 2);da.expm1(x);da.cos(x)
x.map_blocks(lambda b: b * 2);da.rint(x);da.fabs(x);da.float_power(x + 2, 1.5)"""
REDUCTIONS = """x.sum();x.sum(axis=0);x.sum(axis=1);x.mean();x.mean(axis=0);x.std();x.var(axis=1)
x.max();x.max(axis=0);x.min(axis=1);x.prod(axis=1);x.argmax(axis=1);x.argmin(axis=0);x.argmax()
(x > 0).any();(x > 0).all(axis=0);da.nansum(x);da.nanmean(x, axis=0);da.nanmax(x);da.nanstd(x)
da.ptp(x, axis=0);da.median(x, axis=0);da.average(x, axis=0);da.count_nonzero(x > 0)
da.linalg.norm(x);da.linalg.norm(x, axis=1);da.cumsum(x, axis=0);da.cumprod(x[:, :9], axis=1)
da.percentile(v, [10, 50, 90]);da.topk(v, 5);da.argtopk(v, 5);da.cov(x[:20]);da.corrcoef(x[:20])
da.nanpercentile(x, 50, axis=1);da.quantile(x, 0.5, axis=1);da.trace(x);da.nancumsum(x, axis=0)"""
PRODUCTS = """x @ y.T;x.T @ x;x @ v;da.dot(x, y.T);da.tensordot(x, y, axes=((0, 1), (0, 1)))
da.einsum('ij,kj->ik', x, y);da.outer(v, v);da.vdot(v, v);da.einsum('ij,ij->i', x, y)"""
SHAPES = """x.T;x.reshape(-1);x[1:, ::2];x[::-1];x[:, 3];x[x[:, 0] > 0];da.take(x, idx, axis=0)
x[idx];da.concatenate([x, y]);da.stack([x, y]);da.vstack([x, y]);da.hstack([x, y]);x.rechunk(57)
da.transpose(x);da.squeeze(x[:, None]);da.flip(x, 0);da.roll(x, 7, axis=0);da.tile(x, (2, 1))
da.repeat(x, 2, axis=0);da.pad(x, 2);da.diag(x @ x.T);da.tril(x);da.triu(x);x.flatten()
da.broadcast_to(v, (4, v.size));da.expand_dims(x, 0);da.moveaxis(x, 0, 1);da.rot90(x)
da.compress(x[:, 0].compute() > 0, x, axis=0);da.diff(x, axis=0);da.gradient(x, axis=0);da.ravel(x)
da.reshape_blockwise(x, x.size);da.block([[x, y], [y, x]]);da.swapaxes(x, 0, 1)
da.insert(v, 3, 7.0, axis=0);da.delete(v, 3, axis=0);da.append(v, v)
x.map_overlap(lambda b: b + 1, depth=1, boundary='reflect')"""
OTHERS = """da.unique(i);da.unique(i, return_counts=True);da.bincount(i, minlength=50)
da.histogram(v, bins=10, range=(-3, 3))[0];da.digitize(v, np.linspace(-2, 2, 9));da.isin(i, idx)
da.searchsorted(da.linspace(-2, 2, 99, chunks=99), v)
da.nonzero(v > 1)[0];da.flatnonzero(v > 1);da.argwhere(x > 1);da.fft.fft(z);da.fft.rfft(z)
da.linalg.qr(z)[1];da.linalg.svd(z)[1];da.linalg.cholesky(s);da.linalg.solve(s, v[:s.shape[0]])
da.linalg.inv(s);da.linalg.lu(s)[2];da.linalg.lstsq(z, z[:, 0])[0];da.extract(x > 1, x)
da.linalg.svd_compressed(z, 3, seed=1)[1];da.apply_along_axis(np.sum, 1, x)
da.choose(i % 2, [v, v]);da.coarsen(np.mean, x[:20, :20].rechunk(10), {0: 2, 1: 2})
da.ediff1d(v);da.unravel_index(i, (60, 60))
da.histogramdd((v, v), bins=5, range=((-3, 3), (-3, 3)))[0]"""
GROUPS = {"maps": MAPS, "reductions": REDUCTIONS, "products": PRODUCTS, "shapes": SHAPES,
          "others": OTHERS}
FUNCTIONS = {group: [code for line in text.split("\n") for code in line.split(";")]
             for group, text in GROUPS.items()}


def arrays(rows, columns, chunks):
    """The arrays that the expressions are about, of NumPy."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, rows, columns))
    n = chunks[0]
    a = rng.normal(size=(2 * n, 2 * n))
    return {"x": x, "y": y, "v": rng.normal(size=columns), "i": rng.integers(0, 50, columns),
            "z": x, "s": a @ a.T + 2 * n * np.eye(2 * n)}


def blocked(found, chunks, da, made):
    """These arrays as dask arrays, whose chunks `made` makes of arrays."""
    row, column = chunks
    sizes = {"x": chunks, "y": chunks, "v": column, "i": column, "z": (row, found["z"].shape[1]),
             "s": (row, row)}
    return {name: da.from_array(made(a), chunks=sizes[name], asarray=False)
            for name, a in found.items()}
