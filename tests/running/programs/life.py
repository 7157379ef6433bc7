"""The game of life."""

import numpy as np

board = np.zeros((20, 30), dtype=int)
board[1:4, 1:4] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
board[3, 20:23] = 1
for _step in range(40):
    count = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)
                if (i, j) != (0, 0))
    board = ((count == 3) | ((board == 1) & (count == 2))).astype(int)
for row in board[8:16, 8:16]:
    print("".join("#" if cell else "." for cell in row))
print(board.sum(), np.argwhere(board)[:3].tolist(), np.nonzero(board)[0].max())
