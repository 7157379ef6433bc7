"""`LibraryFacet`: the base class of facets that present a Mat as an array of another library."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..core.direction import INPUT, Direction
from ..core.registry import Facet, Handle, Presented, ViewLike, register_facet
from ..errors import DeviceError, DirectionError, FacetError
from ..facets import ARRAY, array_kept_by
from ..memories.pooled import CLOCK
from ..support.dlpack_abi import CUDA
from ..support.plugins import library
from .device import CPU, device_of

_registering = threading.Lock()


class LibraryFacet(Facet):
    """Arrays of another library, without a copy, over the memory in use.

    That is the memory of the GPU in use if operations on the Mat compute there, else the host's.
    The library is imported when a block begins. Subclass it, set the first three attributes,
    implement `array_of`, and register an instance.

    Parameters
    ----------
    source : Facet
        The facet of the same memory of whose values arrays are made: "array" for the instance that
        is registered; instances for GPUs are made from it.

    Attributes
    ----------
    name : str
        The name by which it is found.
    letter : str
        One letter, as for any facet.
    library : str
        The name of the library's module.
    on_host, on_gpu : bool
        Whether the library has arrays over the host's memory, and over that of a GPU.
    immutable : bool
        True if the library cannot write to its arrays: then blocks are for ``input`` only.

    Examples
    --------
    >>> from mat.extend import LibraryFacet
    >>> class Tensor(LibraryFacet):
    ...     name, letter, library = "tensor", "N", "torch"
    ...     def array_of(self, library, value):
    ...         return library.from_dlpack(value)

    ``register_facet(Tensor())`` makes it known; torch is imported by the first block.
    """

    library: str
    on_host: bool = True
    on_gpu: bool = True
    immutable: bool = False

    def __init__(self, source: Facet = ARRAY) -> None:
        self.source: Facet = source  # whose memory it is, and whose values arrays are made of
        self.memory = source.memory
        self.device = source.device
        self.module: ModuleType | None = None
        # those of all memories, by `source`
        self.siblings: dict[Facet, LibraryFacet] = {source: self}

    def array_of(self, library: Any, value: Presented) -> Presented:
        """Return the array that a block is given.

        Parameters
        ----------
        library : module
            The library.
        value : array
            On the host a `numpy.ndarray` that can be written, also for ``input``; on a GPU a
            `CudaArray`, which has ``__dlpack__`` and ``__cuda_array_interface__``.

        Returns
        -------
        array
            An array of the library over the same memory, which keeps `value`.
        """
        raise NotImplementedError

    def check(self, library: Any, view: ViewLike) -> None:
        """Raise an error if the library has no array of the shape, strides or dtype of `view`.

        Parameters
        ----------
        library : module
            The library.
        view : Mat
            The Mat that is to be presented.
        """

    def chosen(self, view: ViewLike, direction: Direction) -> Facet:
        if self.immutable and direction is not INPUT:
            raise DirectionError(f"arrays of {self.library} cannot be written: facet {self.name!r} "
                                 f"takes direction 'input' only, got {direction.value!r}")
        device = device_of(view)
        on_gpu = device is not CPU and device.dlpack[0] == CUDA
        if on_gpu and not self.on_gpu:
            raise DeviceError(f"facet {self.name!r} is over the host's memory, and {device} is in "
                              "use: with mat.use_device('cpu'): ...")
        if not on_gpu and not self.on_host:
            raise DeviceError(f"facet {self.name!r} is over a GPU's memory, and no GPU is in use "
                              f"for {view.label()}: with mat.use_cuda(required=True): ...")
        self.check(self._imported(), view)
        return self._over(device.facet if on_gpu else ARRAY)

    def present(self, view: ViewLike, handle: Handle, writable: bool) -> Presented:
        # libraries have no read-only memory; the direction check finds who writes
        return self.source.present(view, handle, True)

    def lender(self, value: Presented) -> Callable[[], Presented]:
        """Return a function that makes a new array for each block, since it could be changed."""
        if isinstance(value, np.ndarray):
            whole = value if value.flags.writeable else array_kept_by(value, value, True)
            return lambda: self.array_of(self._imported(), whole)

        def made() -> Presented:
            value.handle.tick = next(CLOCK)  # as any use of a device's memory
            return self.array_of(self._imported(), value)

        return made

    def _imported(self) -> ModuleType:
        if self.module is None:
            self.module = library(self.library)
        if self.module is None:
            raise FacetError(f"facet {self.name!r} needs {self.library}, which is not installed: "
                             f"pip install {self.library}")
        return self.module

    def _over(self, source: Facet) -> Facet:
        """Return the facet over the memory of `source`, registered at its first use."""
        with _registering:
            found = self.siblings.get(source)
            if found is None:
                found = type(self)(source)
                found.name = f"{self.name} on {source.name}"
                register_facet(found)
                found.siblings = self.siblings
                self.siblings[source] = found
        return found
