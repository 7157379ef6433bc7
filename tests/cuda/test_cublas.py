"""The mock cuBLAS: every routine of our table, called as the table declares it, against
SciPy's BLAS.

``test_cuda_blas*.py`` go on from here: what `mat` makes of it.
"""

import itertools

import ml_dtypes
import numpy as np
import pytest
import scipy.linalg

from mat.cuda.libraries.cublas_table import (
    COMPUTE_32F,
    COMPUTE_32I,
    DATA,
    DIAG,
    FILL,
    GEMM_DEFAULT,
    OP,
    SIDE,
    functions,
    symbol,
)
from mat.errors import DeviceError, OutOfDeviceMemory

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver

from mat.cuda.libraries.cublas import Handles, check, ffi, library
from mat.cuda.runtime.gpu import Gpu
from mat.cuda.runtime.gpu import check as checked

LETTERS = "fdFD"
CTYPES = {"f": "float[1]", "d": "double[1]", "F": "float[2]", "D": "double[2]", "i": "int[1]",
          "l": "int64_t[1]"}
SHORT_AND_LONG = (False, True)


class Blas:
    """Routines by verb, on copies of arrays on a device."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.handle = Handles(0)[gpu]
        self.there = []

    def put(self, *arrays):
        return [self._put(np.asarray(a)) for a in arrays]

    def _put(self, a):
        flat = a.ravel("K")
        block = self.gpu.allocate(max(flat.nbytes, 1))
        if flat.nbytes:
            checked(driver.cuMemcpyHtoDAsync(block.address, flat.ctypes.data, flat.nbytes,
                                             self.gpu.stream), "")
        self.there.append(block)
        return block.address

    def get(self, address, like):
        out = np.empty(like.size, like.dtype)
        checked(driver.cuMemcpyDtoHAsync(out.ctypes.data, address, out.nbytes, self.gpu.stream), "")
        return out.reshape(like.shape, order="F")

    def call(self, verb, letter, *arguments, long=False):
        with self.gpu.current():
            return getattr(library(), symbol(verb, letter, long))(self.handle, *arguments)

    def __call__(self, verb, letter, *arguments, long=False):
        check(self.call(verb, letter, *arguments, long=long), verb)


@pytest.fixture
def blas(cuda):
    gpu = Gpu(0)
    with gpu.current():
        made = Blas(gpu)
        yield made
        for block in made.there:
            gpu.release(block)


def factor(letter, value):
    return ffi.new(CTYPES[letter], [value, 0] if letter in "FD" else [value])


def random(rng, letter, *shape):
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if letter in "FD" else 0)
    return np.asfortranarray(a.astype(letter))


def close(actual, expected, letter):
    np.testing.assert_allclose(actual, expected, rtol=1e-5 if letter in "fF" else 1e-12,
                               atol=1e-5 if letter in "fF" else 1e-12)


def turned(a, op):
    return {"N": a, "T": a.T, "C": a.conj().T}[op]


def test_every_routine_of_the_table_is_there(blas):
    assert all(hasattr(library(), f.symbol) for f in functions())


@pytest.mark.parametrize("long", SHORT_AND_LONG)
@pytest.mark.parametrize("letter", LETTERS)
def test_level_one(blas, rng, letter, long):
    x, y = random(rng, letter, 9), random(rng, letter, 7)
    at, other = blas.put(x, y)
    one, two = x[::3], y[4::-2]
    blas("axpy", letter, 3, factor(letter, 2.5), at, 3, other, -2, long=long)
    y[4::-2] = two + np.asarray(2.5, letter) * one
    close(blas.get(other, y), y, letter)
    blas("scal", letter, 5, factor(letter, -2), at, 2, long=long)
    x[::2] *= -2
    close(blas.get(at, x), x, letter)
    blas("swap", letter, 7, at, 1, other, -1, long=long)
    old = y.copy()
    y[:], x[:7] = x[6::-1].copy(), old[::-1]
    close(blas.get(other, y), y, letter)
    close(blas.get(at, x), x, letter)
    blas("copy", letter, 2, at, 1, other, 3, long=long)
    y[0], y[3] = x[:2]
    close(blas.get(other, y), y, letter)


def result_of(blas, verb, letter, kind, *arguments, long):
    out = ffi.new(CTYPES[kind])
    blas(verb, letter, *arguments, out, long=long)
    return complex(*out) if kind in "FD" else out[0]


@pytest.mark.parametrize("long", SHORT_AND_LONG)
@pytest.mark.parametrize("letter", LETTERS)
def test_sums(blas, rng, letter, long):
    x, y, real = random(rng, letter, 9), random(rng, letter, 9), letter.lower()
    at, other = blas.put(x, y)
    close(result_of(blas, "dot", letter, letter, 9, at, 1, other, -1, long=long),
          (x * y[::-1]).sum(), letter)
    if letter in "FD":
        close(result_of(blas, "vdot", letter, letter, 9, at, 1, other, 1, long=long), np.vdot(x, y),
              letter)
    close(result_of(blas, "nrm2", letter, real, 5, at, 2, long=long), np.linalg.norm(x[::2]),
          letter)
    sizes = np.abs(x.real) + np.abs(x.imag)
    close(result_of(blas, "asum", letter, real, 9, at, 1, long=long), sizes.sum(), letter)
    assert result_of(blas, "iamax", letter, "l" if long else "i", 9, at, 1,
                     long=long) == sizes.argmax() + 1
    assert result_of(blas, "nrm2", letter, real, 0, at, 1, long=long) == 0


@pytest.mark.parametrize("long", SHORT_AND_LONG)
@pytest.mark.parametrize("letter", LETTERS)
def test_level_two(blas, rng, letter, long):
    for op in "NTC":
        a, x, y = random(rng, letter, 5, 3), random(rng, letter, 5), random(rng, letter, 9)
        m = 5 if op == "N" else 3
        at, xt, yt = blas.put(a, x, y)
        blas("gemv", letter, OP[op], 5, 3, factor(letter, 2), at, 5, xt, 1, factor(letter, -1), yt,
             2, long=long)
        y[:2 * m:2] = 2 * turned(a, op) @ x[:8 - m] - y[:2 * m:2]
        close(blas.get(yt, y), y, letter)
    a, x, y = random(rng, letter, 5, 3), random(rng, letter, 5), random(rng, letter, 3)
    at, xt, yt = blas.put(a, x, y)
    blas("ger", letter, 5, 3, factor(letter, 2), xt, -1, yt, 1, at, 5, long=long)
    close(blas.get(at, a), a + 2 * np.outer(x[::-1], y), letter)


@pytest.mark.parametrize("long", SHORT_AND_LONG)
@pytest.mark.parametrize("letter", LETTERS)
def test_products(blas, rng, letter, long):
    for one, other in itertools.product("NTC", repeat=2):
        a = random(rng, letter, *((4, 3) if one == "N" else (3, 4)), 2)
        b = random(rng, letter, *((3, 5) if other == "N" else (5, 3)), 2)
        c = random(rng, letter, 6, 5, 2)
        expected = c.copy()
        for k in range(2):
            expected[:4, :, k] = 2 * turned(a[..., k], one) @ turned(b[..., k], other) - c[:4, :, k]
        at, bt, ct = blas.put(a, b, c)
        lda, ldb = len(a), len(b)
        blas("gemmStridedBatched", letter, OP[one], OP[other], 4, 5, 3, factor(letter, 2), at, lda,
             12, bt, ldb, 15,
             factor(letter, -1), ct, 6, 30, 2, long=long)
        close(blas.get(ct, c), expected, letter)
        c[:] = np.nan
        (ct,) = blas.put(c)
        nothing = factor(letter, 0)
        blas("gemm", letter, OP[one], OP[other], 4, 5, 3, factor(letter, 2), at, lda, bt, ldb,
             nothing, ct, 6, long=long)
        c[:4, :, 0] = 2 * turned(a[..., 0], one) @ turned(b[..., 0], other)
        close(blas.get(ct, c), c, letter)


@pytest.mark.parametrize("long", SHORT_AND_LONG)
@pytest.mark.parametrize("letter", LETTERS)
def test_halves(blas, rng, letter, long):
    for fill, op in itertools.product("LU", "NT"):
        a, c = random(rng, letter, *((4, 3) if op == "N" else (3, 4))), random(rng, letter, 4, 4)
        at, ct = blas.put(a, c)
        blas("syrk", letter, FILL[fill], OP[op], 4, 3, factor(letter, 2), at, len(a),
             factor(letter, 3), ct, 4, long=long)
        inside = np.tri(4, dtype=bool) if fill == "L" else np.tri(4, dtype=bool).T
        whole = turned(a, op) @ turned(a, op).T
        close(blas.get(ct, c), np.where(inside, 2 * whole + 3 * c, c), letter)


@pytest.mark.parametrize("letter", LETTERS)
def test_triangular_systems(blas, rng, letter):
    for side, fill, op, diag in itertools.product("LR", "LU", "NTC", "NU"):
        n = 4 if side == "L" else 3
        a, b = random(rng, letter, n,
                      n) / 4 + 2 * np.eye(n, dtype=letter), random(rng, letter, 4, 3)
        a = np.asfortranarray(a)
        triangle = np.tril(a) if fill == "L" else np.triu(a)
        if diag == "U":
            np.fill_diagonal(triangle, 1)
            np.fill_diagonal(a, np.nan)
        # is not read
        a[np.tri(n, k=-1, dtype=bool).T if fill == "L" else np.tri(n, k=-1, dtype=bool)] = np.nan
        at, bt = blas.put(a, b)
        blas("trsm", letter, SIDE[side], FILL[fill], OP[op], DIAG[diag], 4, 3, factor(letter, 2),
             at, n, bt, 4)
        inverse = scipy.linalg.inv(turned(triangle, op))
        close(blas.get(bt, b), 2 * (inverse @ b if side == "L" else b @ inverse), letter)


@pytest.mark.parametrize(("one", "out"), [("e", "e"), ("e", "f"), ("E", "E"), ("E", "f")])
def test_half_precision_is_summed_in_float32(blas, rng, one, out):
    kinds = {"e": np.float16, "E": ml_dtypes.bfloat16, "f": np.float32}
    a, b = (np.asfortranarray(rng.standard_normal((8, 8)).astype(kinds[one])) for _ in range(2))
    c = np.asfortranarray(rng.standard_normal((8, 8)).astype(kinds[out]))
    at, bt, ct = blas.put(a, b, c)
    blas("GemmEx", "", OP["N"], OP["T"], 8, 8, 8, factor("f", 2), at, DATA[one], 8, bt, DATA[one],
         8, factor("f", -1), ct,
         DATA[out], 8, COMPUTE_32F, GEMM_DEFAULT)
    expected = 2 * a.astype("f") @ b.astype("f").T - c.astype("f")
    np.testing.assert_allclose(blas.get(ct, c).astype("f"), expected.astype(kinds[out]).astype("f"),
                               rtol=1e-2, atol=1e-4)


def test_half_precision_is_rounded_as_numpy_does(blas):
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    a = np.asfortranarray(every[np.isfinite(every)].reshape(-1, 32))
    for kind, factors in ((np.float16, (1, 1.001, 3.3e-5, 1e4)),
                          (ml_dtypes.bfloat16, (1, 1.001, 1e30))):
        a = a.astype(kind)
        eye = np.asfortranarray(np.eye(32, dtype=kind))
        at, bt, ct = blas.put(a, eye, a)
        letter = "e" if kind is np.float16 else "E"
        for number in factors:
            blas("GemmEx", "", 0, 0, len(a), 32, 32, factor("f", number), at, DATA[letter], len(a),
                 bt, DATA[letter], 32,
                 factor("f", 0), ct, DATA[letter], len(a), COMPUTE_32F, GEMM_DEFAULT)
            with np.errstate(over="ignore"):
                expected = (np.float32(number) * a.astype("f")).astype(kind)
            np.testing.assert_array_equal(blas.get(ct, a).astype("f"), expected.astype("f"))


def test_bytes_are_summed_in_32_bits_if_aligned(blas, rng):
    a, b = (np.asfortranarray(rng.integers(-128, 128, (8, 8), np.int8)) for _ in range(2))
    c = np.asfortranarray(rng.integers(-9, 9, (8, 8), np.int32))
    at, bt, ct = blas.put(a, b, c)

    def product(lda, at):
        return blas.call("GemmEx", "", OP["T"], OP["N"], 4, 8, 8, factor("i", 2), at, DATA["b"],
                         lda, bt, DATA["b"], 8,
                         factor("i", 3), ct, DATA["i"], 8, COMPUTE_32I, GEMM_DEFAULT)
    assert product(8, at) == 0
    c[:4] = 2 * a.T[:4].astype("i") @ b.astype("i") + 3 * c[:4]
    np.testing.assert_array_equal(blas.get(ct, c), c)
    assert product(9, at) == product(8, at + 1) == 15


# How it is called


def test_invalid_values_are_refused(cuda, blas):
    (at,) = blas.put(np.zeros((4, 4)))
    one = factor("d", 1)
    for arguments in ((0, 0, -1, 4, 4, one, at, 4, at, 4, one, at, 4),
                      (0, 0, 4, 4, 4, one, at, 3, at, 4, one, at, 4),
                      (0, 7, 4, 4, 4, one, at, 4, at, 4, one, at, 4),
                      (0, 0, 4, 4, 4, one, at, 4, at, 4, one, at, 3)):
        assert blas.call("gemm", "d", *arguments) == 7
    if cuda.is_mock:  # cuBLAS 13.1 takes steps of 0
        assert blas.call("gemv", "d", 0, 4, 4, one, at, 4, at, 0, one, at, 1) == 7
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_INVALID_VALUE"):
        check(7, "a call")


def test_operands_outside_of_their_block(cuda, blas):
    if not cuda.is_mock:
        pytest.skip("the mock driver checks the addresses, a GPU would use them")
    (at,) = blas.put(np.zeros((4, 4)))
    one = factor("d", 1)
    assert blas.call("gemm", "d", 0, 0, 4, 5, 4, one, at, 4, at, 4, one, at, 4) == 13
    assert blas.call("scal", "d", 5, one, at, 4) == 13
    assert blas.call("scal", "d", 2, one, at + 4, 1) == 13
    assert len(cuda.faults()) == 3
    cuda.forget()


def test_results_on_the_device(blas, rng):
    x = random(rng, "d", 9)
    at, out = blas.put(x, np.zeros(1))
    handle = Handles(1)[blas.gpu]
    assert library().cublasDdot_v2(handle, 9, at, 1, at, 1, ffi.cast("void *", out)) == 0
    assert library().cublasDscal_v2(handle, 9, ffi.cast("void *", out), at, 1) == 0
    close(blas.get(at, x), x * (x @ x), "d")


def test_it_keeps_to_its_stream(cuda, blas, rng):
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    x = random(rng, "d", 9)
    (at,) = blas.put(x)
    blas.gpu.synchronize()
    cuda.delay()
    blas("scal", "d", 9, factor("d", 2), at, 1)
    early = np.empty_like(x)
    checked(driver.cuMemcpyDtoHAsync(early.ctypes.data, at, early.nbytes, blas.gpu.copy_stream), "")
    np.testing.assert_array_equal(early, x)
    assert result_of(blas, "asum", "d", "d", 9, at, 1, long=False) == np.abs(2 * x).sum()
    np.testing.assert_array_equal(blas.get(at, x), 2 * x)


def test_failures_on_purpose(cuda, blas):
    cuda.fail("cublasDscal", status=3)
    (at,) = blas.put(np.zeros(4))
    with pytest.raises(OutOfDeviceMemory):
        blas("scal", "d", 4, factor("d", 1), at, 1, long=True)
    blas("scal", "d", 4, factor("d", 1), at, 1)
    assert cuda.calls("cublasDscal") == 2
