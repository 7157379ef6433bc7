"""Train a small convolutional network on pictures of bars: a NumPy program of which only the line
that imports differs.

Run: python examples/small_cnn.py
"""

from __future__ import annotations

import mat as np

CLASSES = ("horizontal", "vertical", "diagonal")
SIDE = 12


def make_pictures(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures of one bright bar each on an uneven background, and their classes."""
    row, column = np.indices((SIDE, SIDE))
    pictures = np.empty((count, SIDE, SIDE))
    labels = np.arange(count) % 3
    for k in range(count):
        place = 2 + (5 * k // 3) % (SIDE - 4)
        across = (row, column, row - column + SIDE // 2)[k % 3]
        pictures[k] = np.where(np.abs(across - place) <= 1, 1.0, 0.0)
        pictures[k] += 0.4 * np.sin((k + 1.0) * (row * SIDE + column))
    return pictures, labels


def windows(pictures: np.ndarray, size: int) -> np.ndarray:
    """Return all squares of each picture, as a view of shape (pictures, y, x, size, size)."""
    return np.lib.stride_tricks.sliding_window_view(pictures, (size, size), axis=(1, 2))


class Network:
    """A convolution, ReLU, the maximum of each 2 x 2 square, and a linear layer."""

    def __init__(self, filters: int, size: int = 3):
        pooled = ((SIDE - size + 1) // 2) ** 2 * filters
        self.w = 0.3 * np.sin(1.7 * np.arange(filters * size * size)).reshape(filters, size, size)
        self.b = np.zeros(filters)
        self.v = 0.1 * np.cos(2.3 * np.arange(pooled * len(CLASSES))).reshape(pooled, -1)
        self.c = np.zeros(len(CLASSES))

    def forward(self, pictures: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes."""
        self.seen = windows(pictures, self.w.shape[1])
        maps = np.einsum("nyxij,fij->nyxf", self.seen, self.w) + self.b
        n, height, width, filters = maps.shape
        squares = np.maximum(maps, 0).reshape(n, height // 2, 2, width // 2, 2, filters)
        best = squares.max(axis=(2, 4), keepdims=True)
        self.winners = (squares == best) & (squares > 0)
        self.flat = best.reshape(n, -1)
        scores = self.flat @ self.v + self.c
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def train_step(self, pictures: np.ndarray, labels: np.ndarray, rate: float) -> float:
        """Step down the gradient of the mean cross-entropy, and return that."""
        p = self.forward(pictures)
        n = len(labels)
        loss = -np.log(p[np.arange(n), labels]).mean()
        error = (p - np.eye(len(CLASSES))[labels]) / n
        back = (error @ self.v.T).reshape(n, SIDE // 2 - 1, 1, SIDE // 2 - 1, 1, -1)
        maps = (back * self.winners).reshape(n, SIDE - 2, SIDE - 2, -1)
        self.v -= rate * self.flat.T @ error
        self.c -= rate * error.sum(axis=0)
        self.w -= rate * np.tensordot(maps, self.seen, axes=([0, 1, 2], [0, 1, 2]))
        self.b -= rate * maps.sum(axis=(0, 1, 2))
        return loss


def main() -> None:
    pictures, labels = make_pictures(240)
    network = Network(filters=4)
    for epoch in range(8):
        losses = [network.train_step(pictures[k:k + 30], labels[k:k + 30], rate=0.3)
                  for k in range(0, 180, 30)]
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}")
    found = network.forward(pictures[180:]).argmax(axis=1)
    confusion = np.zeros((3, 3), dtype=int)
    np.add.at(confusion, (labels[180:], found), 1)
    for name, row in zip(CLASSES, confusion, strict=True):
        print(f"{name:10} {row.tolist()}")
    print(f"accuracy {np.mean(found == labels[180:]):.1%}")


if __name__ == "__main__":
    main()
