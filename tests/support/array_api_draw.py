"""Draw arguments of the array API standard's functions: arrays of NumPy, dtypes by name, axes."""

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
KINDS = {"b": ("bool",), "i": SIGNED, "u": UNSIGNED, "f": ("float32", "float64"),
         "c": ("complex64", "complex128")}
LIMITS = {"i": (-6, 6), "u": (0, 6)}
SPECIAL = (0.0, -0.0, 1.0, math.inf, -math.inf, math.nan)


@dataclass
class D:
    """A dtype by name, which every namespace has its own of."""

    name: str


@dataclass
class Exactly:
    """An argument that is given as it is."""

    value: object


class Draw:
    """What hypothesis chooses for one call."""

    def __init__(self, data):
        self.data = data

    def __call__(self, strategy):
        return self.data.draw(strategy)

    def one(self, *values):
        return self(st.sampled_from(values))

    def flag(self):
        return self(st.booleans())

    def dtype(self, kinds):
        return self.one(*(d for k in kinds for d in KINDS[k]))

    def shape(self, low=0, high=3, side=0):
        return self(hnp.array_shapes(min_dims=low, max_dims=high, min_side=side,
                                     max_side=4)) if high else ()

    def elements(self, dtype, special):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return st.booleans()
        if kind in LIMITS:
            return st.integers(*LIMITS[kind])
        real = st.floats(-6, 6, width=16, allow_subnormal=False)
        real = real | st.sampled_from(SPECIAL) if special else real
        return st.builds(complex, real, real) if kind == "c" else real

    def array(self, kinds, shape=None, *, special=False, dtype=None):
        dtype = dtype or self.dtype(kinds)
        return self(hnp.arrays(dtype, self.shape() if shape is None else shape,
                               elements=self.elements(dtype, special)))

    def wider(self, dtype):
        """`dtype`, or another one of its kind, with which it promotes."""
        return self.one(*KINDS[np.dtype(dtype).kind])

    def axis(self, ndim):
        return self(st.integers(-ndim, ndim - 1))

    def axes(self, ndim):
        """None, one or several."""
        if not ndim:
            return None
        some = st.lists(st.integers(0, ndim - 1), min_size=1, unique=True).map(tuple)
        return self(st.none() | st.integers(-ndim, ndim - 1) | some)
