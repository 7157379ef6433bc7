"""Accesses to Mats: views, joined directions, operations in progress, torn data under the settings;
beside mat's real host two more memories are registered.
"""

import io
import threading
import warnings
from contextlib import ExitStack, suppress

import numpy as np
import pytest

import mat
from mat.core.source_line import file_and_line
from mat.extend import Input, op
from mat.ops.engine.operation import REGISTRY

from ..support.mock_memories import Fault, line


def spoil(x, facet):
    """Write an element and fail."""
    with suppress(Fault), x.facet(facet) as a:
        a[0] = 9
        raise Fault


def test_partial_output_is_io(mocks):
    x = mat.zeros(4)
    with x.facet("near", "output") as a:
        a[:] = 1, 2, 3, 4
    with x[1:3].facet("array", "output") as a:
        np.testing.assert_array_equal(a, [2, 3])
        a[:] = 7
    assert x.fresh == {"host"}
    np.testing.assert_array_equal(x.to_numpy(), [1, 7, 7, 4])


@pytest.mark.parametrize("facet", ["array", "foreign", "near"])
@pytest.mark.parametrize("direction", ["output", "io"])
def test_writing_no_element_changes_nothing(mocks, facet, direction):
    x = mat.arange(4.0)
    with x.facet("near", "input"), x.facet("array", "input"):
        pass
    fresh = set(x.fresh)
    assert len(fresh) == 2
    with x[2:2].facet(facet, direction) as a:
        if facet == "array":
            a[:] = 7  # it is writable
    with suppress(Fault), x[2:2].facet(facet, direction):
        raise Fault
    assert x.fresh == fresh
    assert x.tolist() == [0, 1, 2, 3]


def torn_mat():
    x = mat.full(3, 5.0).fill_(1)
    spoil(x, "array")
    return x


@pytest.mark.host
def test_output_heals_what_it_overwrites():
    x = torn_mat()
    assert "torn" in repr(x)
    with pytest.raises(mat.TornError):
        x[:2].facet("array", "io").__enter__()
    x[:2].fill_(2)
    np.testing.assert_array_equal(x[:2].to_numpy(), [2, 2])
    with pytest.raises(mat.TornError):
        x.to_numpy()
    assert "torn" in repr(x)
    np.testing.assert_array_equal(x.fill_(3).to_numpy(), [3, 3, 3])


def refused(x):
    """Return whether reading is an error."""
    try:
        x.to_numpy()
    except mat.TornError:
        return True
    return False


@pytest.mark.host
@pytest.mark.parametrize("policy", ["warn", "ignore"])
def test_under_the_settings_torn_data_is_read_and_stays_torn_for_others(policy):
    x, found = torn_mat(), []
    others = threading.Thread(target=lambda: found.append(refused(x)))
    with warnings.catch_warnings(record=True) as said, mat.settings(torn=policy):
        warnings.simplefilter("always")
        for _ in range(2):
            np.testing.assert_array_equal(x.to_numpy(), [9, 1, 1])
        np.testing.assert_array_equal((x + 1).to_numpy(), [10, 2, 2])
        assert "torn" in repr(x)
        others.start()  # its settings are the defaults
        others.join()
    assert found == [True]
    wanted = ["reading torn data"] * 3 if policy == "warn" else []
    assert [str(w.message).partition(":")[0] for w in said] == wanted
    assert refused(x)
    np.testing.assert_array_equal(x.fill_(3).to_numpy(), [3, 3, 3])


@pytest.mark.host
def test_what_writes_a_part_under_the_settings_leaves_the_data_torn():
    x = torn_mat()
    with mat.settings(torn="ignore"):
        x[1:].fill_(2)
        np.testing.assert_array_equal(x.to_numpy(), [9, 2, 2])
    assert refused(x)
    np.testing.assert_array_equal(x.accept_torn().to_numpy(), [9, 2, 2])


@pytest.mark.host
def test_accepted_data_is_torn_for_nobody():
    x = torn_mat().accept_torn()
    np.testing.assert_array_equal(x.to_numpy(), [9, 1, 1])
    assert "torn" not in repr(x)


@pytest.mark.host
def test_an_operation_reads_what_a_failed_one_did_not_spoil(mocks):
    x = mat.zeros(3).fill_(1)
    with x.facet("near", "input"):
        pass
    with x.facet("foreign", "input"), mat.debug.allow_conflicts():
        spoil(x, "array")
        assert x.fresh == {"near"}
        # the outer access is to the host, whose elements are half-written
        assert mat.asum(x) == 3


@pytest.mark.host
def test_an_operation_does_not_read_torn_data_under_an_outer_access():
    x = mat.zeros(3).fill_(1)
    with x.facet("foreign", "input"), mat.debug.allow_conflicts():
        spoil(x, "array")
        with pytest.raises(mat.TornError):
            mat.asum(x)


def pass_through(block):
    with block:
        pass


WRITES = {
    "in place": lambda x: x.__iadd__(1), "fill": lambda x: x.fill_(2),
    "out": lambda x: mat.sqrt(x, out=x),
    "element": lambda x: x.__setitem__(1, 5), "slice": lambda x: x.__setitem__(slice(0, 2), 5),
    "verb": lambda x: mat.axpy(2, mat.ones_like(x), x), "part": lambda x: x[:2].add_(1),
    "array": lambda x: pass_through(x.facet("array", "io")),
    "backing": lambda x: pass_through(x.facet("backing", "output")),
    "numpy": lambda x: np.add(x, 1, out=x), "view": lambda x: x.ravel().scal_(2),
    "sort": lambda x: x.sort(), "random": lambda x: x.uniform_(),
    "reverse": lambda x: x[::-1].add_(1),
}


@pytest.mark.host
@pytest.mark.unchecked("some blocks for output are left as they were")
@pytest.mark.parametrize("size", [4, 20_000])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("facet", ["array", "foreign", "device"])
@pytest.mark.parametrize("how", WRITES)
def test_a_write_inside_of_a_reading_block_conflicts_wherever(how, facet, device, size):
    x = mat.arange(float(size))
    name = "emulated" if facet == "device" else facet
    with mat.use_device("emulated"), mat.use_device(device):
        with x[:size // 2].facet(name, "input"):
            with pytest.raises(mat.ConflictError, match="for 'input'"):
                WRITES[how](x)
            x[size // 2:] + 1  # reads what is beside it
        np.testing.assert_array_equal(x.to_numpy(), np.arange(size))
        WRITES[how](x[:])


@pytest.mark.host
@pytest.mark.parametrize("size", [4, 20_000])
def test_writes_beside_what_a_reading_block_sees(size):
    x, half = mat.zeros(size), size // 2
    with x[:half].facet("array", "input"):
        x[half:] += 1
        x[half] = 7
        with x[half:].facet("array", "io") as a:
            a *= 2
            x[half:].add_(1)
            with pytest.raises(mat.ConflictError, match=r"for 'input'.*begin it for 'io'"):
                x[half - 1:] = 3
    assert x[:half].to_numpy().tolist() == [0] * half
    assert x[half:].to_numpy().tolist() == [15] + [3] * (size - half - 1)


def test_with_facets_joins_directions(mocks):
    x = mat.zeros(4).fill_(1)
    with mat.with_facets((x, "array", "input"), (x, "backing", "output"),
                         (x[:2], "array", "input")) as (a, b, c):
        assert (a.flags.writeable, b.flags.writeable, c.flags.writeable) == (False, True, False)
        assert {w[1] for state in x.facets.values() for w in state.watchers} == {"input", "io"}
        b[:] = 2
        np.testing.assert_array_equal(c, [2, 2])
    np.testing.assert_array_equal(x.to_numpy(), [2, 2, 2, 2])
    with pytest.raises(mat.ConflictError):  # one storage, written, in two memories
        mat.with_facets((x, "array", "input"), (x, "near", "output")).__enter__()
    assert not x.storage.accesses


@pytest.mark.host
def test_with_facets_that_fails_at_the_second_leaves_the_first_untouched(mocks):
    x, y = mat.zeros(2), mat.zeros(2).fill_(4)
    x.fill_(1)
    with y.facet("near", "io"):
        with pytest.raises(mat.ConflictError):
            mat.with_facets((x, "near", "output"), (y, "array", "io")).__enter__()
        assert x.fresh == {"host"}
        assert not x.storage.accesses
        assert x.storage.writer is None
    np.testing.assert_array_equal(x.to_numpy(), [1, 1])
    np.testing.assert_array_equal(y.to_numpy(), [4, 4])


def test_with_facets_is_entered_once_at_a_time():
    x = mat.zeros(2)
    both = mat.with_facets((x, "array", "input"))
    with both, pytest.raises(mat.ConflictError):
        both.__enter__()
    assert not x.storage.accesses


@pytest.fixture
def slow():
    """An operation that lasts as long as requested."""
    inside, done = threading.Event(), threading.Event()

    @op
    def slow(x: Input):
        """Wait."""

    @slow.on("array")
    def _(np, x):
        inside.set()
        assert done.wait(20)

    slow.inside, slow.done = inside, done
    yield slow
    done.set()
    for name in [n for n, o in REGISTRY.items() if o is slow]:
        del REGISTRY[name]


def test_conflict_names_an_operation_in_progress(slow):
    x, lines = mat.zeros(3), []

    def call():
        lines.append(line() + 1)
        slow(x)

    thread = threading.Thread(target=call, name="Computing")
    thread.start()
    assert slow.inside.wait(20)
    with pytest.raises(mat.ConflictError) as caught:
        x.fill_(1)
    here = line() - 1
    slow.done.set()
    thread.join(20)
    refused, first = str(caught.value).split("it conflicts with the access to")
    place = f"in thread Computing at {__file__}:{lines[0]};"
    assert f"<Mat 3> as facet 'array' for 'input' {place}" in first
    assert f"in thread MainThread at {__file__}:{here}:" in refused
    np.testing.assert_array_equal(x.fill_(1).to_numpy(), [1, 1, 1])


class Lines(mat.extend.Observer):
    """Where accesses began."""

    def __init__(self):
        self.found = []

    def entered(self, record):
        self.found.append(file_and_line(record.where))


def enter(x):
    with x.facet("array", "input"):
        return line() - 1


def enter_by_a_stack(x):
    with ExitStack() as stack:
        stack.enter_context(x.facet("array", "input"))
        return line() - 1


@pytest.mark.parametrize("access", [
    enter, enter_by_a_stack, lambda x: (x.to_numpy(), line())[1],
    lambda x: (x.write(io.BytesIO()), line())[1], lambda x: (np.exp(x), line())[1],
    lambda x: (mat.concat([x, x]), line())[1], lambda x: (x.tolist(), line())[1]])
def test_an_access_has_the_line_of_the_user_whoever_makes_it(access):
    lines, x = Lines(), mat.ones(3)
    with mat.extend.observe(lines):
        here = access(x)
    assert set(lines.found) == {(__file__, here)}
