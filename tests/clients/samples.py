"""Arrays that rows are made of."""

import numpy as np


def line():
    return np.array([3.0, 1.0, 2.0, 5.0])


def square():
    return np.arange(12.0).reshape(3, 4)


def indices():
    return np.array([2, 0])


def blobs():
    """Points about three centres, one below the other."""
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(k * 4, 1, (20, 4)) for k in range(3)])


def spd():
    """A symmetric, positive definite matrix."""
    a = np.random.default_rng(6).normal(size=(5, 5))
    return a @ a.T + 5 * np.eye(5)


def wave():
    return np.sin(np.linspace(0, 20, 64)) + np.linspace(0, 1, 64)
