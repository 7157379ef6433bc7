"""The report of a GPU: how it is made of what was found, and that the whole of it runs, as far as a
mock driver goes.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import mat

from ..gpu import measuring, report
from ..gpu.item import Figure, Item
from ..gpu.measuring import Found
from ..mock_driver.driver import missing

pytestmark = [pytest.mark.host, pytest.mark.once]

ROOT = Path(__file__).parents[2]
FOUND = {"First": [Found("fast", 1e-3, {"torch": 4e-3, "device copy": 9e-4},
                         {"torch": 3.0, "device copy": 0.85}, 2_000_000),
                   Found("slow", 2e-3, {"torch": 1e-3}, {"torch": 1.0, "CuPy": 1.0}),
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


def test_the_page():
    text = report.page("gpu.md", {"GPU": "a|b"}, {"suite": "3 passed"}, FOUND, False)
    assert "| GPU | a/b |" in text
    assert "| suite | 3 passed |" in text
    assert ("| fast | 1 ms | 2 | 4 ms, 4.00 | 900 us, 0.90 "
            "| 3 x torch ok; 0.85 x device copy ok |") in text
    assert "| gone | failed: KeyError: no |" in text
    assert "| First | 2 of 3 | slow (0.50 of 1 x torch); gone: failed |" in text
    assert "| Second | 0 of 1 | share (0.50 of 0.8) |" in text
    assert "| long | 3.25 s |" in text


def test_the_page_of_a_trial_has_no_times():
    text = report.page("gpu.md", {}, {}, FOUND, True)
    assert "Nothing was measured" in text
    assert "| fast | runs |" in text
    assert "| gone | KeyError: no |" in text
    assert "1 ms" not in text
    assert "Goals" not in text


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


def command(*words):
    return subprocess.run([sys.executable, "-m", "tests.gpu", *words], capture_output=True,
                          text=True, cwd=ROOT, timeout=500, check=False)


def test_without_a_gpu_it_measures_nothing():
    if mat.cuda_available():
        pytest.skip("there is one")
    done = command("--no-tests")
    assert done.returncode == 1
    assert "there is nothing to measure" in done.stdout


@pytest.mark.unchecked("what it runs keeps arrays beyond their blocks, to time launches only")
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.slow
def test_a_trial(tmp_path, monkeypatch):
    path = tmp_path / "gpu.md"
    done = command("--mock", "--only", "calls", "--tests", "tests/package/test_layers.py",
                   "--report", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    text = path.read_text()
    assert "Nothing was measured" in text
    assert "Mock GPU 0" in text
    assert "| axpy of ten elements | runs |" in text
    assert "a part of the suite on cuda, mock driver" in text
    assert " passed" in text
