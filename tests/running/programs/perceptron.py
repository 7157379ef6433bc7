"""A network of two layers, trained by gradients."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


points = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=float)
wanted = np.array([[0], [1], [1], [0]])
first = np.sin(np.arange(12.0)).reshape(3, 4)
second = np.cos(np.arange(4.0)).reshape(4, 1)
losses = []
for step in range(3000):
    hidden = sigmoid(points.dot(first))
    found = sigmoid(np.dot(hidden, second))
    error = wanted - found
    loss = np.mean(np.abs(error))
    losses.append(loss)
    if step % 1000 == 0:
        print("step", step, "loss %.4f" % loss)
    change = error * found * (1 - found)
    back = change.dot(second.T) * hidden * (1 - hidden)
    second += hidden.T.dot(change)
    first += points.T.dot(back)
print(found.round(2).ravel(), (found > 0.5).astype(int).T, losses[0] > losses[-1])
print(f"{min(losses):.4f} {np.argmin(losses)} {sorted(losses)[0]:.4f}")
