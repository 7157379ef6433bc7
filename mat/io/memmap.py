"""The pages of a file as memory: read when they are touched, never copied, alive as long as an
array over them is.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import DTypeError, FormatError
from .streams import Bytes, Source, on_disk, reading


@contextmanager
def mapping(file: Any) -> Iterator[tuple[Source, Bytes]]:
    """A file to read headers from, and its pages. `DTypeError` for what is no file on disk."""
    with reading(file) as source:
        if on_disk(source.file) is None:
            raise DTypeError("mapped=True wants a file on disk that is not empty, not "
                             f"{source.name}; load it without")
        try:
            pages = mmap.mmap(source.file.fileno(), 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError) as error:
            raise FormatError(f"{source.name} cannot be mapped: {error}; load it without "
                              "mapped=True") from error
        yield source, np.frombuffer(pages, np.uint8)
