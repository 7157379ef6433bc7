"""The trace: its copies and their lines, what it finds, how it is written;
expectations and guards.
"""

import logging
import re
import sys
import threading
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import mat
from mat import ConflictError, SettingError

from ..support.needs import native

pytestmark = pytest.mark.host


def line():
    return sys._getframe(1).f_lineno


@pytest.fixture
def x():
    return mat.array(np.arange(100.0))


def test_a_copy_with_its_lines(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        y = x.copy()
        y += 1; wrote = line()  # noqa: E702
        y.to_numpy(); read = line()  # noqa: E702
    there, back = t.copies
    assert (there.source, there.target, back.source, back.target) == ("host", "emulated",
                                                                      "emulated", "host")
    assert (there.nbytes, back.mat, back.page_locked) == (800, "<Mat 100>", False)
    assert back.line == f"{__file__}:{read}"
    assert back.dirtied == f"{__file__}:{wrote}"
    assert back.created == f"{__file__}:{wrote - 1}"
    assert there.dirtied == ""
    assert 0 <= there.at <= there.at + there.seconds <= back.at
    assert (t.h2d, t.d2h, t.bytes, t.packs, t.fallbacks) == (1, 1, 1600, 0, 0)


def test_packs_allocations_evictions_and_frees(x):
    others = [mat.array(np.ones(100)) for _ in range(3)]
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=1600):
        for y in others:
            y += 1
        mat.array(np.ones((4, 5))).T.contiguous()
    kinds = [e.kind for e in t.events]
    assert kinds.count("eviction") >= 2
    assert kinds.count("pack") == t.packs == 1
    assert kinds.count("free") >= 3
    evicted = next(e for e in t.events if e.kind == "eviction")
    assert (evicted.source, evicted.nbytes) == ("emulated", 800)
    assert x.fresh == {"host"}


def test_the_table_is_by_line(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        mat.asum(x); here = line()  # noqa: E702
    header, *rows = repr(t).splitlines()
    assert header.split()[:2] == ["line", "from"]
    assert rows[0].split()[:4] == [f"{__file__}:{here}", "1", "0", "800"]


def test_nothing():
    with mat.debug.trace() as t:
        pass
    assert repr(t) == "<trace: nothing was moved>"
    assert (t.events, t.ping_pong()) == ([], [])


def test_ping_pong_is_found_with_both_lines(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        for _ in range(4):
            x += 1; there = line()  # noqa: E702
            with x.facet("array", "io") as a: back = line()  # noqa: E701
            with x.facet("array", "io") as a:
                a *= 2
    (found,) = t.ping_pong()
    assert (found.mat, found.there, found.back) == ("<Mat 100>", f"{__file__}:{there}",
                                                    f"{__file__}:{back}")
    assert found.times >= 7
    assert "moved back and forth" in repr(t)
    assert "use_device" in str(found)


def test_what_goes_once_is_no_ping_pong(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        for _ in range(4):
            x += 1
        x.to_numpy()
    assert t.ping_pong() == []


def test_mats_that_are_gone_are_not_taken_for_others(x):
    """Each Mat moves once, in turns there and back; numbers of storages were given again."""
    with mat.debug.trace() as t, mat.use_device("emulated"):
        for _ in range(4):
            mat.asum(mat.from_numpy(np.ones(100)))
            (mat.zeros(100) + 1).to_numpy()
    assert (t.h2d, t.d2h) == (4, 4)
    assert len({e.storage for e in t.copies}) == 8
    assert t.ping_pong() == []


def test_other_threads_are_in_it(x):
    def work():
        with mat.use_device("emulated"):
            mat.asum(x)

    with mat.debug.trace() as t:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert t.h2d == 1
    assert thread.name in {e.thread for e in t.operations}
    assert f"{thread.name}</div>" in t._repr_html_()


def test_the_page_has_the_lanes_of_the_file_for_viewers(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        (x[::2] + 1).to_numpy()
    one = next(e for e in t.copies if e.target == "emulated")
    t.events.append(one._replace(at=one.at + one.seconds / 2))  # as of another thread
    found = sorted((e["tid"], e["args"]["name"]) for e in t.chrome()["traceEvents"]
                   if e["name"] == "thread_name")
    names = [name for _, name in found]
    assert {"MainThread", "emulated", "emulated (2)", "host"} <= set(names)
    assert re.findall(r'class="mat-lane"[^>]*>([^<]*)<', t._repr_html_()) == names


def test_the_page_needs_no_network_and_is_well_formed(x, tmp_path):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        (x + x).to_numpy()
    t.save(tmp_path / "t.html")
    text = (tmp_path / "t.html").read_text()
    assert "http" not in text.replace("http://www.w3.org", "")
    svg = ElementTree.fromstring(text[text.index("<svg"):text.index("</svg>") + 6])
    assert len(svg.findall("rect")) == len(t.events) + len(t.operations)
    assert "&lt;Mat 100&gt;" in text


def test_what_a_notebook_shows_styles_nothing_else(x):
    with mat.debug.trace() as t, mat.use_device("emulated"):
        (x + x).to_numpy()
    text = t._repr_html_()
    style = text[text.index("<style>") + 7:text.index("</style>")]
    rules = [rule.split("{")[0] for rule in style.split("}") if rule]
    assert rules
    assert all(rule.startswith(".mat-trace ") for rule in rules)
    assert text.count('class="mat-trace"') == 1


def test_the_drawing_has_any_width_and_the_colours_of_the_page(x):
    """That it looks well is measured in a browser, by test_in_browser.py."""
    with mat.debug.trace() as t, mat.use_device("emulated"):
        (x + x).to_numpy()
    text = t._repr_html_()
    svg = ElementTree.fromstring(text[text.index("<svg"):text.index("</svg>") + 6])
    width = float(svg.get("viewBox").split()[2])
    assert "width" not in svg.attrib
    assert "currentColor" in text
    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in svg.findall("rect")]
    assert max(ends) == pytest.approx(width, abs=0.1)  # the last event ends where the axis does
    drawn = sorted([*t.events, *t.operations], key=lambda e: e.at)
    times = [drawn[0].at, max(e.at + e.seconds for e in drawn)]
    assert text.count(f"<span>{1e3 * times[0]:.3f} ms</span>") == 1
    assert text.count(f"<span>{1e3 * times[1]:.3f} ms</span>") == 1


def test_an_empty_trace_is_shown_too():
    with mat.debug.trace() as t:
        pass
    assert "nothing was moved" in t._repr_html_()


def test_the_timeline_has_the_copies_of_the_next_tile_beside_the_operation():
    x = mat.from_numpy(np.ones((100, 1000)))
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=100_000):
        x += 1.0
    assert len(t.operations) > 8
    assert [e.mat for e in t.operations[:2]] == ["add, tile 1", "add, tile 2"]
    assert {e.source for e in t.operations} == {"emulated"}
    beside = [c for c in t.copies for o in t.operations
              if c.target == "emulated" and c.at < o.at < c.at + c.seconds]
    assert len(beside) > 4


def test_expected_copies(x):
    with mat.debug.expect_copies(h2d=1, d2h=0, packs=0, fallbacks=0), mat.use_device("emulated"):
        mat.asum(x)
    with pytest.raises(AssertionError, match=r"h2d was 0, expected 2(.|\n)*nothing was moved"), \
            mat.debug.expect_copies(h2d=2):
        pass


def test_the_error_of_the_block_comes_first():
    with pytest.raises(KeyError), mat.debug.expect_copies(h2d=2):
        raise KeyError


def test_guarded_operations_do_not_copy_on_their_own(x):
    with mat.use_device("emulated"), mat.debug.guard("raise"):
        with pytest.raises(ConflictError, match=r"800 bytes from host to emulated; .*prefetch"):
            mat.sum(x)
        assert x.fresh == {"host"}
        with mat.prefetch(to_device=[x]):
            pass
        total = mat.sum(x)
        with pytest.raises(ConflictError, match="waits for the result of asum"):
            mat.asum(x)
        with x.facet("array", "io") as a:  # explicit
            a += 1
        with pytest.raises(ConflictError):
            mat.sum(x)
    assert total == 4950
    assert mat.asum(x) == 5050


def test_guards_that_log_or_allow(x, caplog):
    with caplog.at_level(logging.WARNING, "mat"), mat.use_device("emulated"):
        with mat.debug.guard("allow"):
            mat.asum(x)
        assert not caplog.records
        x.drop("emulated")
        with mat.debug.guard("log"):
            mat.asum(x)
        assert "copies 800 bytes from host to emulated" in caplog.text
    with pytest.raises(SettingError, match="'allow', 'log' or 'raise'"), mat.debug.guard("forbid"):
        pass


def test_the_bytes_in_each_memory_are_drawn_over_the_time():
    x = mat.ones(1000)
    with mat.debug.trace() as t, mat.use_device("emulated"):
        y = x + x
        y.drop("emulated", force=True)
        mat.ones(10).to_numpy()
    text = t._repr_html_()
    titles = re.findall(r'aria-label="(\w+): ([-\d,]+) to ([\d,]+) bytes', text)
    assert [name for name, _, _ in titles] == ["emulated", "host"]
    most = {name: high for name, _, high in titles}
    steps = [e.nbytes for e in t.events if e.kind == "allocation" and e.target == "emulated"]
    assert most["emulated"] == f"{sum(steps):,}"
    path = re.findall(r' d="(M0 [^"]*)"', text)[0]
    assert path.count("V") - 1 == sum(e.kind in ("allocation", "free") and "emulated" in
                                      (e.target, e.source) for e in t.events)


@native  # without compiled programs nothing is fused
@pytest.mark.host
def test_passes_are_printed():
    x = mat.ones(20_000)
    with mat.debug.trace() as t:
        for _ in range(3):
            with mat.fused():
                y = x * 2 + x
        y.sum()
    text = repr(t)
    assert text.count("one pass of 2 operations") == 1
    assert re.search(r"one pass of 2 operations of line \d+, 1 operand, 1 result, 3 times: ", text)
    t.events.clear()
    assert repr(t).startswith("<trace: nothing was moved>\none pass")
