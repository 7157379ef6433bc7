"""Saving and loading eight million bytes, contiguous and not, beside NumPy and the library of
safetensors.

In memory, where the system has a folder for that: what is measured is the way of the bytes and not
the disk.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import mat

from .row import Row
from .timing import Thunk

with suppress(ImportError):
    import safetensors.numpy

LIMIT = 1.2
SHAPE = (1000, 1000)


def files() -> Iterator[Row]:
    """.npy, .npz and .safetensors."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="mat-bench-",
                                     dir=memory if memory.is_dir() else None) as folder:
        yield from _npy(Path(folder))
        yield from _named(Path(folder))


def _npy(folder: Path) -> Iterator[Row]:
    a = np.random.default_rng(0).standard_normal(SHAPE)
    wide = np.random.default_rng(0).standard_normal((2 * SHAPE[0], SHAPE[1]))
    turned = np.random.default_rng(0).standard_normal((100, 100, 100)).transpose(1, 2, 0)
    ours, theirs = folder / "mat.npy", folder / "numpy.npy"
    for name, source in (("contiguous", a), ("every second row", wide[::2]),
                         ("transposed in 3-d", turned)):
        yield Row(f"save .npy, {name}, 8 MB", _saving(ours, theirs, source), limit=LIMIT)
    mat.save(ours, mat.from_numpy(a))
    data, x = ours.read_bytes(), mat.empty(SHAPE)
    yield Row("load .npy, 8 MB", {"mat": lambda: mat.load(ours), "numpy": lambda: np.load(ours)},
              limit=LIMIT)
    yield Row("load .npy from memory, 8 MB", {"mat": lambda: mat.load(io.BytesIO(data)),
                                              "numpy": lambda: np.load(io.BytesIO(data))},
              limit=LIMIT)
    yield Row("x.load_, 8 MB", {"mat": lambda: x.load_(ours), "numpy": lambda: np.load(ours)},
              limit=LIMIT)
    yield Row("load .npy, mapped", {"mat": lambda: mat.load(ours, mapped=True),
                                    "numpy": lambda: np.load(ours, mmap_mode="r")},
              limit=LIMIT)


def _saving(ours: Path, theirs: Path, source: Any) -> dict[str, Thunk]:
    x = mat.from_numpy(source)
    return {"mat": lambda: mat.save(ours, x), "numpy": lambda: np.save(theirs, source)}


def _named(folder: Path) -> Iterator[Row]:
    arrays = {name: np.random.default_rng(0).standard_normal((500, 1000)) for name in ("a", "b")}
    mats = {name: mat.from_numpy(a) for name, a in arrays.items()}
    npz, other = folder / "x.npz", folder / "y.npz"
    yield Row("save .npz, 8 MB",
              {"mat": lambda: mat.save_all(npz, mats), "numpy": lambda: np.savez(other, **arrays)},
              limit=LIMIT)
    yield Row("load .npz, 8 MB",
              {"mat": lambda: mat.load_all(npz), "numpy": lambda: dict(np.load(npz))}, limit=LIMIT)
    if "safetensors" in globals():
        mine, its = folder / "x.safetensors", folder / "y.safetensors"
        yield Row("save .safetensors, 8 MB", {
            "mat": lambda: mat.save_all(mine, mats),
            "safetensors": lambda: safetensors.numpy.save_file(arrays, its)})
        yield Row("load .safetensors, 8 MB", {
            "mat": lambda: mat.load_all(mine),
            "safetensors": lambda: safetensors.numpy.load_file(mine)})
