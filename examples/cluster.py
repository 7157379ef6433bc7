"""A truncated SVD of a tall matrix, and then clusters of its rows, on a cluster of dask.

    python cluster.py                                    # two processes of this machine
    python cluster.py tcp://10.0.0.1:8786                # a cluster that is running
    python cluster.py tcp://10.0.0.1:8786 cuda           # whose workers compute on their GPUs

The chunks are Mats, from their random numbers to the labels. Needs dask and distributed.
"""

import sys

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import mat
import mat.dask

ROWS, COLUMNS, GROUPS, KEPT = 40_000, 64, 5, 4


def points(seed=1):
    """Return rows about GROUPS centres, and which of them each row is about."""
    rng = np.random.default_rng(seed)
    centres = mat.array(rng.normal(0, 3, (GROUPS, COLUMNS)))
    numbers = da.random.default_rng(seed)
    labels = numbers.integers(0, GROUPS, size=ROWS, chunks=5_000)
    near = labels.map_blocks(lambda k: np.take(centres, k, axis=0), dtype="float64",
                             new_axis=1, chunks=(labels.chunks[0], (COLUMNS,)),
                             meta=mat.empty((0, 0)))
    return near + numbers.normal(size=near.shape, chunks=near.chunks), labels


def projected(x):
    """Return the rows of `x` along its first principal axes, and the part of the variance there."""
    x = (x - x.mean(axis=0)).persist()
    u, s, _ = da.linalg.svd_compressed(x, KEPT, n_power_iter=1, seed=2)
    u, s, total = dask.persist(u, s, (x**2).sum())  # all at once: they share most of the work
    found, total = dask.compute(s, total)
    return (u * found).persist(), float((found**2).sum() / total)


def nearest(rows, centres):
    """Return the number of the centre that each row is nearest to: |c|^2 - 2 r.c is least."""
    return ((centres**2).sum(axis=1) - 2 * (rows @ centres.T)).argmin(axis=1)


def far_apart(rows):
    """Return rows to begin with: each is the farthest from those before it."""
    found = [rows[0]]
    for _ in range(GROUPS - 1):
        gaps = [((rows - centre) ** 2).sum(axis=1) for centre in found]
        found.append(rows[int(np.min(np.stack(gaps), axis=0).argmax())])
    return np.stack(found)


def clusters(scores, rounds=20):
    """Return the centres of clusters by Lloyd's algorithm, and the label of each row."""
    centres = far_apart(scores[:1000].compute())
    for _ in range(rounds):
        labels = scores.map_blocks(nearest, centres, drop_axis=1, dtype="int64")
        members = (labels[:, None] == np.arange(GROUPS)).astype("float64")
        sums, sizes = dask.compute(members.T @ scores, members.sum(axis=0))
        moved = sums / sizes.reshape(-1, 1)
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres, labels


def purity(found, known):
    """Return the part of the rows whose cluster consists mostly of rows of their group."""
    pairs = np.bincount(np.asarray(found) * GROUPS + np.asarray(known), minlength=GROUPS**2)
    return pairs.reshape(GROUPS, GROUPS).max(axis=1).sum() / len(known)


def main(client, device):
    print("dashboard:", client.dashboard_link)
    if device:
        client.register_plugin(mat.dask.Device(device, pool_bytes=1 << 30))
    with dask.config.set({"array.backend": "mat"}):
        x, known = points()
        print(f"{x.shape[0]} x {x.shape[1]} in {x.npartitions} chunks, each a "
              f"{type(x._meta).__name__}")
        scores, part = projected(x)
        print(f"{KEPT} axes have {100 * part:.0f}% of the variance")
        _, labels = clusters(scores)
        found, known = dask.compute(labels, known)
    print("sizes of the clusters:", *sorted(np.bincount(np.asarray(found)).tolist()))
    print(f"rows in the right cluster: {100 * purity(found, known):.1f}%")


if __name__ == "__main__":
    address, device = (*sys.argv[1:], "", "")[:2]
    if address in ("", "local"):
        where = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    else:
        where = address
    with Client(where) as client:
        main(client, device)
