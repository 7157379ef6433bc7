"""The report of the benchmarks: how it is made of numbers, and that the committed one is of the
groups that there are.
"""

import json
import subprocess
import sys
from pathlib import Path
from timeit import Timer

import numpy as np
import pytest

from ..running.running import printed
from ..tools.bench import eager, functions, peers, programs, pythons, report
from ..tools.bench.__main__ import line
from ..tools.bench.peer_libraries import Libraries
from ..tools.bench.row import Goal

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "benchmarks"


def row(name, ratios, **facts):
    return {"name": name, "group": "", "against": "numpy", "limit": None, "most": None,
            "seconds": {"mat": 2e-3},
            "ratios": ratios, **facts}


def run(*rows, **environment):
    return {"environment": {"date": "2026-01-02", "machine": "abacus", **environment},
            "rows": list(rows)}


GOALS = (Goal("turns", "numpy", 0.5), Goal("turns", "torch", 0.2))
RUNS = {"first": run(row("plain", {"numpy": 2.0}), row("kept", {"numpy": 0.5}, limit=1.0),
                     row("a|b", {"copy": 1.5}, limit=1.0)),
        "second": run(row("turn", {"numpy": 0.25, "torch": 0.5}, group="turns", against="best",
                          limit=0.4),
                      row("slow", {"numpy": 1.0, "torch": 0.5}, group="turns", most=1e-3),
                      date="2026-01-03")}


@pytest.mark.parametrize(("given", "limit", "kept"), [
    (row("", {"numpy": 2.0}), "", None), (row("", {"numpy": 1.0}, limit=1.0), "1 x numpy", True),
    (row("", {"numpy": 1.01}, limit=1.0), "1 x numpy", False),
    (row("", {"torch": 1.0}, limit=1.0), "1 x numpy", None),
    (row("", {"numpy": 0.5, "torch": 2.0}, limit=1.0, against="best"), "1 x best", False),
    (row("", {}, most=1e-3), "1.00 ms", False),
    (row("", {}, most=1.0), "1.00 s", True),
    (row("", {}, limit=1.0, against="best"), "1 x best", None)])
def test_limits_are_judged(given, limit, kept):
    assert report.judged(given) == (limit, kept)


@pytest.mark.parametrize(("done", "words"), [
    (row("kept", {"scipy": 2.0, "numpy": 0.5}, limit=1.0, seconds={"mat": 2e-3, "numpy": 4e-3}),
     "kept 2.00 ms 4.00 ms 0.50 1 x numpy ok 2.00 x scipy"),
    (row("best", {"numpy": 0.5, "torch": 2.0}, limit=1.0, against="best",
         seconds={"mat": 2e-3, "torch": 1e-3}),
     "best 2.00 ms 1.00 ms 2.00 1 x best MISS 0.50 x numpy"),
    (row("absolute", {"numpy": 2.0}, most=5e-7, seconds={"mat": 5e-7, "numpy": 2.5e-7}),
     "absolute 500 ns 250 ns 2.00 500 ns ok"),
    (row("alone", {}, limit=1.0), "alone 2.00 ms - - 1 x numpy")])
def test_a_printed_line_has_both_times_the_ratio_and_the_limit(done, words):
    assert line(done).split() == words.split()


def test_interpreters_are_printed_side_by_side():
    first = run(row("kept", {"numpy": 0.5}, limit=1.0), row("time", {"numpy": 9.0}, most=1e-3),
                python="3.11.7")
    second = run(row("kept", {"numpy": 1.5}, limit=1.0), row("free", {}), python="3.13.0")
    assert [" ".join(text.split()) for text in pythons.table([first, second])] == [
        "limit 3.11.7 3.13.0", "kept 1 x numpy 0.50 ok 1.50 MISS",
        "time 1.00 ms 2.00 ms MISS -", "free - 2.00 ms"]


@pytest.mark.parametrize(("time", "text"), [(2.5, "2.50 s"), (1e-3, "1.00 ms"),
                                            (4.2e-5, "42.00 us"), (5e-8, "50 ns")])
def test_times_have_units(time, text):
    assert report.seconds(time) == text


def test_goals_are_geometric_means_over_a_group():
    found = report.reached(GOALS, RUNS["second"]["rows"])
    assert [(goal.against, round(mean, 6), kept) for goal, mean,
            kept in found] == [("numpy", 0.5, True), ("torch", 0.5, False)]
    assert report.reached(GOALS, RUNS["first"]["rows"]) == []


def test_a_page_tells_all():
    page = report.page("x.json", RUNS, GOALS, {"second": "Because.\n\n* two ways tried"},
                       ["first", "second", "third"])
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("#")] == ["# Speed on the CPU", "## Summary",
                                                                "## first", "## second"]
    for text in ("* machine: abacus", "* date: 2026-01-03", "| plain | 2.00 ms | 2.00 | |  |  |",
                 "| kept | 2.00 ms | 0.50 | | 1 x numpy | ok |",
                 "| a/b | 2.00 ms | | 1.50 | 1 x numpy |  |",
                 "| turn | 2.00 ms | 0.25 | 0.50 | 0.4 x best | MISS |",
                 "| slow | 2.00 ms | 1.00 | 0.50 | 1.00 ms | MISS |",
                 "| [second](#second) | 0 | 2 | 2026-01-03 |",
                 "| turns | 0.500 x numpy | 0.500 | ok |", "Because.",
                 "* turns: geometric mean 0.500 x torch, MISS (limit 0.200)",
                 "Not measured yet: third."):
        assert text in lines, text
    assert "not explained" not in page
    assert "not explained" in report.page("x.json", RUNS, GOALS, {}, ["second"])
    assert "Not measured yet" in report.page("x.json", {}, GOALS, {}, ["first"])


def test_a_run_of_one_group_keeps_the_others_and_the_notes(tmp_path):
    page = tmp_path / "new" / "cpu.md"
    report.write(page, RUNS, GOALS, ["first", "second"])
    (page.parent / "notes.txt").write_text("# Notes\n\ntext\n\n## second\n\nBecause.\n")
    report.write(page, {"first": run(row("other", {}))}, GOALS, ["second", "first"])
    text = page.read_text()
    assert "| other |" in text
    assert "| plain |" not in text
    assert text.index("Because.") > text.index("| slow |")
    assert set(report.kept_runs(page.with_suffix(".json"))) == {"first", "second"}
    report.write(page, {}, GOALS, ["first"])
    assert set(json.loads(page.with_suffix(".json").read_text())) == {"first"}


# What is measured


@pytest.mark.host
@pytest.mark.parametrize(("statement", "n"), [
    *((s, 10) for s in eager.TEN), *((s, 1000) for s in eager.THOUSAND), (eager.CHAIN, 1000)])
def test_statements_give_mats_and_arrays_the_same(statement, n):
    results = []
    for timer in (eager._ours(statement, n), eager._numpys(statement, n)):
        names, found = timer.inner.__globals__, {}
        exec(eager.SETUP, names, found)
        exec(statement if "= " in statement else f"value = {statement}", names, found)
        results.append(np.asarray(found.get("value", found["x"])))
        assert timer.timeit(2) > 0
    np.testing.assert_allclose(*results, rtol=1e-12)


@pytest.mark.host
@pytest.mark.parametrize(("statement", "beside"), [(s, b) for _, s, b, _ in eager.ABSOLUTE])
def test_statements_that_stand_beside_others_run(statement, beside):
    assert eager._ours(statement, 10).timeit(2) > 0 < eager._numpys(beside, 10).timeit(2)


@pytest.mark.host
@pytest.mark.parametrize("dtype", functions.DTYPES)
@pytest.mark.parametrize("statement", [*(f"xp.{f}" for f in functions.FUNCTIONS),
                                       *functions.STATEMENTS])
def test_functions_give_mats_and_arrays_the_same(statement, dtype):
    _check_row(functions.row(statement, 8, dtype), statement, functions.SETUP, "z")


@pytest.mark.host
@pytest.mark.parametrize("function", functions.CREATION)
def test_functions_that_create_give_mats_and_arrays_the_same(function):
    _check_row(functions.row_of_creation(function), f"xp.{function}", "", "given")


@pytest.mark.host
@pytest.mark.parametrize("statement", functions.LONG)
def test_statements_on_long_vectors_give_mats_and_arrays_the_same(statement):
    setup = functions.LONG[statement]
    _check_row(functions.long_row(statement), statement, setup, setup.partition(" ")[0])


def _check_row(row, statement, setup, written):
    """Compare what a statement returns, and what it may have written; then run both timers."""
    results = []
    for timer in row.competitors.values():
        names = dict(timer.inner.__globals__)
        exec(setup, names)
        if statement.startswith("for ") or " = " in statement or "+= " in statement:
            exec(statement, names)
            results.append([names[written]])
        else:
            found = eval(statement, names)
            results.append([*(found if isinstance(found, list | tuple) else [found]),
                            names[written]])
        assert timer.timeit(1) > 0
    for ours, numpys in zip(*results, strict=True):
        if numpys is None or isinstance(numpys, bytes | np.dtype):
            assert ours == numpys
            continue
        np.testing.assert_allclose(ours, numpys, rtol=1e-5)


@pytest.mark.host
def test_statements_run_on_a_device():
    for made in eager._on_device("emulated", "emulated", eager.ON_DEVICE):
        assert all(timer.timeit(1) > 0 for timer in made.competitors.values())


@pytest.mark.host
@pytest.mark.parametrize("name", [program.stem for program in programs.OTHERS])
def test_programs_print_with_mats_what_they_print_with_arrays(name, tmp_path):
    with_mat, with_numpy = (programs.written(programs.OTHERS[0].with_stem(name), package, tmp_path)
                            for package in ("mat", "numpy"))
    assert "import mat as np\n" in with_mat.read_text(encoding="utf-8")
    expected = printed(with_numpy)
    assert len(expected.splitlines()) > 1
    assert printed(with_mat) == expected


@pytest.mark.host
def test_programs_are_timed_in_new_processes_and_in_one(tmp_path):
    path = programs.written(programs.OTHERS[0], "numpy", tmp_path)
    process = programs.Process(path, "numpy")
    assert process.run() > 0 < process.run()
    spent = programs.Spent()
    spent.first(path, "numpy")
    assert spent.clock() > 0


@pytest.mark.host
def test_rows_beside_other_libraries_run_and_a_missing_one_is_named(capsys):
    names = [row.name for row in peers.rows(100, Libraries(()))
             if all(c.timeit(1) > 0 if isinstance(c, Timer) else (c(), True)
                    for c in row.competitors.values())]
    assert {"x[mask]", "pow, float64", "fftn, 1024", "x + y, 1e3, float32",
            "x + y, 1e3, float32, two threads"} <= set(names)
    assert "left out" not in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        assert Libraries(("numba",)).missing == ["numba"]


# The committed page


@pytest.fixture(scope="module")
def sections():
    done = subprocess.run([sys.executable, "-m", "tests.tools.bench", "--list"], cwd=ROOT,
                          capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_committed_report_is_of_what_is_measured(sections):
    runs = report.kept_runs(FOLDER / "cpu.json")
    page = (FOLDER / "cpu.md").read_text(encoding="utf-8")
    assert set(runs) <= set(sections), "groups that are gone: write the report --again"
    for name, measured in runs.items():
        assert f"\n## {name}\n" in page
        for done in measured["rows"]:
            name = done["name"].replace("|", "/")
            assert f"\n| {name} | {report.seconds(done['seconds']['mat'])} |" in page
    for name, text in report.notes((FOLDER / "notes.txt").read_text(encoding="utf-8")).items():
        assert name in sections, "a note on a group that does not exist"
        assert name not in runs or text in page, "write the report --again"
    missing = [name for name in sections if name not in runs]
    if missing:
        pytest.skip(f"not measured yet: {', '.join(missing)}")
