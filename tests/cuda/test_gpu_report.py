"""The report of a GPU: how it is made of what was found. That all of it runs is tested in
`test_gpu_day.py`.
"""

from contextlib import nullcontext
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest

import mat

from ..tools.bench import epoch
from ..tools.gpu import computing, limits, measuring, report
from ..tools.gpu.item import MEMORY, Figure, Item
from ..tools.gpu.journal import (
    CRASHED,
    CUT,
    DONE,
    FAILED,
    OK,
    UNFINISHED,
    Journal,
    Line,
    Recorder,
)
from ..tools.gpu.measuring import Found
from ..tools.gpu.sections import SECTIONS
from ..tools.gpu.setting import Setting, peers

pytestmark = [pytest.mark.host, pytest.mark.once]

FOUND = {"First": [Found("fast", 1e-3, {"torch": 4e-3, "device copy": 9e-4}, {},
                         {"torch": 3.0, "device copy": 0.85}, 2_000_000),
                   Found("slow", 2e-3, {"torch": 1e-3}, {"CuPy": "ValueError: not so"},
                         {"torch": 1.0, "CuPy": 1.0}),
                   Found("gone", failed="KeyError: no")],
         "Second": [Found("share", number=0.5, least=0.8), Found("long", number=3.25, unit="s")]}


def test_goals_are_judged():
    fast, slow, gone = FOUND["First"]
    assert fast.reached() == [("torch", 3.0, 4.0, True),
                              ("device copy", 0.85, pytest.approx(0.9), True)]
    assert slow.reached() == [("torch", 1.0, 0.5, False)]  # CuPy was not there
    assert gone.reached() == []
    assert FOUND["Second"][0].reached() == [("", 0.8, 0.5, False)]
    assert FOUND["Second"][1].reached() == []


def test_a_goal_may_be_a_share_of_the_memory_s_rate():
    found = Found("add", 1e-3, {}, {}, {MEMORY: 0.88}, 1_800_000)
    assert found.reached() == []  # it is not known
    assert found.reached(2e9) == [(MEMORY, 0.88, pytest.approx(0.9), True)]
    assert found.reached(4e9) == [(MEMORY, 0.88, pytest.approx(0.45), False)]


def lines():
    """The journal of a run in which a test failed and another one crashed its process."""
    yield Line("Where", "facts", "facts", OK,
               extra={"facts": {"GPU": "a|b"}, "limits": {"bandwidth": 4e9, "operations": {}}})
    yield Line("First contact", "contact", "it starts", OK, "2 of them")
    yield Line("Tests", "tests/cuda/test_a.py", "tests/cuda/test_a.py::test_x", OK)
    yield Line("Tests", "tests/cuda/test_a.py", "tests/cuda/test_a.py::test_y", FAILED, "1 | 2")
    yield Line("Tests", "tests/ops/test_b.py", "tests/ops/test_b.py::test_z", CRASHED, "SIGSEGV")
    yield Line("Tests", "tests/ops/test_b.py", "tests/ops/test_b.py::test_w", UNFINISHED, "end")
    yield Line("Tests", "tests/ops/test_c.py", "", CUT, "there was no more time")
    for title, found in FOUND.items():
        for f in found:
            yield Line("Benchmarks", "benchmarks", f"{title}: {f.name}",
                       FAILED if f.failed else OK, f.failed, {"found": asdict(f)})
    yield Line("Benchmarks", "benchmarks", "Second: hung", CUT, "it took too long")
    yield Line("Benchmarks", "benchmarks", "", DONE)


def test_the_page():
    text = report.page("gpu.md", lines(), False)
    assert "| GPU | a/b |" in text
    assert "| Tests: tests/cuda | 1 ok, 1 failed |" in text
    assert "| Tests: tests/ops | 1 crashed, 1 no time |" in text
    assert "test_w" not in text  # nothing is wrong with it
    assert "| Tests: no more time for | 1: tests/ops/test_c.py |" in text
    assert "| Tests | tests/cuda/test_a.py::test_y | failed | 1 / 2 |" in text
    assert "| it starts | ok | 2 of them |" in text
    assert ("| fast | 1 ms | 2 GB/s | 50% | 4 ms, 4.00 | 900 us, 0.90 |  "
            "| 3 x torch ok; 0.85 x device copy ok |") in text
    assert "| 1 ms, 0.50 |  | ValueError: not so | 1 x torch MISS |" in text
    assert "| gone | failed: KeyError: no |" in text
    assert "| hung | failed: cut off: it took too long |" in text
    assert "| First | 2 of 3 | slow (0.50 of 1 x torch); gone: failed |" in text
    assert "| Second | 0 of 1 | share (0.50 of 0.8); hung: failed |" in text
    assert "| long | 3.25 s |" in text


def test_the_page_of_a_trial_has_no_times():
    text = report.page("gpu.md", lines(), True)
    assert "Nothing was measured" in text
    assert "| fast | runs |" in text
    assert "| gone | KeyError: no |" in text
    assert "1 ms" not in text
    assert "Goals" not in text


def test_a_row_in_words():
    fast, slow, gone = FOUND["First"]
    most = limits.Limits(4e9)
    assert report.in_words(fast, most) == "1 ms, 2 GB/s, 50%; torch 4.00, device copy 0.90"
    assert report.in_words(slow, most) == "2 ms; torch 0.50, CuPy: ValueError: not so"
    assert report.in_words(gone, most) == "failed: KeyError: no"
    assert report.in_words(FOUND["Second"][1], most) == "3.25 s"


def test_limits_of_cards():
    """Those of data sheets, at the highest clock: an H200, and an A100."""
    facts = {"processors": 132, "clock": 1_980_000, "memory clock": 3_201_000, "bus": 6144}
    h200 = limits.limits_of(facts, "9.0")
    assert h200.bandwidth == pytest.approx(4.9e12, rel=0.01)
    assert h200.operations["float32"] == pytest.approx(67e12, rel=0.01)
    assert h200.operations["bfloat16"] == pytest.approx(989e12 * 1980 / 1830, rel=0.01)
    a100 = limits.limits_of({"processors": 108, "clock": 1_410_000}, "8.0")
    assert a100.operations["float64"] == pytest.approx(19.5e12, rel=0.01)
    assert a100.operations["float16"] == pytest.approx(312e12, rel=0.01)
    assert a100.bandwidth == 0
    assert limits.limits_of(facts, "99.0").operations == {}
    assert h200.share(0, 6.69e12, "float32", 0.2) == "50%"
    assert h200.share(int(4.917e11), 0, "", 0.2) == "50%"
    assert h200.operations["int8"] == pytest.approx(1979e12 * 1980 / 1830, rel=0.01)
    assert h200.share(0, 1e12, "int16", 0.2) == ""
    assert a100.share(1 << 30, 0, "", 0.2) == ""


def test_measuring_goes_on_after_failures():
    def section():
        yield Item("good", lambda: None, {"other": lambda: None}, {"other": 0.0})
        yield Item("bad", lambda: 1 / 0)
        yield Figure("number", lambda: 7.0, 5.0)
        raise KeyError("made no more")

    found = list(measuring.run(section, lambda: None, True))
    assert [f.name for f in found] == ["good", "bad", "number", "(all that comes after)"]
    assert [bool(f.failed) for f in found] == [False, True, False, True]
    assert found[0].seconds > 0
    assert found[0].others["other"] > 0
    assert found[2].reached() == [("", 5.0, 7.0, True)]


def test_a_peer_that_fails_loses_no_row():
    items = [Item("one", lambda: None, peers(cupy=lambda: 1 / 0, torch=lambda: lambda: [][0],
                                             copy=lambda: lambda: None))]
    found, = measuring.run(lambda: iter(items), lambda: None, True)
    assert not found.failed
    assert found.seconds > 0
    assert set(found.others) == {"device copy"}
    assert set(found.notes) == {"CuPy", "torch"}
    assert found.notes["CuPy"].startswith("ZeroDivisionError")


# where torch is not beside us
OTHERS = {"Beside CUB": {"CUB in CuPy", "CUB in torch"}, "Larger than the pool": {"bus"},
          "Beside managed memory": {"managed memory of CuPy"}}


class OnTheHost:
    """A library with the functions of torch or CuPy, which computes on the host."""

    def __init__(self, library):
        self.library = library

    def __getattr__(self, name):
        if name == "cuda":
            return SimpleNamespace(synchronize=lambda: None, malloc_managed=None,
                                   using_allocator=lambda allocator: nullcontext())
        found = getattr(self.library, name)
        return self._elsewhere(found) if name in ("ones", "zeros", "rand", "empty") else found

    def _elsewhere(self, function):
        def call(*values, device=None, pin_memory=None, **more):
            return function(*values, **more)
        return call


@pytest.mark.unchecked("it keeps arrays beyond their blocks, to time launches only")
@pytest.mark.slow
@pytest.mark.parametrize("title", [t for t in SECTIONS if t != "Copies ahead"])
def test_the_others_compute(cuda, monkeypatch, title):
    """What they are given is right, as far as torch on the host and NumPy tell."""
    torch = pytest.importorskip("torch")
    for module, name in ((epoch, "with_torch"), (computing, "_core_launch"),
                         (computing, "_cupy_launch")):  # these need a real driver
        monkeypatch.setattr(module, name, lambda _: lambda: None)
    with mat.use_device("cuda", required=True) as device, device.gpu.current():
        at = Setting(device, small=True, alone=False)
        at.torch, at.cupy = OnTheHost(torch), OnTheHost(np)
        for found in measuring.run(lambda: SECTIONS[title](at), device.synchronize, True):
            assert not found.failed
            assert not found.notes
            assert OTHERS.get(title, {"torch"}) <= set(found.others) or "empty" in found.name


@pytest.mark.parametrize("cupy", [None, OnTheHost(np)])
@pytest.mark.parametrize("title", ["Beside CUB", "Beside managed memory"])
def test_rows_name_the_libraries_that_are_not_installed(cuda, title, cupy):
    with mat.use_device("cuda", required=True) as device, device.gpu.current():
        for alone in (False, True):
            at = Setting(device, small=True, alone=alone)
            at.torch, at.cupy = None, cupy
            with_cupy = {name for name in OTHERS[title] if "CuPy" in name and cupy}
            for found in measuring.run(lambda at=at: SECTIONS[title](at), device.synchronize, True):
                assert not found.failed
                assert set(found.others) == (set() if alone else with_cupy)
                assert set(found.notes) == (set() if alone else OTHERS[title] - with_cupy)
                assert all("is not installed" in note for note in found.notes.values())


def test_measuring_leaves_out_what_is_known(tmp_path):
    recorder = Recorder(Journal(tmp_path / "lines"), "Benchmarks", "benchmarks")
    recorder.end("Calls: first", OK)
    items = [Item("first", lambda: 1 / 0), Item("second", lambda: None), Item("third", lambda: 0)]
    measured = measuring.run(lambda: iter(items), lambda: None, True, recorder, "Calls")
    assert next(measured).name == "second"
    progress = recorder.journal.progress("Benchmarks", "benchmarks")
    assert progress.open == "Calls: second"
    recorder.end("Calls: second", OK)
    assert next(measured).name == "third"
    recorder.end("Calls: (after second)", CRASHED)  # what comes next could not be made
    assert list(measuring.run(lambda: iter(items), lambda: None, True, recorder, "Calls")) == []


def test_calls_are_counted_after_a_warm_up():
    """The first call compiles, and takes far longer than others."""
    calls = iter(range(10**9))

    def work():
        if next(calls) == 0:
            measuring.perf_counter()
            while measuring.perf_counter() < begin + 0.05:
                pass

    begin = measuring.perf_counter()
    assert measuring._calls(work, lambda: None, False) > 100
