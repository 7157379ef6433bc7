"""The direction check: all planted bugs are found, no correct program is rejected, and what
the messages say.
"""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mat
from mat.core.observers import OBSERVERS
from mat.debug import protected_pages, snapshot
from mat.debug.direction_check import CHECK
from mat.debug.snapshot import poison, still_poisoned

from ..support.mock_memories import line
from ..support.planted_directions import BUGS, CORRECT

paged = pytest.mark.skipif(protected_pages.system() is None,
                           reason="it is about pages of memory, which cannot be protected here")
under = pytest.mark.unchecked("it is about the check itself, which is on already")


def cases():
    for function, text, device, loud, of_pages in BUGS:
        late = text == "after its end" and device == "host" and "object" not in function.__name__
        marks = [paged] if of_pages or (late and "operation" not in function.__name__) else []
        yield pytest.param(function, text, device, loud, marks=[*marks, pytest.mark.host],
                           id=function.__name__)


@pytest.mark.parametrize(("function", "text", "device", "loud"), list(cases()))
def test_planted_bugs_are_caught(request, function, text, device, loud):
    if device == "cuda":
        request.getfixturevalue("cuda")
    with pytest.raises(mat.DirectionError, match=text) as caught, mat.debug.check_directions() as c:
        function()
    assert c.faults
    assert str(caught.value) in ("; ".join(c.faults), *c.faults)


def test_there_are_many_kinds_of_them():
    assert len(BUGS) >= 60
    assert len({function.__name__ for function, *_ in BUGS}) == len(BUGS)


@under
@pytest.mark.host
@pytest.mark.parametrize("function",
                         [f for f, _, device, loud, _ in BUGS if not loud and device != "cuda"])
def test_without_the_check_the_bugs_raise_nothing(function):
    function()


@pytest.mark.host
@pytest.mark.parametrize("function", CORRECT)
def test_correct_programs_are_not_rejected(function):
    with mat.debug.check_directions() as c:
        function()
    assert c.faults == []
    assert c.accesses > 0


# Messages


def error_of(function):
    with pytest.raises(mat.DirectionError) as caught, mat.debug.check_directions():
        function()
    return str(caught.value)


@paged
@pytest.mark.host
def test_the_error_has_mat_block_elements_and_lines():
    lines = []

    def bug():
        x = mat.zeros(2, 3); lines.append(line())  # noqa: E702
        with x.facet("foreign", "input") as p:
            p.pointer[4] = 5; lines.append(line())  # noqa: E702

    text = error_of(bug)
    made, wrote = lines
    assert text == ("<Mat 2x3> as facet 'foreign' for 'input' in thread MainThread at "
                    f"{__file__}:{wrote - 1} changed what it "
                    "promised to only read, 1 element, (1, 1): 0.0 became 5.0; written at "
                    f"{__file__}:{wrote} in thread "
                    f"MainThread; the Mat was created at {__file__}:{made}")


@under
@pytest.mark.host
def test_mats_that_are_older_than_the_check():
    x, made = mat.zeros(3).fill_(1), line()

    def bug():
        with x.facet("array", "output"):
            pass

    assert error_of(bug).endswith(f"the Mat was created at {__file__}:{made}")


@paged
@pytest.mark.host
def test_a_late_use_is_reported_at_the_next_access_of_the_thread():
    with mat.debug.check_directions() as c:
        x, y = mat.zeros(3), mat.zeros(3)
        with x.facet("array") as a:
            a[:] = 1
        a[0] = 2
        late = f"was used after its end, at {re.escape(__file__)}:{line() - 1}"
        with pytest.raises(mat.DirectionError, match=late):
            y.fill_(1)
        assert y.fill_(1).tolist() == [1, 1, 1]  # reported once
        assert x.tolist() == [1, 1, 1]  # what is written there now changes nothing
    assert len(c.faults) == 1


@paged
@pytest.mark.host
def test_what_is_late_at_the_end_is_a_note_on_another_error():
    def bug():
        with mat.debug.check_directions():
            with mat.zeros(3).facet("array") as a:
                a[:] = 1
            raise KeyError(a.sum())

    with pytest.raises(KeyError) as caught:
        bug()
    assert "was used after its end" in caught.value.__notes__[0]


@pytest.mark.host
def test_too_strong():
    with mat.debug.check_directions() as c:
        x = mat.zeros(2, 3).fill_(1)
        for _ in range(2):
            with x.facet("array", "io") as a:
                a.sum()
        for k in range(2):
            with x.facet("array", "io") as a:
                a[:] = k + 1
    assert len(c.too_strong) == 1
    assert re.match(rf"<Mat 2x3> as facet 'array' for 'io' in thread MainThread at .*:{line() - 6}",
                    c.too_strong[0])
    assert "too strong: <Mat 2x3>" in repr(c)
    assert "'input' would do" in repr(c)


@pytest.mark.host
def test_blocks_that_write_inside_are_not_too_strong():
    with mat.debug.check_directions() as c:
        x = mat.ones(3)
        with x.facet("array", "io"):
            x.scal_(2)
    assert c.too_strong == []


@pytest.mark.host
def test_what_cannot_be_read_is_counted(mocks, monkeypatch):
    def refuse(*args):
        raise NotImplementedError

    x = mat.zeros(3)
    with mat.debug.check_directions() as c, x.facet("near", "input"):
        pass
    assert c.blind == 0
    monkeypatch.setattr(mocks.memory["near"], "copy_out", refuse)
    with mat.debug.check_directions() as c, x.facet("near", "input"):
        pass
    assert c.blind == 1
    assert "1 not checked" in repr(c)


@pytest.mark.host
@pytest.mark.parametrize("largest", [0, 100])
def test_large_mats_are_compared_by_digest(monkeypatch, largest):
    monkeypatch.setattr(snapshot, "LARGEST", largest)
    with mat.debug.check_directions():
        own = np.zeros(100)
        x = mat.from_numpy(own)
        x.sum()
        with pytest.raises(mat.DirectionError,
                           match="only read, its bytes"), x.facet("array", "input"):
            own[50] = 1


@pytest.mark.host
def test_the_data_is_what_the_program_left(rng):
    """The check moves memory and fills it with poison, which does not show."""
    values = rng.standard_normal((5, 4))
    with mat.debug.check_directions():
        x, y = mat.array(values), mat.empty(4, 5)
        with mat.with_facets((x, "array", "input"), (y, "foreign", "output")) as (a, p):
            for k, v in enumerate(a.T.ravel()):
                p.pointer[k] = v
        with mat.use_device("emulated"):
            y += 1
    np.testing.assert_array_equal(y.to_numpy(), values.T + 1)
    np.testing.assert_array_equal(x.to_numpy(), values)


@pytest.mark.host
def test_copies_of_the_check_do_not_count():
    with (mat.debug.check_directions(), mat.debug.count_copies() as n,
          mat.use_device("emulated") as dev):
        before = dict(dev.transfers)
        x = mat.ones(4).exp_()
        x.exp_()
        with x.facet("emulated", "io") as a:
            dev.launch(lambda v: v.fill(1), a)
        assert dev.transfers == before
    assert (n.h2d, n.d2h) == (0, 1)


# Beginning and ending


@under
def test_nothing_is_left_when_it_ends():
    x = mat.zeros(3)
    with mat.debug.check_directions():
        access = x.facet("array", "input")
        access.__enter__()
        kept = x.facet("array", "input")
        with kept as a:
            pass
    assert CHECK not in OBSERVERS
    assert CHECK._open == {}
    assert protected_pages.pages_of(x.storage.handles[mat.core.cube.host()]) is None or (
        protected_pages.pages_of(x.storage.handles[mat.core.cube.host()]).allowed
        == protected_pages.READ_WRITE)
    a.sum()
    access.__exit__(None, None, None)
    assert x.fill_(2).tolist() == [2, 2, 2]


@under
def test_one_check_inside_of_another():
    with mat.debug.check_directions() as outer:
        with mat.debug.check_directions() as inner:
            mat.ones(3).sum()
        assert CHECK in OBSERVERS
        mat.ones(3).sum()
    assert 0 < inner.accesses < outer.accesses
    assert CHECK not in OBSERVERS


PROGRAM = """
import mat
assert "DirectionError" not in dir()
x = mat.zeros(2, 3)
with x.facet("array", "output") as a:
    a[0] = 1
"""
LATE = """
import mat
x = mat.zeros(3)
with x.facet("array") as a:
    a[:] = 1
a[1] = 2
"""


def run(program, **environment):
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                           timeout=120,
                           env={**os.environ, **environment})
    return found.returncode, found.stderr


@pytest.mark.host
@pytest.mark.slow
def test_the_environment_switches_it_on():
    assert run(PROGRAM, MAT_DEBUG="") == (0, "")
    status, errors = run(PROGRAM, MAT_DEBUG="other,directions")
    assert status == 1
    assert "DirectionError: <Mat 2x3> as facet 'array' for 'output'" in errors


@paged
@pytest.mark.host
def test_what_was_not_raised_is_reported_at_exit():
    status, errors = run(LATE, MAT_DEBUG="directions")
    assert status == 0
    assert re.match("mat: what was given to <Mat 3> .* was used after its end, at <string>:6 in "
                    "thread MainThread", errors)


ON_THE_HOST = """
import ctypes, sys, threading
import mat
x = mat.zeros(2, 3, dtype="float32")
with mat.use_device("emulated") as dev:
    x += 1
    y = mat.ones(4)
    y += 1
    with x.facet("emulated", "input") as p, y.facet("emulated", "io") as q:
        address = q.address
        {use}
    {late}
{later}
"""
USES = {
    "a read": ("ctypes.c_float.from_address(p.address + 4).value", "", "",
               r"at <string>:11: byte 4 of 6 elements of float32, given to <Mat 2x3 float32> as "
               r"facet 'emulated' for 'input' in thread MainThread at <string>:9; the Mat was "
               r"created at <string>:4;"),
    "a write": ("ctypes.memset(q.address + 8, 0, 8)", "", "",
                r"at <string>:11: byte 8 of 4 elements of float64, given to <Mat 4> as facet "
                r"'emulated' for 'io' in thread MainThread at <string>:9; the Mat was created at "
                r"<string>:7;"),
    "another thread": ("t = threading.Thread(target=ctypes.memset, args=(q.address, 0, 1)); "
                       "t.start(); t.join()", "", "",
                       r"byte 0 of 4 elements of float64, given to <Mat 4> as facet"),
    "after the device": ("pass", "", "ctypes.memset(address, 0, 1)",
                         r"at <string>:13: the block there was freed;"),
    "after the block": ("pass", "ctypes.memset(address, 0, 1)", "",
                        r"at <string>:12: byte 0 of 4 elements of float64, given to no block or "
                        r"operation; the Mat was created at <string>:7;")}


@pytest.mark.sample(6)
@paged
@pytest.mark.host
@pytest.mark.parametrize(("use", "late", "later", "text"), USES.values(), ids=USES)
def test_a_crash_of_the_host_on_an_address_of_a_device_says_whose_it_is(use, late, later, text):
    program = ON_THE_HOST.format(use=use, late=late, later=later)
    status, errors = run(program, MAT_DEBUG="directions")
    assert status == -signal.SIGSEGV
    (found,) = errors.splitlines()
    assert re.search(r"^mat: the host uses 0x[0-9a-f]+, an address in the memory of emulated, ",
                     found)
    assert re.search(text, found), found
    assert run(program, MAT_DEBUG="") == (-signal.SIGSEGV, "")


CRASH = """
import ctypes, faulthandler, mat
faulthandler.enable()
with mat.debug.check_directions():
    x = mat.zeros(3)
    x.sum()
    with x.facet("array", "input"):
        ctypes.string_at(8)
"""


@paged
@pytest.mark.host
def test_other_faults_are_as_they_would_be():
    status, errors = run(CRASH)
    assert status == -11
    assert "Segmentation fault" in errors
    assert 'File "<string>", line 8' in errors


# Poison


@pytest.mark.parametrize("dtype", mat.supported_dtypes)
def test_poison_is_known_again_and_nothing_else_is(rng, dtype):
    kind = mat.zeros(1, dtype=dtype).dtype
    whole = poison(1000, kind)
    assert whole.dtype == kind
    assert still_poisoned(whole).all()
    whole[100:900] = rng.integers(0, 2, 800).astype(kind)
    found = still_poisoned(whole)
    assert found[:99].all()
    assert found[901:].all()
    assert not found[102:898].any()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16"])
def test_numbers_that_are_poison_by_chance_are_none(rng, dtype):
    for _ in range(20):
        assert not still_poisoned(rng.integers(-128 if dtype == "int8" else 0, 128,
                                                      10_000).astype(dtype)).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_short_float_there_is_has_the_poison_too(dtype):
    every = np.arange(1 << 16, dtype=np.uint16).view(mat.zeros(1, dtype=dtype).dtype)
    assert not still_poisoned(every).any()


@under
@pytest.mark.parametrize("direction", ["input", "io", "output"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_view_of_another_dtype_that_is_made_within_a_block(device, direction):
    facet = "array" if device == "cpu" else "emulated"
    with mat.debug.check_directions(), mat.use_device(device):
        x = mat.arange(8.0) + 0
        with x.facet(facet, direction) as a:
            real = x.view("complex128").real
            if direction != "input":
                x.fill_(3) if device == "emulated" else a.fill(3)
        assert real.tolist() == x.tolist()[::2]
