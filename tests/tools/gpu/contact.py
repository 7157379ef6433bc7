"""First contact: what has to work before anything else can, each by itself, in order of need.

A check raises an error, or returns what it saw; `LeftOut` says why it was not made.
"""

from __future__ import annotations

import importlib
import mmap
import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import mat
from mat.extend import Observer, observe

from . import limits

LONGEST = 15.0  # seconds for programs to load
CHECKS: dict[str, Callable[[bool], str]] = {}  # given whether it is on the mock driver


class LeftOut(Exception):
    """The check cannot be made here."""


def check(name: str) -> Callable[[Callable[[bool], str]], Callable[[bool], str]]:
    """Add a check under that name."""
    def add(function: Callable[[bool], str]) -> Callable[[bool], str]:
        CHECKS[name] = function
        return function
    return add


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _gpu() -> Any:
    return _module("mat.cuda.runtime.gpu").gpu(0)


def _values(n: int, dtype: str = "float32", seed: int = 0) -> Any:
    return (np.random.default_rng(seed).random(n) * 100).astype(dtype)


def _same(found: Any, expected: Any, tolerance: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64),
                               rtol=tolerance, atol=tolerance)


@check("the driver starts and counts devices")
def _starts(mock: bool) -> str:
    found = _module("mat.support.cuda_probe").probe()
    if not found.devices:
        raise AssertionError(found.reason)
    return f"{found.devices} of CUDA {found.version}"


@check("what the first device is")
def _what_it_is(mock: bool) -> str:
    gpu = _gpu()
    free, total = gpu.room_left()
    found = limits.of(gpu)
    speeds = [f"{found.bandwidth / 1e9:.0f} GB/s" if found.bandwidth else "bandwidth not known",
              *(f"{kind} {rate / 1e12:.1f} TFLOP/s" for kind, rate in found.operations.items())]
    return (f"{gpu.name}, {gpu.arch}, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free; "
            f"limits: {', '.join(speeds)}; "
            + ", ".join(f"{name} {value}" for name, value in limits.attributes(gpu).items()))


@check("a copy to the device and back, of pageable memory")
def _copies(mock: bool) -> str:
    return _both_ways(False)


@check("a copy to the device and back, of page-locked memory")
def _locked_copies(mock: bool) -> str:
    return _both_ways(True)


@check("a copy to the device and back, of pageable memory, in pieces that threads copy")
def _staged_copies(mock: bool) -> str:
    with mat.settings(threads=4):
        return _both_ways(False, 13 << 18)


def _both_ways(locked: bool, n: int = 1 << 18) -> str:
    values = _values(n)
    with mat.settings(page_locked=locked), mat.use_device("cuda", required=True):
        x = mat.Mat(values.size, "float32", fill=None)
        with x.facet("array", "output") as a:
            a[:] = values
        with x.facet("cuda", "io"):
            pass  # now it is fresh there only
        with x.facet("array", "io") as a:
            a[:] = a * 2  # and what is there is from there
    _same(x.to_numpy(), values * 2)
    return f"{values.nbytes} bytes"


@check("memory is allocated and freed, in order with the stream")
def _allocates(mock: bool) -> str:
    gpu = _gpu()
    sizes = [1, 1 << 20, 1 << (20 if mock else 30)]
    begin = perf_counter()
    blocks = [gpu.allocate(n) for n in sizes]
    for block in blocks:
        gpu.release(block)
    gpu.synchronize()
    first = perf_counter() - begin
    begin = perf_counter()
    for n in sizes:
        gpu.release(gpu.allocate(n))
    gpu.synchronize()
    return (f"pools: {gpu.in_order}; {first * 1e3:.3g} ms, "
            f"again {(perf_counter() - begin) * 1e3:.3g} ms")


KERNEL = """#include "device.cuh"
struct sizes {{ int64_t n; }};
MAT_KERNEL(doubled, sizes, 256) {{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;  // {number}
    if (i < frame.n) ((float *)call.at[1])[i] = 2 * ((const float *)call.at[0])[i];
}}
"""


@check("a new kernel is compiled, loaded and launched")
def _compiles(mock: bool) -> str:
    engine = _module("mat.cuda.engine")
    number = 0 if mock else int.from_bytes(os.urandom(4), "big")  # no cache has this one
    program, n = engine.Program(KERNEL.format(number=number)), 1000
    values = _values(n)
    begin = perf_counter()
    with mat.use_device("cuda", required=True):
        x, y = mat.from_numpy(values), mat.zeros(n, dtype="float32")
        with x.facet("cuda", "input") as a, y.facet("cuda", "output") as b:
            engine.CudaKernel(program, "doubled", (n,), (4, 1, 1), (256, 1, 1)).bind(
                (0, 1), ())(a, b)
    _same(y.to_numpy(), values * 2)
    return f"{perf_counter() - begin:.2f} s, {_module('mat.cuda.runtime.nvrtc').COMPILER.version()}"


@check("an operation: x + y")
def _adds(mock: bool) -> str:
    a, b = _values(10_000), _values(10_000, seed=1)
    with mat.use_device("cuda", required=True):
        x = mat.from_numpy(a) + mat.from_numpy(b)
        there = x.fresh
    _same(x.to_numpy(), a + b)
    return f"fresh in {', '.join(sorted(there))}"


@check("the same calls again and again, and from another thread")
def _repeats(mock: bool) -> str:
    a, b = _values(1000), _values(1000, seed=1)
    found = []

    def work() -> None:
        with mat.use_device("cuda", required=True):
            x, y = mat.from_numpy(a * 1), mat.from_numpy(b)
            for _ in range(50):  # after the first, by the compiled calls
                x += y
                z = x * 0.5
            found.append((float(z.sum()), x.to_numpy()))

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    for total, values in found:
        _same(values, a + 50 * b, 1e-4)
        _same(total, values.astype(float).sum() / 2, 1e-4)
    if len(found) < 2:
        raise AssertionError("the thread ended with an error")
    return f"{len(found)} times 50"


@check("a sum, which is read by the host")
def _sums(mock: bool) -> str:
    a = _values(100_000, "float64")
    with mat.use_device("cuda", required=True):
        found = float(mat.from_numpy(a).sum())
    _same(found, a.sum(), 1e-9)
    return f"{found:.6g}"


@check("products of matrices by cuBLAS")
def _products(mock: bool) -> str:
    seen = []
    for kind, tolerance in (("float64", 1e-10), ("float32", 1e-4), ("float16", 1e-2),
                            ("bfloat16", 5e-2), ("complex128", 1e-10)):
        a, b = (_values(48 * 48, "float64", k).reshape(48, 48) / 100 for k in range(2))
        with mat.use_device("cuda", required=True):
            c = mat.matmul(mat.from_numpy(a).astype(kind), mat.from_numpy(b).astype(kind))
        found = c.astype("complex128").to_numpy().real
        worst = float(np.max(np.abs(found - a @ b) / np.abs(a @ b)))
        if not worst <= tolerance:
            raise AssertionError(f"{kind}: relative difference {worst:.3g}")
        seen.append(f"{kind} {worst:.1g}")
    return "differences: " + ", ".join(seen)


@check("updates y += a x are cuBLAS's, to the last bit")
def _updates(mock: bool) -> str:
    with np.errstate(all="ignore"):
        return ", ".join(_update(kind) for kind in ("float32", "float64"))


def _update(kind: str) -> str:
    """Compare an update by our kernel with cuBLAS's, which counts downwards for us."""
    rng, least = np.random.default_rng(3), np.finfo(kind).smallest_subnormal
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, least, -least, 1.0], kind)
    a = np.concatenate((np.repeat(special, 8), rng.standard_normal(10_000).astype(kind)))
    differ, of_zero = 0, 0
    for factor in (0.3, -1.0, 1e-30, 1e30, 0.0):
        b = np.concatenate((np.tile(special, 8), -a.dtype.type(factor) * a[64:]))
        b[-1000:] = rng.standard_normal(1000)
        with mat.use_device("cuda", required=True):
            x, ours, theirs = (mat.array(values) for values in (a, b, b))
            mat.axpy(factor, x, ours)
            mat.axpy(factor, x, theirs, incx=-1, incy=-1)
        one, other = ours.to_numpy(), theirs.to_numpy()
        same = (one == other) & (np.signbit(one) == np.signbit(other)) | (one != one) & (
            other != other)
        differ, of_zero = differ + (factor != 0) * int((~same).sum()), int((~same).sum())
    if differ:
        raise AssertionError(f"{kind}: {differ} of {4 * a.size} differ")
    return f"{kind}: with a factor of 0, {of_zero} of {a.size} differ"


@check("products of 8-bit floats by cuBLASLt, and of int8, with scales")
def _scaled_products(mock: bool) -> str:
    kinds = {"int8": 0.0, "float8_e4m3fn": 1e-3, "float8_e5m2": 1e-3}
    return ", ".join(_scaled_product(kind, axes, tolerance + 1e-5)
                     for kind, tolerance in kinds.items() for axes in ((None, None), (-1, -2)))


def _scaled_product(kind: str, axes: tuple[int | None, int | None], tolerance: float) -> str:
    """Compare one with the product of its rounded operands; return how, and how far it is off."""
    called = []

    class Calls(Observer):
        def called(self, routine: str, **arguments: object) -> None:
            called.append(routine.removeprefix("cublas"))

    a, b = ((_values(96 * 512, "float32", k) - 50).reshape(-1, 512) for k in range(2))
    with mat.use_device("cuda", required=True), observe(Calls()):
        left = mat.quantize(mat.from_numpy(a), kind, axes[0])
        right = mat.quantize(mat.from_numpy(b).T, kind, axes[1])
        called.clear()
        found = mat.scaled_matmul(*left, *right)
    exact = [q.to_numpy().astype("float64") * s.to_numpy() for q, s in (left, right)]
    size = np.abs(exact[0]) @ np.abs(exact[1])
    worst = float(np.max(np.abs(found.to_numpy() - exact[0] @ exact[1]) / size))
    how = f"{kind} by {' and '.join(called) or 'kernels'}"
    if not worst <= tolerance:
        raise AssertionError(f"{how}: {worst:.3g} of the magnitudes")
    return f"{how} {worst:.1g}"


@check("a copy from one device to another")
def _between_devices(mock: bool) -> str:
    if _module("mat.support.cuda_probe").probe().devices < 2:
        raise LeftOut("there is one")
    values = _values(1 << 20)
    x = mat.from_numpy(values)
    with mat.use_device("cuda:0", required=True), mat.use_device("cuda:1", required=True):
        with x.facet("cuda:0", "io"):
            pass  # now it is fresh there only
        with mat.debug.count_copies() as n, x.facet("cuda:1", "io"):
            pass
        y = x * 2
    _same(y.to_numpy(), values * 2)
    return f"{n.h2d + n.d2h} through the host, as far as mat knows"


@check("a transpose, and other layouts")
def _layouts(mock: bool) -> str:
    a = _values(64 * 96 * 5).reshape(64, 96, 5)
    with mat.use_device("cuda", required=True):
        x = mat.from_numpy(a)
        found = [x.permute(*order).contiguous() for order in ((1, 0, 2), (2, 1, 0))]
        part = x[::2, 3:50].contiguous()
    for y, order in zip(found, ((1, 0, 2), (2, 1, 0)), strict=True):
        _same(y.to_numpy(), a.transpose(order))
    _same(part.to_numpy(), a[::2, 3:50])
    return ""


@check("random numbers are the host's, to the last bit")
def _random(mock: bool) -> str:
    def draw() -> Any:
        mat.seed(7)
        return mat.zeros(5000).normal_()

    here = draw().to_numpy()
    with mat.use_device("cuda", required=True):
        there = draw()
    differ = int((here != there.to_numpy()).sum())
    if differ:
        raise AssertionError(f"{differ} of {here.size} differ")
    return ""


@check("what no card has computed yet: rows in one kernel, selections, joins, quantiles, sums")
def _newer(mock: bool) -> str:
    here = _computed()
    with mat.use_device("cuda", required=True), mat.debug.count_copies() as moved:
        _computed()
        there = _computed()  # by the calls that the first ones have prepared
    for name, x in here.items():
        try:
            _same(there[name].to_numpy(), x.to_numpy(), 1e-6 if name == "softmax" else 0.0)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None
    return f"{len(here)} results, {moved.fallbacks} of the host"


def _computed() -> dict[str, Any]:
    """Compute by kernels that were written or changed since the last run on a card."""
    x, at = mat.array(_values(64_000).reshape(64, 1000)), mat.array(np.arange(64_000) % 7)
    sums = mat.zeros(7, dtype="float64")
    with mat.fused():
        e = mat.exp((x - x.max(axis=1, keepdims=True)) / 10)
        softmax = e / e.sum(axis=1, keepdims=True)
    mat.add.at(sums, at, x.ravel().astype("float64"))
    return {"softmax": softmax, "add.at": sums, "x[mask]": x[x > 50], "x[rows]": x[[3, 60, 3]],
            "concatenate": mat.concatenate([x, x[::2]]), "median": mat.median(x, axis=1),
            "quantile": mat.quantile(x, 0.3, axis=1), "sort": mat.sort(x, 1),
            "cumsum": mat.cumsum(x, 1), "unique": mat.unique(x)}


@check("a system of equations, an inverse, a Cholesky factor")
def _factors(mock: bool) -> str:
    a = _values(40 * 40, "float64").reshape(40, 40) / 100 + 40 * np.eye(40)
    b, spd = _values(40, "float64"), a @ a.T
    with mat.use_device("cuda", required=True):
        x, y, z = (mat.solve(mat.from_numpy(a), mat.from_numpy(b)), mat.inv(mat.from_numpy(a)),
                   mat.cholesky(mat.from_numpy(spd)))
    _same(x.to_numpy(), np.linalg.solve(a, b), 1e-9)
    _same(y.to_numpy(), np.linalg.inv(a), 1e-9)
    _same(z.to_numpy(), np.linalg.cholesky(spd), 1e-9)
    return ""


@check("a matrix without a Cholesky factor is an error, and the next one has its factor")
def _pivots(mock: bool) -> str:
    good = 40.0 * np.eye(40) + _values(1600, "float64").reshape(40, 40) / 100
    good = good @ good.T
    negative, missing = good.copy(), good.copy()
    negative[17, 17], missing[17, 17] = -1.0, np.nan
    with mat.use_device("cuda", required=True):
        for values in (negative, missing):
            try:
                mat.cholesky(mat.from_numpy(values))
            except mat.LinAlgError:
                continue
            raise AssertionError(f"no error for a pivot of {values[17, 17]}")
        found = mat.cholesky(mat.from_numpy(good))
    _same(found.to_numpy(), np.linalg.cholesky(good), 1e-9)
    return ""


@check("stacks of more matrices than a call of cuBLAS or cuSOLVER takes")
def _stacks(mock: bool) -> str:
    many = 70_000
    a = _values(4 * many, "float64").reshape(many, 2, 2) / 100 + 2 * np.eye(2)
    spd = a @ a.swapaxes(1, 2)
    found = {}
    for name, values in {"inv": a, "cholesky": spd, "eigvalsh": spd, "svdvals": a}.items():
        with mat.use_device("cuda", required=True):
            found[name] = getattr(mat.linalg, name)(mat.from_numpy(values))
    s = np.linalg.svdvals(a)
    expected = {"inv": np.linalg.inv(a), "cholesky": np.linalg.cholesky(spd),
                "eigvalsh": s[:, ::-1] ** 2, "svdvals": s}
    for name, values in expected.items():
        _same(found[name].to_numpy(), values, 1e-9)
    return f"{many:,} of {', '.join(found)}"


@check("pages are locked in place, also overlapping ones and those of a file")
def _locks(mock: bool) -> str:
    pinned, seen = _module("mat.cuda.runtime.pinned"), []
    values = _values(1 << 16)
    with tempfile.TemporaryFile() as file:
        file.write(values.tobytes())
        file.flush()
        arrays = {"own": np.frombuffer(mmap.mmap(-1, values.nbytes), np.float32).copy(),
                  "of a file": np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ),
                                             np.float32)}
        arrays["own"][:] = values
        arrays["overlapping"] = arrays["own"][1000:]
        with mat.use_device("cuda", required=True):
            for name, array in arrays.items():
                x = mat.from_numpy(array)
                with x.facet("cuda_host", "input"):
                    pass
                seen.append(f"{name}: {'locked' if pinned.is_locked(array) else 'not locked'}")
                _same((x * 2).to_numpy(), array * 2)
    return ", ".join(seen)


@check("copies ahead, on another stream")
def _ahead(mock: bool) -> str:
    mats = [mat.from_numpy(_values(50_000, seed=k)) for k in range(4)]
    with mat.settings(page_locked=True), mat.use_device("cuda", required=True):
        sums = []
        for now, later in zip(mats, [*mats[1:], None], strict=True):
            with mat.prefetch(to_device=[] if later is None else [later]):
                sums.append(float(now.sum()))
    _same(sums, [_values(50_000, seed=k).astype(float).sum() for k in range(4)], 1e-5)
    return ""


@check("work of another library on the legacy stream is in order with ours")
def _ordered(mock: bool) -> str:
    driver, n = _module("cuda.bindings.driver"), 1 << (16 if mock else 24)
    with mat.use_device("cuda", required=True) as device, device.gpu.current():
        x, y = mat.ones(n, dtype="float32"), mat.zeros(n, dtype="float32")
        for _ in range(20):
            x *= 2.0  # takes a while, and the copy comes after it
        with x.facet("cuda", "input") as a, y.facet("cuda", "output") as b:
            driver.cuMemcpyDtoDAsync(b.address, a.address, y.nbytes, driver.CUstream(1))
        y += 1.0  # and this after the copy
        found = float(y.max()), float(y.min())
    if found != (2.0**20 + 1,) * 2:
        raise AssertionError(f"{found}, not twice {2.0**20 + 1}")
    return f"stream {int(device.gpu.stream):#x}"


@check("another library's own stream waits for our work")
def _on_another_stream(mock: bool) -> str:
    driver, n = _module("cuda.bindings.driver"), 1 << (16 if mock else 24)
    with mat.use_device("cuda", required=True) as device, device.gpu.current():
        apart = driver.CUstream_flags.CU_STREAM_NON_BLOCKING  # in order with no other one
        status, stream = driver.cuStreamCreate(apart)
        if int(status):
            raise AssertionError(f"a stream: error {int(status)}")
        x, y = mat.ones(n, dtype="float32"), mat.zeros(n, dtype="float32")
        for _ in range(20):
            x *= 2.0
        with x.facet("cuda", "input") as a, y.facet("cuda", "output") as b:
            a.__dlpack__(stream=int(stream), max_version=(1, 0))
            driver.cuMemcpyDtoDAsync(b.address, a.address, y.nbytes, stream)
            driver.cuStreamSynchronize(stream)
        driver.cuStreamDestroy(stream)
        found = float(y.max()), float(y.min())
    if found != (2.0**20,) * 2:
        raise AssertionError(f"{found}, not twice {2.0**20}")
    return ""


@check("more than 2**31 elements")
def _many(mock: bool) -> str:
    n = (1 << 16 if mock else 1 << 31) + 1024
    free, _ = _gpu().room_left()
    if free < 5 * n:
        raise LeftOut(f"{free:,} bytes are free")
    with mat.use_device("cuda", required=True):
        x = mat.zeros(n, dtype="uint8")
        x += 1
        x[-3:] = 2
        found = [int(x.sum(dtype="int64")), int(x.argmax()), int(mat.count_nonzero(x > 1)),
                 *x[mat.array([n - 4, n - 1])].tolist(), *x[-4:].tolist(),
                 *x.reshape(2, -1).T.contiguous()[-4:].reshape(-1).tolist()]
        del x  # else it is copied to the host
    expected = [n + 3, n - 3, 3, 1, 2, 1, 2, 2, 2, 1, 1, 1, 2, 1, 2, 1, 2]
    if found != expected:
        raise AssertionError(f"{found}, not {expected}")
    return f"{n:,}"


@check("a graph is recorded and repeated")
def _graph(mock: bool) -> str:
    @mat.graph
    def step(x: mat.Mat, y: mat.Mat) -> None:
        y *= 0.5
        y += x
        mat.axpy(-0.25, y, x)

    a, b = _values(1000), _values(1000, seed=1)
    with mat.use_device("cuda", required=True):
        x, y = mat.from_numpy(a.copy()), mat.from_numpy(b.copy())
        for _ in range(6):
            step(x, y)
            b = b * np.float32(0.5) + a
            a = a - np.float32(0.25) * b
    _same(x.to_numpy(), a, 1e-3)
    _same(y.to_numpy(), b, 1e-3)
    if not step.replays:
        raise AssertionError(f"{step.recordings} recordings, and no replay")
    return f"{step.recordings} recordings, {step.replays} replays"


@check("every program loads")
def _loads(mock: bool) -> str:
    programs = _module("tests.tools.mock_driver.programs").listed()
    gpu, begin, before, wrong, count = _gpu(), perf_counter(), _cached(), [], 0
    with gpu.current():
        for program, module in programs.items():
            status = _load(program.cubin(gpu.arch), mock)
            count += 1
            if status:
                wrong.append(f"one of {module}: error {status}")
            if mock or perf_counter() > begin + LONGEST:  # each that is not kept is compiled
                break
    if wrong:
        raise AssertionError(f"{len(wrong)} of {count}: {'; '.join(wrong[:10])}")
    return (f"{count} of {len(programs)} in {perf_counter() - begin:.1f} s, "
            f"{_cached() - before} of them compiled now")


def _load(cubin: bytes, mock: bool) -> int:
    """Load a program with all its kernels, which the driver does when they are asked for."""
    driver = _module("cuda.bindings.driver")
    names = _module("tests.tools.mock_driver.cubin").kernels
    status, library = driver.cuLibraryLoadData(cubin, [], [], 0, [], [], 0)
    if int(status):
        return int(status)
    try:
        rehearsed = mock or "MAT_REHEARSAL" in os.environ
        for name in () if rehearsed else names(cubin):  # the mock driver's programs are no cubins
            status, kernel = driver.cuLibraryGetKernel(library, name.encode())
            if not int(status):
                status, _ = driver.cuKernelGetFunction(kernel)
            if int(status):
                return int(status)
    finally:
        driver.cuLibraryUnload(library)
    return 0


def _cached() -> int:
    folder = _module("mat.support.cache_dir").directory()
    return sum(1 for _ in folder.glob("*.cubin"))


@check("memory is shared with torch")
def _torch(mock: bool) -> str:
    return _shares("torch", mock)


@check("memory is shared with CuPy")
def _cupy(mock: bool) -> str:
    return _shares("cupy", mock)


def _shares(name: str, mock: bool) -> str:
    if mock or "MAT_REHEARSAL" in os.environ:
        raise LeftOut("it would use the real driver")
    try:
        library = _module(name)
    except ModuleNotFoundError as error:
        raise LeftOut(str(error)) from None
    with mat.use_device("cuda", required=True):
        x = mat.from_numpy(_values(1000)) * 1
        theirs = library.from_dlpack(x)
        theirs += 1
        back = mat.from_dlpack(theirs * 2)
    _same(x.to_numpy(), _values(1000) + 1, 1e-6)
    _same(back.to_numpy(), (_values(1000) + 1) * 2, 1e-6)
    return str(library.__version__)


@check("a forked child reads what is on the host, and a spawned one computes on the device")
def _children(mock: bool) -> str:
    x = mat.from_numpy(_values(1000))
    with mat.use_device("cuda", required=True):
        y = x * 2
    if os.fork() == 0:
        os._exit(0 if abs(float(y.to_numpy()[3]) - 2 * float(x[3])) < 1e-6 else 1)
    status = os.waitstatus_to_exitcode(os.wait()[1])
    if status:
        raise AssertionError(f"the forked child ended with {status}")
    if mock:
        return "forked only"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return f"spawned: {pool.apply(_adds, (False,))}"


@check("page-locked memory is each process's own after a fork")
def _locked_fork(mock: bool) -> str:
    values = _values(1 << 16)
    with mat.settings(page_locked=True), mat.use_device("cuda", required=True):
        x = mat.Mat(values.size, "float32", fill=None)
        with x.facet("array", "output") as a:
            a[:] = values
        y = x * 2
    pinned, locked = _module("mat.cuda.runtime.pinned"), []
    with x.facet("array", "input") as a:
        locked.append(pinned.is_locked(a))
    if os.fork() == 0:
        with x.facet("array", "io") as a:
            same = bool((a == values).all())
            a += 1
        os._exit(0 if same and float(y.to_numpy()[3]) == 2 * values[3] else 1)
    status = os.waitstatus_to_exitcode(os.wait()[1])
    if status:
        raise AssertionError(f"the forked child ended with {status}")
    with mat.use_device("cuda", required=True):
        z = x * 2
    _same(z.to_numpy(), values * 2)
    return "locked" if all(locked) else "not locked"


WRONG = KERNEL.replace("call.at[1])[i]", "(call.at[1] + ((int64_t)1 << 46)))[i]")


@check("an illegal address is reported, and the host goes on")
def _illegal(mock: bool) -> str:
    if mock or "MAT_REHEARSAL" in os.environ:
        raise LeftOut("the mock driver would end the process")
    engine = _module("mat.cuda.engine")
    x, seen = mat.from_numpy(_values(1000)), ""
    try:
        with mat.use_device("cuda", required=True), x.facet("cuda", "input") as a:
            engine.CudaKernel(engine.Program(WRONG.format(number=1)), "doubled", (1000,),
                              (4, 1, 1), (256, 1, 1)).bind((0, 0), ())(a)
            _gpu().synchronize()
    except mat.DeviceError as error:
        seen = str(error)
    if not seen:
        raise AssertionError("nothing was reported")
    _same((x * 2).to_numpy(), _values(1000) * 2)
    try:
        with mat.use_device("cuda", required=True):
            mat.zeros(10).normal_()
    except mat.DeviceError as error:
        return f"{seen}; later: {error}"
    raise AssertionError(f"{seen}; and later the device could be used")
