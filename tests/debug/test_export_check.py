"""The direction check of exports: writes to what other libraries share are found, with the lines
that wrote and that exported; correct programs are not rejected.
"""

import ctypes
import inspect
import threading

import numpy as np
import pytest

import mat
from mat.debug import protected_pages
from mat.debug.direction_check import CHECK
from mat.matrix.exports import Export

pytestmark = pytest.mark.host
paged = pytest.mark.skipif(protected_pages.system() is None,
                           reason="it is about pages of memory, which cannot be protected here")


def here():
    """The line of the caller, as messages have it."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def write(a, nbytes=8):
    ctypes.memset(a.ctypes.data, 7, nbytes)


def error_of(function):
    with pytest.raises(mat.DirectionError) as caught, mat.debug.check_directions():
        function()
    return str(caught.value)


@paged
@pytest.mark.parametrize("export", [np.asarray, np.from_dlpack, lambda x: np.asarray(x.T),
                                    lambda x: np.asarray(x[1:])])
def test_the_error_has_both_lines(export):
    lines = []

    def wrong():
        x = mat.zeros(3, 3)
        lines.append(here())
        a = export(x)
        lines.append(here())
        ctypes.memset(a.ctypes.data, 7, 8)

    def after(line):
        name, _, number = line.rpartition(":")
        return f"{name}:{int(number) + 1}"

    text = error_of(wrong)
    if "lambda" not in export.__name__:
        assert f"exported as facet 'array' at {after(lines[0])} to an object" in text
    assert f"was written at {after(lines[1])} in thread MainThread" in text
    assert "x.facet('array', 'io')" in text
    assert "the Mat was created at" in text


@paged
def test_the_next_access_of_the_thread_raises_it():
    with mat.debug.check_directions() as c:
        x, y = mat.zeros(3), mat.zeros(3)
        a = np.asarray(x)
        write(a)
        with pytest.raises(mat.DirectionError, match="was written"):
            y.sum()
        y.sum()
        del a
        x.fill_(1)
    assert len(c.faults) == 1


@paged
def test_the_same_value_is_a_write_too():
    def wrong():
        x = mat.zeros(3)
        a = np.asarray(x)
        ctypes.memset(a.ctypes.data, 0, 8)

    assert "was written at" in error_of(wrong)


@paged
def test_an_address_that_outlives_the_array():
    def wrong():
        x = mat.zeros(3)
        address = np.asarray(x).ctypes.data
        ctypes.memset(address, 7, 8)

    assert "to an object that was released, was written at" in error_of(wrong)


@paged
def test_another_thread():
    def wrong():
        x = mat.zeros(3)
        a = np.asarray(x)
        thread = threading.Thread(target=write, args=(a,), name="writer")
        thread.start()
        thread.join()

    assert "in thread writer" in error_of(wrong)


@paged
def test_a_block_that_writes_answers_for_itself():
    def wrong():
        x = mat.zeros(3)
        a = np.asarray(x)
        with x.facet("foreign", "input") as p:
            ctypes.memset(p.address, 7, 8)
        return a

    text = error_of(wrong)
    assert "facet 'foreign' for 'input'" in text
    assert "changed what it promised to only read" in text


def test_where_pages_cannot_be_protected_values_are_compared(monkeypatch):
    monkeypatch.setattr(protected_pages, "system", lambda: None)

    def wrong():
        x = mat.zeros(3)
        a = np.asarray(x)
        write(a)
        x.sum()

    assert "to an object that still exists changed what it promised to only read, 1 element, (0)" \
        in error_of(wrong)

    def released():
        x = mat.zeros(3)
        a = np.asarray(x)
        write(a)
        del a
        x.sum()

    assert "changed what it promised to only read, 1 element, (0)" in error_of(released)


def test_on_a_device_values_are_compared(monkeypatch):
    """The export of memory of a device: the emulated one stands for a GPU."""
    with mat.use_device("emulated") as device, mat.debug.check_directions() as c:
        x = mat.zeros(3) + 1
        with x.facet("emulated", "input") as a:
            elements = a.elements()
        export = Export(x, device.facet)
        elements[1] = 5
        with pytest.raises(mat.DirectionError, match=r"as facet 'emulated'.*\(1\): 1.0 be"):
            x.sum()
        del export
        x += 1
    assert len(c.faults) == 1


def parts(x):
    first, last = np.asarray(x[:10]), np.asarray(x[-1000:])
    x[10:900] += 1
    x[20:30].fill_(7)
    with x[:10].facet("array", "input"), x[20:900].facet("array", "input") as v:
        assert v[0] == 7
    assert first.sum() == first.size * first[0]
    del first, last
    x += 1
    return np.asarray(x).sum()


CORRECT = {
    "read": lambda: np.asarray(mat.ones(3)).sum(),
    "parts of what was computed": lambda: parts(mat.ones(100_000) + 1),
    "parts of what was never written": lambda: parts(mat.ones(100_000)),
    "small": lambda: parts(mat.ones(2000)),
}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", CORRECT)
def test_correct_programs_are_not_rejected(name, device):
    with mat.use_device(device), mat.debug.check_directions() as c:
        CORRECT[name]()
    assert c.faults == []


def test_what_follows_a_release_may_write():
    with mat.debug.check_directions() as c:
        x = mat.ones(3)
        for _ in range(2):
            a = np.asarray(x)
            b = np.from_dlpack(x)
            assert a.ctypes.data == b.ctypes.data
            del a
            assert b.sum() == x.sum().item()
            del b
            x.fill_(3)
            x += 1
            x[0] = 4
            with x.facet("foreign") as p:
                ctypes.memset(p.address, 0, 24)
    assert c.faults == []
    assert x.tolist() == [0, 0, 0]


def test_memory_of_others_may_be_written_by_them():
    own = np.zeros(3)
    with mat.debug.check_directions() as c:
        x = mat.from_numpy(own)
        a = np.asarray(x)
        own[0] = 1
        assert x.sum().item() == a.sum() == 1
    assert c.faults == []


def test_a_copy_that_only_exports_have():
    with mat.debug.check_directions() as c:
        with mat.use_device("emulated") as device:
            x = mat.ones(3) + 1
            export = Export(x, device.facet)
        x += 1
        assert export.value.elements().tolist() == [2, 2, 2]
        del export
        x += 1
    assert c.faults == []
    assert x.tolist() == [4, 4, 4]


@pytest.mark.unchecked("it is about the end of the check")
def test_after_the_check_everything_may_be_written():
    with mat.debug.check_directions():
        x = mat.ones(3)
        a = np.asarray(x)
    write(a)
    del a
    x.fill_(2)
    assert not CHECK._open
    assert not CHECK._exported
