"""Heat in a plate, by slices in place, and by a loop over elements."""

import numpy as np

plate = np.zeros((24, 24))
plate[0] = 100.0
for step in range(200):
    inner = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    change = np.abs(inner - plate[1:-1, 1:-1]).max()
    plate[1:-1, 1:-1] = inner
    if change < 0.05:
        break
print(step, f"{change:.6f}", plate[12].round(3)[:6], f"{plate.mean():.6f}")
by_loop = np.zeros(8)
by_loop[0] = 1.0
for _step in range(10):
    old = by_loop.copy()
    for i in range(1, 7):
        by_loop[i] = (old[i - 1] + old[i + 1]) / 2
print(by_loop)
