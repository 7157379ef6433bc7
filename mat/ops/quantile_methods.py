"""Where quantiles lie among sorted elements, by each of NumPy's methods: arithmetic on the host."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..support.types import Array

# the constants of Hyndman and Fan's continuous methods, by name
_CONTINUOUS = {"interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
               "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}
_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "lower": np.floor, "higher": np.ceil, "nearest": np.around}
METHODS = frozenset((*_CONTINUOUS, *_ROUNDED, "linear", "midpoint", "inverted_cdf",
                     "averaged_inverted_cdf", "closest_observation"))


def place(method: str, n: int, q: Array) -> Array:
    """Return where the fractions `q` of `n` elements lie: integers where these are the result, else
    numbers between two of them.
    """
    along = (n - 1) * q
    if method in ("linear", "midpoint"):
        return along
    if method in _ROUNDED:
        return np.asarray(_ROUNDED[method](along)).astype(np.int64)
    if method == "inverted_cdf":
        return _stepped(n * q - 1, lambda share, at: share == 0)
    if method == "closest_observation":
        return _stepped(n * q - 1.5, lambda share, at: (share == 0) & (np.floor(at) % 2 == 1))
    if method == "averaged_inverted_cdf":
        return n * q - 1
    alpha, beta = _CONTINUOUS[method]
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _stepped(at: Array, stays: Callable[[Array, Array], Array]) -> Array:
    """Return the integer at or after each place, but not the first one where it `stays`."""
    low = np.floor(at)
    return np.maximum(np.where(stays(at - low, at), low, low + 1), 0).astype(np.int64)


def share(method: str, at: Array, low: Array) -> Array:
    """Return how far each place is on the way from the element `low` to the next one."""
    found = np.asarray(at - low)
    if method == "midpoint":
        return np.where(found == 0, 0.0, 0.5)
    if method == "averaged_inverted_cdf":
        return np.where(found == 0, 0.5, 1.0)
    return found
