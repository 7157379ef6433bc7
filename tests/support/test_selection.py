"""The sample of tests that runs without ``--all``: it leaves out little that nothing else meets."""

from types import SimpleNamespace

import pytest

from . import selection


@pytest.fixture(params=[False, True], ids=["sample", "all"])
def everything(request, monkeypatch):
    monkeypatch.setattr(selection, "ALL", request.param)
    return request.param


def item(nodeid, indices=None, **marks):
    found = {name: SimpleNamespace(args=args) for name, args in marks.items()}
    parametrize = [SimpleNamespace(args=(name,)) for name in indices or ()]
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=found.get,
                           callspec=SimpleNamespace(indices=indices),
                           iter_markers=lambda name: parametrize)


def names(items):
    return [item.nodeid for item in items]


def test_slow_tests_are_left_out(everything):
    items = [item("a"), item("b", slow=())]
    chosen, left_out = selection.selected(items)
    assert names(chosen) == (["a", "b"] if everything else ["a"])
    assert names(left_out) == ([] if everything else ["b"])


def test_one_of_so_many_parameter_sets_runs(everything):
    items = [item(f"{test}[{k}]", {"k": k}, sample=(4,)) for test in "ab" for k in range(40)]
    chosen, left_out = selection.selected(items)
    assert len(chosen) == (80 if everything else 20)
    assert sorted(names(chosen) + names(left_out)) == sorted(names(items))
    assert names(chosen)[0] == "a[0]"


@pytest.mark.parametrize(("count", "runs"), [(1, 1), (8, 8), (9, 3), (30, 5), (240, 20)])
def test_one_of_some_runs_of_many_parameter_sets(count, runs, monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    items = [item(f"a[{k}]", {"k": k}) for k in range(count)]
    assert len(selection.selected(items)[0]) == runs


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("inner", [6, 7, 12, 13])
def test_a_sample_of_pairs_has_each_value_of_both(n, inner, monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    items = [item(f"{x} {y}", {"x": x, "y": y}, sample=(n,)) for x in range(12)
             for y in range(inner)]
    pairs = [name.split() for name in names(selection.selected(items)[0])]
    assert {x for x, _ in pairs} == set(map(str, range(12)))
    assert {y for _, y in pairs} == set(map(str, range(inner)))


def test_parameters_in_one_list_count_once(monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    items = [item(str(k), {"x": k, "y": k, "f": 0}, sample=(2,)) for k in range(6)]
    for one in items:
        one.iter_markers = lambda name: [SimpleNamespace(args=("x, y",))]
    assert names(selection.selected(items)[0]) == ["0", "2", "4"]


def test_parts_and_numbers(everything):
    parts = [selection.part(list(range(12)), text, 3) for text in ("exp", "log", "sin", "cos")]
    assert all(len(part) == (12 if everything else 4) for part in parts)
    assert selection.part([1, 2, 3], "exp", 3) == selection.part([1, 2, 3], "exp", 3)
    assert selection.most(100, 20) == selection.examples(100) == (100 if everything else 20)
    assert selection.examples(15) == (15 if everything else 12)


def test_bytecode_is_not_written_beside_the_sources(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "before")
    folder = selection.share_bytecode()
    assert selection.os.environ["PYTHONPYCACHEPREFIX"] == folder.name
    assert "PYTHONDONTWRITEBYTECODE" not in selection.os.environ
    assert selection.share_bytecode() is None
    folder.cleanup()
