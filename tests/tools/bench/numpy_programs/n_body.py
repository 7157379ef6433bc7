"""Bodies that attract each other, by leapfrog."""

import numpy as np

G, SOFT, DT = 1.0, 0.05, 0.01


def accelerations(x, mass):
    d = x[None, :, :] - x[:, None, :]
    r2 = (d**2).sum(axis=-1) + SOFT**2
    np.fill_diagonal(r2, 1.0)
    return G * (d * (mass / r2**1.5)[:, :, None]).sum(axis=1)


def energy(x, v, mass):
    d = np.sqrt(((x[None] - x[:, None]) ** 2).sum(axis=-1) + SOFT**2)
    i, j = np.triu_indices(len(x), 1)
    return 0.5 * (mass * (v**2).sum(axis=1)).sum() - G * (mass[i] * mass[j] / d[i, j]).sum()


def main():
    k = np.arange(60)
    x = np.stack([np.cos(2.4 * k), np.sin(2.4 * k), 0.1 * np.sin(5.0 * k)], axis=1)
    x *= np.sqrt((k + 1) / 60)[:, None]
    v = 0.5 * np.cross([0.0, 0.0, 1.0], x)
    mass = np.full(60, 1 / 60)
    before, a = energy(x, v, mass), accelerations(x, mass)
    for _step in range(50):
        v += a * (DT / 2)
        x += v * DT
        a = accelerations(x, mass)
        v += a * (DT / 2)
    after = energy(x, v, mass)
    print(f"energy {before:.6f} before, {after:.6f} after, {100 * (after / before - 1):.3f}% more")
    print(f"mean radius {np.linalg.norm(x, axis=1).mean():.5f}, medians",
          np.median(np.abs(x), axis=0).round(5).tolist())


if __name__ == "__main__":
    main()
