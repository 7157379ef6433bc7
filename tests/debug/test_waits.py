"""Waits of the host for a device: counted, timed, with the line of the program, and forbidden."""

import io
import pickle
from contextlib import suppress

import numpy as np
import pytest
from scipy import special

import mat
from mat.core import observers
from mat.devices.emulated import EmulatedMemory

from ..support import composed_calls, ordinary_calls

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
    "compress": lambda x: mat.compress(x > 4, x), "extract": lambda x: mat.extract(x > 4, x),
    "trim_zeros": lambda x: mat.trim_zeros(x, "b"),
    "intersect1d": lambda x: mat.intersect1d(x, x[:9]),
    "setdiff1d": lambda x: mat.setdiff1d(x, x[:9]), "setxor1d": lambda x: mat.setxor1d(x, x[:9]),
    "places": lambda x: mat.intersect1d(x, x[:9], return_indices=True),
    "gradient": lambda x: mat.gradient(x, x),
    "norm": lambda x: mat.linalg.norm(x),
    "vdot": lambda x: mat.blas.vdot(x, x),
    "asum": lambda x: mat.blas.asum(x),
    "iamax": lambda x: mat.blas.iamax(x),
    "indices": lambda x: x[x[:9].astype(int)],
    "inv": lambda x: mat.linalg.inv(square(x)),
    "solve": lambda x: mat.linalg.solve(square(x), x[:3]),
    "cholesky": lambda x: mat.linalg.cholesky(square(x)),
    "det": lambda x: mat.linalg.det(square(x)),
    "svd": lambda x: np.linalg.svd(square(x)),
}
SIZE = "a size that depends on data"
SINGULAR, IN_RANGE = "whether a matrix is singular", "whether indices are in range"
# for what, where it is no element
REASONS = {
    "compress": SIZE, "extract": SIZE, "trim_zeros": SIZE, "intersect1d": SIZE, "setdiff1d": SIZE,
    "setxor1d": SIZE, "places": SIZE, "nonzero": SIZE, "mask": SIZE, "flatnonzero": SIZE,
    "unique": SIZE, "bincount": SIZE,
    "printing": "printing", "printing a number": "printing",
    "iteration": "iteration", "array_equal": "the result of equals",
    "allclose": "the result of allclose", "dot": "the result of dot", "vdot": "the result of vdot",
    "asum": "the result of asum", "iamax": "the result of iamax", "norm": "the result of nrm2",
    "det": "the pivots", "svd": "whether the computation converged",
    "inv": SINGULAR, "solve": SINGULAR, "indices": IN_RANGE,
    "cholesky": "whether a matrix is positive definite"}
COPIES = {"to_numpy": lambda x: x.to_numpy(), "tolist": lambda x: x.tolist(), "asarray": np.asarray,
          "pickle": pickle.dumps, "save": lambda x: mat.save(io.BytesIO(), x),
          "a part": lambda x: x[3:9].to_numpy()}
# what stays on the device
NONE = {
    "sum": lambda x: x.sum(), "where": lambda x: mat.where(x > 3, x, 0.0),
    "slice": lambda x: x[2:9], "add": lambda x: x + x, "compare": lambda x: x.max() == 3,
    "sort": mat.sort,
    "histogram": lambda x: mat.histogram(x, 10, range=(0.0, 5.0)),
    "polyval": lambda x: mat.polyval(x[:3], x),
    "interp": lambda x: mat.interp(x, x[:9], x[9:18]), "isin": lambda x: mat.isin(x, x[:3]),
    "interp in a period": lambda x: mat.interp(x, x[:9], x[9:18], period=7),
}
# what the guard says that there is instead
INSTEAD = {
    "element": "x[k, ...]", "mask": "x * m", "nonzero": "mat.where(m, x, 0)",
    "indices": "mat.take(x, indices, mode='clip')", "dot": "x @ y", "vdot": "x.conj() @ y",
    "norm": "mat.sqrt((abs(x) ** 2).sum())", "asum": "abs(x).sum()", "iamax": "abs(x).argmax()",
    "array_equal": "(x == y).all()", "allclose": "mat.isclose(x, y).all()"}


def square(x):
    return x[:9].reshape(3, 3) * 0 + mat.eye(3) * 2


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
    assert wait.reason == REASONS.get(what, "a copy" if what in COPIES else "an element")
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


@pytest.mark.host
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
        assert INSTEAD.get(what, "x.facet('array', 'input')") in str(raised.value)
        assert mat.array_equal(x, before)


@pytest.mark.parametrize("what", INSTEAD)
def test_what_there_is_instead_waits_for_nothing(what, name):
    with mat.use_device(name):
        x = mat.arange(float(N)) * 1.0
        names = {"mat": mat, "x": x, "y": x + 1, "k": 3, "m": x > 4, "indices": x[:9].astype(int)}
        with mat.debug.guard("raise"):
            found = eval(INSTEAD[what], names)
        assert type(found) is mat.Mat
        of_host = {n: v if n in ("mat", "k") else np.asarray(v) for n, v in names.items()
                   if n != "__builtins__"}
        expected = eval(INSTEAD[what].replace("mat.", "np."), of_host | {"np": np})
    np.testing.assert_allclose(found, expected)


# Everything that reads from a device lies within a wait


class Inside(observers.Observer):
    """The reads of a device within waits, by a counter of all."""

    def __init__(self, count):
        self.count, self.reads = count, 0

    def waiting(self, what, cube, memory):
        self.at = self.count()

    def waited(self, what, cube, memory, seconds):
        self.reads += self.count() - self.at


@pytest.fixture
def reads(name, request, monkeypatch):
    """A function that returns how often data was read from the device."""
    if name == "cuda":
        driver = request.getfixturevalue("cuda")
        return lambda: sum(map(driver.calls, ("cuMemcpyDtoHAsync", "cuStreamSynchronize")))
    made = []

    def noting(method):
        def read(*args):
            made.append(1)
            return method(*args)
        return read

    for method in ("read_part", "read_runs"):
        monkeypatch.setattr(EmulatedMemory, method, noting(getattr(EmulatedMemory, method)))
    return lambda: len(made)


READING = """
hash(x.sum()); 5.0 in x; f"{x.sum():.2f}"; repr(x); x[0].item(1)
pickle.dumps(x); x.view("int64")[0, 0]; list(x.flat); x.flat[3]; memoryview(x.to_numpy())
mat.random.choice(v); mat.random.permutation(v); mat.histogram(x, "auto"); mat.cov(x, aweights=v*v)
mat.gradient(v, w); np.testing.assert_array_equal(x, x); mat.savetxt(io.BytesIO(), x); x.tobytes()
x.T[1:3].tolist(); mat.put(v, k[0] % 6, 2.0); mat.array_api.unique_all(k); mat.linalg.eigvalsh(x)
np.linalg.cholesky(x @ x.T + np.eye(6) * 9); mat.ix_(m[0]); mat.repeat(v, k[0]); mat.roots(v)
complex(z[0, 0]); sorted(v); mat.select([m, n], [x, y])
"""
CALLS = [*ordinary_calls.THERE, *ordinary_calls.BACK, *composed_calls.THERE,
         *(call.strip() for call in READING.replace("\n", ";").split(";") if call.strip())]


@pytest.mark.host
@pytest.mark.once  # the direction check reads, too
def test_all_reads_lie_within_waits(name, reads):
    outside = {}
    with mat.use_device(name) as device:
        for call in CALLS:
            mats = {n: mat.array(a) for n, a in ordinary_calls.arrays().items()}
            for x in mats.values():
                with x.facet(device.facet, "io"):
                    pass
            inside, before = Inside(reads), reads()
            with observers.Observation(lambda seen=inside: seen), suppress(ValueError):
                eval(call, {"np": np, "mat": mat, "io": io, "pickle": pickle}, mats)
            if reads() - before != inside.reads:
                outside[call] = reads() - before, inside.reads
    assert not outside


@pytest.mark.parametrize("what", COPIES)
def test_explicit_copies_are_allowed(what):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("raise"):
            COPIES[what](x)


# functions that NumPy computes on the host, with copies of their own
BY_NUMPY = {
    "i0": np.i0, "polyfit": lambda x: mat.polyfit(x, x, 1), "vectorize": mat.vectorize(float),
    "choice": lambda x: mat.random.choice(x, 2), "shuffle": mat.random.shuffle,
    "gamma": special.gamma, "fmod": lambda x: np.fmod(x, 2, where=np.arange(N) > 1, out=x),
    "getitem": lambda x: x[True], "setitem": lambda x: x.__setitem__(True, 3.0),
    "apply_along_axis": lambda x: mat.apply_along_axis(np.sum, 0, x)}


@pytest.mark.parametrize("what", BY_NUMPY)
def test_copies_of_functions_on_the_host_are_forbidden(what):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        before = x.copy()
        with mat.debug.guard("raise"), pytest.raises(mat.ConflictError, match="on the host") as e:
            BY_NUMPY[what](x)
        assert str(e.value).startswith(what)
        assert __file__ in str(e.value)
        assert mat.array_equal(x, before)
        with x.facet("array", "input"):  # brought there before
            pass
        with mat.debug.guard("raise"):
            mat.vectorize(float)(x)


# numbers that NumPy's functions of numbers read of a Mat
NUMBERS = {
    "format": lambda x: f"{x.sum():.2f}", "arange": lambda x: mat.arange(x.max()),
    "linspace": lambda x: mat.linspace(x.min(), x.max(), 3),
    "logspace": lambda x: mat.logspace(x.min(), 1, 3),
    "geomspace": lambda x: mat.geomspace(1, x.max(), 3)}
FILLED = {
    "full": lambda m, x: m.full(3, x.max()), "rows": lambda m, x: m.full((2, N), x),
    "dtype": lambda m, x: m.full(3, x.max(), dtype="int8"),
    "full_like": lambda m, x: m.full_like(x, x.max()), "fill": lambda m, x: x.fill(x.max()) or x}


# arguments that functions convert themselves
CONVERTED = {
    "pad": lambda x: mat.pad(x, 2, constant_values=x.max()),
    "pad_width": lambda x: mat.pad(x, x.argmin()),
    "expand_dims": lambda x: mat.expand_dims(x, x.argmin()),
    "moveaxis": lambda x: np.moveaxis(x.reshape(2, -1), x.argmin(), 1),
    "split": lambda x: mat.array_split(x, x.argmin() + 3),
    "partition": lambda x: mat.partition(x, x.argmax()),
    "histogram": lambda x: mat.histogram(x, x[:5])}


@pytest.mark.parametrize("what", CONVERTED)
def test_copies_of_arguments_are_forbidden(what):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("raise"), pytest.raises(mat.ConflictError, match="copies") as raised:
            CONVERTED[what](x)
        assert __file__ in str(raised.value)
        CONVERTED[what](x)


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_for_functions_of_numbers_are_waits(what):
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("raise"), pytest.raises(mat.ConflictError, match="waits for"):
            NUMBERS[what](x)


@pytest.mark.parametrize("what", FILLED)
def test_fills_by_elements_stay_on_the_device(what):
    wanted = FILLED[what](np, np.arange(float(N)))
    with mat.use_device("emulated"):
        x = mat.arange(float(N)) * 1.0
        with mat.debug.guard("raise"), mat.debug.expect_copies(waits=0, d2h=0):
            found = FILLED[what](mat, x)
        assert found.fresh == {"emulated"}
    np.testing.assert_array_equal(found.to_numpy(), wanted, strict=True)


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
    assert ("only_of_the_host was carried out on the host, since it has implementations for the "
            "host only") in repr(t)
    assert (out == 2).all()


def test_what_only_numpy_computes_falls_back_and_the_rest_does_not():
    with mat.use_device("emulated"), mat.debug.trace() as t, mat.debug.count_copies() as n:
        a = mat.arange(8.0) * 1.0
        a + 1
        mat.sort(a)
        found = np.i0(a)
    assert t.fallbacks == n.fallbacks == 1
    assert [e.mat for e in t.events if e.kind == "fallback"] == ["i0"]
    assert repr(t).splitlines()[-1] == ("i0 was carried out on the host, since emulated has no "
                                        "implementation of it for these operands")
    np.testing.assert_allclose(found, np.i0(np.arange(8.0)))
