"""Libraries that keep the arrays that they were given, while the program writes on."""

import array
import collections
import math

import numpy as np

kept = collections.deque(maxlen=3)
positions = np.arange(6.0).reshape(3, 2)
for _step in range(4):
    kept.append(np.polynomial.Polynomial(positions[:, 0]).coef)
    kept.append(np.ma.asarray(positions))
    positions += 0.5
    positions[0] = 7
    positions[positions > 7] = 0
    np.multiply(positions, 2, out=positions)
    positions[:, 1] -= 1
    print(positions, positions.sum(), array.array("d", positions[:, 0]), math.fsum(positions[1]))
view = positions[1:]
kept.append(np.ma.asarray(view))
view[0, 0] = 3
positions.fill(4)
print(view, positions)
