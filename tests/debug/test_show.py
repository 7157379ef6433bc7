"""`mat.show`: its exact output, and that it changes nothing."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import mat

from ..support.mock_memories import line, registered
from .test_printing import stale_and_fresh, state, torn


def shown(x):
    """The lines that are printed, but for the one that created `x`."""
    out = io.StringIO()
    before = state(x)
    mat.show(x, file=out)
    assert state(x) == before
    lines = out.getvalue().splitlines()
    (made,) = [text for text in lines if re.match(r"created at .*\.py:\d+$", text)]
    lines.remove(made)
    return lines


def test_show_prints_to_the_terminal(capsys):
    assert mat.show(mat.zeros(2)) is None
    assert capsys.readouterr().out.startswith("<Mat 2 - [0. 0.]>\n")
    with pytest.raises(mat.DTypeError, match="ndarray"):
        mat.show(np.zeros(2))


@pytest.mark.host
@pytest.mark.parametrize(("make", "wanted"), [
    (lambda: mat.zeros(2, 3, dtype="float32"), ["<Mat 2x3 float32 - [[0. 0. 0.] [0. 0. 0.]]>",
                                                "storage: 6 elements of float32, 24 bytes, version "
                                                "0, never written: all 0",
                                                "no copy anywhere", "not being accessed"]),
    (lambda: mat.Mat(2, "int8", fill=None, max_size=5),
     ["<Mat 0+2+3 int8 - uninitialised>", "storage: 5 elements of int8, 5 bytes, version 0, never "
                                          "written: arbitrary",
      "|" + "#" * 24 + "." * 36 + "|", "displacement 0, visible 2, slack 3", "no copy anywhere",
      "not being accessed"]),
    (lambda: mat.zeros(2).replace_([1, 2]).replace_([0, 1]).replace_([1, 1]), [
        "<Mat 2 A [1. 1.]>", "storage: 2 elements of float64, 16 bytes, version 3",
        "memory  bytes  state  facets", "host    16     fresh  array (A)", "not being accessed"]),
    (lambda: mat.from_numpy(np.arange(3.0)), ["<Mat 3 A [0. 1. 2.]>", "storage: 3 elements of "
                                                                      "float64, 24 bytes, version "
                                                                      "0",
                                              "memory  bytes  state              facets",
                                              "host    24     fresh, the user's  array (A)",
                                              "not being accessed"]),
])
def test_show(make, wanted):
    assert shown(make()) == wanted


@pytest.mark.host
def test_show_of_read_only_torn_and_kept():
    a = np.arange(2.0)
    a.flags.writeable = False
    assert shown(mat.from_numpy(a))[1] == ("storage: 2 elements of float64, 16 bytes, version 0, "
                                           "read-only")
    lines = shown(torn())
    assert re.fullmatch("torn: <Mat 2> as facet 'array' for 'io' in thread MainThread at "
                        r".*test_printing\.py:\d+ failed .*", lines[2])
    assert lines[4] == "host    16     stale  array (A)"
    x = mat.arange(2.0)
    with x.keep("host"):
        assert shown(x)[3] == "host    16     fresh, kept  array (A)"
    assert shown(x)[3] == "host    16     fresh  array (A)"


@pytest.mark.host
def test_show_names_the_block_that_accesses_it():
    x = mat.arange(2.0)
    with x.facet("foreign", "input"), x[:1].facet("array", "input"):
        lines = shown(x)
    assert lines[3] == "host    16     fresh  array (A), foreign (F)"
    where = r"for 'input' in thread MainThread at .*test_show\.py:\d+"
    assert re.fullmatch(f"accessed: <Mat 2> as facet 'foreign' {where}", lines[4])
    assert re.fullmatch(rf"accessed: <Mat 0\+1\+1> as facet 'array' {where}", lines[5])


@pytest.mark.host
def test_show_lists_every_memory_and_the_last_copies():
    with registered():
        x = stale_and_fresh()
        assert shown(x)[2:] == ["memory  bytes  state  facets", "host    32     stale  array (A)",
                                "far     32     fresh  far (R)", "not being accessed",
                                "copied: host to far, version 0"]
        x.to_numpy()
        assert shown(x)[3:5] == ["host    32     fresh  array (A)", "far     32     fresh  far (R)"]
        assert shown(x)[-1] == "copied: far to host, version 1"


@pytest.mark.host
def test_show_draws_what_is_seen_of_the_storage():
    x = mat.zeros(100)
    y = x[20:50]
    lines = shown(y)
    start = next(k for k, text in enumerate(lines) if text.startswith("storage"))
    assert lines[start + 1:start + 3] == ["|" + "." * 12 + "#" * 18 + "." * 30 + "|",
                                          "displacement 20, visible 30, slack 50"]
    assert "also seen by <Mat 100>" in lines
    z = x[10:90:2]
    assert shown(z)[start + 1:start + 3] == [
        "|" + "." * 6 + "+" * 47 + "." * 7 + "|", "displacement 10, visible 40 within 79, slack 11"]
    assert {"also seen by <Mat 20+30+50>", "also seen by <Mat 100>"} <= set(shown(z))


@pytest.mark.host
def test_show_forgets_mats_that_are_gone():
    x = mat.zeros(4)
    y = x[1:]
    y.__init__(3, displacement=1, displaced_to=x)  # once more
    assert [line for line in shown(x) if "seen by" in line] == ["also seen by <Mat 1+3+0>"]
    del y
    assert not [line for line in shown(x) if "seen by" in line]


@pytest.mark.host
def test_show_of_a_part_that_is_too_small_to_draw():
    assert shown(mat.Mat(1, displacement=10**12, max_size=10**13))[2].count("#") >= 1
    assert shown(mat.zeros(0))[1].startswith("storage: 0 elements")


def test_show_names_the_line_that_created_it():
    x, made, out = mat.zeros(2), line(), io.StringIO()
    mat.show(x, file=out)
    assert out.getvalue().splitlines()[2] == f"created at {__file__}:{made}"


def test_html_has_the_storage_below():
    x = mat.arange(10.0)
    text = x[2:5]._repr_html_()
    assert f"version {x.storage.version}" in text
    tree = ET.fromstring(text)
    assert "open" not in tree.find("details").attrib
