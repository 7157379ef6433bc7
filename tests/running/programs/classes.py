"""Subclasses of arrays, classes that hold them, and checks of types."""

import copy
import functools
import json
from dataclasses import dataclass, field

import numpy as np


class Named(np.ndarray):
    def __new__(cls, data, name="none"):
        made = np.asarray(data).view(cls)
        made.name = name
        return made

    def __array_finalize__(self, source):
        self.name = getattr(source, "name", "none")


@dataclass
class Layer:
    weights: np.ndarray
    history: list[np.ndarray | float] = field(default_factory=list)

    def step(self, gradient: np.ndarray) -> float:
        self.weights -= 0.1 * gradient
        self.history.append((self.weights ** 2).sum())
        return self.history[-1]


@functools.singledispatch
def kind(value):
    return "other"


@kind.register(np.ndarray)
def _(value):
    return f"array of {value.ndim} axes"


named = Named(np.arange(4.0), "four")
print(named, named.name, named[1:].name, isinstance(named, np.ndarray), (named * 2).sum())
layer = Layer(np.ones(3))
twin = copy.deepcopy(layer)
print([float(layer.step(np.ones(3))) for _ in range(2)], twin.weights, layer.history[0])
print(kind(layer.weights), kind(3), issubclass(Named, np.ndarray))
print(isinstance([1], (tuple, np.ndarray)), {np.ndarray: "array"}.get(type(layer.weights)))
total = np.arange(3.0).sum()
before = total
total += 1
print(before, total, json.dumps({"mean": layer.weights.mean().item()}), f"{total:6.2f}|{total}")
print(np.ndarray((2, 2)).shape, np.ndarray.sum(layer.weights), np.ndarray.__name__)
print(layer.weights.dtype == np.float64, np.issubdtype(layer.weights.dtype, np.floating))
print(hash(before) == hash(3.0), np.isscalar(3.0), np.ndim(layer.weights), repr(layer.weights))


class Measured:
    """What becomes an array, and has functions of NumPy as attributes."""

    array, zeros, mean = np.array, np.zeros, staticmethod(np.mean)

    def __init__(self, *values):
        self.values = self.array(values, dtype=float)

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or float)


measured = Measured(3, 1, 2)
print(np.asarray(measured), np.sort(measured), np.sum(measured), np.dot(measured, measured))
print(np.stack([measured, measured]), np.ones(3) + measured, measured.zeros(2), measured.mean([1]))
both = np.array([1.0, 2, 3, 4]) - named
print(type(both).__name__, both, type(np.sqrt(named)).__name__, np.cumsum(named).name)
print(type(np.median(named)).__name__, np.concatenate([named, named]).shape)
line = np.poly1d([1, 2])
print(isinstance(line * line, np.poly1d), (line * line)(np.array([0.0, 1])))
read = np.zeros(3)
read[:] = np.array(["2", "-3", "1e2"])
read[1] = "7.5"
read[[0]] = np.array([4], object)
print(read, np.real(np.array(1.5)).shape, np.linspace(np.array(1, object), 2, 3))
