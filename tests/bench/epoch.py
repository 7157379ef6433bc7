"""The training epoch of examples/digits.py, and the same program in NumPy and in torch, as their
users would write it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import mat

from .timing import Thunk

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import digits

ROWS = 1792


def _arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels, labels and the two weight matrices, the same for everybody."""
    train, test = digits.load()
    pixels = np.concatenate([train.pixels.to_numpy(), test.pixels.to_numpy()])[:ROWS]
    labels = np.concatenate([train.labels.to_numpy(), test.labels.to_numpy()])[:ROWS]
    net = digits.new_network(pixels.shape[1])
    return pixels, labels, net.first.to_numpy(), net.second.to_numpy()


def with_mat() -> Thunk:
    pixels, labels, first, second = map(mat.array, _arrays())
    parts = digits.batches(digits.Data(pixels, labels))
    net, s = digits.Network(first, second), digits.new_scratch()
    return lambda: digits.train_epoch(parts, net, s)


def _parts(pixels: Any, labels: Any) -> list[tuple[Any, Any]]:
    return [(pixels[i:i + digits.BATCH], labels[i:i + digits.BATCH])
            for i in range(0, ROWS, digits.BATCH)]


def with_numpy() -> Thunk:
    pixels, labels, first, second = _arrays()
    parts, rate = _parts(pixels, labels), digits.RATE / digits.BATCH
    hidden, output, back = (np.empty((digits.BATCH, n))
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


def with_torch(device: str = "cpu") -> Thunk:
    import torch

    pixels, labels, first, second = (torch.tensor(a, device=device) for a in _arrays())
    parts, rate = _parts(pixels, labels), digits.RATE / digits.BATCH
    sizes = (digits.HIDDEN, digits.CLASSES, digits.HIDDEN)
    hidden, output, back = (torch.empty(digits.BATCH, n, dtype=torch.float64, device=device)
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
