"""``python -m tests.clients.dask``: measures chunks that are Mats against chunks of NumPy, and
writes the table of docs/interop.md. ``--print`` prints the ratio of every function instead.
"""

import datetime
import os
import signal
import statistics
import sys
import time

import dask
import dask.array as da
import distributed
import numpy as np

import mat
import mat.dask

from ..rows import PAGE, surroundings
from .timing import CHUNKS, SHAPE, ratios

BEGIN, END = "<!-- dask: begin -->\n", "<!-- dask: end -->\n"
MEGABYTES = 64
KINDS = ("Mats", "NumPy")
LIMIT = 1.1


def cluster():
    return distributed.Client(distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50))


# Transport


def made(kind, transposed):
    """A chunk of that many megabytes."""
    rows = MEGABYTES * 125
    found = mat.ones(rows, 1000) + 1 if kind == "Mats" else np.ones((rows, 1000)) + 1
    return found.T if transposed else found


def speeds(client, repetitions=40):
    """The gigabytes a second from worker to worker and to the client, by kind and layout: medians,
    in another order every time.
    """
    found = {}
    for turn in range(repetitions):
        for transposed in (False, True):
            for kind in KINDS[::-1 if turn % 2 else 1]:
                to_worker, to_client = _once(client, kind, transposed)
                found.setdefault(("worker", transposed, kind), []).append(to_worker)
                found.setdefault(("client", transposed, kind), []).append(to_client)
    return {key: MEGABYTES / 1e3 / statistics.median(seconds) for key, seconds in found.items()}


def _once(client, kind, transposed):
    one, other = client.scheduler_info()["workers"]

    def seconds(use):
        x = client.submit(made, kind, transposed, workers=[one], pure=False)
        distributed.wait(x)
        time.sleep(0.05)  # the worker still has to do with the task, longer after a short one
        start = time.perf_counter()
        use(x)
        return time.perf_counter() - start

    return (seconds(lambda x: client.submit(np.ndim, x, workers=[other], pure=False).result()),
            seconds(lambda x: x.result()))


# Computations


def products(client, repetitions=5):
    """The milliseconds of a product on two workers, by kind."""
    a = np.random.default_rng(1).normal(size=(2000, 2000))
    chunks = {kind: client.persist(da.from_array(convert(a), chunks=500, asarray=False))
              for kind, convert in (("Mats", mat.array), ("NumPy", np.asarray))}
    best = dict.fromkeys(KINDS, float("inf"))
    for _ in range(repetitions):
        for kind in KINDS:
            start = time.perf_counter()
            distributed.wait(client.persist(chunks[kind] @ chunks[kind]))
            best[kind] = min(best[kind], time.perf_counter() - start)
    return {kind: seconds * 1e3 for kind, seconds in best.items()}


def eight_pools(client):
    """Whether the products of data of eight times the pool of each worker are right."""
    with dask.config.set({"array.backend": "mat"}):
        x = da.random.default_rng(1).normal(size=(4000, 500), chunks=(500, 125))
    a = x.compute(scheduler="threads").to_numpy()
    client.register_plugin(mat.dask.Device("emulated", pool_bytes=x.nbytes // 8))
    try:
        y = x.persist()
        return bool(np.allclose((y.T @ y).compute(), a.T @ a))
    finally:
        client.unregister_worker_plugin(mat.dask.Device.name)


def slow(chunk):
    time.sleep(0.05)
    return chunk * 2


def killed():
    """Whether the result is right of a computation of which a worker is killed in the middle."""
    with cluster() as client, dask.config.set({"array.backend": "mat"}):
        x = da.random.default_rng(1).normal(size=(600, 200), chunks=100)
        wanted = (2 * x).sum(axis=0).compute(scheduler="threads")
        future = client.compute(x.map_blocks(slow, dtype="float64").persist().sum(axis=0))
        while sum(map(len, client.has_what().values())) < 4:
            time.sleep(0.01)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return bool(np.allclose(future.result(), wanted))


# The section


def of_functions(found):
    """The rows about the times of functions."""
    rows = ["| functions | number | median ratio | at most 1.1 | processor time at most 1.1 | "
            "highest ratios of processor time |", "|---|---|---|---|---|---|"]
    for group, codes in found.items():
        walls = [r.wall for r in codes.values()]
        slowest = sorted((c for c in codes if codes[c].processor > LIMIT),
                         key=lambda c: -codes[c].processor)[:4]
        rows.append(f"| {group} | {len(codes)} | {statistics.median(walls):.2f} | "
                    f"{sum(w <= LIMIT for w in walls)} | "
                    f"{sum(r.processor <= LIMIT for r in codes.values())} | "
                    + ", ".join(f"`{c}` {codes[c].processor:.1f}" for c in slowest) + " |")
    return rows


def of_cluster():
    """The rows about a cluster of two processes."""
    with cluster() as client:
        moved, milliseconds, fits = speeds(client), products(client), eight_pools(client)
    rows = ["| two workers, each a process of one thread; rates are medians of 40 | Mats | NumPy |",
            "|---|---|---|"]
    for to in ("worker", "client"):
        for transposed in (False, True):
            mats, numpys = (moved[to, transposed, kind] for kind in KINDS)
            rows.append(f"| a {'transposed ' * transposed}chunk of {MEGABYTES} MB to "
                        f"{'the other worker' if to == 'worker' else 'the client'} | "
                        f"{mats:.2f} GB/s | {numpys:.2f} GB/s |")
    rows.append(f"| `x @ x`, 2000 x 2000 in chunks of 500 x 500 | {milliseconds['Mats']:.0f} ms | "
                f"{milliseconds['NumPy']:.0f} ms |")
    rows.append(f"| `x.T @ x` of data of 8 pools of the device `emulated` | "
                f"{'right' if fits else 'wrong'} | |")
    rows.append(f"| a worker is killed in the middle of `(2 * x).sum(axis=0)` | "
                f"{'right' if killed() else 'wrong'} | |")
    return rows


def main():
    found = ratios()
    if "--print" in sys.argv:
        each = {code: r for codes in found.values() for code, r in codes.items()}
        for code in sorted(each, key=lambda c: -each[c].processor):
            print(f"{each[code].wall:6.2f} {each[code].processor:6.2f} "
                  f"{each[code].milliseconds:9.2f} ms  {code}")
        return
    size, chunk = (f"{rows} x {columns}" for rows, columns in (SHAPE, CHUNKS))
    text = (f"Measured on {datetime.date.today()} with {surroundings()}, dask {dask.__version__} "
            f"and {os.cpu_count()} cores,\nwith {size} float64 in chunks of {chunk}. "
            "Ratios are the time with Mats over that with chunks of NumPy,\n"
            "of the best of some runs of both in turn, by dask's threads, with one thread of BLAS "
            "for each.\n\n")
    text += "\n".join([*of_functions(found), "", *of_cluster()]) + "\n"
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}{text}{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # which is read when NumPy is imported
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    main()
