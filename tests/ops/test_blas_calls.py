"""The BLAS calls that operations make without packing, outputs that may overlap, and threads."""


import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, ShapeError

from ..conftest import DEVICE
from ..support import needs
from ..support.layouts import BLAS_DTYPES, check_hidden, numbers, place
from ..support.threads import in_threads

# Which calls are made


def calls_of(function):
    """Return the BLAS calls that `function` makes, as strings, and how many operands it packed."""
    with mat.debug.count_copies() as n, mat.debug.list_calls() as made:
        result = function()
    return [name_of(str(call)) for call in made.calls], n.packs, result


def name_of(call):
    """Return the call as on the CPU: on a GPU, ``cublasDgemm(...)`` is ``dgemm(...)``."""
    if DEVICE.startswith("cuda"):
        assert call.startswith("cublas")
    return call[6].lower() + call[7:] if call.startswith("cublas") else call


@needs.native
@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 0, 1), (2, 1, 0)])
def test_vectors_without_gaps_are_taken_in_the_order_of_memory(rng, axes):
    a, b = (numbers(rng, (4, 3, 5), "float64").transpose(axes) for _ in range(2))
    x, y = mat.from_numpy(a.copy("K")) * 1, mat.from_numpy(b.copy("K")) * 1
    assert not x.is_contiguous
    made, packs, found = calls_of(lambda: (
        mat.blas.dot(x, y), mat.nrm2(x), mat.asum(x), mat.linalg.norm(y).item(),
        mat.axpy(2, x, y), mat.scal(3, x), mat.swap(x, y)))
    assert packs == 0
    if not DEVICE.startswith("cuda"):  # where axpy is a kernel of ours
        assert [call.partition("(")[0] for call in made] == [
            "ddot", "dnrm2", "dasum", "dnrm2", "daxpy", "dscal", "dswap"]
    assert found[4] is y
    assert_allclose(found[:4], [(a * b).sum(), np.sqrt((a * a).sum()), abs(a).sum(),
                                np.sqrt((b * b).sum())])
    assert_allclose(x.to_numpy(), 2 * a + b)
    assert_allclose(y.to_numpy(), 3 * a)


@pytest.mark.parametrize("more", [{"n": 7}, {"incx": -1}, {"incx": 2, "incy": 2}])
def test_counted_elements_and_other_orders_are_those_of_rows(rng, more):
    a, b = numbers(rng, (4, 6), "float64"), numbers(rng, (6, 4), "float64")
    for x, y in ((mat.array(a).T * 1, mat.array(b.T).T * 1), (mat.array(a).T * 1, mat.array(b))):
        for k in ({}, more):
            wanted = mat.axpy(2, mat.array(a.T.copy()), mat.array(b), **k)
            assert_array_equal(mat.axpy(2, x, y.copy("K"), **k).to_numpy(), wanted.to_numpy())
            assert_allclose(mat.blas.dot(x, y, **k), mat.blas.dot(
                mat.array(a.T.copy()), mat.array(b), **k))


@needs.native
@pytest.mark.parametrize(("dtype", "letter"), list(zip(BLAS_DTYPES, "sdcz", strict=True)))
def test_the_linear_layer_is_tn_nn_nt(rng, dtype, letter):
    x, w, dy = (numbers(rng, shape, dtype) for shape in ((32, 64), (10, 64), (32, 10)))
    mx, mw, mdy = map(mat.array, (x, w, dy))
    near = {"rtol": 1e-3, "atol": 1e-3}
    made, packs, y = calls_of(lambda: mx @ mw.T)
    assert made == [f"{letter}gemm(trans=TN, m=10, n=32, k=64, lda=64, ldb=64, ldc=10)"]
    assert packs == 0
    assert_allclose(y.to_numpy(), x @ w.T, **near)
    made, packs, dx = calls_of(lambda: mdy @ mw)
    assert made == [f"{letter}gemm(trans=NN, m=64, n=32, k=10, lda=64, ldb=10, ldc=64)"]
    assert packs == 0
    assert_allclose(dx.to_numpy(), dy @ w, **near)
    made, packs, dw = calls_of(lambda: mdy.T @ mx)
    assert made == [f"{letter}gemm(trans=NT, m=64, n=10, k=32, lda=64, ldb=10, ldc=64)"]
    assert packs == 0
    assert_allclose(dw.to_numpy(), dy.T @ x, **near)


@needs.native
def test_blocks_and_transposed_views_go_in_as_they_are(rng):
    a, b = rng.standard_normal((8, 9)), rng.standard_normal((9, 7))
    one, other = mat.array(a)[2:6, 1:6], mat.array(b)[3:8, 2:5]
    out = place(np.full((3, 4), np.nan), "block").T
    made, packs, _ = calls_of(lambda: mat.matmul(one, other, out=out))
    assert made == ["dgemm(trans=TT, m=4, n=3, k=5, lda=9, ldb=7, ldc=6)"]
    assert packs == 0
    assert_allclose(out.to_numpy(), a[2:6, 1:6] @ b[3:8, 2:5])
    check_hidden(out)


@needs.native
def test_vectors_and_triangles_go_in_as_they_are(rng):
    a, x = rng.standard_normal((6, 6)), rng.standard_normal(12)
    block, vector = mat.array(a)[1:5, 2:6].T, mat.array(x)[::-3]
    made, packs, y = calls_of(lambda: mat.gemv(1, block, vector, 0, mat.empty(4)))
    assert made == ["dgemv(trans=N, m=4, n=4, lda=6, incx=-3, incy=1)"]
    assert packs == 0
    assert_allclose(y.to_numpy(), a[1:5, 2:6].T @ x[::-3])
    triangle = mat.array(np.tril(a) + 9 * np.eye(6))
    made, packs, _ = calls_of(lambda: mat.trsm(1, triangle.T, mat.array(a).T, lower=False))
    assert [made[0][:6], packs] == ["dtrsm(", 0]
    made, packs, _ = calls_of(lambda: mat.syrk(1, mat.array(a).T[:, :3], 0, mat.zeros(6, 6)))
    assert [made[0][:6], packs] == ["dsyrk(", 0]
    made, packs, _ = calls_of(lambda: mat.ger(1, vector, vector, mat.array(a)[:4, 1:5].T))
    assert [made[0][:5], packs] == ["dger(", 0]


@needs.native
def test_what_blas_cannot_take_is_packed(rng):
    a = rng.standard_normal((8, 8))
    made, packs, c = calls_of(lambda: mat.array(a)[::2, ::2] @ mat.eye(4))
    assert made == ["dgemm(trans=NN, m=4, n=4, k=4, lda=4, ldb=4, ldc=4)"]
    assert packs == 1
    assert_array_equal(c.to_numpy(), a[::2, ::2])
    out = place(np.full((4, 4), np.nan), "strided")
    _, packs, _ = calls_of(lambda: mat.matmul(mat.array(a)[::2, ::2], mat.array(a)[::-2, ::2],
                                              out=out))
    assert packs == 3
    assert_allclose(out.to_numpy(), a[::2, ::2] @ a[::-2, ::2])
    check_hidden(out)


def test_inputs_may_be_read_only_and_broadcast(rng):
    a = rng.standard_normal((4, 4))
    a.flags.writeable = False
    row = mat.from_numpy(a[0])
    repeated = row.broadcast_to(4, 4)
    assert_allclose((mat.from_numpy(a) @ repeated).to_numpy(), a @ np.tile(a[0], (4, 1)))
    assert_allclose((repeated.T @ mat.from_numpy(a)).to_numpy(), np.tile(a[0], (4, 1)).T @ a)
    one = mat.array([2.0]).broadcast_to(4)
    assert_allclose(mat.blas.dot(one, row), 2 * a[0].sum())
    assert_allclose(mat.axpy(3, one, mat.array(a[1])).to_numpy(), 6 + a[1])
    assert_allclose(mat.gemv(1, repeated, one, 1, mat.array(a[1])).to_numpy(),
                    2 * a[0].sum() + a[1])
    assert_allclose(mat.ger(1, one, row, mat.array(a)).to_numpy(), 2 * a[0] + a)


@pytest.mark.parametrize("shape", [(2, 2), (2, 1, 2)])
def test_vectors_with_uneven_steps_are_refused(shape):
    uneven = mat.arange(32.0).reshape(2, 4, 4)[:, :2, :2][0 if len(shape) == 2 else slice(None)]
    uneven = uneven if len(shape) == 2 else uneven[:, :1]
    y = mat.zeros(4)
    for call in (lambda: mat.gemv(1, mat.eye(4), uneven, 0, y),
                 lambda: mat.gemv(1, mat.eye(4), y, 0, uneven),
                 lambda: mat.ger(1, uneven, y, mat.eye(4))):
        with pytest.raises(ShapeError, match="contiguous"):
            call()


# Overlap


def storage():
    return mat.arange(60.0)


OVERLAPS = {
    "identical": (lambda s: s[:16].reshape(4, 4), lambda s: s[:16].reshape(4, 4)),
    "shifted": (lambda s: s[:16].reshape(4, 4), lambda s: s[3:19].reshape(4, 4)),
    "transposed": (lambda s: s[:16].reshape(4, 4), lambda s: s[:16].reshape(4, 4).T),
    "one element": (lambda s: s[:16].reshape(4, 4), lambda s: s[15:31].reshape(4, 4)),
    "one element before": (lambda s: s[15:31].reshape(4, 4), lambda s: s[:16].reshape(4, 4)),
    "reversed": (lambda s: s[:16].reshape(4, 4), lambda s: s[15::-1].reshape(4, 4)),
}
DISJOINT = {
    "beside": (lambda s: s[:16].reshape(4, 4), lambda s: s[16:32].reshape(4, 4)),
    "interleaved columns": (lambda s: s[:32].reshape(4, 8)[:, :4],
                            lambda s: s[:32].reshape(4, 8)[:, 4:]),
    "interleaved elements": (lambda s: s[0:32:2].reshape(4, 4), lambda s: s[1:32:2].reshape(4, 4)),
}
WRITERS = {
    "gemm a": lambda out, x, rest: mat.gemm(1, x, rest, 1, out),
    "gemm b": lambda out, x, rest: mat.gemm(1, rest, x, 0, out),
    "matmul": lambda out, x, rest: mat.matmul(x, rest, out=out),
    "gemm_batched": lambda out, x, rest: mat.gemm_batched(1, x[None], rest[None], 1, out[None]),
    "syrk": lambda out, x, rest: mat.syrk(1, x, 1, out),
    "trsm": lambda out, x, rest: mat.trsm(1, x, out),
    "gemv a": lambda out, x, rest: mat.gemv(1, x, rest[0], 1, out[0]),
    "gemv x": lambda out, x,
    rest: mat.gemv(1, rest, x[-1] if x.strides[0] < 0 else x[0], 1, out[0]),
    "ger": lambda out, x, rest: mat.ger(1, x[-1] if x.strides[0] < 0 else x[0], rest[0], out),
}


@pytest.mark.parametrize("writer", [name for name in WRITERS if name != "matmul"])
@pytest.mark.parametrize("how", OVERLAPS)
def test_outputs_that_overlap_inputs_are_refused(writer, how):
    s = storage()
    out, x = (make(s) for make in OVERLAPS[how])
    if how == "one element" and writer in ("gemv a", "gemv x", "ger"):
        out = s[:16].reshape(4, 4)[::-1]  # so that the rows taken are those that meet
    if how == "one element before" and writer in ("gemv x", "ger"):
        x = s[12:28].reshape(4, 4)
    with pytest.raises(AliasError, match=r"copy\(\)"):
        WRITERS[writer](out, x, mat.ones(4, 4))
    assert_array_equal(s.to_numpy(), np.arange(60))


@pytest.mark.parametrize("how", OVERLAPS)
def test_matmul_into_an_output_that_overlaps_an_input_gives_what_numpy_gives(how):
    s = storage()
    out, x = (make(s) for make in OVERLAPS[how])
    wanted = x.to_numpy() @ np.full((4, 4), 2.0)
    assert mat.matmul(x, mat.full((4, 4), 2.0), out=out) is out
    assert_array_equal(out.to_numpy(), wanted)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("how", DISJOINT)
def test_outputs_beside_inputs_are_not_refused(rng, writer, how):
    s = mat.array(rng.standard_normal(60))
    rest = mat.array(rng.standard_normal((4, 4)))
    out, x = (make(s) for make in DISJOINT[how])
    apart = out.copy(), x.copy()
    before = s.to_numpy()
    WRITERS[writer](out, x, rest)
    WRITERS[writer](*apart, rest)
    assert_allclose(out.to_numpy(), apart[0].to_numpy())
    changed = before != s.to_numpy()
    assert set(np.flatnonzero(changed)) <= set(out.layout.indices())


@pytest.mark.parametrize("verb", [lambda x, y: mat.axpy(2, x, y), mat.blas.copy, mat.swap])
def test_vectors_that_are_shifted_are_refused_and_the_same_allowed(verb):
    s = storage()
    with pytest.raises(AliasError):
        verb(s[:10], s[1:11])
    with pytest.raises(AliasError):
        verb(s[:10], s[9::-1])
    with pytest.raises(AliasError):
        verb(s[:10], s[:10].reshape(2, 5).T.reshape(5, 2))
    assert_array_equal(s.to_numpy(), np.arange(60))
    verb(s[:10:2], s[1:10:2])
    verb(s[20:24], s[20:24])


def test_axpy_with_itself():
    s = storage()
    x = s[:4]
    mat.axpy(2, x, x)
    mat.axpy(1, s[4:8], s[4:8])
    mat.axpy(1, s[8:12].reshape(2, 2), s[8:12])
    assert_array_equal(s[:12].to_numpy(), [0, 3, 6, 9, 8, 10, 12, 14, 16, 18, 20, 22])


def test_dot_with_itself_may_overlap():
    s = mat.arange(5.0)
    assert mat.blas.dot(s[1:], s[:-1]) == 0 + 2 + 6 + 12


# Threads


def test_threads_with_factors_of_their_own():
    a, ones = mat.eye(16), mat.ones(16)

    def work(k):
        c, y = mat.zeros(16, 16), mat.zeros(16)
        for i in range(150):
            factor = 1000.0 * k + i
            mat.gemm(factor, a, a, 0.0, c)
            assert_array_equal(c.to_numpy(), factor * np.eye(16))
            y.fill_(0).axpy_(factor, ones)
            assert_array_equal(y.to_numpy(), np.full(16, factor))
    in_threads(4, work)


def test_threads_while_constants_are_forgotten():
    x = mat.ones(3)

    def work(k):
        y = mat.zeros(3)
        for i in range(2500):  # more factors than are remembered
            y.fill_(0.0).axpy_(k + i / 4096, x)
            assert y.item(2) == k + i / 4096
    in_threads(3, work)
