"""The sample of tests that runs without ``--all``: it leaves out little that nothing else meets."""

from itertools import product
from types import SimpleNamespace

import pytest

from . import selection


@pytest.fixture(params=[False, True], ids=["sample", "all"])
def everything(request, monkeypatch):
    monkeypatch.setattr(selection, "ALL", request.param)
    return request.param


def item(nodeid, **marks):
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=marks.get)


def metafunc(*sizes, groups=None, nodeid="tests/test_it.py::test_it", **marks):
    """Return what pytest passes for a test with parameters a, b, ... of so many values each."""
    names = "abcd"[:len(sizes)]
    found = {name: SimpleNamespace(args=args) for name, args in marks.items()}
    parametrize = [SimpleNamespace(args=(group,)) for group in groups or names]
    definition = SimpleNamespace(get_closest_marker=found.get, nodeid=nodeid,
                                 iter_markers=lambda _: parametrize)
    calls = [SimpleNamespace(indices=dict(zip(names, values, strict=True)))
             for values in product(*map(range, sizes))]
    return SimpleNamespace(definition=definition, _calls=calls)


def sampled(*sizes, **options):
    """Return the indices of the parameter sets that run."""
    test = metafunc(*sizes, **options)
    selection.sample(test)
    return [tuple(call.indices.values()) for call in test._calls]


def test_slow_tests_are_left_out(everything):
    a, b = item("a"), item("b", slow=object())
    assert selection.selected([a, b]) == (([a, b], []) if everything else ([a], [b]))


def test_a_report_is_of_the_call_or_of_what_fails():
    reports = [SimpleNamespace(when=when, passed=passed) for when in ("setup", "call", "teardown")
               for passed in (True, False)]
    assert selection.told(reports) == reports[1:4] + reports[5:]


def test_one_of_so_many_parameter_sets_runs(everything):
    found = sampled(40, sample=(4,))
    assert len(found) == (40 if everything else 10)
    assert {*found} <= {(k,) for k in range(40)}
    assert found == sampled(40, sample=(4,))


def test_another_test_takes_others(monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    taken = [sampled(40, sample=(4,), nodeid=f"test_{k}") for k in range(20)]
    assert {k for found in taken for (k,) in found} == set(range(40))


def test_a_test_without_parameters_runs(everything):
    test = metafunc()
    selection.sample(test)
    assert len(test._calls) == 1


@pytest.mark.parametrize(("count", "runs"), [(1, 1), (3, 3), (8, 4), (9, 3), (30, 4), (240, 14)])
def test_one_of_some_runs_of_many_parameter_sets(count, runs, monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    assert len(sampled(count)) == runs


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("inner", [6, 7, 12, 13])
def test_a_sample_of_pairs_has_each_value_of_both(n, inner, monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    pairs = sampled(12, inner, sample=(n,))
    assert len(pairs) <= 12 * inner / n + n
    assert {x for x, _ in pairs} == set(range(12))
    assert {y for _, y in pairs} == set(range(inner))


def test_parameters_in_one_list_count_once(monkeypatch):
    monkeypatch.setattr(selection, "ALL", False)
    test = metafunc(6, groups=["a, b"], sample=(2,))
    for call in test._calls:
        call.indices["b"] = call.indices["a"]
    selection.sample(test)
    assert len(test._calls) == 3


MET = []


@pytest.mark.sample(4)
@pytest.mark.parametrize("x", range(6))
@pytest.mark.parametrize("y", range(6))
def test_this_runs_for_a_sample_of_its_parameters(x, y):
    MET.append((x, y))
    assert selection.ALL or len(MET) <= 36 / 4 + 4


def test_parts_and_numbers(everything):
    parts = [selection.part(list(range(12)), text, 3) for text in ("exp", "log", "sin", "cos")]
    assert all(len(part) == (12 if everything else 4) for part in parts)
    assert selection.part([1, 2, 3], "exp", 3) == selection.part([1, 2, 3], "exp", 3)
    assert selection.most(100, 12) == selection.examples(100) == (100 if everything else 12)
    assert selection.examples(15) == (15 if everything else 10)


def test_about_one_of_so_many_names_is_drawn():
    names = [f"tests/test_it.py::test_it[{k}]" for k in range(6000)]
    assert all(selection.is_drawn(name, 1) for name in names)
    assert 60 < sum(selection.is_drawn(name, 60) for name in names) < 140
