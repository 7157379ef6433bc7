"""Train a layer on a device, and count every copy between the host and the device.

On a machine with a GPU it computes there, on others on the CPU, with the same code. Another device
can be named. Run: python examples/gpu_layer.py, or: python examples/gpu_layer.py emulated
"""

from __future__ import annotations

import sys

import numpy as np

import mat

BATCH, INPUTS, OUTPUTS, STEPS, RATE = 256, 32, 8, 100, 0.5


class Layer:
    """Weights, and the intermediate results of a training step, allocated once."""

    def __init__(self) -> None:
        self.weights = mat.zeros(OUTPUTS, INPUTS)
        self.outputs = mat.zeros(BATCH, OUTPUTS)
        self.gradient = mat.zeros(OUTPUTS, INPUTS)

    def step(self, x: mat.Mat, wanted: mat.Mat) -> None:
        """Make one step of gradient descent on the squared error."""
        mat.matmul(x, self.weights.T, out=self.outputs)
        mat.axpy(-1, wanted, self.outputs)  # the error of the outputs
        mat.gemm(1 / BATCH, self.outputs, x, 0, self.gradient, transpose_a=True)
        mat.axpy(-RATE, self.gradient, self.weights)


def train(layer: Layer, x: mat.Mat, wanted: mat.Mat, device: str) -> None:
    """Make all steps; print the copies in the first step, in the others, and at the block's end."""
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
        print(f"the end of the block copied {copies.d2h} to the host; operations that fell back "
              f"to the host: {copies.fallbacks}")


def main(device: str = "cuda") -> None:
    """Recover the weights from outputs that they produced, and compare."""
    rng = mat.Rng(1)
    x, true = mat.zeros(BATCH, INPUTS).normal_(rng=rng), mat.zeros(OUTPUTS, INPUTS).normal_(rng=rng)
    wanted, layer = x @ true.T, Layer()
    train(layer, x, wanted, device)
    error = np.abs(layer.weights.to_numpy() - true.to_numpy()).max()
    print(f"largest error of a weight: {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main(*sys.argv[1:])
