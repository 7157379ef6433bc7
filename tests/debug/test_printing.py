"""The text of a Mat at a prompt, in a notebook and under a format; and that printing it
moves nothing.
"""

import io
import threading
import tracemalloc
import xml.etree.ElementTree as ET
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

import mat

from ..support.mock_memories import registered


def stale_and_fresh():
    """Fresh in far only, stale on the host."""
    x = mat.array([[1.0, 2], [3, 4]])
    with x.facet("far", "io"):
        pass
    return x


def torn():
    x = mat.zeros(2).replace_([1, 1])
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        1 / 0  # noqa: B018
    return x


def accessed_through(*facets):
    x = mat.arange(2.0)
    for facet in facets:
        with x.facet(facet, "input"):
            pass
    return x


def state(x):
    """All that printing must leave alone."""
    s = x.storage
    return (s.fresh, s.seen, s.version, s.torn, s.pristine, s.writer, tuple(s.accesses),
            {m: id(h) for m, h in s.handles.items()},
            x.layout, dict(x.facets), s.history and list(s.history))


# Exact texts


@pytest.mark.parametrize(("make", "text"), [
    (lambda: mat.zeros(2, 3), "<Mat 2x3 - [[0. 0. 0.] [0. 0. 0.]]>"),
    (lambda: mat.full((), 2.5), "<Mat () - 2.5>"),
    (lambda: mat.full((), 2.5).replace_(3), "<Mat () A 3.>"),
    (lambda: mat.zeros(0), "<Mat 0 - []>"),
    (lambda: mat.zeros(0, 3), "<Mat 0x3 - []>"),
    (lambda: mat.zeros(2, 0), "<Mat 2x0 - []>"),
    (lambda: mat.ones(1, 1, 1), "<Mat 1x1x1 - [[[1.]]]>"),
    (lambda: mat.array([[1.0, 2, 4], [0, 0, 0]]), "<Mat 2x3 A [[1. 2. 4.] [0. 0. 0.]]>"),
    (lambda: mat.array([1.5, -100]), "<Mat 2 A [1.5 -100.]>"),
    (lambda: mat.array([10, 2.25]), "<Mat 2 A [10. 2.25]>"),
    (lambda: mat.array([np.nan, np.inf]), "<Mat 2 A [nan inf]>"),
    (lambda: mat.arange(3.0)[::-1], "<Mat 3 strides (-1,) A [2. 1. 0.]>"),
    (lambda: mat.ones(2, dtype="float32"), "<Mat 2 float32 - [1. 1.]>"),
    (lambda: mat.array([1, 0], "bool"), "<Mat 2 bool A [True False]>"),
    (lambda: mat.array([1, 10], "int8"), "<Mat 2 int8 A [1 10]>"),
    (lambda: mat.array([1 + 2j], "complex128"), "<Mat 1 complex128 A [1.+2.j]>"),
    (lambda: mat.empty(2, 2), "<Mat 2x2 - uninitialised>"),
    (torn, "<Mat 2 a torn>"),
    (lambda: torn()[:1], "<Mat 0+1+1 a torn>"),
    (lambda: torn().accept_torn(), "<Mat 2 A [1. 1.]>"),
    # displacement, slack, strides
    (lambda: mat.Mat((2, 2), displacement=1, max_size=14), "<Mat 1+2x2+9 - [[0. 0.] [0. 0.]]>"),
    (lambda: mat.Mat(2, max_size=3), "<Mat 0+2+1 - [0. 0.]>"),
    (lambda: mat.Mat(2, displacement=3), "<Mat 3+2+0 - [0. 0.]>"),
    (lambda: mat.Mat((), displacement=3), "<Mat 3+()+0 - 0.>"),
    (lambda: mat.Mat(0, max_size=4), "<Mat 0+0+4 - []>"),
    (lambda: mat.arange(4.0).reshape(2, 2).T, "<Mat 2x2 strides (1, 2) A [[0. 2.] [1. 3.]]>"),
    (lambda: mat.arange(6.0)[::-2], "<Mat 5+3+0 strides (-2,) A [5. 3. 1.]>"),
    (lambda: mat.arange(9.0).reshape(3, 3)[1:, ::2], "<Mat 3+2x2+0 strides (3, 2) A [[3. 5.] [6. "
                                                   "8.]]>"),
    (lambda: mat.arange(2.0).broadcast_to(2, 2), "<Mat 0+2x2+0 strides (0, 1) A [[0. 1.] "
                                                  "[0. 1.]]>"),
    (lambda: mat.arange(4.0)[1:2].broadcast_to(2, 3), "<Mat 1+2x3+2 strides (0, 0) A [[1. 1. 1.] "
                                                       "[1. 1. 1.]]>"),
    # facets
    (lambda: accessed_through(), "<Mat 2 A [0. 1.]>"),
    (lambda: accessed_through("foreign", "backing"), "<Mat 2 ABF [0. 1.]>"),
    (lambda: accessed_through("foreign")[1:], "<Mat 1+1+0 AF [1.]>"),
    (lambda: mat.from_numpy(np.zeros(1)), "<Mat 1 A [0.]>"),
])
def test_repr(make, text):
    x = make()
    before = state(x)
    assert repr(x) == text
    shown = text if x.ndim else str(float(text.split()[-1][:-1]))
    assert str(x) == shown
    assert f"{x}" == shown
    assert state(x) == before


def test_bfloat16_prints():
    pytest.importorskip("ml_dtypes")
    assert repr(mat.array([1.5, 2], "bfloat16")) == "<Mat 2 bfloat16 A [1.5 2]>"


def test_the_dtype_shows_where_it_is_not_the_default():
    x, y = mat.ones(1), mat.ones(1, dtype="float32")
    assert (repr(x), repr(y)) == ("<Mat 1 - [1.]>", "<Mat 1 float32 - [1.]>")
    with mat.settings(dtype="float32"):
        assert (repr(x), repr(y)) == ("<Mat 1 float64 - [1.]>", "<Mat 1 - [1.]>")


def test_settings_leave_out_facets_and_contents():
    x = mat.arange(2.0)
    with mat.settings(print_facets=False):
        assert repr(x) == "<Mat 2 [0. 1.]>"
    with mat.settings(print_contents=False):
        assert repr(x) == "<Mat 2 A>"
    with mat.settings(print_contents=False, print_facets=False):
        assert repr(x) == "<Mat 2>"
        assert repr(x.astype("int8")) == "<Mat 2 int8>"


def test_long_contents_stand_below_the_head():
    elements = np.array2string(np.arange(30.0) + 100, prefix=" ")
    assert repr(mat.from_numpy(np.arange(30.0) + 100)) == f"<Mat 30 A\n {elements}>"
    x = mat.ones(2, 3, 4)
    elements = np.array2string(np.ones((2, 3, 4)), prefix=" ")
    assert repr(x) == f"<Mat 2x3x4 -\n {elements}>"
    assert all(line.startswith(" ") for line in repr(x).splitlines()[1:] if line)


def test_big_ones_are_summarised():
    x = mat.zeros(40, 60)
    elements = np.array2string(np.zeros((40, 60)), prefix=" ")
    assert repr(x) == f"<Mat 40x60 -\n {elements}>"
    assert repr(x).count("...") == 7
    assert repr(mat.zeros(2000)) == "<Mat 2000 - [0. 0. 0. ... 0. 0. 0.]>"


def test_numpys_print_options_hold():
    x = mat.array([1 / 3, 1e-9])
    with np.printoptions(precision=3, suppress=True):
        assert repr(x) == "<Mat 2 A [0.333 0.]>"
    with np.printoptions(formatter={"float": "{:.1f}".format}):
        assert repr(x) == "<Mat 2 A [0.3 0.0]>"
    with np.printoptions(threshold=4, edgeitems=1):
        assert repr(mat.arange(9.0)) == "<Mat 9 A [0. ... 8.]>"
        assert repr(mat.arange(4.0)) == "<Mat 4 A [0. 1. 2. 3.]>"
    with np.printoptions(linewidth=20):
        assert repr(mat.arange(3.0)) == "<Mat 3 A [0. 1. 2.]>"
        assert max(map(len, repr(mat.arange(12.0)).splitlines())) <= 21
    with np.printoptions(nanstr="NO"):
        assert repr(mat.full(1, np.nan)) == "<Mat 1 - [NO]>"


# Letters, and other memories


def test_letters_are_capital_where_fresh():
    with registered():
        x = mat.arange(2.0)
        assert repr(x) == "<Mat 2 A [0. 1.]>"
        with x.facet("far", "input"):
            pass
        assert repr(x) == "<Mat 2 AR [0. 1.]>"
        with x.facet("far", "io") as a:
            a += 5
        assert repr(x) == "<Mat 2 aR [5. 6.]>"
        with x.facet("near", "input"), x.facet("backing", "input"):
            pass
        assert repr(x) == "<Mat 2 ABNR [5. 6.]>"
        x.drop("far")
        assert repr(x) == "<Mat 2 ABN [5. 6.]>"
        x.replace_([1, 1])
        assert repr(x) == "<Mat 2 ABn [1. 1.]>"
        x.close()
        assert repr(x) == "<Mat 2 - [0. 0.]>"


def test_a_mat_fresh_elsewhere_prints_from_a_temporary_copy():
    with registered() as world:
        x = stale_and_fresh()
        view = x.T[:1]
        before, held = state(x), world.held()
        with mat.debug.count_copies() as copies, mat.debug.count_allocations() as made:
            assert repr(x) == "<Mat 2x2 aR [[1. 2.] [3. 4.]]>"
            assert repr(view) == "<Mat 0+1x2+1 strides (1, 2) aR [[1. 3.]]>"
            assert "<td>4.</td>" in x._repr_html_()
            mat.show(x, file=io.StringIO())
        assert (copies.h2d, copies.d2h, made.count) == (0, 0, 0)
        assert state(x) == before
        assert world.held() == held
        x.drop("host")
        before = state(x)
        assert repr(x) == "<Mat 2x2 R [[1. 2.] [3. 4.]]>"
        assert state(x) == before
        assert x.fresh == {"far"}


def test_printing_without_contents_copies_nothing_at_all():
    with registered() as world:
        x = stale_and_fresh()
        steps = list(world.log.steps)
        with mat.settings(print_contents=False):
            assert repr(x) == "<Mat 2x2 aR>"
        assert world.log.steps == steps


@pytest.mark.unchecked("a block for output is given poison")
@pytest.mark.parametrize("direction", ["input", "output", "io"])
@pytest.mark.parametrize("facet", ["array", "backing", "foreign"])
def test_a_mat_that_is_being_accessed_prints_its_elements(facet, direction):
    x = mat.arange(2.0)
    with x.facet(facet, direction):
        if direction != "input":
            np.frombuffer(x.storage.handles[x.storage.fresh_memories()[0]])[0] = 7
        before = state(x)
        elements = "[0. 1.]" if direction == "input" else "[7. 1.]"
        assert f" {elements}>" in repr(x)
        assert f" {elements}>" in repr(x.view(2))
        assert state(x) == before


def test_a_mat_being_written_for_the_first_time_prints():
    x = mat.zeros(2)
    with x.facet("array", "output") as a:
        a[:] = 4
        before = state(x)
        assert repr(x) == "<Mat 2 a [4. 4.]>"
        assert state(x) == before
    assert repr(x) == "<Mat 2 A [4. 4.]>"


def test_printing_in_another_thread_while_it_is_written():
    x = mat.arange(2.0)
    texts = []
    with x.facet("array", "io"):
        thread = threading.Thread(target=lambda: texts.append(repr(x)))
        thread.start()
        thread.join(20)
    assert texts == ["<Mat 2 A [0. 1.]>"]


@pytest.mark.host
@pytest.mark.parametrize("make", [
    lambda: mat.zeros(3000, 1000), lambda: mat.ones(3000, 1000).fill_(2),
    lambda: mat.zeros(3000, 1000).fill_(1).T,
    lambda: mat.zeros(3000, 1000).fill_(1)[::2, ::-3], lambda: mat.zeros(3000000).fill_(1),
    lambda: mat.ones(1).fill_(1).broadcast_to(3000, 1000),
    lambda: mat.empty(3000, 1000), lambda: mat.zeros(3000, 1000, dtype="int8").fill_(1),
])
@pytest.mark.sample(4)
def test_printing_a_big_mat_takes_little_memory(make):
    x = make()
    before = state(x)
    repr(x)
    tracemalloc.start()
    try:
        repr(x)
        x._repr_html_()
        mat.show(x, file=io.StringIO())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000
    assert state(x) == before


# Notebooks and IPython


def parsed(x):
    text = x._repr_html_()
    tree = ET.fromstring(text.replace("&hellip;", "\u2026"))
    return tree if tree.tag == "table" else tree.find("table")


def cells(tree):
    return [["".join(td.itertext()) for td in tr] for tr in tree.iter("tr")]


def test_html_of_matrices_and_vectors():
    tree = parsed(mat.array([[1, 2.5], [3, 4]]))
    assert tree.tag == "table"
    assert "".join(tree.find("caption").itertext()) == "Mat 2x2 A"
    assert cells(tree) == [["1.", "2.5"], ["3.", "4."]]
    assert cells(parsed(mat.arange(3.0))) == [["0.", "1.", "2."]]
    assert cells(parsed(mat.ones(1, 2, dtype="int8"))) == [["1", "1"]]
    assert cells(parsed(mat.array([True], "bool"))) == [["True"]]


def test_html_shows_the_edges_of_what_is_big():
    tree = parsed(mat.arange(10000.0).reshape(100, 100))
    rows = cells(tree)
    assert [len(r) for r in rows] == [7] * 7
    assert rows[0] == ["0.", "1.", "2.", "\u2026", "97.", "98.", "99."]
    assert rows[3] == ["\u2026"] * 7
    assert rows[-1][-1] == "9999."
    with np.printoptions(edgeitems=1):
        assert len(cells(parsed(mat.zeros(100, 100)))) == 3


@pytest.mark.parametrize(("make", "caption", "text"), [
    (lambda: mat.full((), 3.0), "Mat () -", "3."), (torn, "Mat 2 a", "torn"),
    (lambda: mat.empty(2), "Mat 2 -", "uninitialised"),
    (lambda: mat.ones(1, 1, 2), "Mat 1x1x2 -", "[[[1. 1.]]]"),
    (lambda: mat.Mat(1, displacement=2), "Mat 2+1+0 -", "0."),
    (lambda: mat.zeros(0), "Mat 0 -", ""), (lambda: mat.zeros(3, 0), "Mat 3x0 -", ""),
    (lambda: mat.zeros(0, 3), "Mat 0x3 -", ""),
])
def test_html_of_the_others(make, caption, text):
    tree = parsed(make())
    assert "".join(tree.find("caption").itertext()) == caption
    assert "".join("".join(row) for row in cells(tree)) == text


def test_html_without_contents():
    with mat.settings(print_contents=False):
        text = "".join(parsed(mat.ones(2, 2)).itertext())
    assert text == "Mat 2x2 -"


def test_html_escapes():
    with np.printoptions(formatter={"float": lambda v: "<&>"}):
        assert cells(parsed(mat.ones(1))) == [["<&>"]]
        assert "<&>" in "".join(parsed(mat.ones(1, 1, 1)).itertext())


def test_pretty_printing_is_the_repr():
    x, texts = mat.arange(2.0), []
    x._repr_pretty_(SimpleNamespace(text=texts.append), False)
    assert "".join(texts) == repr(x)


def test_ipythons_own_printer():
    pretty = pytest.importorskip("IPython.lib.pretty")
    x = mat.arange(2.0)
    assert pretty.pretty(x) == repr(x)
    assert repr(x) in pretty.pretty([x])
    assert repr(x) in pretty.pretty(OrderedDict(a=x))


def test_what_ipython_probes_for_is_not_there():
    x = mat.zeros(2, 2)
    for name in ("_ipython_canary_method_should_not_exist_", "_repr_svg_", "_repr_mimebundle_",
                 "__array_struct__"):
        assert not hasattr(x, name)
    assert x.fresh == set()
    for name in {*dir(x)} - {"data", "ctypes"}:  # which are exports
        getattr(x, name, None)  # __cuda_array_interface__ is there only while a GPU has the data
    assert x.fresh == set()
    assert x.storage.handles == {}


# Formats


@pytest.mark.parametrize(("make", "spec", "text"), [
    (lambda: mat.array([1, 2.345]), ".2f", "[1.00 2.35]"),
    (lambda: mat.arange(4.0).reshape(2, 2), ".1f",
     "[[0.0 1.0]\n [2.0 3.0]]"),
    (lambda: mat.full((), 2.5), "+.1e", "+2.5e+00"),
    (lambda: mat.array([1, 20], "int32"), "03d", "[001 020]"),
    (lambda: mat.array([True, False], "bool"), "d", "[1 0]"),
    (lambda: mat.array([1 + 2j], "complex64"), ".1f", "[1.0+2.0j]"),
    (lambda: mat.zeros(0), ".2f", "[]"), (lambda: mat.arange(2.0), ">6.1f", "[   0.0    1.0]"),
    (lambda: mat.arange(3.0)[::-1], ".0f", "[2 1 0]"),
])
def test_format_specs_apply_to_every_element(make, spec, text):
    assert format(make(), spec) == text


def test_format_summarises_and_refuses():
    assert f"{mat.arange(2000.0):.0f}" == "[0 1 2 ... 1997 1998 1999]"
    with pytest.raises(ValueError, match="format"):
        format(mat.arange(2.0), "nonsense")
    with pytest.raises(mat.TornError):
        format(torn(), ".2f")


@pytest.mark.host
def test_reports_count_one_thing_in_the_singular():
    with mat.debug.watch(np.ones(2)) as watch:
        pass
    assert repr(watch) == "<watch: 1 array, 0 faults>"
    with mat.use_device("emulated"), mat.debug.count_copies() as copies:
        np.i0(mat.ones(2) + 1)
    assert "; 1 operation fell back to the host" in repr(copies)
    assert "0 packed operands" in repr(copies)
    shown = io.StringIO()
    mat.show(mat.ones(1, dtype="int8"), file=shown)
    assert "storage: 1 element of int8, 1 byte, version 0" in shown.getvalue()
