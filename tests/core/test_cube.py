"""The contract in `Direction`'s docstring, sentence by sentence, on memories of plain lists: which
accesses conflict, what a block commits or rolls back, what is torn.

Accesses to Mats are in test_access.py, scopes and lifetimes in test_lifetimes.py.
"""

import ast
import threading
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest

import mat
from mat.core.direction import INPUT, IO, OUTPUT, as_direction, join

from ..support.mock_memories import Fault, Whole, in_thread, line

pytestmark = pytest.mark.host

DIRECTIONS = ("input", "output", "io")


# Directions


@pytest.mark.parametrize(("a", "b"), [*product((INPUT, OUTPUT, IO), repeat=2)])
def test_joined_directions(a, b):
    assert join(a, b) is (a if a is b else IO)


@pytest.mark.parametrize("name", ["in", "INPUT", None, 3, ("input",), ["io"]])
def test_unknown_direction(name):
    with pytest.raises(mat.DirectionError, match="'input', 'output' and 'io'"):
        as_direction(name)


def test_direction_itself_is_a_name():
    assert [as_direction(d) for d in (INPUT, "io", "output")] == [INPUT, IO, OUTPUT]


# Conflicts


@pytest.mark.parametrize("threads", ["same", "other"])
@pytest.mark.parametrize("memories", ["same", "other"])
@pytest.mark.parametrize(("outer", "inner"), [*product(DIRECTIONS, repeat=2)])
def test_table_of_accesses(world, outer, inner, memories, threads):
    x = Whole().write("near", 1, 2)
    facet = "near" if memories == "same" else "far"

    def access():
        with x.access(facet, inner) as window:
            return window.get()

    fine = outer == inner == "input" or (memories == threads == "same" and outer != "input")
    with x.access("near", outer):
        before = x.storage.fresh
        if fine:
            seen = access() if threads == "same" else in_thread(access)
            assert seen == [1, 2] or inner == "output"
        else:
            with pytest.raises(mat.ConflictError):
                access() if threads == "same" else in_thread(access)
            assert x.storage.fresh == before
    read_both = outer == inner == "input" and memories == "other"
    # to far it went through the hub
    assert x.fresh() == ({"near", "far", "hub"} if read_both else {"near"})
    assert not x.storage.accesses
    assert x.read("deep") == [1, 2]


def test_facets_of_one_memory_do_not_conflict(world):
    x = Whole()
    with x.access("hub", "io") as a, x.access("hub2", "output") as b:
        b.put(3, 4)
        assert a.get() == [3, 4]
    assert x.read("hub2") == [3, 4]


@pytest.mark.parametrize("readers", [1, 3])
def test_many_readers_or_one_writer(world, readers):
    x = Whole().write("near", 1, 2)
    with ExitStack() as stack:
        for facet in ("near", "hub", "far")[:readers]:
            stack.enter_context(x.access(facet, "input"))
        with pytest.raises(mat.ConflictError, match="for 'input' in thread"):
            in_thread(lambda: x.write("near", 5, 6))
    assert in_thread(lambda: x.write("near", 5, 6)).read("hub") == [5, 6]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_conflict_names_the_other_access(world, direction):
    x = Whole()

    def attempt():
        with x.access("far", "io"):
            pytest.fail("let in")

    with x.access("near", direction):
        here = line() - 1
        with pytest.raises(mat.ConflictError) as caught:
            in_thread(attempt, "Asking")
    message = str(caught.value)
    refused, first = message.split("it conflicts with the access to")
    place = f"in thread MainThread at {__file__}:{here};"
    assert f"<a whole box> as facet 'near' for {direction!r} {place}" in first
    assert "<a whole box> as facet 'far' for 'io' in thread Asking at " + __file__ in refused


def test_conflict_names_the_line_of_a_with_over_several_lines(world):
    x, y = Whole(), Whole()
    with (
        x.access("near", "input"),
        y.access("near", "input"),
    ):
        # of the statement or of the item: Python's versions differ
        lines = [line() - 5, line() - 3]
        with pytest.raises(mat.ConflictError) as caught:
            in_thread(lambda: y.write("near", 1, 2))
    assert any(f"{__file__}:{n};" in str(caught.value) for n in lines)


def test_conflict_names_the_line_that_entered_an_exit_stack(world):
    x = Whole()
    with ExitStack() as stack:
        stack.enter_context(x.access("near", "input"))
        here = line() - 1
        with pytest.raises(mat.ConflictError, match=rf"{__file__}:{here};"):
            in_thread(lambda: x.write("near", 1, 2))


def test_conflict_names_an_access_in_another_thread(world):
    x, inside, done = Whole(), threading.Event(), threading.Event()
    lines = []

    def record():
        with x.access("near", "io"):
            lines.append(line() - 1)
            inside.set()
            assert done.wait(20)

    thread = threading.Thread(target=record, name="Accessing")
    thread.start()
    try:
        assert inside.wait(20)
        with pytest.raises(mat.ConflictError,
                           match=rf"in thread Accessing at {__file__}:{lines[0]};"):
            x.read("near")
    finally:
        done.set()
        thread.join(20)
    assert x.read("near") == [0, 0]


def test_an_access_is_entered_once_at_a_time(world):
    x = Whole()
    access = x.access("near", "io")
    with access as window:
        here = line() - 1
        with pytest.raises(mat.ConflictError, match=rf"already open.*|{__file__}:{here}") as caught:
            access.__enter__()
        assert f"{__file__}:{here}" in str(caught.value)
        window.put(1, 2)
    with access as window:  # but again afterwards
        assert window.get() == [1, 2]
    assert not x.storage.accesses


def test_a_facet_whose_lender_fails_leaves_no_access_open(world, monkeypatch):
    x = Whole().write("near", 1, 2)
    access = x.access("near", "input")

    def make_value():
        raise Fault("no")

    monkeypatch.setattr(type(access.facet), "lender", lambda facet, value: make_value)
    with pytest.raises(Fault):
        access.__enter__()
    assert not x.storage.accesses
    assert x.fresh() == {"near"}
    monkeypatch.undo()
    assert x.read("hub") == [1, 2]
    with pytest.raises(Fault):
        access.__enter__()  # again so, and not: it is already open


# Commit on success


def test_never_written(world):
    x = Whole()
    assert x.fresh() == set()
    assert world.held() == {}
    assert x.read("far") == [0, 0]
    assert "far" in x.fresh()


def test_output_copies_nothing(world):
    x = Whole().write("near", 1, 2)
    world.log.reset()
    x.write("far", 3, 4)
    assert world.log.steps == ["far.allocate"]
    assert x.fresh() == {"far"}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_is_fresh_changes_when_the_block_ends(world, direction):
    x = Whole().write("near", 1, 2)
    with x.access("hub", direction):
        assert x.fresh() == ({"near"} if direction == "output" else {"near", "hub"})
    assert x.fresh() == ({"near", "hub"} if direction == "input" else {"hub"})


def test_fresh_is_a_set_and_each_but_the_last_is_dropped_for_free(world):
    x = Whole().write("near", 1, 2)
    for facet in ("far", "deep"):
        x.read(facet)
    assert x.fresh() == {"near", "far", "deep", "hub"}
    world.log.reset()
    for name in ("near", "hub", "far"):
        assert x.storage.drop(world.memory[name], False)
    assert world.log.steps == []
    assert x.read("deep") == [1, 2]


@pytest.mark.parametrize("direction", ["output", "io"])
def test_a_failing_block_returns_to_a_fresh_copy_elsewhere(world, direction):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    x.spoil("near", direction)
    assert x.fresh() == {"hub"}
    assert x.read("near") == [1, 2]


@pytest.mark.parametrize("direction", ["output", "io"])
def test_a_failing_first_block_returns_to_never_written(world, direction):
    x = Whole()
    x.spoil("near", direction)
    assert x.fresh() == set()
    assert x.read("near") == x.read("hub") == [0, 0]


def test_a_failing_block_that_reads_changes_nothing(world):
    x = Whole().write("near", 1, 2)
    with pytest.raises(Fault), x.access("hub", "input"):
        raise Fault
    assert x.fresh() == {"near", "hub"}


def torn():
    """A torn cube, and the line that tore it."""
    x = Whole().write("near", 1, 2)
    return x, x.spoil("near")


@pytest.mark.parametrize(("facet", "direction"),
                         [*product(("near", "hub", "deep"), ("input", "io"))])
def test_reading_torn_data_raises(world, facet, direction):
    x, at = torn()
    module = world.__class__.__module__.rpartition(".")[2]
    for _ in range(2):
        block = rf"'near' for 'io' in thread MainThread at \S*{module}.py:{at} failed"
        with pytest.raises(mat.TornError, match=block):
            x.access(facet, direction).__enter__()
    assert x.fresh() == set()


@pytest.mark.parametrize("facet", ["near", "deep"])
def test_overwriting_all_heals(world, facet):
    x, _ = torn()
    x.write(facet, 3, 4)
    assert x.fresh() == {facet}
    assert x.read("far") == [3, 4]


def test_overwriting_that_fails_does_not_heal(world):
    x, at = torn()
    x.spoil("deep", "output")
    with pytest.raises(mat.TornError, match=f":{at} failed"):
        x.read("deep")


def test_inside_an_overwriting_block_torn_data_can_be_read(world):
    x, _ = torn()
    with x.access("near", "output") as window:
        window.put(3, 4)
        assert x.read("near") == [3, 4]
    assert x.read("hub") == [3, 4]


def test_accept_torn(world):
    x, _ = torn()
    x.storage.accept_torn()
    assert x.fresh() == {"near"}
    assert x.read("hub") == ["half-written", 2]


def test_accept_torn_without_a_tear_changes_nothing(world):
    x = Whole().write("near", 1, 2)
    x.storage.accept_torn()
    assert x.fresh() == {"near"}
    assert Whole().read("near") == [0, 0]


# Nested blocks


@pytest.mark.parametrize("memory", ["near", "hub"])
@pytest.mark.parametrize("direction", ["output", "io"])
def test_all_inside_a_reading_block_only_reads(world, memory, direction):
    x = Whole().write("near", 1, 2)
    with x.access("near", "input"):
        with pytest.raises(mat.ConflictError, match="for 'input'"):
            x.access(memory, direction).__enter__()
        assert x.read(memory) == [1, 2]
    assert x.write(memory, 3, 4).read("far") == [3, 4]


def test_a_reading_block_inside_of_a_writing_one_does_not_bind(world):
    x = Whole().write("near", 1, 2)
    outer = x.access("near", "io")
    outer.__enter__()
    with x.access("near", "input"):
        assert x.write("near", 3, 4).read("near") == [3, 4]
        outer.__exit__(None, None, None)
        with pytest.raises(mat.ConflictError, match="begin it for 'io'"):
            x.write("near", 5, 6)
    assert x.read("hub") == [3, 4]


def test_a_failing_write_inside_a_reading_block_tears(world):
    x = Whole().write("near", 1, 2)
    with x.access("near", "input"), mat.debug.allow_conflicts():
        x.spoil("near")
        with pytest.raises(mat.TornError):
            x.read("near")
    with pytest.raises(mat.TornError):
        x.read("near")


def test_a_failing_write_inside_a_reading_block_rolls_back_if_it_can(world):
    x = Whole().write("near", 1, 2)
    with x.access("near", "input") as outer, x.access("hub", "input"):
        pass
    with x.access("near", "input") as outer, mat.debug.allow_conflicts():
        x.spoil("near")
        assert x.fresh() == {"hub"}
        assert x.read("near") == [1, 2]
        assert outer.get() == [1, 2]


def test_a_write_inside_a_reading_block_commits_at_its_own_end(world):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    with x.access("near", "input"), mat.debug.allow_conflicts():
        x.write("near", 3, 4)
        assert x.fresh() == {"near"}


@pytest.mark.parametrize("fails", [False, True])
def test_the_outermost_writer_decides(world, fails):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    with ExitStack() as stack:
        if fails:
            stack.enter_context(pytest.raises(Fault))
        with x.access("near", "io") as window:
            x.spoil("near")  # its fate is that of the outer one
            assert x.fresh() == {"near", "hub"}
            assert window.get() == ["half-written", 2]
            x.write("near", 3, 4)
            if fails:
                raise Fault
    assert x.fresh() == ({"hub"} if fails else {"near"})
    assert x.read("far") == ([1, 2] if fails else [3, 4])


@pytest.mark.parametrize(("first", "second"), [*product((False, True), repeat=2)])
def test_writers_left_out_of_order(world, first, second):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    outer, inner = x.access("near", "io"), x.access("near", "io")
    outer.__enter__()
    inner.__enter__().put(3, 4)
    outer.__exit__(Fault if first else None, None, None)
    assert x.fresh() == {"near", "hub"}  # undecided while the other writes
    with pytest.raises(mat.ConflictError):
        x.read("hub2")
    inner.__exit__(Fault if second else None, None, None)
    assert x.fresh() == ({"hub"} if first or second else {"near"})
    assert x.read("far") == ([1, 2] if first or second else [3, 4])
    assert x.write("near", 5, 6).read("hub") == [5, 6]  # and nothing of it lasts


def test_a_reader_left_after_the_writer_that_began_inside(world):
    x = Whole().write("near", 1, 2)
    reader, writer = x.access("near", "input"), x.access("near", "io")
    reader.__enter__()
    with mat.debug.allow_conflicts():
        writer.__enter__().put(3, 4)
    reader.__exit__(None, None, None)
    assert in_thread(lambda: x.storage.accesses[0].direction) is IO
    writer.__exit__(None, None, None)
    assert x.fresh() == {"near"}
    assert x.read("hub") == [3, 4]


@pytest.mark.parametrize("module",
                         sorted(p.stem for p in (Path(mat.__file__).parent / "core").glob("*.py")))
def test_the_cube_knows_no_numpy(module):
    tree = ast.parse((Path(mat.__file__).parent / "core" / f"{module}.py").read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    foreign = {"numpy", "scipy", "dtypes", "mat", "storage", "facets", "ops", "cpu", "shaping",
               "settings", "create"}
    if module == "runs":  # sets of many runs are arrays of integers
        foreign -= {"numpy"}
    assert not {name.split(".")[0] for name in imported} & foreign
