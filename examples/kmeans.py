"""Group points by k-means: a NumPy program of which only the line that imports differs.

Run: python examples/kmeans.py
"""

from __future__ import annotations

import mat as np


def make_points(count: int) -> np.ndarray:
    """Return points on a spiral around each of four centres, by turns."""
    centres = np.array([[0, 0], [4, 1], [1, 5], [-3, 3]])
    k = np.arange(count)
    radius = 2.2 * np.sqrt((k // 4 + 0.5) / (count / 4))
    angle = k * np.pi * (3 - np.sqrt(5))
    around = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return centres[k % 4] + around


def first_centres(points: np.ndarray, clusters: int) -> np.ndarray:
    """Return points that are far from each other: each one the farthest from those before."""
    chosen = [points[0]]
    while len(chosen) < clusters:
        distances = [np.linalg.norm(points - c, axis=1) for c in chosen]
        chosen.append(points[np.argmax(np.min(distances, axis=0))])
    return np.array(chosen)


def nearest(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the centre of each point, and the sum of the squared distances to them."""
    distances = ((points[:, np.newaxis, :] - centres) ** 2).sum(axis=-1)
    return distances.argmin(axis=1), distances.min(axis=1).sum()


def kmeans(points: np.ndarray, clusters: int, most: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Move the centres to the means of their points until nothing changes."""
    centres = first_centres(points, clusters)
    for step in range(most):
        labels, error = nearest(points, centres)
        print(f"step {step}: error {error:.4f}")
        means = np.array([points[labels == k].mean(axis=0) for k in range(clusters)])
        if np.allclose(means, centres):
            break
        centres = means
    return centres, labels


def main() -> None:
    points = make_points(2000)
    centres, labels = kmeans(points, 4)
    order = np.lexsort((centres[:, 1], centres[:, 0]))
    for k in order:
        members = points[labels == k]
        spread = members.std(axis=0)
        print(f"{len(members):4d} points around ({centres[k, 0]:6.3f}, {centres[k, 1]:6.3f}), "
              f"spread {spread[0]:.3f} x {spread[1]:.3f}")
    sizes, counts = np.unique(np.bincount(labels), return_counts=True)
    print("clusters by size:", dict(zip(sizes.tolist(), counts.tolist(), strict=True)))


if __name__ == "__main__":
    main()
