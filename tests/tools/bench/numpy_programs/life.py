"""The game of life on bytes, by `roll`."""

import numpy as np


def step(board):
    count = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)
                if (i, j) != (0, 0))
    return ((count == 3) | ((board == 1) & (count == 2))).astype(np.uint8)


def main():
    y, x = np.indices((200, 200))
    board = ((x * x + 3 * y + x * y) % 7 < 3).astype(np.uint8)
    for k in range(50):
        board = step(board)
        if k % 10 == 9:
            print(f"step {k + 1}: {board.sum()} alive, {board.any(axis=0).sum()} columns")


if __name__ == "__main__":
    main()
