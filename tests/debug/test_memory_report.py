"""The memory report: bytes by memory, by Mat and by creating line; that nothing is accessed."""

import gc

import pytest

import mat

from ..support.mock_memories import line

pytestmark = pytest.mark.host


def rows_of(report, *mats):
    labels = [x.label() for x in mats]
    return [row for row in report.by_mat if row.label in labels]


def test_live_bytes_by_memory_and_mat():
    gc.collect()
    before = mat.memory_report().by_memory["host"]["live"]
    x, y, never = mat.zeros(12_345).exp_(), mat.zeros(11, 13).exp_(), mat.zeros(77_777)
    report = mat.memory_report()
    assert report.by_memory["host"]["live"] - before == x.nbytes + y.nbytes
    assert [row.nbytes for row in rows_of(report, x, y)] == [x.nbytes, y.nbytes]
    assert not rows_of(report, never)
    assert (never.fresh, x.fresh, x.storage.accesses) == (set(), {"host"}, [])


def test_lines_are_noted_of_every_mat():
    made = [mat.zeros(12_345).fill_(1), mat.ones(12_346) + 1, mat.array(range(12_347)),
            mat.concat([mat.ones(12_348)] * 2, 0).copy()]; here = line()  # noqa: E702
    report = mat.memory_report()
    for x in made:
        (row,) = rows_of(report, x)
        file, _, found = row.line.rpartition(":")
        assert file == __file__
        assert here - 1 <= int(found) <= here
        assert report.by_line[row.line] >= x.nbytes


def test_lines_of_functions_that_are_called_in_turns():
    def one():
        return mat.ones(12_349) + 1

    def other():
        return mat.ones(12_349) + 1

    made = [f() for _ in range(300) for f in (one, other)]
    lines = [x.storage.made[0] for x in made]
    assert lines == [one.__code__, other.__code__] * 300


def test_lines_are_noted_on_a_device():
    with mat.use_device("emulated"):
        x = mat.zeros(12_345) + 1
        report = mat.memory_report()
        (row,) = rows_of(report, x)
        assert row.memories == row.fresh == ("emulated",)
        assert "test_memory_report.py:" in row.line
        assert report.by_line[row.line] >= x.nbytes


def test_stale_copies_are_distinguished_from_fresh_ones():
    x = mat.zeros(12_345).exp_()
    with mat.use_device("emulated"):
        x += 1
        (row,) = rows_of(mat.memory_report(), x)
        assert (row.memories, row.fresh) == (("host", "emulated"), ("emulated",))


def test_what_is_cached_and_limited():
    with mat.use_device("emulated", pool_bytes=5000):
        x = mat.zeros(100) + 1
        x.drop("emulated", force=True)
        y = mat.zeros(10) + 1
        facts = mat.memory_report().by_memory["emulated"]
        assert (facts["limit"], facts["cached"]) == (5000, 1600)  # of x, and of the zeros
        assert facts["live"] >= y.nbytes
    mat.scratch.clear()
    mat.trim()
    with mat.scratch(1000) as t:
        t.fill_(0)
    assert mat.memory_report().by_memory["host"]["cached"] == 8000
    mat.scratch.clear()


def test_page_locked_bytes(cuda):
    before = mat.memory_report().by_memory["host"]["page_locked"]
    with mat.use_device("cuda"), mat.settings(page_locked=True):
        x = mat.zeros(100_000).fill_(1)
        with x.facet("array", "input"):
            assert mat.memory_report().by_memory["host"]["page_locked"] - before >= x.nbytes
    assert mat.memory_report().by_memory["emulated"]["page_locked"] is None


def test_it_prints():
    x = mat.zeros(12_345).exp_()
    text = repr(mat.memory_report())
    assert "memory" in text
    assert x.label() in text
    short = repr(mat.memory_report(verbose=False))
    assert "\n" not in short
    assert "host" in short
    page = mat.memory_report()._repr_html_()
    assert "<table>" in page
    assert "&lt;Mat 12345&gt;" in page
