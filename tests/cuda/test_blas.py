"""BLAS and products on the device: nothing falls back to the host, which calls are made, what
happens where they fail.

Results over dtypes and layouts: ``test_implementations.py`` and ``test_blas.py`` with
MAT_TEST_DEVICE=cuda; the kernel alone: ``test_integer_matmul.py``.
"""

import threading
from contextlib import contextmanager
from fractions import Fraction

import cffi
import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DeviceError, OutOfDeviceMemory

from ..support.layouts import BLAS_DTYPES, check_hidden, numbers, place

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.libraries import blas, cublas, cublas_table

NEAR = {"rtol": 1e-3, "atol": 1e-3}


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


@contextmanager
def calls(*wanted, packs=0, d2h=0):
    """Inside, nothing falls back, so much is packed and read back, and, if given, these routines
    are called.
    """
    with mat.debug.count_copies() as n, mat.debug.list_calls() as made:
        yield made
    assert n.fallbacks == 0
    assert (n.packs, n.d2h) == (packs, d2h)
    if wanted:
        assert [str(call) for call in made.calls] == list(wanted)


def there(x):
    """A Mat that is on the device already."""
    return mat.array(x).scal_(1) if x.dtype.char in "fdFD" else mat.array(x)


# Which calls are made


@pytest.mark.parametrize(("dtype", "letter"), list(zip(BLAS_DTYPES, "SDCZ", strict=True)))
@pytest.mark.sample(2)
def test_the_linear_layer_takes_three_calls_and_no_copies(rng, dtype, letter):
    x, w, dy = (numbers(rng, shape, dtype) for shape in ((32, 64), (10, 64), (32, 10)))
    mx, mw, mdy = map(there, (x, w, dy))
    with calls(f"cublas{letter}gemm(trans=TN, m=10, n=32, k=64, lda=64, ldb=64, ldc=10)",
               f"cublas{letter}gemm(trans=NN, m=64, n=32, k=10, lda=64, ldb=10, ldc=64)",
               f"cublas{letter}gemm(trans=NT, m=64, n=10, k=32, lda=64, ldb=10, ldc=64)"):
        y, dx, dw = mx @ mw.T, mdy @ mw, mdy.T @ mx
    assert y.fresh == dx.fresh == dw.fresh == {"cuda:0"}
    assert_allclose(y.to_numpy(), x @ w.T, **NEAR)
    assert_allclose(dx.to_numpy(), dy @ w, **NEAR)
    assert_allclose(dw.to_numpy(), dy.T @ x, **NEAR)


@pytest.mark.parametrize(("one", "other", "wanted"), [
    ((4, 5, 7), (4, 7, 3), ["cublasDgemmStridedBatched(trans=NN, m=3, n=5, k=7, lda=3, ldb=7, "
                            "ldc=3, count=4)"]),
    ((2, 3, 5, 7), (2, 3, 7, 4), ["cublasDgemmStridedBatched(trans=NN, m=4, n=5, k=7, lda=4, "
                                  "ldb=7, ldc=4, count=6)"]),
    ((4, 5, 7), (7, 3), ["cublasDgemm(trans=NN, m=3, n=20, k=7, lda=3, ldb=7, ldc=3)"]),
    ((5, 7), (4, 7, 3), ["cublasDgemmStridedBatched(trans=NN, m=3, n=5, k=7, lda=3, ldb=7, ldc=3, "
                         "count=4)"]),
    ((2, 1, 5, 7), (3, 7, 4), 2 * ["cublasDgemmStridedBatched(trans=NN, m=4, n=5, k=7, lda=4, "
                                   "ldb=7, ldc=4, count=3)"]),
    ((5, 7), (7,), ["cublasDgemv(trans=T, m=7, n=5, lda=7, incx=1, incy=1)"]),
    ((7,), (7, 5), ["cublasDgemv(trans=N, m=5, n=7, lda=5, incx=1, incy=1)"]),
    ((4, 5, 7), (7,), ["cublasDgemv(trans=T, m=7, n=20, lda=7, incx=1, incy=1)"]),
    ((7,), (7,), ["cublasDdot(n=7, incx=1, incy=1)"]),
    ((1, 7), (7, 1), ["cublasDdot(n=7, incx=1, incy=1)"]),
    ((7,), (4, 7, 3), ["cublasDgemmStridedBatched(trans=NN, m=3, n=1, k=7, lda=3, ldb=7, ldc=3, "
                       "count=4)"]),
])
def test_products_by_the_fewest_calls(rng, one, other, wanted):
    a, b = rng.standard_normal(one), rng.standard_normal(other)
    x, y = there(a), there(b)
    with calls(*wanted):
        c = x @ y
    assert c.fresh == {"cuda:0"}
    assert_allclose(c.to_numpy(), a @ b)


def test_stacks_that_go_down_and_transposed_stacks(rng):
    a, b = rng.standard_normal((4, 5, 7)), rng.standard_normal((4, 3, 7))
    x, y, z = mat.array(a)[::-1], mat.array(b).swapaxes(1, 2), mat.zeros(4, 5, 3)
    with calls() as made:
        mat.gemm_batched(2, x, y, 0, z)
    assert len(made.calls) == 4  # one after the other
    assert_allclose(z.to_numpy(), 2 * a[::-1] @ b.swapaxes(1, 2))
    with calls("cublasDgemmStridedBatched(trans=NN, m=3, n=5, k=7, lda=3, ldb=7, ldc=3, count=4)"):
        mat.gemm_batched(1, mat.array(a), mat.array(b.swapaxes(1, 2).copy()), 1, z)
    assert_allclose(z.to_numpy(), 2 * a[::-1] @ b.swapaxes(1, 2) + a @ b.swapaxes(1, 2))
    with calls("cublasDgemmStridedBatched(trans=TN, m=3, n=5, k=7, lda=7, ldb=7, ldc=3, count=4)"):
        c = mat.matmul(mat.array(a), mat.array(b), transpose_b=True)
    assert_allclose(c.to_numpy(), a @ b.swapaxes(1, 2))


def test_vectors_stored_by_columns_are_not_packed(rng):
    a, b = numbers(rng, (4, 3), "float64"), numbers(rng, (4, 3), "float64")
    x, y = there(a).T * 1, there(b).T * 1
    with calls("cublasDdot(n=12, incx=1, incy=1)"):
        assert mat.axpy(2, x, y) is y
        found = mat.blas.dot(x, y)
    with calls(packs=2):
        mat.axpy(1, x, y, incx=-1, incy=-1)
    b += 2 * a
    assert_allclose(found, (a * b).sum())
    assert_allclose(y.to_numpy(), (b + a).T)


def test_only_what_returns_numbers_is_read_back(rng):
    a = rng.standard_normal(9)
    x = there(a)
    with calls("cublasDdot(n=9, incx=1, incy=1)", "cublasDnrm2(n=9, incx=1)",
               "cublasDasum(n=9, incx=1)",
               "cublasIdamax(n=9, incx=1)"):
        found = mat.blas.dot(x, x), mat.nrm2(x), mat.asum(x), mat.iamax(x)
    assert_allclose(found, (a @ a, np.linalg.norm(a), abs(a).sum(), abs(a).argmax()))
    assert [type(f) for f in found] == [float, float, float, int]
    with calls("cublasDdot(n=9, incx=1, incy=1)"):
        y = x @ x
    assert y.fresh == {"cuda:0"}
    assert_allclose(y.item(), a @ a)


@pytest.mark.parametrize(("one", "other"),
                         [("float32", "float64"), ("int32", "float32"), ("float16", "float32"),
                          ("float32", "complex64"), ("bool", "float64"), ("int8", "int32"),
                          ("bool", "int16")])
@pytest.mark.sample(3)
def test_dtypes_that_promote(rng, one, other):
    a, b = numbers(rng, (5, 7), one), numbers(rng, (7, 3), other)
    with calls():
        c, d = mat.array(a) @ mat.array(b), mat.array(b).T @ mat.array(a).T
    assert c.dtype == d.dtype == np.result_type(a, b)
    assert c.fresh == d.fresh == {"cuda:0"}
    assert_allclose(c.to_numpy(), a @ b, **NEAR)
    assert_allclose(d.to_numpy(), (a @ b).T, **NEAR)


# Element types besides those of BLAS


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("wide", [False, True])
def test_halves_go_to_gemm_ex(rng, dtype, wide):
    a, b = rng.standard_normal((2, 6,
                                7)).astype(dtype), rng.standard_normal((2, 7, 5)).astype(dtype)
    out = mat.zeros(2, 6, 5, dtype=np.float32 if wide else dtype)
    turned = mat.array(np.ascontiguousarray(b[0].T))
    with calls() as made:
        mat.matmul(mat.array(a), mat.array(b), out=out)
        mat.matmul(mat.array(a[0]), turned, transpose_b=True, out=out[0])
    assert [call.routine for call in made.calls] == ["cublasGemmStridedBatchedEx", "cublasGemmEx"]
    wanted = a.astype(float) @ b.astype(float)
    assert_allclose(out.to_numpy().astype(float), wanted, rtol=2e-2, atol=3e-2)
    c = mat.array(np.ones((6, 5), np.float32 if wide else dtype))
    with calls() as made:
        mat.gemm(2, mat.array(a[0]), mat.array(b[0]), 0.5, c)
    assert [call.routine for call in made.calls] == ["cublasGemmEx"]
    assert_allclose(c.to_numpy().astype(float), 2 * wanted[0] + 0.5, rtol=2e-2, atol=6e-2)
    with calls() as made:  # strides that no matrix of cuBLAS has: our kernel, nothing packed
        d = mat.array(a)[0, ::2, ::3] @ mat.array(b)[0, ::3, ::2]
    assert made.calls == []
    wanted = a[0, ::2, ::3].astype(float) @ b[0, ::3, ::2].astype(float)
    assert_allclose(d.to_numpy().astype(float), wanted, rtol=2e-2, atol=2e-2)


def test_int8_goes_to_gemm_ex_where_it_is_aligned(rng):
    a, b = numbers(rng, (6, 8), "int8"), numbers(rng, (8, 4), "int8")
    wanted = a.astype(int) @ b
    for x, y, called in ((mat.array(a), mat.array(b), True),
                         (place(a, "displaced"), mat.array(b), False),
                         (mat.array(a)[:, :7], mat.array(b)[:7], True),
                         (mat.array(a[:, :7].copy()), mat.array(b[:7]), False)):
        k = x.shape[1]
        for out in (mat.full((6, 4), 3, dtype="int32"),
                    place(np.full((6, 4), 3, "int32"), "block")):
            with calls() as made:
                mat.gemm(-2, x, y, 5, out)
            assert [call.routine for call in made.calls
                    if "Gemm" in call.routine] == ["cublasGemmEx"] * called
            assert_array_equal(out.to_numpy(), -2 * (a[:, :k].astype(int) @ b[:k]) + 15)
            check_hidden(out) if out.max_size != 24 else None
    assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(), wanted.astype("int8"))


def test_what_cublas_does_not_support_goes_to_our_kernel(rng, device):
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((6, 7), (7, 5)))
    if device.is_mock:
        device.fail("cublasGemmEx", times=2, status=15)
    for _ in range(3):
        assert_allclose((mat.array(a) @ mat.array(b)).to_numpy(), a @ b, rtol=1e-2, atol=1e-2)
    if device.is_mock:
        assert device.calls("cublasGemmEx") == 3


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64", "bool"])
@pytest.mark.sample(3)
def test_integers(rng, dtype):
    a, b = numbers(rng, (3, 9, 7), dtype), numbers(rng, (7, 5), dtype)
    x, y = mat.array(a), mat.array(b)
    with calls():
        found = x @ y, x[1, ::-2] @ y, x @ y[:, 1], y[:5, 0] @ y[:5]
    for one, other in zip(found, (a @ b, a[1, ::-2] @ b, a @ b[:, 1], b[:5, 0] @ b[:5]),
                          strict=True):
        assert_array_equal(one.to_numpy(), other)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32"])
def test_large_factors_of_integers(rng, dtype):
    a, b, c = (numbers(rng, shape, dtype) % 9 for shape in ((3, 4), (4, 2), (3, 2)))
    alpha, beta = (2**62 + 3, 2**61 + 1) if dtype != "int32" else (2**30 + 3, -(2**29) + 1)
    with np.errstate(all="ignore"):
        wanted = np.dtype(dtype).type(alpha) * (a @ b) + np.dtype(dtype).type(beta) * c
    with calls():
        out = mat.array(c).gemm_(alpha, mat.array(a), mat.array(b), beta)
    assert_array_equal(out.to_numpy(), wanted)


# Sizes that 32 bits do not count


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_long_forms(rng, dtype, monkeypatch):
    used, symbol = [], cublas_table.symbol
    monkeypatch.setattr(cublas, "LIMIT", 2)
    monkeypatch.setattr(blas, "LIMIT", 2)
    monkeypatch.setattr(cublas_table, "symbol",
                        lambda *given: used.append(symbol(*given)) or used[-1])
    a, b, x, y = (numbers(rng, shape, dtype) for shape in ((11, 13), (13, 12), (13,), (11,)))
    ma, mb, mx, my = map(mat.array, (a, b, x, y))
    assert_allclose(mat.blas.dot(mx, mx), (x * x).sum(), **NEAR)
    assert mat.iamax(mx) == np.argmax(abs(x.real) + abs(x.imag))
    assert_allclose(mat.nrm2(mx), np.linalg.norm(x), **NEAR)
    assert_allclose(mat.asum(mx), (abs(x.real) + abs(x.imag)).sum(), **NEAR)
    assert_allclose(mat.axpy(2, my, mat.array(y)).to_numpy(), 3 * y, **NEAR)
    assert_allclose(mat.scal(2, mat.array(y)).to_numpy(), 2 * y, **NEAR)
    assert_allclose(mat.gemv(1, ma, mx, 2, mat.array(y)).to_numpy(), a @ x + 2 * y, **NEAR)
    assert_allclose(mat.ger(1, my, mx, mat.array(a)).to_numpy(), np.outer(y, x) + a, **NEAR)
    assert_allclose((ma @ mb).to_numpy(), a @ b, **NEAR)
    assert_allclose((mat.array(np.stack([a, a])) @ mb).to_numpy(), np.stack([a @ b] * 2), **NEAR)
    assert_allclose(np.tril(mat.syrk(1, ma, 0, mat.zeros(11, 11, dtype=dtype)).to_numpy()),
                    np.tril(a @ a.T), **NEAR)
    triangle = np.tril(a[:, :11]) + 9 * np.eye(11, dtype=dtype)
    assert_allclose(mat.trsm(1, mat.array(triangle), mat.array(a)).to_numpy(),
                    np.linalg.solve(triangle, a), **NEAR)
    assert used
    assert all(name.endswith("_64") for name in used)


def test_the_largest_lengths_pass_to_the_long_forms():
    """What is prepared for lengths of 64 bits; nothing of that size is touched."""
    big = 2**31
    for made, n in ((blas.vectors("copy", "f", big, (1, 1), (0, 0)), big),
                    (blas.vectors("copy", "f", 8, (big, 1), (0, 0)), 8)):
        routine = next(cell.cell_contents for cell in made.__closure__
                       if isinstance(cell.cell_contents, cublas.CublasRoutine))
        assert routine.function == cublas.library().cublasScopy_v2_64
        assert routine.reported["n"] == n
    made = blas.vectors("copy", "f", big - 1, (1, 1), (0, 0))
    routine = next(cell.cell_contents for cell in made.__closure__
                   if isinstance(cell.cell_contents, cublas.CublasRoutine))
    assert routine.function == cublas.library().cublasScopy_v2


# Updates by a kernel of ours


def rounded(exact, dtype):
    """Return the floats of `dtype` that are the nearest to fractions."""
    near = np.array([float(f) for f in exact], dtype)
    found = [min((np.nextafter(c, dtype(-np.inf)), c, np.nextafter(c, dtype(np.inf))),
                 key=lambda c, f=f: abs(Fraction(float(c)) - f))
             for c, f in zip(near, exact, strict=True)]
    return np.array(found, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", [np.s_[:], np.s_[1:], np.s_[::3], np.s_[::-1]])
def test_updates_are_rounded_once(device, rng, dtype, part):
    """Of what is nearly 0, two roundings leave no correct bit."""
    a, factor = rng.standard_normal(3000).astype(dtype), dtype(0.3)
    b = -factor * a
    b[::2] = rng.standard_normal(1500)
    exact = [Fraction(float(factor)) * Fraction(float(x)) + Fraction(float(y))
             for x, y in zip(a[part], b[part], strict=True)]
    before = device.calls(f"cublas{'SD'[dtype is np.float64]}axpy")
    y = mat.array(b)
    mat.axpy(factor, mat.array(a)[part], y[part])
    b[part] = rounded(exact, dtype)
    assert_array_equal(y.to_numpy(), b)
    assert device.calls(f"cublas{'SD'[dtype is np.float64]}axpy") == before
    mat.axpy(0, mat.full(3000, np.nan, dtype=dtype), y.fill_(-0.0))
    assert_array_equal(np.signbit(y.to_numpy()), True)


def test_updates_of_elements_in_another_order_are_those_of_cublas(device, rng):
    a, b = (rng.standard_normal(50).astype("f") for _ in range(2))
    before = device.calls("cublasSaxpy")
    found = mat.axpy(0.3, mat.array(a), mat.array(b), incy=-1)
    assert_allclose(found.to_numpy(), b + np.float32(0.3) * a[::-1], rtol=1e-5, atol=1e-6)
    assert device.calls("cublasSaxpy") == before + 1


# Failures


def test_a_failing_call_is_a_device_error_with_its_name(device):
    x, y = mat.ones(4, dtype="complex128"), mat.ones(4, dtype="complex128")
    mat.axpy(1, x, y)
    device.fail("cublasZaxpy", status=13)
    with pytest.raises(DeviceError, match=r"cublasZaxpy: CUBLAS_STATUS_EXECUTION_FAILED \(13\)"):
        mat.axpy(1, x, y)
    assert mat.axpy(1, x, mat.zeros(4, dtype=x.dtype)).to_numpy().tolist() == [1] * 4


def test_memory_is_made_for_cublas(device):
    with mat.use_device("cuda") as dev:
        pool = dev.gpu.pool
    x, y = (mat.ones(1000, dtype="complex128") for _ in range(2))
    mat.axpy(1, x, y)
    x.close()
    mat.ones(5).scal_(1)
    assert pool.kept > 0
    device.fail("cublasZaxpy", status=3)
    # called once more, after what the pool keeps was given back
    assert mat.axpy(1, y, y).to_numpy()[0] == 4
    assert pool.kept == 0
    device.fail("cublasZaxpy", times=2, status=3)
    assert mat.axpy(1, y, y).to_numpy()[0] == 8  # in tiles
    device.fail("cublasZaxpy", times=1000, status=3)
    with pytest.raises(OutOfDeviceMemory, match=r"cublasZaxpy.*pool_bytes"):
        mat.axpy(1, y, y)


def test_no_memory_for_cublas_where_the_only_copy_is_on_the_device(device):
    x, y = (mat.ones(1000, dtype="complex128") for _ in range(2))
    mat.axpy(1, x, y)
    device.fail("cublasZaxpy", times=2, status=3)
    with pytest.raises(OutOfDeviceMemory, match=r"cublasZaxpy.*pool_bytes"):
        mat.axpy(1, x, y)
    with pytest.raises(mat.TornError):
        y.to_numpy()


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setenv("MAT_CUBLAS", "/nowhere/libcublas.so")
    monkeypatch.setattr(cublas, "ffi", cffi.FFI())
    with pytest.raises(DeviceError, match="MAT_CUBLAS in the environment"):
        cublas.library.load()


def test_the_order_of_arguments_is_checked_before_anything_is_touched():
    x, y = mat.ones(3), mat.ones(4)
    with pytest.raises(mat.ShapeError):
        mat.axpy(1, x, y)
    assert x.fresh == y.fresh == set()


# Threads


def test_threads_share_a_handle(rng):
    a, b = rng.standard_normal((17, 9)), rng.standard_normal((9, 13))
    found, failed = [None] * 4, []

    def work(k):
        try:
            with mat.use_device("cuda"):
                x, y, z = mat.array(a * k), mat.array(b), mat.zeros(17, 13)
                for _ in range(20):
                    z.gemm_(1.0, x, y, 0.0)
                    mat.nrm2(z)
                found[k] = z.to_numpy()
        except BaseException as error:  # told below, in the thread of the test
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []
    for k in range(4):
        assert_allclose(found[k], k * a @ b)


def test_the_second_device_has_a_handle_of_its_own(two_devices, rng):
    a = rng.standard_normal((5, 6))
    x = mat.array(a)
    first = (x @ x.T).to_numpy()
    with mat.use_device("cuda:1"):
        y = x @ x.T
        assert y.fresh == {"cuda:1"}
    assert_allclose(y.to_numpy(), first)
    assert_allclose((x @ x.T).to_numpy(), first)
