"""Shortest paths between all towns, by the method of Floyd and Warshall."""

import numpy as np


def make_roads(towns):
    i, j = np.indices((towns, towns))
    lengths = 1.0 + (i * 31 + j * 17 + i * j) % 97
    roads = np.where((i * 5 + j * 3 + i * j) % 11 < 2, lengths, np.inf)
    ring = np.arange(towns)
    roads[ring, (ring + 1) % towns] = 50
    roads[ring, ring] = 0
    return roads


def shortest(roads):
    d = roads.copy()
    via = np.full(d.shape, -1)
    for k in range(len(d)):
        around = d[:, k, np.newaxis] + d[k]
        shorter = around < d
        via[shorter] = k
        d = np.minimum(d, around)
    return d, via


def main():
    d, via = shortest(make_roads(120))
    start, end = divmod(int(d.argmax()), len(d))
    print(f"mean {d.mean():.4f}, longest {d.max():.0f} from {start} to {end}")
    print(f"direct: {np.mean(via < 0):.4f}; busiest towns:",
          np.argsort(-np.bincount(via[via >= 0], minlength=len(d)), kind="stable")[:4].tolist())


if __name__ == "__main__":
    main()
