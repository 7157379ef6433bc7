"""The stress run itself: what it prints, and that what fails can be tried again."""

import os
import signal

import pytest

from . import __main__ as command
from .children import outcome_of

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


def test_a_kind_that_passes(monkeypatch, capsys):
    monkeypatch.setitem(command.KINDS, "fine", lambda random, until: 1)
    assert command.main(["--only", "fine", "--minutes", "0", "--seed", "7"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "stress: fine passed with seed 7"


def test_a_kind_that_fails_says_how_to_try_it_again(monkeypatch, capsys):
    def fails(random, until):
        raise AssertionError(f"drawn {random.randrange(1000)}")

    monkeypatch.setitem(command.KINDS, "wrong", fails)
    said = []
    for _ in range(2):
        assert command.main(["--only", "wrong", "--minutes", "0", "--seed", "7"]) == 1
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "AssertionError: drawn" in said[0]
    assert "--seed 7 --only wrong --first 0" in said[0]


def test_unknown_kinds_are_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["--only", "threads,nonsense"])
    assert "nonsense" in capsys.readouterr().err


def test_outcomes_of_children():
    assert outcome_of(lambda: None) == ""
    assert outcome_of(lambda: "wrong") == "wrong"
    assert "ZeroDivisionError" in outcome_of(lambda: 1 / 0)
    assert "ended by SIGKILL" in outcome_of(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert "children.py" in outcome_of(signal.pause, 0.2)
