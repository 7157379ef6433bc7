"""Calls of NumPy's functions by the names that they have in `mat`, beyond those of `numpy_calls`:
functions that take no arrays, and spellings with sequences and numbers.

Here a call takes the module, which is NumPy or `mat`, and operands.
"""

import io

import numpy as np

from .numpy_calls import FUNCTIONS

# names by which the calls of another name are called, too
OTHER_NAMES = {"concat": "concatenate", "row_stack": "vstack", "trapz": "trapezoid",
               "in1d": "isin", "lib.stride_tricks.broadcast_to": "broadcast_to",
               "lib.stride_tricks.broadcast_arrays": "broadcast_arrays"} | {
                   f"emath.{n}": f"lib.scimath.{n}"
                   for n in ("arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn",
                             "power", "sqrt")}

CALLS = {
    "asarray_chkfinite": [lambda m, o: m.asarray_chkfinite(o.a),
                          lambda m, o: m.asarray_chkfinite([1.0, np.nan]),
                          lambda m, o: m.asarray_chkfinite([1, 2], dtype="float32")],
    "bartlett": [lambda m, o: m.bartlett(5), lambda m, o: m.bartlett(0)],
    "blackman": [lambda m, o: m.blackman(5), lambda m, o: m.blackman(M=1)],
    "hamming": [lambda m, o: m.hamming(5)], "hanning": [lambda m, o: m.hanning(5)],
    "kaiser": [lambda m, o: m.kaiser(5, 14.0), lambda m, o: m.kaiser(M=4, beta=2)],
    "broadcast": [lambda m, o: m.broadcast(o.column, o.row).shape,
                  lambda m, o: [tuple(map(float, p)) for p in m.broadcast([1, 2], 3)],
                  lambda m, o: m.broadcast([1, 2], [1, 2, 3])],
    "c_": [lambda m, o: m.c_[o.v, o.w], lambda m, o: m.c_[[1, 2], [3.0, 4.0]]],
    "r_": [lambda m, o: m.r_[o.v, 0, 1:4], lambda m, o: m.r_["0,2", o.v, o.w],
           lambda m, o: m.r_[0:1:5j]],
    "mgrid": [lambda m, o: m.mgrid[0:3, 1:3], lambda m, o: m.mgrid[0:1:4j]],
    "ogrid": [lambda m, o: m.ogrid[0:3, 1:3], lambda m, o: m.ogrid[0:4]],
    "diag_indices": [lambda m, o: m.diag_indices(3), lambda m, o: m.diag_indices(2, ndim=3)],
    "fft.fftfreq": [lambda m, o: m.fft.fftfreq(5), lambda m, o: m.fft.fftfreq(4, d=0.5)],
    "fft.rfftfreq": [lambda m, o: m.fft.rfftfreq(5), lambda m, o: m.fft.rfftfreq(4, 0.5)],
    "from_dlpack": [lambda m, o: m.from_dlpack(np.arange(3.0))],
    "fromregex": [lambda m, o: m.fromregex(io.StringIO("1 2"), r"(\d)", [("n", "i8")])],
    "isfortran": [lambda m, o: m.isfortran(o.a)],
    "indices": [lambda m, o: m.indices((2, 3)), lambda m, o: m.indices((2,), dtype="float32"),
                lambda m, o: m.indices((2, 3), sparse=True)],
    "mask_indices": [lambda m, o: m.mask_indices(3, m.triu), lambda m, o: m.mask_indices(3, m.triu,
                                                                                         1)],
    "tril_indices": [lambda m, o: m.tril_indices(3), lambda m, o: m.tril_indices(3, k=1, m=4)],
    "triu_indices": [lambda m, o: m.triu_indices(3), lambda m, o: m.triu_indices(3, 1, 4)],
    "lib.stride_tricks.as_strided": [
        lambda m, o: m.lib.stride_tricks.as_strided(o.f, (2, 3), (8, 8)),
        lambda m, o: m.lib.stride_tricks.as_strided(o.f, shape=(2, 2), strides=(16, 8)),
        lambda m, o: m.lib.stride_tricks.as_strided(o.f, strides=(0,))],
    "lib.stride_tricks.broadcast_shapes": [lambda m, o: m.broadcast_shapes((3, 1), (4,))],
    "ndarray": [lambda m, o: isinstance(m.zeros(3), m.ndarray)],
    "ndenumerate": [lambda m, o: [(i, complex(v)) for i, v in m.ndenumerate(o.a)]],
    "nditer": [lambda m, o: [complex(v) for v in m.nditer(o.a)],
               lambda m, o: [[complex(v) for v in vs] for vs in m.nditer([o.a, o.b])]],
    "poly1d": [lambda m, o: m.poly1d([1, 2, 3])(2.0), lambda m, o: m.poly1d(o.f)(o.f),
               lambda m, o: m.poly1d(o.f).coeffs.tolist(),
               lambda m, o: m.poly1d([1.0, 0.0, -1.0]).roots.tolist()],
    "vectorize": [lambda m, o: m.vectorize(lambda a, b: a + b)(o.v, 2),
                  lambda m, o: m.vectorize(float)([1, 2]),
                  lambda m, o: m.vectorize(lambda r: r.sum(), signature="(n)->()")(o.f)],
    "fromfunction": [lambda m, o: m.fromfunction(lambda i, j: i + j, (2, 3)),
                     lambda m, o: m.fromfunction(lambda i: m.sqrt(i), (4,), dtype=int)],
}

# spellings that readers of NumPy's manual use: the call, as Python writes it
SPELLINGS = """
add([1, 2], [3.0, 4.0]); add(1, 2); add(1, 2.0); add(True, True); add([1, 2], 1j);
add(x, [1, 2, 3]); add([1, 2, 3], x); add(x, x, where=[True, False, True], out=m.zeros(3));
add(x, 1, dtype="float32"); add(x, 1, dtype="int64"); add(x, x, casting="no"); add(f, 1);
add(f, [1, 2, 3]); add(x, "a"); add(x, 1, order="C"); add(x, 1, subok=False);
add.reduce([[1, 2], [3, 4]]); add.reduce(x); add.reduce([[1, 2], [3, 4]], axis=1, keepdims=True);
add.accumulate([1, 2, 3]); add.outer([1, 2], x); add.reduceat([1, 2, 3, 4], [0, 2]);
multiply.reduce([1, 2, 3]); multiply.outer(x, x); multiply.accumulate([[1, 2], [3, 4]], 1);
maximum.reduce([[1, 5], [3, 4]]); minimum.accumulate([3, 1]); logical_and.reduce([True, False]);
subtract.outer([1, 2], [3, 4]); add.reduce(x, initial=10);
add.reduce(x, where=[True, False, True]); power(2, 3); power([1, 2], 2); power(2, [1, 2]);
pow(x, 2); power([1, 2], -1); divide(1, 0.0); true_divide([1, 2], 2); exp(3.0); exp([1, 2]);
exp(1); exp(1j); exp([[1.0]], dtype="float32"); exp(True); exp("a"); sqrt(-1.0); sqrt([4, 9]);
abs(-3); absolute([-1]); abs(-3 + 4j); sign([-2, 0]); negative([1, 2]); negative([True]);
floor(1.5); ceil([1.5]); rint(2.5); maximum(1, [0, 2]); minimum([1.0], 0); equal([1, 2], 1);
not_equal(1, 2); less([1], [2.0]); isnan([1.0, float("nan")]); isnan(1); isinf([1.0]);
isfinite(1.0); isnan(x, where=[True, True, False], out=m.array([False, False, True]));
bitwise_and([1, 2], 3); bitwise_or(1, 2); bitwise_xor([1], [3]); invert([1]); invert(True);
left_shift(1, [1, 2]); floor_divide([7, 8], 2); mod(-7, 3); remainder([7.5], 2); divmod([7], 2);
hypot([3], 4); arctan2(1, [1, 2]); gcd([12], 8); lcm(4, 6); modf([1.5]); frexp(8.0);
log10([10, 100]); cbrt(27.0); clip([1, 5, 9], 2, 6); clip(x, 0, None);
clip([1.5], a_min=0, a_max=1); clip(5, 1, 3); sum([1, 2]); sum([[1, 2], [3, 4]], 0);
sum([[1, 2], [3, 4]], axis=1, keepdims=True); sum([1, 2], None); sum([True, True]); sum(3);
sum([1, 2], dtype="float32"); sum([1, 2], initial=5); sum(x, where=[1, 0, 1]); sum([]);
prod([1, 2, 3]); mean([1, 2]); mean([[1, 2], [3, 4]], axis=0); mean(x, 0, "float32"); max([1, 3]);
max([[1, 2], [3, 4]], axis=1); min(3.0); max([]); argmax([1, 3, 2]); argmin([[1, 0]], axis=1);
argmax([[1, 3]], 1, keepdims=True); std([1, 2, 3]); std([1.0, 2.0], ddof=1);
var([[1, 2]], axis=1); any([0, 1]); all([[1, 0]], axis=1); all([]); cumsum([1, 2, 3]);
cumsum([[1, 2], [3, 4]], axis=1); cumprod([1, 2, 3]); median([3, 1, 2]);
percentile([1, 2, 3], 50); quantile([1.0, 2.0], [0.25, 0.5]); ptp([1, 5]);
average([1, 2], weights=[3, 1]); count_nonzero([0, 1, 2]); nonzero([0, 1, 2]);
where([True, False], 1, 2); where([True, False], x[:2], 0.0); where([0, 1, 1]);
where(x > 1, x, 0); sort([3, 1, 2]); sort([[3, 1], [2, 4]], axis=0); argsort([3, 1, 2]);
argsort(x, kind="stable"); unique([3, 1, 1]); unique([3, 1, 1], return_counts=True);
searchsorted([1, 2, 3], 2); digitize([0.5], [0, 1]); concatenate([[1, 2], [3]]);
concatenate([x, [1]]); concatenate([[[1]], [[2]]], axis=1); concat([[1], [2]]);
concatenate([[1, 2], [3]], axis=None); concatenate([[1], [2]], dtype="float32");
stack([[1, 2], [3, 4]]); stack([x, x], axis=1); stack([x, [1, 2, 3]], axis=-1);
vstack([[1, 2], [3, 4]]); hstack([x, 1.0]); hstack([[1], [2]]); dstack([[1], [2]]);
column_stack([[1, 2], [3, 4]]); block([[1, 2], [3, 4]]); append(x, 4);
append([[1]], [[2]], axis=1); insert([1, 2], 1, 5); delete([1, 2, 3], 1); repeat([1, 2], 2);
tile([1, 2], 2); repeat(3, 4); roll([1, 2, 3], 1); flip([1, 2]); rot90([[1, 2], [3, 4]]);
pad([1, 2], 1); diff([1, 4, 9]); ediff1d([1, 4]); gradient([1.0, 4.0, 9.0]); trapezoid([1, 2]);
interp(1.5, [1, 2], [3, 4]); convolve([1, 2], [1]); reshape([1, 2, 3, 4], (2, 2));
reshape(x, (3, 1)); reshape([1, 2], -1); ravel([[1, 2]]); transpose([[1, 2]]);
transpose([[[1, 2]]], (2, 0, 1)); swapaxes([[1, 2]], 0, 1); moveaxis([[[1]]], 0, -1);
squeeze([[1]]); expand_dims([1, 2], 0); expand_dims(x, axis=(0, 2)); atleast_1d(3);
atleast_2d([1, 2]); atleast_2d(x, 1); atleast_3d(1); broadcast_to([1, 2], (2, 2));
broadcast_to(1, 3); broadcast_arrays([1, 2], [[1], [2]]); split([1, 2, 3, 4], 2);
array_split([1, 2, 3], 2); hsplit([[1, 2]], 2); vsplit([[1], [2]], 2); diag([1, 2]);
diag([[1, 2], [3, 4]], 1); diagonal([[1, 2], [3, 4]]); trace([[1, 2], [3, 4]]);
tril([[1, 2], [3, 4]]); triu(x); dot([1, 2], [3, 4]); dot([[1, 2]], [3, 4]); dot(2, 3);
vdot([1, 2], [3, 4]); inner([1, 2], [3, 4]); outer([1, 2], [3, 4]);
matmul([[1, 2], [3, 4]], [1, 1]); matmul([1, 2], [3, 4]); matmul(2, 3); kron([1, 2], [1]);
tensordot([[1, 2]], [[1], [2]], axes=1); einsum("ij,j->i", [[1, 2]], [3, 4]);
einsum("ii", [[1, 2], [3, 4]]); cross([1, 0, 0], [0, 1, 0]); take([1, 2, 3], [0, 2]);
take([[1, 2]], 0, axis=1); take_along_axis(x, m.argsort(x), 0); choose([0, 1], [[1, 2], [3, 4]]);
select([[True, False]], [[1, 2]], 0); compress([True, False], [1, 2]); extract([1, 0], [5, 6]);
zeros_like([1, 2]); ones_like([1.0, 2.0]); full_like([1, 2], 3); empty_like([[1, 2]]).shape;
full_like([1], 2.5, dtype="float64"); zeros_like(x, dtype="int8"); zeros_like(x, shape=(2, 2));
copy([1, 2]); asarray([1, 2]); asarray(x); array([[1, 2]]); asarray([1.5], dtype="float32");
arange(3); arange(1, 4, 2); arange(0.0, 1.0, 0.25); linspace(0, 1, 5); zeros((2, 2));
linspace(0, 1, 4, endpoint=False); logspace(0, 2, 3); geomspace(1, 100, 3); eye(2); identity(2);
full((2,), 3); tri(3); meshgrid([1, 2], [3, 4]); meshgrid([1, 2], [3, 4], indexing="ij");
vander([1, 2], 3); isin([1, 2], [2]); intersect1d([1, 2], [2]); union1d([1], [2]);
setdiff1d([1, 2], [2]); isclose([1.0], [1.0]); allclose([1, 2], [1, 2]);
array_equal([1, 2], [1, 2]); allclose([1.0, float("nan")], [1.0, float("nan")], equal_nan=True);
array_equiv([1, 2], [[1, 2]]); allclose(1, 1 + 1e-9); shape([[1, 2]]); ndim(3); size([[1, 2]]);
size([[1, 2]], 1); isscalar(3); result_type([1], 2.0); can_cast("int8", "float32");
result_type(x, "float32"); iscomplexobj([1j]); real([1 + 2j]); imag([1 + 2j]); conj([1j]);
angle(1j); round([1.25, 2.5], 1); around(2.5); nan_to_num([float("nan"), 1.0]);
nansum([1.0, float("nan")]); nanmean([1.0, float("nan")]);
histogram([1, 2, 1], bins=[0, 1, 2, 3]); bincount([0, 1, 1]);
bincount([0, 1], weights=[0.5, 1.0]); cov([[1.0, 2.0], [3.0, 5.0]]);
corrcoef([1.0, 2.0], [2.0, 1.0]); polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1);
polyval([1, 2], 3); roots([1.0, -3.0, 2.0]); polyadd([1, 2], [3]); unwrap([0.0, 7.0]);
apply_along_axis(m.sum, 0, [[1, 2], [3, 4]]); piecewise([-1.0, 1.0], [[True, False]], [0, 1]);
piecewise(x.sum(), x.sum() > 0, [1, 2]); piecewise(x, (x.sum() > 0)[()], [m.exp, 2]);
ix_([0, 1], [2]); unravel_index(3, (2, 2)); ravel_multi_index(([1], [1]), (2, 2));
lexsort(([1, 0], [0, 0])); packbits([1, 0, 1]); flatnonzero([0, 1]);
linalg.inv([[2.0, 0], [0, 2]]); linalg.inv([[2, 0], [0, 2]]); linalg.det([[1, 2], [3, 4]]);
linalg.solve([[2, 0], [0, 2]], [1, 1]); linalg.norm([3, 4]); linalg.norm([[3.0, 4.0]], axis=1);
linalg.norm(x, 1); linalg.eigvalsh([[2.0, 0], [0, 3]]); linalg.matrix_rank([[1, 0], [0, 0]]);
linalg.cholesky([[4.0, 0], [0, 9]]); linalg.inv([[1, 1], [1, 1]]);
linalg.matrix_power([[1, 1], [0, 1]], 3); linalg.multi_dot([[[1, 2]], [[1], [2]]]);
linalg.slogdet([[2.0, 0], [0, 2]]); linalg.svd([[2.0, 0], [0, 1]], compute_uv=False);
linalg.qr([[1.0, 0], [0, 1]], mode="r"); fft.fft([1, 0, 0, 0]); fft.ifft([1, 1]);
fft.rfft([1.0, 2.0, 3.0]); fft.fftshift([1, 2, 3]); fft.fft2([[1, 0], [0, 0]]);
lib.stride_tricks.sliding_window_view([1, 2, 3], 2); emath.sqrt(-1); emath.log(-1.0);
emath.sqrt([4, -4]);
"""


def spelled():
    """Return the spellings: the text of each call."""
    return [text.strip() for text in SPELLINGS.split(";") if text.strip()]


def covered():
    """Return the names that have calls, as `mat` has them."""
    return set(FUNCTIONS) | set(OTHER_NAMES) | set(CALLS)
