"""Draw random numbers as arrays."""

import pytest

import mat

N = 200_000
REAL = ("float32", "float64")
real = pytest.mark.parametrize("dtype", REAL)


def uniform(seed, n=N, dtype="float64", limit=1):
    return mat.empty(n, dtype=dtype).uniform_(limit, rng=mat.Rng(seed)).to_numpy()


def normal(seed, n=N, dtype="float64", **kwargs):
    return mat.empty(n, dtype=dtype).normal_(**kwargs, rng=mat.Rng(seed)).to_numpy()
