"""Waits of the host for a device: counted, timed, with the line of the program, and forbidden."""

from contextlib import suppress

import numpy as np
import pytest

import mat

N = 5000  # more elements than are printed

# what makes the host wait once
WAITS = {
    "element": lambda x: x[3],
    "element of two axes": lambda x: x.reshape(2, -1)[1, 2],
    "item": lambda x: x.item(5),
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.argmax()),
    "index": lambda x: range(10)[x[:9].argmax()],
    "truth": lambda x: bool((x > 3).any()),
    "if": lambda x: 1 if x.max() > 0 else 0,
    "printing": repr,
    "printing a number": lambda x: str(x.sum()),
    "iteration": lambda x: list(x[:5]),
    "nonzero": mat.nonzero,
    "mask": lambda x: x[x > 4],
    "flatnonzero": lambda x: np.flatnonzero(x),
    "unique": mat.unique,
    "array_equal": lambda x: mat.array_equal(x, x),
    "allclose": lambda x: np.allclose(x, x),
    "dot": lambda x: mat.blas.dot(x, x),
    "bincount": lambda x: mat.bincount(x.astype(int)),
}
COPIES = {"to_numpy": lambda x: x.to_numpy(), "tolist": lambda x: x.tolist(), "asarray": np.asarray}
# what stays on the device
NONE = {
    "sum": lambda x: x.sum(), "where": lambda x: mat.where(x > 3, x, 0.0),
    "slice": lambda x: x[2:9], "add": lambda x: x + x, "compare": lambda x: x.max() == 3,
    "sort": mat.sort,
    "histogram": lambda x: mat.histogram(x, 10, range=(0.0, 5.0)),
}


@pytest.fixture(params=["emulated", "cuda"])
def name(request):
    if request.param == "cuda":
        request.getfixturevalue("cuda")
    return request.param


def traced(call, name):
    """Return the trace of a call with a Mat that only the device has."""
    with mat.use_device(name):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.trace() as t, mat.debug.count_copies() as n:
            call(x)
    assert n.waits == t.waits
    return t


@pytest.mark.parametrize("what", [*WAITS, *COPIES])
def test_each_wait_is_counted_once_and_timed(what, name):
    t = traced({**WAITS, **COPIES}[what], name)
    assert t.waits == 1
    wait = next(e for e in t.events if e.kind == "wait")
    assert wait.seconds > 0
    assert wait.reason
    assert __file__ in wait.line
    assert (wait.source.partition(":")[0], wait.target) == (name, "host")
    assert "waits" in repr(t).splitlines()[0]
    assert any(e["cat"] == "wait" for e in t.chrome()["traceEvents"] if "cat" in e)


@pytest.mark.parametrize("what", NONE)
def test_what_stays_on_the_device_waits_for_nothing(what, name):
    t = traced(NONE[what], name)
    assert t.waits == 0
    with mat.debug.expect_copies(waits=0), mat.use_device(name):
        NONE[what](mat.arange(float(N)) * 1.0)


def test_what_the_host_has_waits_for_nothing():
    x = mat.arange(float(N))
    with mat.debug.trace() as t, mat.debug.guard("raise"):
        for what, call in {**WAITS, **COPIES}.items():
            call(x)
            assert t.waits == 0, what


@pytest.mark.parametrize("what", WAITS)
def test_they_are_forbidden(what, name):
    with mat.use_device(name):
        x = mat.arange(float(N)) * 1.0
        before = x.copy()
        with (mat.debug.guard("raise"),
              pytest.raises(mat.ConflictError, match="waits for") as raised):
            WAITS[what](x)
        assert __file__ in str(raised.value)
        assert mat.array_equal(x, before)


@pytest.mark.parametrize("what", COPIES)
def test_explicit_copies_are_allowed(what):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("raise"):
            COPIES[what](x)


def test_they_are_logged(caplog):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("log"):
            assert x[3] == 3
    assert "the host waits for an element in emulated" in caplog.text


def test_expected_waits():
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.expect_copies(waits=2):
            assert x[3] + x[4] == 7
        with pytest.raises(AssertionError, match="waits was 1, expected 0"), \
                mat.debug.expect_copies(waits=0):
            float(x.sum())


def test_a_wait_that_fails_is_none():
    with mat.use_device("emulated") as device:
        x = mat.arange(float(N)) * 1.0
        device.fail(d2h=1)
        with mat.debug.trace() as t:
            with suppress(mat.DeviceError):
                x.to_numpy()
            assert t.waits == 0
            assert x[3] == 3
        assert t.waits == 1


# Copies within a device, and operations of the user's


def test_copies_within_a_device_are_counted_apart():
    x = mat.arange(800_000.0)
    with mat.use_device("emulated"), mat.debug.trace() as t, mat.debug.count_copies() as n:
        for _ in range(3):
            for k in range(0, x.size, 200_000):
                x[k:k + 200_000] + 1.0
    assert t.bytes == n.bytes == x.nbytes
    assert t.h2d == n.h2d == 4
    assert t.within == n.within == x.nbytes
    assert not t.ping_pong()
    assert all(e.source != e.target for e in t.copies)
    assert "back and forth" not in repr(t)
    assert "6400000 bytes within a device" in repr(n)


def test_an_operation_of_the_users_without_a_device_falls_back():
    @mat.extend.op(method="")
    def only_of_the_host(x: mat.extend.Input, out: mat.extend.Output) -> None:
        """Add 1."""

    @only_of_the_host.on("array")
    def on_array(np_, x, out):
        np_.add(x, 1, out=out)

    x, out = mat.ones(5), mat.zeros(5)
    with mat.use_device("emulated"), mat.debug.trace() as t, mat.debug.count_copies() as n:
        only_of_the_host(x, out)
        x + x
    assert t.fallbacks == n.fallbacks == 1
    assert (out == 2).all()
