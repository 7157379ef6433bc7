"""A layer is trained on whatever device there is, and every copy between the memories is counted.

On a machine with a GPU it computes there, on others on the processor: the block is the same.
Another device can be named. Run: python examples/gpu_layer.py, or: python examples/gpu_layer.py
emulated
"""

from __future__ import annotations

import sys

import numpy as np

import mat

BATCH, INPUTS, OUTPUTS, STEPS, RATE = 256, 32, 8, 100, 0.5


class Layer:
    """Weights, and the places that a step of training writes, made once."""

    def __init__(self) -> None:
        self.weights = mat.zeros(OUTPUTS, INPUTS)
        self.outputs = mat.zeros(BATCH, OUTPUTS)
        self.gradient = mat.zeros(OUTPUTS, INPUTS)

    def step(self, x: mat.Mat, wanted: mat.Mat) -> None:
        """One step of gradient descent on the squared error."""
        mat.matmul(x, self.weights.T, out=self.outputs)
        mat.axpy(-1, wanted, self.outputs)  # what they are too large by
        mat.gemm(1 / BATCH, self.outputs, x, 0, self.gradient, transpose_a=True)
        mat.axpy(-RATE, self.gradient, self.weights)


def train(layer: Layer, x: mat.Mat, wanted: mat.Mat, device: str) -> None:
    """All steps, with what was copied in the first, in the others, and when the block ends."""
    with mat.debug.count_copies() as copies:
        with mat.use_device(device) as dev:
            print(f"computing on {dev}")
            layer.step(x, wanted)
            print(f"the first step copied {copies.h2d} matrices to the device, {copies.d2h} back")
            first = copies.h2d
            for _ in range(STEPS - 1):
                layer.step(x, wanted)
            print(f"the next {STEPS - 1} steps copied {copies.h2d - first} to the device, "
                  f"{copies.d2h} back")
            print(f"the weights are fresh in: {', '.join(sorted(layer.weights.fresh))}")
        print(f"the end of the block copied {copies.d2h} home; operations that fell back to the "
              f"host: {copies.fallbacks}")


def main(device: str = "cuda") -> None:
    """Find the weights that made some outputs, and compare with them."""
    rng = mat.Rng(1)
    x, true = mat.zeros(BATCH, INPUTS).normal_(rng=rng), mat.zeros(OUTPUTS, INPUTS).normal_(rng=rng)
    wanted, layer = x @ true.T, Layer()
    train(layer, x, wanted, device)
    error = np.abs(layer.weights.to_numpy() - true.to_numpy()).max()
    print(f"largest error of a weight: {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main(*sys.argv[1:])
