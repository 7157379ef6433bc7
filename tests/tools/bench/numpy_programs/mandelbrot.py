"""The Mandelbrot set, by masks of the points that are left."""

import numpy as np


def escape_times(height, width, most):
    y, x = np.ogrid[-1.2:1.2:height * 1j, -2.1:0.7:width * 1j]
    c = x + 1j * y
    z = np.zeros_like(c)
    times = np.full(c.shape, most)
    left = np.ones(c.shape, dtype=bool)
    for k in range(most):
        z[left] = z[left] ** 2 + c[left]
        gone = left & (np.abs(z) > 2)
        times[gone] = k
        left &= ~gone
    return times


def main():
    times = escape_times(120, 160, 30)
    counts = np.bincount(times.ravel(), minlength=31)
    print("inside:", counts[-1], "at once:", counts[:4].tolist())
    for row in times[10:110:10, ::4]:
        print("".join(" .:-=+*#%@"[t // 3 - t // 30] for t in row))


if __name__ == "__main__":
    main()
