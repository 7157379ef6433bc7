"""Train a classifier on data that is three times larger than the device's memory, and larger than
the memory that the process may take: the code is the same as for data that fits.

The features are in a file, which is the Mat's host memory; the device, here the emulated one, has a
pool of a third of their size. Needs scikit-learn for the digits. Run: python examples/bigger.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import mat

COPIES, FEATURES, RIDGE = 20, 400, 10.0
ROOM = 40 << 20  # bytes that the process may take after the limit is set


def noisy_digits() -> tuple[mat.Mat, mat.Mat, mat.Mat, np.ndarray]:
    """Return images to learn from, their classes as rows with one 1, and images to recognise."""
    images, classes = load_digits(return_X_y=True)
    images, rng = (images / 16).astype("float32"), np.random.default_rng(0)
    learn, test = slice(0, 1400), slice(1400, None)
    many = np.repeat(images[learn], COPIES, axis=0)
    many += 0.2 * rng.standard_normal(many.shape, dtype="float32")
    targets = np.eye(10, dtype="float32")[np.repeat(classes[learn], COPIES)]
    return mat.array(many), mat.array(targets), mat.array(images[test]), classes[test]


def make_features(images: mat.Mat, x: mat.Mat) -> mat.Mat:
    """Fill `x` with random Fourier features of the images, some rows at a time."""
    mat.seed(0)
    w = mat.zeros(images.shape[1], x.shape[1], dtype="float32").normal_() * 0.25
    shift = mat.zeros(x.shape[1], dtype="float32").uniform_() * 6.28
    for k in range(0, len(x), 2000):
        mat.cos(images[k:k + 2000] @ w + shift, out=x[k:k + 2000])
        bar("features", min(k + 2000, len(x)), len(x))
    return x


def train(x: mat.Mat, targets: mat.Mat) -> tuple[mat.Mat, mat.Mat, mat.Mat]:
    """Standardise `x` in place; return the weights of a ridge regression, the means, the scales."""
    with mat.fused():  # one pass over the file for both, and one that updates it
        means, scales = x.mean(axis=0), x.std(axis=0)
        x -= means
        x /= scales
    gram, right = x.T @ x, x.T @ targets
    gram += RIDGE * mat.eye(len(gram), dtype="float32")
    return mat.linalg.solve(gram, right), means, scales


def bar(what: str, done: int, total: int) -> None:
    """Draw a progress bar, if the output is a terminal."""
    if sys.stdout.isatty():
        filled = 40 * done // total
        print(f"\r{what:9} |{'#' * filled}{'.' * (40 - filled)}|", end="\n" * (done == total))


def limit_memory(room: int) -> bool:
    """Let the process take no more than `room` bytes from now on, where the system can do that."""
    try:
        import resource
        with open("/proc/self/status", encoding="ascii") as file:
            taken = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))
    except (ImportError, OSError):
        return False
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (taken + room, most))
    return True


def accuracy(weights: mat.Mat, images: mat.Mat, classes: np.ndarray, *scale: mat.Mat) -> float:
    """Return the share of images that are recognised."""
    x = make_features(images, mat.empty(len(images), FEATURES, dtype="float32"))
    found = ((x - scale[0]) / scale[1]) @ weights
    return float(np.mean(found.to_numpy().argmax(axis=1) == classes))


def main() -> None:
    images, targets, unseen, classes = noisy_digits()
    shape = len(images), FEATURES
    inside = train(make_features(images, mat.empty(*shape, dtype="float32")), targets)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        x = mat.open_memmap(Path(folder) / "features.npy", "w+", "float32", shape)
        limited = limit_memory(ROOM)
        pool = x.nbytes // 3
        print(f"{x.nbytes / 1e6:.0f} MB of features; pool of the device {pool / 1e6:.0f} MB; "
              f"more memory for the process: {f'{ROOM / 1e6:.0f} MB' if limited else 'no limit'}")
        with mat.use_device("emulated", pool_bytes=pool), mat.debug.count_copies() as copies:
            outside = train(make_features(images, x), targets)
        # written, read for means and scales, read and written to be standardised, two products
        least = 6 * x.nbytes
        print(f"copied {copies.bytes / 1e6:.0f} MB between host and device, {least / 1e6:.0f} MB "
              "if each step reads and writes the features once")
        x.close()
    difference = float(abs(inside[0] - outside[0]).max())
    print(f"largest difference of a weight from training in memory: {difference:.1e}")
    print(f"accuracy {100 * accuracy(outside[0], unseen, classes, *outside[1:]):.1f}%, "
          f"in memory {100 * accuracy(inside[0], unseen, classes, *inside[1:]):.1f}%")


if __name__ == "__main__":
    main()
