"""Errors that programs catch, and settings."""

import warnings

import numpy as np


def caught(function):
    try:
        return function()
    except Exception as error:
        kinds = ValueError, TypeError, IndexError, ZeroDivisionError, AttributeError
        return [kind.__name__ for kind in kinds if isinstance(error, kind)]


x = np.arange(4.0)
print(caught(lambda: x[9]), caught(lambda: x.reshape(3)), caught(lambda: x + np.ones(3)))
print(caught(lambda: np.array([[1, 2], [3]])), caught(lambda: x @ np.ones(3)), caught(lambda: x.no))
print(caught(lambda: np.concatenate([])), caught(lambda: np.zeros(-1)), caught(lambda: int(x)))
print(caught(lambda: bool(x)), caught(lambda: np.float64("a")), caught(lambda: x[1, 1]))
print(caught(lambda: np.dtype("nope")), caught(lambda: np.linalg.inv(np.ones((2, 3)))))
with np.errstate(all="ignore"), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(x / 0, np.log(x - 1), np.isnan(np.sqrt(-x)), np.isinf(1 / x).any())
with np.printoptions(precision=2, suppress=True):
    print(x / 3, np.array([1e-9, 1.0]))
np.set_printoptions(linewidth=40)
print(np.arange(30))
