"""Detect the edges of a picture: two convolutions, their magnitude, and pooling to print it.

Run: python examples/edges.py
"""

from __future__ import annotations

import numpy as np

import mat

SHADES = " .:*#"


def picture(side: int) -> mat.Mat:
    """Return a bright disc in front of a dark square."""
    row, column = np.mgrid[:side, :side] / side - 0.5
    square = np.where((np.abs(row) < 0.4) & (np.abs(column) < 0.4), 1.0, 0.0)
    return mat.array(np.where(row**2 + column**2 < 0.06, 3.0, square))


def edges(image: mat.Mat) -> mat.Mat:
    """Return the magnitude of the gradient at each position, by Sobel's two filters."""
    across = mat.array([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    slopes = [mat.nn.convolve(image, mask, mat.zeros(image.shape), anchor=1)
              for mask in (across, across.T)]
    return (slopes[0].square_() + slopes[1].square_()).sqrt_()


def small(image: mat.Mat, pool: int) -> mat.Mat:
    """Return the largest element of each square of `pool` x `pool` positions."""
    return mat.nn.max_pool(image, mat.empty(*(-(-n // pool) for n in image.shape)), pool_shape=pool,
                           stride=pool)


def main() -> None:
    found = small(edges(picture(192)), 8)
    levels = (found / found.max()).to_numpy() * (len(SHADES) - 1)
    for line in np.rint(levels).astype(int):
        print("".join(SHADES[k] * 2 for k in line).rstrip())
    flat = int((levels == 0).sum())
    print(f"{found.shape[0]} x {found.shape[1]} places, {flat} of them flat")


if __name__ == "__main__":
    main()
