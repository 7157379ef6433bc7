"""The backend of dask.array with the name "mat", whose new arrays have Mats as chunks:
``dask.config.set({"array.backend": "mat"})``.

This imports dask. The package's metadata names `Backend`, so that dask finds it by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch
from dask.array.wrap import wrap_func_shape_as_first_arg

from ..matrix.arrays import asarray
from ..matrix.creation import empty, ones, zeros
from ..matrix.filled import full
from ..matrix.mat import Mat
from ..numpy.random import RandomState
from ..support.types import Number, Operand, ShapeLike
from .dask import makes_arrays, with_mats_as_chunks

Creation = Callable[..., Any]
_META = (0,)  # the shape of the Mat by which dask knows the class of chunks


class BitGenerator(np.random.PCG64):
    """Seeds of chunks' streams, a child for each; its module has dask choose `mat`'s generators."""


def chunk(function: Creation, shape: ShapeLike, *value: Number, meta: object = None,  # noqa: ARG001
          **settings: Any) -> Mat:
    """Return a chunk of equal or arbitrary elements; tasks name this function."""
    found: Mat = function(shape, *value, **settings)
    return found


def _blocked(function: Creation, name: str) -> Creation:
    """Return the function that makes an array of the chunks that `function` makes."""

    def create(*args: object, **settings: Any) -> object:
        if makes_arrays():
            return getattr(array_creation_dispatch.dispatch("numpy"), name)(*args, **settings)
        settings.setdefault("dtype", "float64")
        settings["meta"] = empty(_META, dtype=settings["dtype"])
        return wrap_func_shape_as_first_arg(partial(chunk, function), *args, **settings)

    create.__name__ = name
    return create


class Backend(ArrayBackendEntrypoint):  # type: ignore[misc]  # dask is untyped here
    """The backend interface of dask.array."""

    ones = staticmethod(_blocked(ones, "ones"))
    zeros = staticmethod(_blocked(zeros, "zeros"))
    empty = staticmethod(_blocked(empty, "empty"))
    full = staticmethod(_blocked(full, "full"))

    @staticmethod
    def arange(*args: object, like: Operand = None, **settings: object) -> object:
        """Return an array as `dask.array.arange` does, of Mats."""
        numpys = array_creation_dispatch.dispatch("numpy").arange
        if like is None and not makes_arrays():
            like = empty(_META)
        return numpys(*args, like=like, **settings)

    @property
    def RandomState(self) -> type[RandomState]:
        """The class whose methods draw the chunks of ``dask.array.random.RandomState``."""
        return RandomState

    @property
    def default_bit_generator(self) -> type[BitGenerator]:
        """The class of the seeds of ``dask.array.random.default_rng``."""
        return BitGenerator

    @classmethod
    def to_backend_dispatch(cls) -> Creation:
        """Return the function that makes a Mat of any chunk."""
        return asarray

    @classmethod
    def to_backend(cls, data: Operand, **settings: object) -> object:
        """Return the array `data` with Mats as chunks."""
        return with_mats_as_chunks(data, **settings)


array_creation_dispatch.register_backend("mat", Backend())
