"""``mat.batches``: parts of Mats one after another, each copied ahead of its use.

How copies go on beside computations is in ``matrix/prefetch.py``, and how files are read ahead in
``ops/tiles/file_tiles.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import pairwise
from typing import Any, Generic, TypeVar, cast, overload

import numpy as np

from ..core.registry import Facet
from ..devices.device import CPU, Device, device_named, device_of, in_use, use_device
from ..errors import DTypeError, OutOfDeviceMemory, SettingError, ShapeError
from ..matrix.creation import adopted
from ..matrix.generator import Rng, generator
from ..matrix.mat import Mat
from ..matrix.prefetch import Prefetch
from ..matrix.with_facets import with_facets
from ..ops.indexing.advanced import gathered_at
from ..ops.tiles.file_tiles import read_ahead, read_rows_ahead
from ..ops.tiles.signatures import is_there, on_host, staged
from ..ops.tiles.tile import span_bytes
from ..support.settings import settings
from ..support.types import Array, DeviceName

B = TypeVar("B")  # a batch: a Mat, or a tuple of Mats
Part = tuple[Mat, ...]


def _on_device(mats: Part) -> list[tuple[Mat, Facet, str]]:
    """Return the accesses by which the device in use reads those Mats that it may have."""
    device = in_use()
    return [] if device is CPU else [(x, device.facet, "input") for x in mats if x.device_enabled]


class _CopyAhead(Prefetch):
    """A prefetch of the batch after the present one, for which nothing of this one is evicted."""

    def __init__(self, now: Part, later: Part) -> None:
        super().__init__(list(later), [])
        self.now = now

    def begin(self) -> Prefetch:
        here = _on_device(self.now)
        # without room for two batches, the next one is copied when it is used
        with suppress(OutOfDeviceMemory), with_facets(*here) if here else nullcontext():
            super().begin()
        return self


class Batches(Generic[B]):
    """The result of `batches`. Each iteration is an epoch; ``len()`` is the number of batches."""

    def __init__(self, mats: Part, size: int, rng: Rng | None, device: Device | None) -> None:
        self._mats = mats
        self._rng = rng
        self._device = device
        self.size = size  # the length of a batch, but of the last one

    def __len__(self) -> int:
        return -(-self._mats[0].shape[0] // self.size)

    def __iter__(self) -> Iterator[B]:
        n = self._mats[0].shape[0]
        order = None
        if self._rng is not None:
            with use_device("cpu"):  # the same on every device
                keys = Mat((n,), "float64", fill=None).uniform_(rng=self._rng)
            order = np.argsort(keys.to_numpy(), kind="stable")
        slices = [slice(k, min(k + self.size, n)) for k in range(0, n, self.size)]
        return cast("Iterator[B]", self._epoch(slices, order))

    def _epoch(self, slices: list[slice], order: Array | None) -> Iterator[Mat | Part]:
        with nullcontext() if self._device is None else use_device(self._device):
            parts = self._in_order(slices) if order is None else self._shuffled(slices, order)
            now = next(parts, None)
            while now is not None:
                later = next(parts, None)
                with _CopyAhead(now, later or ()):
                    yield now if len(now) > 1 else now[0]
                now = later

    def _in_order(self, slices: list[slice]) -> Iterator[Part]:
        """Yield views; on devices packed copies of those that would take more room there."""
        for at, after in pairwise([*slices, None]):
            if after is not None:
                read_ahead(x[after] for x in self._mats)
            yield tuple(staged(x[at]) if device_of(x) is not CPU else x[at] for x in self._mats)

    def _shuffled(self, slices: list[slice], order: Array) -> Iterator[Part]:
        """Yield selections of rows: of a Mat that is on the device there, else on the host."""
        self._bring(order.nbytes)
        positions = adopted(order)
        for at, after in pairwise([*slices, None]):
            if after is not None:
                for x in self._mats:
                    read_rows_ahead(x, order[after])
            yield tuple(gathered_at(x, positions[at], 0, (0,)) if is_there(x)
                        else _selected(x, order[at]) for x in self._mats)

    def _bring(self, more: int) -> None:
        """Copy the Mats to the device if they and `more` bytes take no more than half its pool."""
        memory, here = in_use().memory, _on_device(self._mats)
        missing = [x for x, _, _ in here if not is_there(x)]
        needed = span_bytes(*self._mats) + more
        if missing and (memory.has_room(span_bytes(*missing)) if memory.limit is None
                        else 2 * needed <= memory.limit):
            with suppress(OutOfDeviceMemory), with_facets(*here):
                pass

    def __repr__(self) -> str:
        of = ", ".join(x.label() for x in self._mats)
        return f"<batches: {len(self)} of up to {self.size} of {of}>"


def _selected(x: Mat, rows: Array) -> Mat:
    """Return rows of `x`, selected on the host: in page-locked memory for a GPU."""
    with nullcontext() if device_of(x) is CPU else settings(page_locked=True):
        found: Mat = on_host(x)[rows]
    found.device_enabled = x.device_enabled
    return found


@overload
def batches(x: Mat, /, *, size: int, shuffle: bool = False, seed: int | None = None,
            device: DeviceName | Device | None = None) -> Batches[Mat]: ...


@overload
def batches(x: Mat, y: Mat, /, *more: Mat, size: int, shuffle: bool = False,
            seed: int | None = None,
            device: DeviceName | Device | None = None) -> Batches[tuple[Mat, ...]]: ...


def batches(*mats: Mat, size: int, shuffle: bool = False, seed: int | None = None,
            device: DeviceName | Device | None = None) -> Any:
    """Return the parts of one or more Mats along their first axis, each copied ahead of its use.

    Parameters
    ----------
    *mats : Mat
        Mats with equally long first axes, also of files (`open_memmap`).
    size : int
        The length of a batch along that axis. The last batch has what is left, and may be shorter.
    shuffle : bool
        True to select the rows of each batch in random order, another one in each epoch.
    seed : int, optional
        The seed of these orders, which are the same on every device. By default they come from the
        stream that `seed` restarts.
    device : str or Device, optional
        A device that is in use while a batch is, as by `use_device`; by default the one in use.

    Returns
    -------
    Batches
        Iterate over it for an epoch: over Mats, or over tuples with a batch of each Mat. ``len()``
        is the number of batches.

    Raises
    ------
    ShapeError
        If the first axes differ in length, or a Mat has none.
    DTypeError
        If something else than Mats is given.
    SettingError
        If `size` is not above 0, or `seed` not from 0 to 2**64 - 1.

    Notes
    -----
    Batches are for reading. Without `shuffle` they are views, or, on a device, packed copies of
    rows that lie apart in memory; with `shuffle` they are new Mats.

    While a batch is in use, the next one is copied to the device by `prefetch`, and the one after
    it is read from its file. Each element is copied once an epoch; it stays for later epochs
    where the pool of the device has room: with `shuffle`, if all takes at most half of it, and
    selections are made on the device. With ``device=`` the copies are dropped after each epoch;
    open a `use_device` block around all epochs to keep them.

    Writing to elements while they are being copied is a `ConflictError`, as with `prefetch`.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.arange(10.0).reshape(5, 2), mat.arange(5)
    >>> for a, b in mat.batches(x, y, size=2):
    ...     print(a.shape, b.tolist())
    (2, 2) [0, 1]
    (2, 2) [2, 3]
    (1, 2) [4]
    >>> shuffled = mat.batches(y, size=3, shuffle=True, seed=1)
    >>> for epoch in range(2):
    ...     print([b.tolist() for b in shuffled])
    [[4, 3, 1], [2, 0]]
    [[1, 4, 2], [3, 0]]
    """
    for x in mats:
        if not isinstance(x, Mat):
            raise DTypeError(f"batches takes Mats, got {type(x).__name__}; mat.from_numpy(a) makes "
                             "one of an array")
    lengths = [x.shape[0] if x.ndim else None for x in mats]
    if not mats or None in lengths:
        raise ShapeError("batches takes Mats with a first axis, got "
                         f"{', '.join(x.label() for x in mats) or 'none'}")
    if len(set(lengths)) > 1:
        raise ShapeError("batches takes Mats with equally long first axes, got lengths "
                         f"{', '.join(map(str, lengths))}")
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise SettingError(f"size is a number of rows above 0, got {size!r}")
    rng = generator(None) if seed is None else Rng(seed)
    return Batches(mats, int(size), rng if shuffle else None,
                   None if device is None else device_named(device, required=False))
