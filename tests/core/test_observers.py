"""The events of which observers are notified: accesses, copies, allocations and calls; and the
effect of an observer that raises an error.
"""

import pytest

import mat
from mat.extend import Observer, observe

from ..support.mock_memories import Fault, Whole, in_thread


class Diary(Observer):
    def __init__(self):
        self.notes = []

    def entered(self, record):
        self.notes.append(f"entered {record.facet.name}")

    def left(self, record, failed):
        self.notes.append(f"left {record.facet.name}" + " failed" * failed)

    def allocated(self, cube, memory):
        self.notes.append(f"allocated {memory.name}")

    def freed(self, cube, memory):
        self.notes.append(f"freed {memory.name}")

    def copied(self, cube, source, target, seconds):
        assert seconds >= 0
        self.notes.append(f"copied {source.name} {target.name}")

    def created(self, cube):
        self.notes.append("created")

    def packed(self, view):
        self.notes.append("packed")

    def called(self, routine, **arguments):
        self.notes.append(f"called {routine}")


@pytest.mark.host
def test_observers_are_notified(mocks):
    with observe(Diary()) as diary:
        x = mat.zeros(4)
        x.fill_(1)
        with x.facet("near", "input"):
            pass
        with pytest.raises(Fault), x.facet("near", "output"):
            raise Fault
        x.drop("near")
        mat.ger(2.0, x, x, mat.zeros(4, 4))
    rest = diary.notes
    expected = ["created", "allocated host", "entered", "left", "copied host near",
                "allocated near", "entered near", "left near", "entered near", "left near failed",
                "freed near", "called dger"]
    for note in expected:  # in this order, other things in between
        while not rest[0].startswith(note):
            rest = rest[1:]
        rest = rest[1:]
    diary.notes.clear()
    x.fill_(2)
    assert diary.notes == []


@pytest.mark.host
def test_observers_are_notified_of_packing():
    a = mat.zeros(12, 12)[::2, ::3]
    with observe(Diary()) as diary:
        mat.ger(1, mat.zeros(6), mat.zeros(4), a)
    assert diary.notes.count("packed") == 1
    assert "called dger" in diary.notes


class Strict(Observer):
    """Raises an error for an event."""

    def __init__(self, what):
        setattr(self, what, self.fail)

    def fail(self, *args):
        raise Fault


def test_an_observer_that_finds_fault_makes_the_block_fail(world):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    diary = Diary()
    with observe(Strict("left")), observe(diary), pytest.raises(Fault):
        x.write("near", 3, 4)
    assert not x.storage.accesses
    assert diary.notes == ["entered near", "left near"]
    assert x.fresh() == {"hub"}
    assert x.write("near", 5, 6).read("hub") == [5, 6]


def test_an_observer_that_keeps_a_block_from_beginning_changes_nothing(world):
    x = Whole().write("near", 1, 2)
    diary = Diary()
    with observe(diary), observe(Strict("entered")), pytest.raises(Fault):
        x.write("near", 3, 4)
    assert diary.notes == ["entered near", "left near failed"]
    assert not x.storage.accesses
    assert x.fresh() == {"near"}
    assert x.read("near") == [1, 2]


def test_all_accesses_end_even_if_an_observer_finds_fault(mocks):
    x, y = mat.zeros(2), mat.zeros(2)
    with observe(Strict("left")), pytest.raises(Fault), mat.with_facets((x, "array"), (y, "near")):
        pass
    with observe(Strict("left")), pytest.raises(Fault):
        mat.axpy(1.0, x, y)
    assert not x.storage.accesses
    assert not y.storage.accesses


@pytest.mark.parametrize("what", ["allocated", "copied"])
def test_an_observer_that_fails_on_the_way_loses_nothing(world, what):
    x = Whole().write("near", 1, 2)
    with observe(Strict(what)), pytest.raises(Fault):
        x.read("far")
    assert "near" in x.fresh()
    assert x.read("far") == [1, 2]


def test_observers_hear_every_thread_and_only_while_they_observe(world):
    with observe(Diary()) as diary:
        in_thread(lambda: Whole().read("near"))
    assert "entered near" in diary.notes
    diary.notes.clear()
    Whole().read("near")
    assert diary.notes == []
