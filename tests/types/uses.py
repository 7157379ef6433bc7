"""Ordinary uses, of which type checkers know the types: nothing here is `Any`.

This file is for type checkers; it is never run.
"""

# pyright: strict

import math
from types import TracebackType
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import mat
from mat import Mat
from mat.devices.device import Device
from mat.extend import Facet, Memory, register_facet
from mat.support.types import Entry

x = mat.zeros(3, 4)
y = mat.array([[1, 2], [3, 4]], dtype="float32")
a = np.ones(3)

# Creation
assert_type(x, Mat)
assert_type(mat.zeros((2, 3)), Mat)
assert_type(mat.ones(2, 3, dtype=np.float32), Mat)
assert_type(mat.full((2, 2), 7), Mat)
assert_type(mat.eye(3), Mat)
assert_type(mat.arange(10), Mat)
assert_type(mat.from_numpy(a), Mat)
assert_type(Mat((2, 3), "float32", fill=None), Mat)

# Attributes
assert_type(x.shape, tuple[int, ...])
assert_type(x.size, int)
assert_type(x.ndim, int)
assert_type(x.dtype, np.dtype[Any])
assert_type(x.T, Mat)
assert_type(x.fresh, set[str])
assert_type(x.device, Device)
assert_type(len(x), int)

assert_type(x.real, Mat)
assert_type(x.imag, Mat)
assert_type(x.base, Mat | None)
assert_type(x.mT, Mat)
assert_type(x.data, memoryview)
assert_type(x.strides, tuple[int, ...])
assert_type(x.nbytes, int)
assert_type(x.flags.c_contiguous, bool)
assert_type(x.flags["W"], bool)
assert_type(x.flat[0], Entry)
assert_type(x.flat[1:3], Mat)
assert_type(list(x.flat), list[Entry])
x.flat = [1, 2]
x.flat[0] = 3
x.real = 1
x.shape = (4, 3)

# Elements
assert_type(x[0], Mat)
assert_type(x[1:, ::2], Mat)
assert_type(x[..., None], Mat)
assert_type(x[x > 0], Mat)
assert_type(x[[0, 2]], Mat)
assert_type(x.item(), float)
assert_type(x.item(1, 2), float)
assert_type(x[0, 0], Entry)
assert_type(x[0, 0] + 1, Entry)
assert_type(2 * x[0, 0] - x[1, 1], Entry)
assert_type(x[0, 0] * x, Mat)
assert_type(x * x[0, 0], Mat)
assert_type(x[0, 0] > 0, Entry)
assert_type(x[0, 0].item(), float)
assert_type(float(x[0, 0]), float)
assert_type(int(x[0, 0]), int)
assert_type(f"{x[0, 0]:.2f}", str)
assert_type(math.sqrt(x[0, 0]), float)
assert_type(x[0, 0, ...], Mat)
assert_type(x[0, :], Mat)
assert_type(x[y, y], Mat)
assert_type(mat.exp(x[0, 0]), Mat)
assert_type(list(x), list[Mat])
x[0] = 1
x[0, 1] = x[1, 1]
x[0, 0] += 1
x[:, 1] = [1, 2, 3]
x[x > 1] = x[0]

# Operators
assert_type(x + 1, Mat)
assert_type(1 + x, Mat)
assert_type(x + [1, 2, 3, 4], Mat)  # noqa: RUF005  # no list
assert_type(x @ y, Mat)
assert_type(-x ** 2 / 3 % 2 // 1, Mat)
assert_type(x == y, Mat)
assert_type(x < 3, Mat)
assert_type(x + a, Mat)
assert_type(abs(x), Mat)
x += y
x *= 2

assert_type(x - [1, 2, 3, 4], Mat)
assert_type([1, 2, 3, 4] - x, Mat)
assert_type(x * [[1], [2], [3]], Mat)
assert_type(1.5 / x, Mat)
assert_type(x + 1j, Mat)
assert_type(x * np.float32(2), Mat)
assert_type(x == None, Mat)  # noqa: E711  # element by element
assert_type(x != [1, 2, 3, 4], Mat)
assert_type(x >= a, Mat)
assert_type(x @ [1, 2, 3, 4], Mat)
assert_type((x > 1) & (x < 2) | ~(x == 0), Mat)
assert_type(+x, Mat)
assert_type(divmod(x, 2)[0], Mat)
x -= [1, 2, 3, 4]
x /= a
x **= 2

# Functions and methods
assert_type(mat.exp(x), Mat)
assert_type(mat.exp(3.0), Mat)
assert_type(mat.exp([1, 2]), Mat)
assert_type(mat.exp(a, out=x), Mat)
assert_type(mat.add(x, 1), Mat)
assert_type(mat.maximum(x, [[1, 2, 3, 4]]), Mat)
assert_type(x.exp(), Mat)
assert_type(x.exp_().scal_(3), Mat)
assert_type(x.sum(axis=0), Mat)
assert_type(x.mean(), Mat)
assert_type(x.max(axis=(0, 1), keepdims=True), Mat)
assert_type(mat.sum(x, axis=1), Mat)
assert_type(x.reshape(2, -1), Mat)
assert_type(x.reshape((2, 6)), Mat)
assert_type(x.copy(), Mat)
assert_type(x.astype("float32"), Mat)
assert_type(x.argsort(), Mat)
assert_type(x.nonzero(), tuple[Mat, ...])
assert_type(mat.concat([x, y], axis=1), Mat)
assert_type(mat.stack([x, x]), Mat)
assert_type(mat.allclose(x, y), bool)
assert_type(x.equals(y), bool)

assert_type(x.sum(0, out=y), Mat)
assert_type(x.max(axis=1, out=y, keepdims=True), Mat)
assert_type(mat.add(x, y, out=x), Mat)
assert_type(mat.sum(x, axis=0, out=y), Mat)
assert_type(mat.concat([x, a], out=y), Mat)
assert_type(mat.matmul(x, y, out=x), Mat)
assert_type(mat.take(x, [0, 1], axis=1, out=y), Mat)
assert_type(mat.cumsum(x, 0, out=x), Mat)
assert_type(x.clip(0, 1, out=x), Mat)
assert_type(x.dot(y, out=x), Mat)
assert_type(x.sum_(y, axis=0), Mat)
assert_type(x.fill_(2).add_([1, 2, 3, 4]), Mat)
assert_type(mat.linspace(0, 1, 5), Mat)
assert_type(mat.linspace(0, 1, 5, retstep=True), tuple[Mat, Entry])
assert_type(mat.poly1d([1, 2])(x), Mat)

# Linear algebra
assert_type(mat.gemm(1, x, y, 0, x), Mat)
assert_type(mat.gemm(1.0, x, y, 0.0, x, transpose_a=True), Mat)
assert_type(x.gemm_(1, x, y, 0), Mat)
assert_type(mat.axpy(2, x, y), Mat)
assert_type(mat.nrm2(x), float)
assert_type(mat.iamax(x), int)
assert_type(mat.matmul(x, y), Mat)
assert_type(mat.inv(x), Mat)
assert_type(mat.solve(x, y), Mat)

assert_type(mat.linalg.inv(x), Mat)
assert_type(mat.linalg.eigh(x).eigenvalues, Mat)
assert_type(mat.linalg.svd(x).S, Mat)
assert_type(mat.linalg.solve(x, [1, 2, 3]), Mat)
assert_type(mat.linalg.multi_dot([x, y, x]), Mat)
assert_type(mat.blas.axpy(2, x, y), Mat)
assert_type(mat.blas.copy(x, y), Mat)
assert_type(mat.blas.asum(x), float)
assert_type(mat.nn.max_pool(x, y, pool_shape=2), Mat)
assert_type(mat.fft.rfft(x, n=4), Mat)
assert_type(mat.fft.irfft2(x), Mat)
assert_type(mat.fft.fftfreq(4), Mat)

# Facets
with x.facet("array") as array:
    assert_type(array, npt.NDArray[Any])
    array[:] = 2 * array
with x.facet("backing", "input") as flat:
    assert_type(flat, npt.NDArray[Any])
with x.facet("foreign", mat.Direction.OUTPUT) as pointer:
    assert_type(pointer.address, int)
with x.facet("cuda", "io") as gpu:
    assert_type(gpu.address, int)
with mat.with_facets((x, "array", "input")) as (one,):
    assert_type(one, npt.NDArray[Any])
with mat.with_facets((x, "array", "input"), (y, "foreign")) as (one, two):
    assert_type(one, npt.NDArray[Any])
    assert_type(two.address, int)
with mat.with_facets((x, "array", "input"), (y, "array", "output"), (x, "backing")) as three:
    assert_type(three, tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]])
with mat.with_facets((x, "foreign", "io")) as (one_pointer,):
    assert_type(one_pointer.address, int)
with mat.with_facets((x, "cuda", "input"), (y, "emulated", "io")) as (on_gpu, emulated):
    assert_type(on_gpu.address, int)
    assert_type(emulated.shape, tuple[int, ...])
with mat.with_facets((x, "array"), (y, "foreign", "input"), (x, "array", "input")) as (a1, p, a2):
    assert_type(a1, npt.NDArray[Any])
    assert_type(p.address, int)
    assert_type(a2, npt.NDArray[Any])
with x.facet("cuda_host", mat.Direction.INPUT) as pinned:
    assert_type(pinned.address, int)
with x.facet("emulated:1", "output") as other:
    assert_type(other.size, int)
with x.window((2, 2)) as seen:
    assert_type(seen, Mat)
with mat.scratch((3, 4)) as room:
    assert_type(room, Mat)
with x.keep("emulated"), mat.barrier(ensure="host", drop="cuda") as barrier:
    assert_type(barrier.count, int)
assert_type(x.drop("host"), bool)
assert_type(x.facets["array"].fresh, bool)


class Elsewhere(Memory):
    name = "elsewhere"


class Reversed(Facet):
    name, letter, memory = "reversed", "R", Elsewhere()

    def present(self, view: object, handle: Any, writable: bool) -> bytes:
        return bytes(handle)


REVERSED = register_facet(Reversed())
with x.facet(REVERSED, "input") as text:
    assert_type(text, bytes)
with mat.with_facets((x, REVERSED, "input"), (y, "array")) as (text, array):
    assert_type(text, bytes)
    assert_type(array, npt.NDArray[Any])
x.drop(REVERSED.memory)

# Devices and settings
with mat.use_device("emulated") as device:
    assert_type(device, Device)
with mat.use_device("cuda:1", pool_bytes=10**9, required=True):
    pass
with mat.settings(dtype="float32", print_contents=True):
    pass
assert_type(mat.settings.dtype, np.dtype[Any])
assert_type(mat.cuda_available(), bool)

# Files and random numbers
mat.save("x.npy", x)
assert_type(mat.load("x.npy"), Mat)
assert_type(mat.load_all("x.npz")["w"], Mat)
rng = mat.Rng(1)
assert_type(x.uniform_(rng=rng), Mat)
assert_type(rng.copy(), mat.Rng)

# What belongs to other modules
assert_type(mat.array_api.sin(x), Mat)
assert_type(mat.array_api.asarray([1, 2]), Mat)
xp = mat.array_api
assert_type(xp.add(x, 1), Mat)
assert_type(xp.sum(x, axis=0, keepdims=True), Mat)
assert_type(xp.linspace(0, 1, 5), Mat)
assert_type(xp.zeros((2, 3), dtype=xp.float32, device="cpu"), Mat)
assert_type(xp.astype(x, xp.float64), Mat)
assert_type(xp.unique_all(x).counts, Mat)
assert_type(xp.meshgrid(x, y), tuple[Mat, ...])
assert_type(xp.can_cast(x, xp.float64), bool)
assert_type(xp.result_type(x, 1.0), np.dtype[Any])
assert_type(xp.linalg.eigh(x).eigenvalues, Mat)
assert_type(xp.linalg.vector_norm(x, axis=1), Mat)
assert_type(xp.fft.fft(x, n=4, norm="ortho"), Mat)
assert_type(xp.fft.fftshift(x), Mat)
try:
    x.reshape(5)
except mat.ShapeError as error:
    assert_type(error.__traceback__, TracebackType | None)

# Names of NumPy that mat does not define itself
assert_type(mat.median(x, axis=0), Mat)
assert_type(mat.where(x > 0, x, 0), Mat)
assert_type(mat.linalg.norm(x), Mat)
assert_type(mat.linalg.qr(x).Q, Mat)
assert_type(mat.fft.fft(x), Mat)
assert_type(mat.unique(x), Mat)
assert_type(mat.unique(x, return_counts=True), tuple[Mat, Mat])
assert_type(mat.float32(3), np.float32)
assert_type(mat.pi, float)
generator = mat.random.default_rng(1)
assert_type(generator.normal(0, 1, (2, 3)), Mat)
assert_type(generator.integers(10, size=3), Mat)
assert_type(mat.random.uniform(size=3), Mat)
assert_type(mat.random.normal(size=(2, 3)), Mat)
assert_type(generator.permutation(x), Mat)
assert_type(mat.blas.dot(x, x), float)
assert_type(mat.dot(x, x), Mat)
assert_type(mat.nn.convolve(x, y, x), Mat)
