"""Exchange the off-diagonal 2x2 tiles of a 4x4 matrix by strides, without copying elements.

The row axis and the column axis are split into two axes each: the number of the tile, and the
position in the tile. Exchanging tiles is then an exchange of two strides. Run:
python examples/swap_tiles.py
"""

from __future__ import annotations

import numpy as np

import mat


def as_tiles(x: mat.Mat, n: int) -> mat.Mat:
    """Return a view ``[I, J, i, j]``: element (i, j) of the n x n tile in row I and column J."""
    rows, columns = x.shape
    return x.reshape(rows // n, n, columns // n, n).permute(0, 2, 1, 3)


def as_matrix(tiles: mat.Mat) -> np.ndarray:
    """Return the matrix of the tiles as a NumPy copy; two strides could not describe it."""
    rows, columns, n, m = tiles.shape
    return tiles.permute(0, 2, 1, 3).to_numpy().reshape(rows * n, columns * m)


def by_strides() -> None:
    """Print two views of one storage that differ in the order of two strides."""
    x = mat.arange(16.0).reshape(4, 4)
    with mat.debug.count_copies() as copies, mat.debug.count_allocations() as storages:
        tiles = as_tiles(x, 2)
        swapped = tiles.swapaxes(0, 1)
    print("the matrix:              strides of [row, column]", x.element_strides)
    print(x.to_numpy())
    print("the same, as tiles:      strides of [I, J, i, j] ", tiles.element_strides)
    print("with I and J exchanged:  strides of [I, J, i, j] ", swapped.element_strides)
    print(as_matrix(swapped))
    print(f"new storages: {storages.count}, packing copies: {copies.packs}, one storage: "
          f"{swapped.storage is x.storage}")

    swapped[0, 1].fill_(-1)  # a view: this writes the tile of x
    print("after swapped[0, 1].fill_(-1), x is")
    print(x.to_numpy())


def computing() -> None:
    """Multiply by the exchanged tiles in place, which BLAS does without a copy."""
    x, v = mat.arange(16.0).reshape(4, 4), mat.arange(4.0).reshape(2, 2)
    swapped, result = as_tiles(x, 2).swapaxes(0, 1), mat.zeros(2, 2)
    with mat.debug.count_copies() as copies, mat.debug.list_calls() as calls:
        for row in range(2):
            for column in range(2):
                mat.gemv(1, swapped[row, column], v[column], 1, result[row])
    np.testing.assert_allclose(result.to_numpy().ravel(), as_matrix(swapped) @ np.arange(4))
    print("the exchanged matrix times (0 1 2 3):", result.reshape(4),
          f"packing copies: {copies.packs}")
    print(calls)


def moving() -> None:
    """Move the elements with one operation on two views (NumPy makes a copy of one tile)."""
    x = mat.arange(16.0).reshape(4, 4)
    upper, lower = x[:2, 2:], x[2:, :2]
    with mat.debug.count_copies() as copies:
        mat.swap(upper, lower)
    print(f"after mat.swap of {upper.label()} and {lower.label()}, packing copies: {copies.packs}")
    print(x.to_numpy())


def main() -> None:
    by_strides()
    print("\n-- computing with it")
    computing()
    print("\n-- moving the elements")
    moving()


if __name__ == "__main__":
    main()
