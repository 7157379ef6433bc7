"""Convolution and pooling, with their derivatives, against torch and, for one channel, a loop over
SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import scipy.ndimage

import mat

from .row import Row
from .timing import Thunk

with suppress(ImportError):
    import torch
    import torch.nn.functional as F

# a batch of squares, the side of the window, our time over torch's
CONVOLUTIONS = ((32, 28, 5, 1.0), (64, 128, 3, 1 / 3))
POOLS = ((32, 28), (64, 128))
# images, weights and settings of convolutions of several channels
CHANNELS = (
    ((8, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}), ((8, 64, 56, 56), (256, 64, 1, 1), {}),
    ((8, 256, 14, 14), (256, 256, 3, 3), {"padding": 1}),
    ((16, 512, 7, 7), (512, 512, 3, 3), {"padding": 1}),
    ((4, 3, 224, 224), (64, 3, 7, 7), {"padding": 3, "stride": 2}),
    ((8, 64, 56, 56), (128, 64, 3, 3), {"padding": 1, "stride": 2}),
    ((8, 128, 28, 28), (128, 1, 3, 3), {"padding": 1, "groups": 128}))


def have_torch() -> bool:
    return "torch" in globals()


def rows() -> Iterator[Row]:
    for dtype in ("float32", "float64"):
        for batch, side, width, limit in CONVOLUTIONS:
            yield from _convolutions(batch, side, width, dtype, limit)
        for batch, side in POOLS:
            yield from _pools(batch, side, dtype)
        for x, w, settings in CHANNELS:
            yield from _channels(x, w, settings, dtype)


def _judged(name: str, ours: Thunk, scipy_loop: Thunk | None, limit: float,
            theirs: Thunk | None) -> Iterator[Row]:
    """A row against torch, if it is there, and one against SciPy."""
    if theirs is not None:
        yield Row(name, {"mat": ours, "torch": theirs}, against="torch", limit=limit)
    if scipy_loop is not None:
        yield Row(f"{name}, SciPy's loop", {"mat": ours, "scipy": scipy_loop}, against="scipy",
                  limit=0.1)


def _convolutions(batch: int, side: int, width: int, dtype: str, limit: float) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((batch, side, side)).astype(dtype) for _ in range(2))
    w = rng.standard_normal((width, width)).astype(dtype)
    X, W, Y, XD, WD = (mat.array(a) for a in (x, w, y, 0 * x, 0 * w))
    settings = {"anchor": width // 2, "batched": True}
    name = f"{batch} x {side} x {side} with {width} x {width}, {dtype}"

    def loop() -> None:
        for image, out in zip(x, y, strict=True):
            scipy.ndimage.correlate(image, w, output=out, mode="constant")

    yield from _judged(f"convolve {name}", lambda: mat.nn.convolve(X, W, Y, **settings), loop,
                       limit, _torch_convolution(x, w) if have_torch() else None)
    for text, xd, wd, of in (("by x", XD, None, (True, False)), ("by w", None, WD, (False, True))):
        yield from _judged(f"derivative {text}, {name}", lambda xd=xd,
                           wd=wd: mat.nn.derive_convolve(X, xd, W, wd, Y, **settings),
                           None, 1.0, _torch_derivative(x, w, of) if have_torch() else None)


def _channels(x_shape: tuple[int, ...], w_shape: tuple[int, ...], settings: dict[str, int],
              dtype: str) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s).astype(dtype) for s in (x_shape, w_shape))
    X, W, XD, WD = (mat.array(a) for a in (x, w, 0 * x, 0 * w))
    Y = mat.nn.conv(X, W, **settings)
    name = (f"{' x '.join(map(str, x_shape))} with {' x '.join(map(str, w_shape))}, "
            f"{', '.join(f'{k} {v}' for k, v in settings.items())}, {dtype}")
    theirs = _torch_channels(x, w, Y.to_numpy(), settings) if have_torch() else [None] * 3
    ours = (lambda: mat.nn.conv(X, W, out=Y, **settings),
            lambda: mat.nn.derive_conv(X, XD, W, None, Y, **settings),
            lambda: mat.nn.derive_conv(X, None, W, WD, Y, **settings))
    for text, thunk, other in zip(("conv", "conv's derivative by x", "conv's derivative by w"),
                                  ours, theirs, strict=True):
        yield from _judged(f"{text}, {name}", thunk, None, 1.5, other)


def _torch_channels(x: np.ndarray, w: np.ndarray, yd: np.ndarray,
                    settings: dict[str, int]) -> list[Thunk]:
    images, weights, errors = torch.tensor(x), torch.tensor(w), torch.tensor(yd)
    pair = {k: [v] * 2 for k, v in settings.items()}

    def forward() -> None:
        with torch.no_grad():
            F.conv2d(images, weights, **settings)

    def back(*of: bool) -> None:
        torch.ops.aten.convolution_backward(
            errors, images, weights, None, pair.get("stride", [1, 1]), pair.get("padding", [0, 0]),
            [1, 1], False, [0, 0], settings.get("groups", 1), [*of, False])

    return [forward, lambda: back(True, False), lambda: back(False, True)]


def _torch_convolution(x: np.ndarray, w: np.ndarray) -> Thunk:
    images, taps = torch.tensor(x)[:, None], torch.tensor(w)[None, None]

    def run() -> None:
        with torch.no_grad():
            F.conv2d(images, taps, padding=w.shape[0] // 2)

    return run


def _torch_derivative(x: np.ndarray, w: np.ndarray, of: tuple[bool, bool]) -> Thunk:
    images, taps, half = torch.tensor(x)[:, None], torch.tensor(w)[None,
                                                                   None], [w.shape[0] // 2] * 2
    return lambda: torch.ops.aten.convolution_backward(images, images, taps, None, [1, 1], half,
                                                       [1, 1], False, [0, 0], 1,
                                                       [*of, False])


def _pools(batch: int, side: int, dtype: str) -> Iterator[Row]:
    x = np.random.default_rng(0).standard_normal((batch, side, side)).astype(dtype)
    X, Y = mat.array(x), mat.empty(batch, side // 2, side // 2, dtype=dtype)

    def loop() -> None:
        for image in x:
            scipy.ndimage.maximum_filter(image, 2, mode="constant", cval=-np.inf)[::2, ::2]

    theirs = _torch_pool(x) if have_torch() else None
    yield from _judged(f"max_pool {batch} x {side} x {side} by 2, {dtype}",
                       lambda: mat.nn.max_pool(X, Y, pool_shape=2, stride=2, batched=True), loop,
                       1.0, theirs)


def _torch_pool(x: np.ndarray) -> Thunk:
    images = torch.tensor(x)[:, None]

    def run() -> None:
        with torch.no_grad():
            F.max_pool2d(images, 2)

    return run
