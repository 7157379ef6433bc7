"""Train a two-layer network on handwritten digits, with explicit forward and backward passes.

The data is the 1,797 digits (8x8 pixels) that scikit-learn includes. BLAS computes the products
``Y = X W^T``, ``dX = dY W`` and ``dW = dY^T X`` as TN, NN and NT, without a transpose or a copy;
the mini-batches of ``mat.batches`` are views. The program prints the accuracy on digits that were
not used for training, and saves a picture, ``digits.png``.

Run: python examples/digits.py [DEVICE], for example cuda or emulated; without a GPU, cuda runs on
the CPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

import mat

HIDDEN, CLASSES, BATCH, EPOCHS, RATE = 128, 10, 32, 30, 0.25
STEP = -RATE / BATCH
TEST = 597  # digits for the test


class Data(NamedTuple):
    """Pixels in [-1, 1] (n x 64) and labels as rows with a single 1 (n x 10)."""

    pixels: mat.Mat
    labels: mat.Mat


class Network(NamedTuple):
    """The weights: hidden x pixels and classes x hidden."""

    first: mat.Mat
    second: mat.Mat


class Scratch(NamedTuple):
    """Intermediate results of a batch, allocated once."""

    hidden: mat.Mat
    output: mat.Mat
    back: mat.Mat
    row: mat.Mat


def load() -> tuple[Data, Data]:
    """Return the digits, in a random but reproducible order, as training and test data."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    pixels = digits.data[order] / 8 - 1
    labels = np.eye(CLASSES)[digits.target[order]]
    cut = len(order) - TEST
    return (Data(mat.array(pixels[:cut]), mat.array(labels[:cut])),
            Data(mat.array(pixels[cut:]), mat.array(labels[cut:])))


def batches(data: Data) -> Iterable[tuple[mat.Mat, ...]]:
    """Return the batches of pixels and labels, without the last rows that do not fill one."""
    n = data.pixels.shape[0] // BATCH * BATCH
    return mat.batches(data.pixels[:n], data.labels[:n], size=BATCH)


def new_network(pixels: int) -> Network:
    """Return small random weights (He's rule)."""
    rng = np.random.default_rng(1)
    sizes = [(HIDDEN, pixels), (CLASSES, HIDDEN)]
    return Network(*(mat.array(rng.standard_normal(s) * np.sqrt(2 / s[1])) for s in sizes))


def new_scratch() -> Scratch:
    shapes = [(BATCH, HIDDEN), (BATCH, CLASSES), (BATCH, HIDDEN), (BATCH, 1)]
    return Scratch(*(mat.empty(s) for s in shapes))


def train_batch_(x: mat.Mat, t: mat.Mat, net: Network, s: Scratch) -> None:
    """Make one step of gradient descent on the cross-entropy; all results are written in place."""
    first, second = net
    hidden, y, back, row = s
    mat.matmul(x, first, transpose_b=True, out=hidden)  # Y = X W^T: TN
    hidden.maximum_(0.0)
    mat.matmul(hidden, second, transpose_b=True, out=y)
    y.subtract_(mat.max(y, axis=1, keepdims=True, out=row)).exp_()  # softmax
    y.divide_(mat.sum(y, axis=1, keepdims=True, out=row))
    y.subtract_(t)  # the gradient of the loss with respect to the output
    mat.matmul(y, second, out=back)  # dX = dY W: NN
    second.gemm_(STEP, y, hidden, 1.0, transpose_a=True)  # W <- W - rate dY^T X: NT
    back.multiply_(hidden.greater_(0.0))  # zero where the hidden unit was inactive
    first.gemm_(STEP, back, x, 1.0, transpose_a=True)


def train_epoch(parts: Iterable[tuple[mat.Mat, ...]], net: Network, s: Scratch) -> None:
    """Make one pass over all batches.

    The block accesses the weights once around the loop, so that the accesses inside cost almost
    nothing.
    """
    here = "array" if net.first.device == "cpu" else net.first.device.facet.name
    with mat.with_facets(*((m, here, "io") for m in (*net, *s))):
        for x, t in parts:
            train_batch_(x, t, net, s)


def probabilities(data: Data, net: Network) -> mat.Mat:
    """Return the probability of each class for each row, in a new Mat."""
    hidden = mat.matmul(data.pixels, net.first, transpose_b=True).maximum_(0)
    y = mat.matmul(hidden, net.second, transpose_b=True)
    y.subtract_(y.max(axis=1, keepdims=True)).exp_()
    return y.divide_(y.sum(axis=1, keepdims=True))


def evaluate(data: Data, net: Network) -> tuple[float, float]:
    """Return the mean loss and the accuracy."""
    p = probabilities(data, net)
    loss = -mat.sum(data.labels * mat.log(p + 1e-12)) / data.pixels.shape[0]
    right = mat.equal(mat.argmax(p, axis=1), mat.argmax(data.labels, axis=1))
    return float(loss), float(right.mean())


def draw(losses: list[float], test: Data, net: Network) -> None:
    """Save ``digits.png``: the loss by epoch, and misread digits."""
    from matplotlib import pyplot as plt

    guesses = mat.argmax(probabilities(test, net), axis=1).to_numpy()
    truth = mat.argmax(test.labels, axis=1).to_numpy()
    wrong = np.flatnonzero(guesses != truth)[:10]
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(range(1, len(losses) + 1), losses)
    axes.set(title="Training loss", xlabel="epoch", ylabel="cross-entropy")
    right.suptitle("Misread test digits: read as (is)")
    pixels = test.pixels.to_numpy().reshape(-1, 8, 8)
    for axes, k in zip(right.subplots(2, 5).flat, wrong, strict=False):
        axes.imshow(pixels[k], cmap="gray_r")
        axes.set_title(f"{guesses[k]} ({truth[k]})")
    for axes in right.axes:
        axes.axis("off")
    figure.savefig("digits.png", dpi=110)


def main() -> None:
    with mat.use_device(sys.argv[1] if len(sys.argv) > 1 else "cpu") as device:
        run(str(device))


def run(device: str) -> None:
    """Train, test and draw."""
    train, test = load()
    parts, net, s = batches(train), new_network(train.pixels.shape[1]), new_scratch()
    print(f"{train.pixels.shape[0]} digits to train on, {test.pixels.shape[0]} to test; {HIDDEN} "
          f"hidden units; on {device}")
    losses = []
    with mat.debug.count_copies() as copies:
        for epoch in range(1, EPOCHS + 1):
            train_epoch(parts, net, s)
            loss, accuracy = evaluate(train, net)
            losses.append(loss)
            print(f"epoch {epoch:2}  loss {loss:.4f}  training accuracy {accuracy:6.1%}  "
                  f"{'#' * round(40 * accuracy)}")
    _, accuracy = evaluate(test, net)
    draw(losses, test, net)
    print(f"test accuracy {accuracy:.2%}")
    print(f"transposes and packing copies: {copies.packs}; copies between memories: "
          f"{copies.h2d + copies.d2h}")
    print("digits.png shows the loss and misread digits")
    if accuracy < 0.97:
        sys.exit("the accuracy is below 97 %: something is wrong")


if __name__ == "__main__":
    main()
