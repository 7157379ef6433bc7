"""A 4x4 matrix whose off-diagonal 2x2 tiles change places by strides alone: no element moves,
nothing is packed.

The idea: give the row and the column of a matrix two axes each, one for the tile and one for the
place in the tile. Then exchanging tiles is exchanging two strides. Run: python
examples/swap_tiles.py
"""

from __future__ import annotations

import numpy as np

import mat


def as_tiles(x: mat.Mat, n: int) -> mat.Mat:
    """The view of a matrix as ``[I, J, i, j]``: element (i, j) of the n x n tile in tile row I and
    tile column J.
    """
    rows, columns = x.shape
    return x.reshape(rows // n, n, columns // n, n).permute(0, 2, 1, 3)


def as_matrix(tiles: mat.Mat) -> np.ndarray:
    """The matrix made of tiles, as a NumPy copy to print; no two strides could describe it."""
    rows, columns, n, m = tiles.shape
    return tiles.permute(0, 2, 1, 3).to_numpy().reshape(rows * n, columns * m)


def by_strides() -> None:
    """The main point: two views of one storage, which differ in the order of two strides."""
    x = mat.arange(16).reshape(4, 4)
    with mat.debug.count_copies() as copies, mat.debug.count_allocations() as storages:
        tiles = as_tiles(x, 2)
        swapped = tiles.swapaxes(0, 1)
    print("the matrix:              strides of [row, column]", x.strides)
    print(x.to_numpy())
    print("the same, as tiles:      strides of [I, J, i, j] ", tiles.strides)
    print("with I and J exchanged:  strides of [I, J, i, j] ", swapped.strides)
    print(as_matrix(swapped))
    print(f"new storages: {storages.count}, packing copies: {copies.packs}, one storage: "
          f"{swapped.storage is x.storage}")

    swapped[0, 1].fill_(-1)  # it is a view: writing it writes x, where the tile really lies
    print("after swapped[0, 1].fill_(-1), x is")
    print(x.to_numpy())


def computing() -> None:
    """Operations take the exchanged tiles as they are: BLAS multiplies each tile where it lies."""
    x, v = mat.arange(16).reshape(4, 4), mat.arange(4).reshape(2, 2)
    swapped, result = as_tiles(x, 2).swapaxes(0, 1), mat.zeros(2, 2)
    with mat.debug.count_copies() as copies, mat.debug.list_calls() as calls:
        for row in range(2):
            for column in range(2):
                mat.gemv(1, swapped[row, column], v[column], 1, result[row])
    np.testing.assert_allclose(result.to_numpy().ravel(), as_matrix(swapped) @ np.arange(4))
    print("the exchanged matrix times (0 1 2 3):", result.reshape(4),
          f"packing copies: {copies.packs}")
    print(calls)


def for_good() -> None:
    """Where the elements shall move after all: one operation on two views of the one storage (NumPy
    keeps one tile aside).
    """
    x = mat.arange(16).reshape(4, 4)
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
    for_good()


if __name__ == "__main__":
    main()
