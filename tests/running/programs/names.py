"""The ways to import NumPy's names."""

import importlib
import pickle
import sys

import numpy
import numpy as np
import numpy.linalg as la
import numpy.random
from numpy import *  # noqa: F403
from numpy import float64, ndarray
from numpy.fft import fft
from numpy.random import default_rng

x = np.arange(6.0).reshape(2, 3)
print(numpy is np, numpy.linalg is la, isinstance(x, ndarray), type(x) == np.ndarray)
print(array([1, 2]) + arange(2), float64(2.5), np.float64("3"))  # noqa: F405
print(la.norm(x), np.linalg.det(np.eye(2)), np.abs(fft(np.ones(4))).sum())
np.random.seed(3)
print(np.random.rand(4).shape, default_rng(1).integers(0, 1, 3))
print(importlib.import_module("numpy") is np, importlib.import_module("numpy.linalg") is la)
print(np.pi, np.newaxis, np.float32, np.dtype("f4"), np.finfo(float).eps, np.__version__[0])
print(pickle.loads(pickle.dumps(np.add)) is np.add, pickle.loads(pickle.dumps(la.inv)) is la.inv)
print(isinstance(np.add, np.ufunc), np.add.reduce(x, axis=1), np.add.outer([1, 2], [3, 4]))
try:
    np.no_such_name
except AttributeError as error:
    print(error)
try:
    la.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError:
    print("singular")
print(sys.modules["numpy"].__name__, np.__name__, sorted(set(dir(la)) & {"inv", "solve"}))
