"""Memory-mapped files: their pages are read on access, never copied, and mapped as long as an array
over them exists.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import DTypeError, FormatError
from ..support.types import Bytes, File
from .streams import Source, reading, size_on_disk


@contextmanager
def mapping(file: File) -> Iterator[tuple[Source, Bytes]]:
    """Open a file to read its headers, and map its pages.

    `DTypeError` unless it is a file on disk.
    """
    with reading(file) as source:
        if size_on_disk(source.file) is None:
            raise DTypeError("mapped=True wants a file on disk that is not empty, not "
                             f"{source.name}; load it without")
        try:
            pages = mmap.mmap(source.file.fileno(), 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError) as error:
            raise FormatError(f"{source.name} cannot be mapped: {error}; load it without "
                              "mapped=True") from error
        yield source, np.frombuffer(pages, np.uint8)
