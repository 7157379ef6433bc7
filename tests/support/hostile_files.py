"""Reading files that may be damaged or invalid, within limits of memory."""

import contextlib
import io
import json
import os
import struct
from pathlib import Path

import pytest

import mat

LOADS = {"npy": lambda file: {"": mat.load(file)}, "safetensors": mat.load_all, "npz": mat.load_all}


@contextlib.contextmanager
def limited_address_space(nbytes):
    """Limit this process to so many more bytes of addresses; beyond that is a `MemoryError`."""
    if not Path("/proc/self/statm").exists():
        yield
        return
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + nbytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def outcome(kind, data):
    """Return the Mats in a file, or None where it is refused with a `FormatError`."""
    try:
        found = LOADS[kind](io.BytesIO(data))
    except mat.FormatError as error:
        return check_message(error)
    assert kind == "npz" or sum(x.nbytes for x in found.values()) <= len(data)
    return found


def check_message(error):
    assert len(str(error)) < 1000


class ReadOnlyStream:
    """A file of which nobody knows how long it is."""

    def __init__(self, data):
        self.read = io.BytesIO(data).read


def tensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data
