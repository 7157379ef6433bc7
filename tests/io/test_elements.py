"""Memories that can read and write parts: printing and setting single elements then move no more
than that.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.layout.strided import Layout, packed
from mat.matrix.mat import spans_shown

from ..support.mock_memories import registered


class Parts:
    """Counts the elements that parts move, to and from a memory of arrays."""

    def __init__(self, memory, monkeypatch):
        self.read = self.written = self.whole = 0
        out = type(memory).copy_out

        def read_part(cube, handle, host, start, stop):
            host[start:stop] = self.array(handle)[start:stop]
            self.read += stop - start
            return True

        def write_part(cube, handle, part, start):
            self.array(handle)[start:start + len(part)] = part
            self.written += len(part)
            return True

        def copy_out(cube, handle, host):
            self.whole += 1
            out(memory, cube, handle, host)

        for function in (read_part, write_part, copy_out):
            monkeypatch.setattr(memory, function.__name__, function, raising=False)

    @staticmethod
    def array(handle):
        return handle.data


@pytest.fixture
def far(monkeypatch):
    with registered():
        yield Parts(mat.core.registry.memories["far"], monkeypatch)


def only_far(a):
    x = mat.array(a)
    with x.facet("far", "input"):
        pass
    x.drop("host")
    return x


@pytest.mark.unchecked("counts what is read of a memory, by the check too")
def test_printing_reads_just_what_it_shows(far):
    a = np.arange(1e6).reshape(1000, 1000)
    x = only_far(a)
    assert repr(x).split(maxsplit=3)[3] == repr(mat.array(a)).split(maxsplit=3)[3]
    assert far.read == 36
    x._repr_html_()
    assert far.read == 72
    assert far.whole == 0
    assert x.fresh == {"far"}


def test_a_strided_view_prints_its_own_elements(far):
    a = np.arange(4e4).reshape(200, 200)
    x = only_far(a)
    assert repr(mat.array(a[::-2, 3:]))[-60:] == repr(x[::-2, 3:])[-60:]
    assert far.whole == 0


@pytest.mark.unchecked("counts what is read of a memory, by the check too")
def test_setting_an_element_moves_no_other(far):
    a = np.arange(1e4).reshape(100, 100)
    x = only_far(a)
    version = x.storage.version
    x[3, -1] = 7
    x[4][5] = 8
    assert (far.written, far.read, far.whole) == (2, 0, 0)
    assert x.fresh == {"far"}
    assert x.storage.version == version + 2
    a[3, -1], a[4, 5] = 7, 8
    assert_array_equal(x.to_numpy(), a)
    with pytest.raises(mat.DTypeError):
        x[0, 0] = "x"
    with pytest.raises(mat.ConflictError), x.facet("far", "input"):
        x[0, 0] = 1


def test_spans_cover_the_corners():
    a = np.arange(400).reshape(20, 20)
    shown = {k for start, stop in spans_shown(packed((20, 20)), 2) for k in range(start, stop)}
    assert shown == set(a[np.ix_([0, 1, 18, 19], [0, 1, 18, 19])].ravel())
    assert spans_shown(packed((3, 4)), 1) == [(0, 12)]
    assert spans_shown(packed((0, 4)), 1) == []
    assert spans_shown(Layout((3,), (-2,), 4), 3) == [(0, 1), (2, 3), (4, 5)]
