"""Computing: what a call costs, by the size of operands, too, what memory bounds, products,
training.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import mat

from .item import BEST, CUBLAS, MEMORY, TORCH, Item, Section, Thunk
from .setting import Setting, peers, random

EMPTY = """#include "device.cuh"
struct nothing { int64_t n; };
MAT_KERNEL(nothing_at_all, nothing, 32) { (void)frame; (void)call; }
"""
LARGE = 256 << 20  # bytes of an operand of what memory bounds
Trio = tuple[Thunk, Thunk | None, Thunk | None]  # ours, torch's, CuPy's


def calls(at: Setting) -> Section:
    """Ten elements: what is left is the cost of the call."""
    x, y, z = (mat.array(random(10, "float32", k)) for k in range(3))
    of_numpy = [mat.from_numpy(random(10, "float32", k)) for k in range(2)]
    t = [at.torch.ones(10, device="cuda") for _ in range(3)] if at.torch else None
    c = [at.cupy.ones(10, "float32") for _ in range(3)] if at.cupy else None

    def item(name: str, ours: Thunk, torch: Thunk, cupy: Thunk) -> Item:
        return Item(f"{name} of ten elements", ours,
                    peers(torch=t and (lambda: torch), cupy=c and (lambda: cupy)), BEST)

    yield item("axpy", lambda: mat.axpy(1.0, x, y), lambda: t[1].add_(t[0], alpha=1.0),
               lambda: _add_to(c[1], c[0]))
    yield item("add, out=", lambda: mat.add(x, y, out=z),
               lambda: at.torch.add(t[0], t[1], out=t[2]),
               lambda: at.cupy.add(c[0], c[1], out=c[2]))
    yield item("add, a new result,", lambda: mat.add(x, y), lambda: t[0] + t[1],
               lambda: c[0] + c[1])
    yield item("add, over memory of NumPy,", lambda: mat.add(*of_numpy), lambda: t[0] + t[1],
               lambda: c[0] + c[1])
    yield item("exp in place", z.exp_, lambda: t[2].exp_(), lambda: at.cupy.exp(c[2], out=c[2]))
    yield _launch(at)
    yield _room(at)


def _add_to(y: Any, x: Any) -> None:
    y += x


def _launch(at: Setting) -> Item:
    """An empty kernel: by us, and by others."""
    engine = importlib.import_module("mat.cuda.engine")
    array = _operand(at)
    ours = engine.CudaKernel(engine.Program(EMPTY), "nothing_at_all", (1,), (1, 1, 1),
                             (32, 1, 1)).bind((0,), ())
    return Item("launch of an empty kernel", lambda: ours(array), peers(**{
        "cuda.bindings": lambda: _raw_launch(at),
        "cuda.core": None if at.alone else lambda: _core_launch(at),
        "cupy": at.cupy and (lambda: _cupy_launch(at))}))


def _operand(at: Setting) -> Any:
    x = mat.ones(10)
    with x.facet("cuda", "io") as array:
        return array


def _raw_launch(at: Setting) -> Thunk:
    driver = importlib.import_module("cuda.bindings.driver")
    programs = importlib.import_module("mat.cuda.runtime.nvrtc")
    function = at.gpu.kernel(programs.Program(EMPTY), "nothing_at_all")
    room = np.zeros(100, np.uint64)
    room[:2] = room[2:].ctypes.data, room[10:].ctypes.data
    at.keep = room  # type: ignore[attr-defined]  # as long as it may be launched
    return partial(driver.cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, at.gpu.stream,
                   room.ctypes.data, 0)


def _core_launch(at: Setting) -> Thunk:
    core = importlib.import_module("cuda.core")
    device = core.Device(at.gpu.number)
    device.set_current()
    source = 'extern "C" __global__ void nothing_at_all() {}'
    compiled = core.Program(source, "c++", core.ProgramOptions(arch=at.gpu.arch)).compile("cubin")
    kernel, stream = compiled.get_kernel("nothing_at_all"), device.default_stream
    return partial(core.launch, stream, core.LaunchConfig(grid=1, block=32), kernel)


def _cupy_launch(at: Setting) -> Thunk:
    kernel = at.cupy.RawKernel('extern "C" __global__ void nothing_at_all() {}', "nothing_at_all")
    return lambda: kernel((1,), (32,), ())


def _room(at: Setting) -> Item:
    """Taking a megabyte and giving it back."""
    driver = importlib.import_module("cuda.bindings.driver")
    memory, stream = at.device.memory, at.gpu.stream

    def raw() -> None:
        _, address = driver.cuMemAllocAsync(1 << 20, stream)
        driver.cuMemFreeAsync(address, stream)

    return Item("taking 1 MB and giving it back", lambda: memory.free(memory.take(1 << 20)), peers(
        driver=lambda: raw, torch=at.torch
        and (lambda: lambda: at.torch.empty(1 << 20, dtype=at.torch.uint8, device="cuda")),
        cupy=at.cupy and (lambda: lambda: at.cupy.empty(1 << 20, "uint8"))))


# From what a call costs to what memory bounds


def sizes(at: Setting) -> Section:
    """`x + y` into a Mat, a sum and a maximum, of a thousand to a hundred million float32."""
    for power in (3,) if at.small else range(3, 9):
        n = 10**power
        x, y, z = (mat.array(random(n, "float32", k)) for k in range(3))
        t = [at.torch.ones(n, device="cuda") for _ in range(3)] if at.torch else None
        c = [at.cupy.ones(n, "float32") for _ in range(3)] if at.cupy else None
        rows: list[tuple[str, int, Trio]] = [
            ("add, out=", 3, (partial(mat.add, x, y, out=z),
                              t and partial(at.torch.add, t[0], t[1], out=t[2]),
                              c and partial(at.cupy.add, c[0], c[1], out=c[2]))),
            ("sum", 1, (x.sum, t and t[0].sum, c and c[0].sum)),
            ("max", 1, (x.max, t and t[0].max, c and c[0].max))]
        for name, streams, (ours, torch, cupy) in rows:
            yield Item(f"{name} of 1e{power} float32", ours, peers(
                torch=torch and (lambda f=torch: f), cupy=cupy and (lambda f=cupy: f)), BEST,
                streams * x.nbytes)


# What memory bounds


def bounded(at: Setting) -> Section:
    for dtype in ("float32", "float64"):
        yield from _elementwise(at, dtype)
    m = at.size(8192, 32)
    x = mat.array(random(m * m, "float32").reshape(m, m))
    t = at.torch.ones(m, m, device="cuda") if at.torch else None
    c = at.cupy.ones((m, m), "float32") if at.cupy else None
    for axis in (0, 1):
        yield _bound(at, f"sum along axis {axis}, float32", x.nbytes,
                     (lambda axis=axis: mat.sum(x, axis=axis), lambda axis=axis: t.sum(dim=axis),
                      lambda axis=axis: c.sum(axis=axis)))


def _elementwise(at: Setting, dtype: str) -> Section:
    n, torch, cupy = at.size(LARGE, 4096) // np.dtype(dtype).itemsize, at.torch, at.cupy
    x, y, z = (mat.array(random(n, dtype, k)) for k in range(3))
    t = [torch.ones(n, dtype=getattr(torch, dtype), device="cuda")
         for _ in range(3)] if torch else None
    c = [cupy.ones(n, dtype) for _ in range(3)] if cupy else None
    rows: list[tuple[str, int, Trio]] = [
        ("add", 3, (lambda: mat.add(x, y, out=z), lambda: torch.add(t[0], t[1], out=t[2]),
                    lambda: cupy.add(c[0], c[1], out=c[2]))),
        ("multiply by a number", 2, (
            lambda: mat.multiply(x, 2.0, out=z), lambda: torch.mul(t[0], 2.0, out=t[2]),
            lambda: cupy.multiply(c[0], 2.0, out=c[2]))),
        ("exp", 2, (lambda: mat.exp(x, out=z), lambda: torch.exp(t[0], out=t[2]),
                    lambda: cupy.exp(c[0], out=c[2]))),
        ("fill", 1, (lambda: z.fill_(1.0), lambda: t[2].fill_(1.0), lambda: c[2].fill(1.0))),
        ("sum of all", 1, (lambda: mat.sum(x), lambda: t[0].sum(), lambda: c[0].sum())),
    ]
    for name, streams, thunks in rows:
        yield _bound(at, f"{name}, {dtype}", streams * x.nbytes, thunks)
    yield _bound(at, f"axpy, {dtype}", 3 * x.nbytes, (
        lambda: mat.axpy(1e-9, x, y), lambda: t[1].add_(t[0], alpha=1e-9), None),
        lambda: _cublas_update(at, x, y))


def _bound(at: Setting, name: str, nbytes: int, thunks: Trio,
           cublas: Callable[[], Thunk] | None = None) -> Item:
    ours, torch, cupy = thunks
    others = peers(copy=lambda: at.copying(nbytes), cublas=cublas,
                   torch=at.torch and (lambda: torch), cupy=at.cupy and cupy and (lambda: cupy))
    return Item(name, ours, others, {MEMORY: 0.88, **BEST}, nbytes)


# What arithmetic bounds


def products(at: Setting) -> Section:
    sizes = [16] if at.small else [8192, 4096, 1024]
    kinds = ["float32", "bfloat16", "float64", "float16"]
    yield from (_product(at, kind, n) for n in sizes for kind in kinds)
    for n in sizes:
        yield _inexact_product(at, n)
        yield _scaled_product(at, "float8_e4m3fn", n, None)
        yield _scaled_product(at, "float8_e4m3fn", n, -1)
        yield _scaled_product(at, "int8", n, -1)


def _inexact_product(at: Setting, n: int) -> Item:
    """Of float32, computed in TF32 by all."""
    a, b = (mat.array(random(n * n, "float32", k).reshape(n, n)) for k in range(2))
    c = mat.zeros(n, n, dtype="float32")

    def ours() -> None:
        with mat.settings(float32_products="tf32"):
            mat.matmul(a, b, out=c)

    def torchs() -> Thunk:
        multiply, allow = _torch_product(at.torch, "float32", n), at.torch.backends.cuda.matmul

        def multiply_so() -> None:
            allow.allow_tf32 = True
            multiply()
            allow.allow_tf32 = False
        return multiply_so

    return Item(f"matmul, float32 by TF32, {n}", ours, peers(torch=at.torch and torchs),
                {TORCH: 1.0} if n > 1024 else {}, operations=2.0 * n**3)


def _scaled_product(at: Setting, kind: str, n: int, axis: int | None) -> Item:
    """Of quantized matrices, the second one stored transposed, as the library wants it."""
    a, b = (mat.quantize(mat.array(random(n * n, "float32", k).reshape(n, n)), kind, axis)
            for k in range(2))
    c = mat.zeros(n, n, dtype="float32")
    scales = "one scale" if axis is None else "scales of rows and columns"
    float8 = at.torch if kind == "float8_e4m3fn" else None
    return Item(f"scaled_matmul, {kind}, {scales}, {n}",
                lambda: mat.scaled_matmul(*a, b.values.T, b.scales.T, out=c),
                peers(torch=float8 and (lambda: _torch_scaled(at.torch, n, axis))),
                {TORCH: 0.95} if float8 and n > 1024 else {}, operations=2.0 * n**3, kind=kind)


def _torch_scaled(torch: Any, n: int, axis: int | None) -> Thunk:
    """Its result is bfloat16: for scales of rows it has no other."""
    a, b = (torch.rand(n, n, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one, other = ((n, 1), (1, n)) if axis is not None else ((), ())
    scales = torch.ones(one, device="cuda"), torch.ones(other, device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), *scales, out_dtype=torch.bfloat16)


def _product(at: Setting, kind: str, n: int) -> Item:
    a, b = (mat.array(random(n * n, "float32", k).reshape(n, n)).astype(kind)
            for k in range(2))
    c = mat.zeros(n, n, dtype=kind)
    others = peers(cublas=lambda: _cublas_product(at, kind, (a, b, c)),
                   torch=at.torch and (lambda: _torch_product(at.torch, kind, n)),
                   cupy=at.cupy and kind != "bfloat16"
                   and (lambda: _cupy_product(at.cupy, kind, n)))
    goals = {CUBLAS: 0.98, TORCH: 0.99} if n > 1024 else {}
    return Item(f"matmul, {kind}, {n}", lambda: mat.matmul(a, b, out=c), others, goals,
                operations=2.0 * n**3, kind=kind)


def _cublas_update(at: Setting, x: mat.Mat, y: mat.Mat) -> Thunk:
    """The library's own axpy."""
    cublas, table = (importlib.import_module(f"mat.cuda.libraries.{name}")
                     for name in ("cublas", "cublas_table"))
    letter = {"float32": "f", "float64": "d"}[x.dtype.name]
    factor = importlib.import_module("mat.support.blas_library").scalar(letter, 1e-9)
    return partial(getattr(cublas.library(), table.symbol("axpy", letter)), cublas.HANDLES[at.gpu],
                   x.size, factor, _address(x), 1, _address(y), 1)


def _cublas_product(at: Setting, kind: str, mats: tuple[mat.Mat, ...]) -> Thunk:
    """The library's own function, with the same operands, from Python."""
    cublas, table = (importlib.import_module(f"mat.cuda.libraries.{name}")
                     for name in ("cublas", "cublas_table"))
    scalar = importlib.import_module("mat.support.blas_library").scalar
    letter = {"float32": "f", "float64": "d", "float16": "e", "bfloat16": "E"}[kind]
    n, summed = mats[0].shape[0], letter if letter in "fd" else "f"
    handle, one, zero = cublas.HANDLES[at.gpu], scalar(summed, 1.0), scalar(summed, 0.0)
    a, b, c = map(_address, mats)
    if letter in "fd":
        function = getattr(cublas.library(), table.symbol("gemm", letter))
        return partial(function, handle, 0, 0, n, n, n, one, b, n, a, n, zero, c, n)
    code = table.DATA[letter]
    return partial(cublas.library().cublasGemmEx, handle, 0, 0, n, n, n, one, b, code, n, a, code,
                   n, zero, c, code, n, table.COMPUTE_32F, table.GEMM_DEFAULT)


def _address(x: mat.Mat) -> int:
    """Return the address of a Mat on the device, where it remains as long as it is used there."""
    with x.facet("cuda", "io") as array:
        return int(array.address)


def _torch_product(torch: Any, kind: str, n: int) -> Thunk:
    a, b, c = (torch.rand(n, n, device="cuda").to(getattr(torch, kind)) for _ in range(3))
    return lambda: torch.matmul(a, b, out=c)


def _cupy_product(cupy: Any, kind: str, n: int) -> Thunk:
    a, b, c = (cupy.random.rand(n, n).astype(kind) for _ in range(3))
    return lambda: cupy.matmul(a, b, out=c)


# Training


def training(at: Setting) -> Section:
    rows, wide = at.size(4096, 8), at.size(4096, 16)
    yield Item(f"step of a network of {wide} units, {rows} rows, float32", _mlp(rows, wide),
               peers(torch=at.torch and (lambda: _mlp_torch(at.torch, rows, wide))), {TORCH: 1.0})
    yield from _digits(at)
    yield from _short_steps(at)


def _short_steps(at: Setting) -> Section:
    """Thirty launches that each take less than the host needs to queue them."""
    x, y = (mat.array(random(1000, "float32", k)) for k in range(2))

    def step(x: mat.Mat, y: mat.Mat) -> None:
        for _ in range(10):
            y *= 0.5
            y += x
            mat.axpy(-0.25, y, x)

    def in_torch(x: Any, y: Any) -> None:
        for _ in range(10):
            y.mul_(0.5).add_(x)
            x.add_(y, alpha=-0.25)

    t = [at.torch.rand(1000, device="cuda") for _ in range(2)] if at.torch else None
    graph = mat.graph(step)
    yield Item("a step of 30 short launches", lambda: step(x, y),
               peers(torch=t and (lambda: lambda: in_torch(*t))), {TORCH: 1.0})
    yield Item("the same, as a graph", lambda: graph(x, y),
               peers(torch=t and (lambda: _torch_graph(at.torch, lambda: in_torch(*t))),
                     mat=lambda: lambda: step(x, y)), {TORCH: 1.0})


def _torch_graph(torch: Any, step: Thunk) -> Thunk:
    """The step as a graph of torch's."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    replay: Thunk = graph.replay
    return replay


def _mlp(rows: int, wide: int) -> Thunk:
    x, t, first, second = (mat.array(random(m * wide, "float32", k).reshape(m, wide))
                           for k, m in enumerate((rows, rows, wide, wide)))
    hidden, out, back = (mat.zeros(rows, wide, dtype="float32") for _ in range(3))

    def step() -> None:
        mat.matmul(x, first, transpose_b=True, out=hidden)
        hidden.maximum_(0.0)
        mat.matmul(hidden, second, transpose_b=True, out=out)
        mat.axpy(-1.0, t, out)
        mat.matmul(out, second, out=back)
        mat.gemm(-1e-9, out, hidden, 1.0, second, transpose_a=True)
        back.multiply_(hidden > 0.0)
        mat.gemm(-1e-9, back, x, 1.0, first, transpose_a=True)
    return step


def _mlp_torch(torch: Any, rows: int, wide: int) -> Thunk:
    x, t, first, second = (torch.rand(m, wide, device="cuda") for m in (rows, rows, wide, wide))

    def step() -> None:
        hidden = (x @ first.T).clamp_(min=0)
        out = (hidden @ second.T).sub_(t)
        back = out @ second
        second.addmm_(out.T, hidden, alpha=-1e-9)
        back.mul_(hidden > 0)
        first.addmm_(back.T, x, alpha=-1e-9)
    return step


def _digits(at: Setting) -> Section:
    try:
        epoch = importlib.import_module("tests.tools.bench.epoch")
    except ImportError as error:
        print(f"the digits are left out: {error}")
        return
    digits = epoch.digits
    pixels, labels, first, second = map(mat.array, epoch._arrays())
    parts = digits.batches(digits.Data(pixels, labels))
    net, s = digits.Network(first, second), digits.new_scratch()

    def train() -> None:
        for x, t in islice(parts, 2 if at.small else None):
            digits.train_batch_(x, t, net, s)

    yield Item("epoch of the digits example", train,
               peers(torch=at.torch and (lambda: epoch.with_torch("cuda"))), {TORCH: 1.0})
