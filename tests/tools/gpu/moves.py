"""Moving data: between host and device, ahead of a computation, and on the device from one layout
to another.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import mat

from .item import BEST, BUS, COPY, TORCH, Figure, Item, Section, Thunk
from .setting import Setting, peers, random, required


def transfers(at: Setting) -> Section:
    """Both ways, from page-locked and from pageable memory."""
    sizes = [4 << 10, 64 << 10] if at.small else [256 << 20, 16 << 20, 1 << 20, 64 << 10, 4 << 10]
    for n in sizes:
        for locked in (True, False):
            yield from _both_ways(at, n, locked)


def _both_ways(at: Setting, n: int, locked: bool) -> Section:
    kind = "page-locked" if locked else "pageable"
    with mat.settings(page_locked=locked):
        x = mat.Mat(n, "uint8", fill=None)
        with x.facet("array", "output") as a:
            a[:] = 1
    goals = {BUS: 0.95} if locked and n >= 16 << 20 else {}
    yield Item(f"{kind}, to the device, {_bytes(n)}", _moving(x, "array", "cuda"),
               _others(at, n, locked, True), goals, n)
    yield Item(f"{kind}, to the host, {_bytes(n)}", _moving(x, "cuda", "array"),
               _others(at, n, locked, False), goals, n)


def _moving(x: mat.Mat, source: str, target: str) -> Thunk:
    def move() -> None:
        with x.facet(source, "io"):
            pass  # now it is fresh there only
        with x.facet(target, "input"):
            pass
    return move


def _others(at: Setting, n: int, locked: bool, to_device: bool) -> dict[str, Thunk]:
    return peers(**{BUS: (lambda: _bus(at, n, to_device)) if locked else None,
                    TORCH: (lambda: _with_torch(at, n, locked, to_device)) if at.torch else None})


def _bus(at: Setting, n: int, to_device: bool) -> Thunk:
    """The driver's own copy, and waiting for it."""
    driver = importlib.import_module("cuda.bindings.driver")
    pinned = importlib.import_module("mat.cuda.runtime.pinned")
    block, host, stream = at.gpu.allocate(n), pinned.POOL.take(n), at.gpu.stream  # of no pool

    def copy() -> None:
        if to_device:
            driver.cuMemcpyHtoDAsync(block.address, host.address, n, stream)
        else:
            driver.cuMemcpyDtoHAsync(host.address, block.address, n, stream)
        driver.cuStreamSynchronize(stream)
    return copy


def _with_torch(at: Setting, n: int, locked: bool, to_device: bool) -> Thunk:
    torch = at.torch
    host, there = torch.ones(n, dtype=torch.uint8,
                             pin_memory=locked), torch.ones(n, dtype=torch.uint8, device="cuda")
    target, source = (there, host) if to_device else (host, there)

    def copy() -> None:
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
    return copy


# Larger than the memory that may be used


def larger(at: Setting) -> Section:
    """Operations in tiles, in a pool of a tenth of an operand, beside the driver's copies of as
    many bytes both ways, one after another.
    """
    m = at.size(16384, 64)
    x, y, z = (mat.array(random(m * m, "float32", k).reshape(m, m)) for k in range(3))
    for name, call, moved in (("sum", lambda: float(x.sum()), (1, 0)),
                              ("x + y", lambda: mat.add(x, y, out=z), (2, 1)),
                              ("a @ b", lambda: mat.matmul(x, y, out=z), (2, 1))):
        yield Item(f"{name} of {_bytes(x.nbytes)} in a pool of a tenth",
                   lambda call=call: _within(x.nbytes // 10, call),
                   peers(**{BUS: lambda moved=moved: _both_ways_after(at, x.nbytes, *moved)}),
                   {BUS: 0.8} if name != "a @ b" else {}, sum(moved) * x.nbytes,
                   2.0 * m**3 if name == "a @ b" else 0.0, "float32")


def _within(pool: int, call: Thunk) -> None:
    with mat.use_device("cuda", pool_bytes=pool):
        call()


def _both_ways_after(at: Setting, nbytes: int, there: int, back: int) -> Thunk:
    """The driver's copies of so many times some bytes to the device, then back."""
    piece = min(nbytes, 64 << 20)
    to, fro = (_bus(at, piece, way) for way in (True, False))

    def copies() -> None:
        for _ in range(there * nbytes // piece):
            to()
        for _ in range(back * nbytes // piece):
            fro()
    return copies


def beside_managed(at: Setting) -> Section:
    """Operands of as many bytes as are free on the card, each, since all other memory is taken:
    operations in tiles, beside managed memory, which CUDA moves by pages.
    """
    room = at.size(4 << 30, 1 << 20)
    x, y, z = (mat.array(random(room // 4, "float32", k)) for k in range(3))
    at.device.memory.trim()
    taken = [] if at.small else [at.gpu.allocate(at.gpu.room_left()[0] - room)]
    try:
        for name, ours, function, moved in (
                ("sum", lambda: float(x.sum()), lambda xp, x, y, z: float(xp.sum(x)), 1),
                ("x + y", lambda: mat.add(x, y, out=z), lambda xp, x, y, z: xp.add(x, y, out=z),
                 3)):
            yield Item(f"{name} of {_bytes(room)} each, in as much room",
                       lambda ours=ours: _within(room // 4 * 3, ours), {} if at.alone else required(
                           managed_memory_of_CuPy=(at.cupy, lambda f=function: _managed(
                               at.cupy, room // 4, f))),
                       {"managed memory of CuPy": 1.0}, moved * room)
    finally:
        for block in taken:
            at.gpu.release(block)


def _managed(cupy: Any, n: int, function: Callable[..., object]) -> Thunk:
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        arrays = [cupy.ones(n, np.float32) for _ in range(3)]
    return partial(function, cupy, *arrays)


# Ahead


def ahead(at: Setting) -> Section:
    """A pipeline whose steps compute for as long as the next part takes to come."""
    yield Figure("part of the transfer time that prefetch hides, computing for as long",
                 lambda: _hidden(at), 0.8)


def _hidden(at: Setting) -> float:
    n, parts = at.size(64 << 20, 1000), at.size(16, 3)  # of which the first cannot come ahead
    with mat.settings(page_locked=True):
        mats = [mat.Mat(n // 4, "float32", fill=None) for _ in range(parts)]
        for x in mats:
            with x.facet("array", "output") as a:
                a[:] = 1
    work = mat.ones(at.size(2048, 8), at.size(2048, 8), dtype="float32")
    result = mat.ones(*work.shape, dtype="float32")
    moving = _timed(at, lambda: _pass(at, mats, lambda: None, False)) / parts
    step = _timed(at, lambda: mat.matmul(work, work, out=result))
    times = max(1, round(moving / step))

    def compute() -> None:
        for _ in range(times):
            mat.matmul(work, work, out=result)

    computing = _timed(at, compute)
    one_by_one = _timed(at, lambda: _pass(at, mats, compute, False)) / parts
    overlapped = _timed(at, lambda: _pass(at, mats, compute, True)) / parts
    return (one_by_one - overlapped) / min(moving, computing)


def _pass(at: Setting, mats: list[mat.Mat], compute: Thunk, prefetch: bool) -> None:
    for x in mats:
        x.drop("cuda")
    for k, x in enumerate(mats):
        if prefetch:
            with mat.prefetch(to_device=mats[k + 1:k + 2]):
                _use(x, compute)
        else:
            _use(x, compute)
            at.device.synchronize()


def _use(x: mat.Mat, compute: Thunk) -> None:
    with x.facet("cuda", "input"):
        compute()


def _timed(at: Setting, work: Thunk, rounds: int = 5) -> float:
    work()
    best = float("inf")
    for _ in range(1 if at.small else rounds):
        at.device.synchronize()
        begin = perf_counter()
        work()
        at.device.synchronize()
        best = min(best, perf_counter() - begin)
    return best


# From one layout to another

DTYPES = {1: "int8", 2: "float16", 4: "float32", 8: "float64", 16: "complex128"}
# shares of the elements along each axis, as powers of two of 2**28 bytes
ORDERS: dict[tuple[int, ...], tuple[float, ...]] = {
    (1, 0): (0.5, 0.5), (0, 2, 1): (0.25, 0.375, 0.375), (2, 1, 0): (0.33, 0.33, 0.34),
    (3, 1, 2, 0): (0.25, 0.25, 0.25, 0.25),
    (1, 0, 2): (0.4, 0.3, 0.3),
}


def permutes(at: Setting) -> Section:
    yield from (_permute(at, order, size) for order in ORDERS for size in DTYPES)


def _permute(at: Setting, order: tuple[int, ...], itemsize: int) -> Item:
    bits = at.size(28, 12) - (itemsize.bit_length() - 1)
    lengths = [round(bits * share) for share in ORDERS[order]]
    lengths[-1] = bits - sum(lengths[:-1])
    shape = tuple(1 << n for n in lengths)
    x = mat.array(random(1 << bits, DTYPES[itemsize]).reshape(shape)).permute(*order)
    nbytes = 2 * itemsize << bits
    goals = {COPY: 0.93 if itemsize > 2 else 0.9, **BEST}
    return Item(f"{order} of {'x'.join(map(str, shape))}, {itemsize} bytes", lambda: x.contiguous(),
                peers(copy=lambda: at.copying(nbytes),
                      torch=_torch_permute(at, shape, order, itemsize),
                      cupy=_cupy_permute(at, shape, order, itemsize)), goals, nbytes)


def _torch_permute(at: Setting, shape: tuple[int, ...], order: tuple[int, ...],
                   itemsize: int) -> Any:
    torch = at.torch
    if torch is None:
        return None

    def make() -> Thunk:
        x = torch.zeros(shape, dtype=getattr(torch, DTYPES[itemsize]),
                        device="cuda").permute(*order)
        return lambda: x.contiguous()
    return make


def _cupy_permute(at: Setting, shape: tuple[int, ...], order: tuple[int, ...],
                  itemsize: int) -> Any:
    cupy = at.cupy
    if cupy is None:
        return None

    def make() -> Thunk:
        x = cupy.zeros(shape, np.dtype(DTYPES[itemsize])).transpose(order)
        return lambda: cupy.ascontiguousarray(x)
    return make


def _bytes(n: int) -> str:
    unit = next((u, s) for u, s in (("GB", 30), ("MB", 20), ("KB", 10), ("B", 0)) if n >> s)
    return f"{n >> unit[1]} {unit[0]}"
