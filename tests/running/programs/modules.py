"""A program of several modules, with a library between them."""

import statistics as of_python

import numpy as np
from beside.shapes import ring

points = ring(8)
x, y = points.T
area = 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
print(type(points) is type(np.ones(2)), points.round(3)[:3], round(float(area), 6))
print(of_python.fmean(x) < 1e-12, np.hypot(x, y).round(12))
if __name__ == "__main__":
    print(__name__, __doc__)
