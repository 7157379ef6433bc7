"""Train a logistic regression with Adam: a NumPy program of which only the line that imports
differs.

Run: python examples/logistic_regression.py
"""

from __future__ import annotations

import mat as np


def make_data(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return examples with four features of different scales, and their labels 0 and 1."""
    t = np.arange(count)
    x = np.column_stack([np.sin(0.7 * t), 10 * np.cos(1.3 * t), 0.1 * np.sin(2.1 * t + 1),
                         5 + np.cos(0.4 * t) ** 2])
    score = 2 * x[:, 0] - 0.3 * x[:, 1] + 15 * x[:, 2] + 1.5 * (x[:, 3] - 5.5)
    noise = 0.8 * np.sin(12.9898 * t)
    return x, (score + noise > 0).astype(float)


def standardize(x: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Return features of mean 0 and standard deviation 1, and a column of ones."""
    return np.hstack([(x - mean) / std, np.ones((x.shape[0], 1))])


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def loss(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean cross-entropy."""
    p = np.clip(sigmoid(x @ w), 1e-12, 1 - 1e-12)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


class Adam:
    """Adam's steps for one array of weights."""

    def __init__(self, w: np.ndarray, rate: float, beta1: float = 0.9, beta2: float = 0.999):
        self.rate, self.beta1, self.beta2 = rate, beta1, beta2
        self.m, self.v, self.t = np.zeros_like(w), np.zeros_like(w), 0

    def step(self, w: np.ndarray, g: np.ndarray) -> None:
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * g**2
        m = self.m / (1 - self.beta1**self.t)
        v = self.v / (1 - self.beta2**self.t)
        w -= self.rate * m / (np.sqrt(v) + 1e-8)


def train(x: np.ndarray, y: np.ndarray, epochs: int, batch: int) -> np.ndarray:
    w = np.zeros(x.shape[1])
    optimizer = Adam(w, rate=0.05)
    for epoch in range(epochs):
        order = np.argsort(np.sin(1000.0 * (np.arange(len(y)) + epoch)))  # instead of a shuffle
        for start in range(0, len(y), batch):
            rows = order[start:start + batch]
            error = sigmoid(x[rows] @ w) - y[rows]
            optimizer.step(w, x[rows].T @ error / len(rows))
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {loss(w, x, y):.5f}")
    return w


def main() -> None:
    x, y = make_data(1200)
    mean, std = x[:1000].mean(axis=0), x[:1000].std(axis=0)
    x = standardize(x, mean, std)
    w = train(x[:1000], y[:1000], epochs=20, batch=50)
    predicted = sigmoid(x[1000:] @ w) > 0.5
    truth = y[1000:] == 1
    print("weights", np.round(w, 3).tolist())
    print(f"accuracy {np.mean(predicted == truth):.3f}, "
          f"missed {np.sum(truth & ~predicted)}, false alarms {np.sum(predicted & ~truth)}")


if __name__ == "__main__":
    main()
