"""The edges of a picture: two convolutions, their length, and a pool that makes it small enough to
print.

Run: python examples/edges.py
"""

from __future__ import annotations

import numpy as np

import mat

SHADES = " .:*#"


def snapshot(side: int) -> mat.Mat:
    """A bright disc before a dark square."""
    row, column = np.mgrid[:side, :side] / side - 0.5
    square = np.where((np.abs(row) < 0.4) & (np.abs(column) < 0.4), 1.0, 0.0)
    return mat.array(np.where(row**2 + column**2 < 0.06, 3.0, square))


def edges(image: mat.Mat) -> mat.Mat:
    """How steep the picture is at each place: Sobel's masks across and down, as one vector's
    length.
    """
    across = mat.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    slopes = [mat.convolve(image, mask, mat.zeros(image.shape), anchor=1)
              for mask in (across, across.T)]
    return (slopes[0].square_() + slopes[1].square_()).sqrt_()


def small(image: mat.Mat, pool: int) -> mat.Mat:
    """The largest of each square of `pool` places."""
    return mat.max_pool(image, mat.empty(*(-(-n // pool) for n in image.shape)), pool_shape=pool,
                        stride=pool)


def main() -> None:
    found = small(edges(snapshot(192)), 8)
    levels = (found / found.max()).to_numpy() * (len(SHADES) - 1)
    for line in np.rint(levels).astype(int):
        print("".join(SHADES[k] * 2 for k in line).rstrip())
    flat = int((levels == 0).sum())
    print(f"{found.shape[0]} x {found.shape[1]} places, {flat} of them flat")


if __name__ == "__main__":
    main()
