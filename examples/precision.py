"""Climb down the ladder of precision: a network that reads digits, with fewer and fewer bits.

The network of digits.py is trained with 64 bits. Then its weights, and the inputs of its layers,
are rounded to 32, 16 and 8 bits; all sums are computed with 32. Numbers of 8 bits need scales:
`mat.quantize` gives each row its own, and `mat.scaled_matmul` takes them along. The program prints
accuracy, error, bytes and time side by side, and saves a picture, ``precision.png``, if matplotlib
is installed.

Run: python examples/precision.py [DEVICE], for example cuda or emulated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import NamedTuple

import digits

import mat

EPOCHS, RUNS = 12, 20
LADDER = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8")
NEEDS_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
LEAST = 0.95  # of the test digits have to be read on every rung


class Rung(NamedTuple):
    """What is printed of one precision."""

    name: str
    accuracy: float
    changed: int  # digits that are read otherwise than with 64 bits
    error: float  # of the outputs, relative to their size
    nbytes: int  # of the weights, with their scales
    milliseconds: float


class Layer:
    """``x W^T`` with W, and x when it comes, in some precision, summed in float32."""

    def __init__(self, weights: mat.Mat, kind: str) -> None:
        self.kind = kind
        if mat.zeros(1, dtype=kind).itemsize == 1:
            self.weights, self.scales = mat.quantize(weights, kind, axis=-1)
        else:
            self.weights, self.scales = weights.astype(kind), None

    def __call__(self, x: mat.Mat) -> mat.Mat:
        if self.scales is not None:
            x, scales = mat.quantize(x, self.kind, axis=-1)
            return mat.scaled_matmul(x, scales, self.weights.T, self.scales.T)
        out = mat.empty(x.shape[0], self.weights.shape[0], dtype="float32")
        return mat.matmul(x.astype(self.kind), self.weights, out=out, transpose_b=True)

    @property
    def nbytes(self) -> int:
        return self.weights.nbytes + (self.scales.nbytes if self.scales is not None else 0)


def trained() -> tuple[digits.Network, digits.Data]:
    """Return a network that was trained with 64 bits, and the digits for the test."""
    train, test = digits.load()
    parts, scratch = digits.batches(train), digits.new_scratch()
    net = digits.new_network(train.pixels.shape[1])
    for _ in range(EPOCHS):
        digits.train_epoch(parts, net, scratch)
    return net, test


def outputs(layers: list[Layer], pixels: mat.Mat) -> mat.Mat:
    """Return what the network gives for each digit: the largest is its guess."""
    first, second = layers
    return second(first(pixels).maximum_(0))


def best_time(function: Callable[[], mat.Mat]) -> float:
    """Return the milliseconds that a call takes at best, with its result on the host."""
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        function().to_numpy()
        times.append(1e3 * (perf_counter() - start))
    return min(times)


def rung(kind: str, net: digits.Network, test: digits.Data) -> Rung:
    """Return how the network does in one precision."""
    pixels = test.pixels.astype("float32")
    layers = [Layer(weights.astype("float32"), kind) for weights in net]
    found = outputs(layers, pixels)
    hidden = mat.matmul(test.pixels, net.first, transpose_b=True).maximum_(0)
    exact = mat.matmul(hidden, net.second, transpose_b=True)
    error = mat.nrm2(found.astype("float64") - exact) / mat.nrm2(exact)
    guesses = mat.argmax(found, axis=1)
    right = mat.equal(guesses, mat.argmax(test.labels, axis=1))
    changed = mat.not_equal(guesses, mat.argmax(exact, axis=1))
    nbytes = sum(layer.nbytes for layer in layers)
    return Rung(kind, float(right.mean()), int(changed.sum()), error, nbytes,
                best_time(lambda: outputs(layers, pixels)))


def draw(rungs: list[Rung]) -> None:
    """Save ``precision.png``: each column of the table as bars."""
    from matplotlib import pyplot as plt

    names = [r.name for r in rungs]
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained", sharey=True)
    columns = ([100 * r.accuracy for r in rungs], [r.error for r in rungs],
               [r.nbytes / 1024 for r in rungs], [r.milliseconds for r in rungs])
    titles = ("accuracy (%)", "error of the outputs", "weights (KiB)", "time (ms)")
    for one, values, title in zip(axes, columns, titles, strict=True):
        one.barh(names, values, color="tab:blue")
        one.set_title(title)
    axes[0].set_xlim(90, 100)
    axes[0].invert_yaxis()
    axes[1].set_xscale("log")
    figure.savefig("precision.png", dpi=110)


def main() -> None:
    with mat.use_device(sys.argv[1] if len(sys.argv) > 1 else "cpu") as device:
        net, test = trained()
        kinds = [k for k in LADDER if k not in NEEDS_ML_DTYPES or find_spec("ml_dtypes")]
        rungs = [rung(kind, net, test) for kind in kinds]
    print(f"{len(test.pixels)} digits to read, on {device}\n")
    print("precision      accuracy   changed   error     bytes   time")
    for r in rungs:
        print(f"{r.name:14} {r.accuracy:7.2%}   {r.changed:7}   {r.error:.1e} {r.nbytes:7}   "
              f"{r.milliseconds:.2f} ms")
    if find_spec("matplotlib"):
        draw(rungs)
        print("\nprecision.png shows the table")
    if min(r.accuracy for r in rungs) < LEAST:
        sys.exit(f"a precision reads less than {LEAST:.0%} of the digits: something is wrong")


if __name__ == "__main__":
    main()
