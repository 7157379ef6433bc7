"""How long functions of dask.array take with chunks that are Mats, and with chunks of NumPy."""

import time
import warnings
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np

import mat

from .functions import FUNCTIONS, arrays, blocked

SHAPE, CHUNKS = (1600, 1600), (800, 800)
INDICES = np.arange(0, 1600, 3)


class Ratio(NamedTuple):
    """The times with Mats over those with NumPy, of the best of several runs of both in turn."""

    wall: float
    processor: float
    milliseconds: float  # with Mats


def ratios(seconds=0.1):
    """The ratios of every group of functions, by expression.

    All chunks of the result are computed, as by ``persist``; they are not joined. The operands are
    chunks in memory before: dask cuts an array of NumPy's when it makes a graph, any other while
    it computes, which takes some 25 us of its own for a chunk.
    """
    found = arrays(*SHAPE, CHUNKS)
    found["z"] = found["z"][:, :60].copy()
    names = [{name: x.persist() for name, x in blocked(found, CHUNKS, da, made).items()}
             for made in (mat.array, np.asarray)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {group: {code: _ratio(code, names, seconds) for code in codes}
                for group, codes in FUNCTIONS.items()}


def _ratio(code, names, seconds):
    graphs = [dask.optimize(eval(code, {"da": da, "np": np, "idx": INDICES, **n})) for n in names]
    wall, processor = [float("inf")] * 2, [float("inf")] * 2
    began, runs = time.perf_counter(), 0
    while runs < 3 or (time.perf_counter() - began < seconds and runs < 50):
        for k, graph in enumerate(graphs):
            start, spent = time.perf_counter(), time.process_time()
            dask.persist(*graph)
            processor[k] = min(processor[k], time.process_time() - spent)
            wall[k] = min(wall[k], time.perf_counter() - start)
        runs += 1
    return Ratio(wall[0] / wall[1], processor[0] / processor[1], wall[0] * 1e3)
