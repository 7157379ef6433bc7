"""Streams that keep the memory that they are given to read into."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

pytestmark = pytest.mark.host


class Keeping(io.BytesIO):
    """A stream of unknown length, as far as is known, which keeps what it is given."""

    def __init__(self, data, way):
        super().__init__(data)
        self.way = way
        self.kept = []

    def readinto(self, target):
        self.kept.append(self.way(target))
        return super().readinto(target)

    def overwrite(self):
        for part in self.kept:
            try:
                memoryview(part).cast("B")[:] = b"\xff" * len(part)
            except ValueError:  # it was released
                continue


@pytest.mark.parametrize("way", [lambda target: target, memoryview,
                                 lambda target: np.frombuffer(target, np.uint8)])
@pytest.mark.parametrize("size", [3, 100_000, 1_000_000])
def test_what_is_kept_is_not_the_memory_of_the_mat(way, size):
    wanted, file = np.arange(size, dtype="float64"), io.BytesIO()
    np.save(file, wanted)
    stream = Keeping(file.getvalue(), way)
    x = mat.load(stream)
    stream.overwrite()
    assert_array_equal(x.to_numpy(), wanted)
    del x
    stream.overwrite()
