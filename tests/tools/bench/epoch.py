"""The training epoch of examples/digits.py, and the same program in NumPy and in torch, as their
users would write it.

Where scikit-learn is missing, random pixels stand for its digits: what is measured does not depend
on them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import mat

from .row import Row
from .timing import Thunk

sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
import digits

ROWS = 1792
LIMIT = 0.6


def rows() -> Iterator[Row]:
    """One epoch of examples/digits.py over 1,792 digits, and the same program elsewhere."""
    for dtype in ("float32", "float64"):
        competitors = {"mat": with_mat(dtype), "numpy": with_numpy(dtype)}
        if find_spec("torch"):
            competitors["torch"] = with_torch(dtype=dtype)
        yield Row(f"digits epoch, {dtype}", competitors, limit=LIMIT)


def _arrays(dtype: str = "float64") -> list[np.ndarray[Any, Any]]:
    """Pixels, labels and the two weight matrices, the same for everybody."""
    pixels, labels = _digits() if find_spec("sklearn") else _noise()
    net = digits.new_network(pixels.shape[1])
    every = pixels[:ROWS], labels[:ROWS], net.first.to_numpy(), net.second.to_numpy()
    return [a.astype(dtype) for a in every]


def _digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    parts = digits.load()
    return (np.concatenate([part.pixels.to_numpy() for part in parts]),
            np.concatenate([part.labels.to_numpy() for part in parts]))


def _noise() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return (rng.integers(0, 17, (ROWS, 64)) / 8 - 1,
            np.eye(digits.CLASSES)[rng.integers(0, digits.CLASSES, ROWS)])


def with_mat(dtype: str = "float64") -> Thunk:
    with mat.settings(dtype=dtype):
        pixels, labels, first, second = map(mat.array, _arrays(dtype))
        parts = digits.batches(digits.Data(pixels, labels))
        net, s = digits.Network(first, second), digits.new_scratch()
    return lambda: digits.train_epoch(parts, net, s)


def _parts(pixels: Any, labels: Any) -> list[tuple[Any, Any]]:
    return [(pixels[i:i + digits.BATCH], labels[i:i + digits.BATCH])
            for i in range(0, ROWS, digits.BATCH)]


def with_numpy(dtype: str = "float64") -> Thunk:
    pixels, labels, first, second = _arrays(dtype)
    parts, rate = _parts(pixels, labels), digits.RATE / digits.BATCH
    hidden, output, back = (np.empty((digits.BATCH, n), dtype)
                            for n in (digits.HIDDEN, digits.CLASSES, digits.HIDDEN))

    def train() -> None:
        for x, t in parts:
            np.matmul(x, first.T, out=hidden)
            np.maximum(hidden, 0, out=hidden)
            np.matmul(hidden, second.T, out=output)
            np.subtract(output, output.max(axis=1, keepdims=True), out=output)
            np.exp(output, out=output)
            np.divide(output, output.sum(axis=1, keepdims=True), out=output)
            np.subtract(output, t, out=output)
            np.matmul(output, second, out=back)
            second[...] -= rate * (output.T @ hidden)
            np.multiply(back, hidden > 0, out=back)
            first[...] -= rate * (back.T @ x)

    return train


def with_torch(device: str = "cpu", dtype: str = "float64") -> Thunk:
    import torch

    pixels, labels, first, second = (torch.tensor(a, device=device) for a in _arrays(dtype))
    parts, rate = _parts(pixels, labels), digits.RATE / digits.BATCH
    sizes = (digits.HIDDEN, digits.CLASSES, digits.HIDDEN)
    hidden, output, back = (torch.empty(digits.BATCH, n, dtype=pixels.dtype, device=device)
                            for n in sizes)

    def train() -> None:
        for x, t in parts:
            torch.matmul(x, first.T, out=hidden)
            hidden.clamp_(min=0)
            torch.matmul(hidden, second.T, out=output)
            output.sub_(output.amax(dim=1, keepdim=True)).exp_()
            output.div_(output.sum(dim=1, keepdim=True)).sub_(t)
            torch.matmul(output, second, out=back)
            second.addmm_(output.T, hidden, alpha=-rate)
            back.mul_(hidden > 0)
            first.addmm_(back.T, x, alpha=-rate)

    return train
