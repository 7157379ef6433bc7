"""``mat.ndarray(shape, dtype, buffer, offset, strides, order)``, compared with NumPy's."""

import array
import mmap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

ELEMENTS = np.arange(12, dtype="int32")
CALLS = {
    "a buffer": ((2, 3), "int32", ELEMENTS), "an offset": ((2, 3), "int32", ELEMENTS, 8),
    "strides": ((2, 3), "int32", ELEMENTS, 4, (4, 12)),
    "steps backwards": ((3,), "int32", ELEMENTS, 16, (-8,)),
    "by columns": ((2, 3), "int32", ELEMENTS, 0, None, "F"),
    "another dtype": ((5,), "uint8", ELEMENTS, 3), "bytes": (3, "int16", bytes(range(6))),
    "a bytearray": (3, "int16", bytearray(range(6))), "no axes": ((), "int32", ELEMENTS, 8),
    "repeated": ((2, 3), "int32", ELEMENTS, 0, (0, 4)),
    "the default dtype": ((2,), None, np.arange(3.0)),
}
WRONG = {
    "too small": ((2, 7), "int32", ELEMENTS), "beyond the end": (3, "int32", ELEMENTS, 40),
    "steps too far": (3, "int32", ELEMENTS, 0, (40,)),
    "too many strides": (3, "int32", ELEMENTS, 0, (4, 4)), "no buffer": (3, "int32", 5),
    "strides without room": ((2, 2), "int32", None, 0, (12, 4)),
    "too many strides of new memory": ((2, 2), "int32", None, 0, (4, 4, 4)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_buffer_is_seen_as_by_numpy(name):
    wanted, found = np.ndarray(*CALLS[name]), mat.ndarray(*CALLS[name])
    assert_array_equal(found.to_numpy(), wanted)
    assert (found.dtype, found.flags.writeable) == (wanted.dtype,
                                                    wanted.flags.writeable and name != "repeated")
    assert np.shares_memory(np.asarray(found), wanted)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_buffers_are_errors_where_they_are_numpys(name):
    with pytest.raises((TypeError, ValueError)) as numpys:
        np.ndarray(*WRONG[name])
    with pytest.raises(mat.MatError) as caught:
        mat.ndarray(*WRONG[name])
    assert isinstance(caught.value, numpys.type)


def test_what_is_before_a_buffer_is_not_read():
    with pytest.raises(mat.ShapeError, match="-4"):  # NumPy does
        mat.ndarray(3, "int32", ELEMENTS, -4)


@pytest.mark.host
def test_what_is_written_is_in_the_buffer():
    buffer = bytearray(16)
    x = mat.ndarray((2,), buffer=buffer, offset=8, dtype="int32")
    x[1] = 3
    assert bytes(buffer) == bytes([*[0] * 12, 3, 0, 0, 0])


def test_new_memory_has_strides_and_order():
    x = mat.ndarray((2, 3), "int32", strides=(4, 8))
    x[...] = 5
    assert (x.element_strides, x.is_view, x.sum().item()) == ((1, 2), False, 30)
    assert mat.ndarray((2, 3), order="F").flags.f_contiguous


def test_a_mat_is_a_buffer():
    x = mat.arange(4.0)
    y = mat.ndarray((2,), "float64", x, 8)
    y[0] = 5
    assert x.tolist() == [0, 5, 2, 3]
    assert mat.ndarray((), buffer=x[3:]).item() == 3
    z = mat.ndarray((2,), "int64", x, 16)
    assert z.tolist() == np.ndarray((2,), "int64", x.to_numpy(), 16).tolist()
    with pytest.raises(mat.DirectionError):
        z[0] = 1
    with pytest.raises(mat.DTypeError, match="too small"):
        mat.ndarray(4, "float64", x, 8)


@pytest.mark.parametrize("made", [bytearray, lambda n: array.array("b", bytes(n)),
                                  lambda n: mmap.mmap(-1, n)])
def test_a_buffer_is_kept_as_it_is(made):
    buffer = made(4096)
    x = mat.Mat(512, "float64", buffer=buffer)
    change = buffer.close if isinstance(buffer, mmap.mmap) else lambda: buffer.extend(buffer)
    with pytest.raises(BufferError):
        change()
    assert x.fill_(2).sum() == 1024
    x.close()
    change()


def test_a_memoryview_that_is_released():
    buffer = memoryview(bytearray(80))
    x = mat.ndarray(10, "float64", buffer)
    buffer.release()
    assert x.fill_(2).sum() == 20


def test_frombuffer_shares_memory():
    buffer = bytearray(range(32))
    x = mat.frombuffer(buffer, "float64", offset=8)
    x[0] = 5
    buffer[16:24] = np.float64(7).tobytes()
    assert_array_equal(np.frombuffer(buffer, offset=8)[:2], [5, 7])
    assert x[:2].tolist() == [5, 7]
    y = mat.frombuffer(b"abcdef", "uint8", 3, 2)
    assert y.tolist() == [99, 100, 101]
    assert not y.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1
    with pytest.raises(ValueError, match="multiple of element size"):
        mat.frombuffer(b"abc")


def test_frombuffer_copies_what_a_mat_cannot_share():
    assert_array_equal(mat.frombuffer(b"abcdefghi", "int32", 2, 1),
                       np.frombuffer(b"abcdefghi", "int32", 2, 1))
    x = mat.arange(4.0)
    y = mat.frombuffer(x)
    x[0] = 9
    assert y.tolist() == [0, 1, 2, 3]
