"""Every allocation, fill and copy of a scenario is made to fail, one after the other: nothing may
be lost or leaked, and trying again must succeed. Copies fail half-way. The steps are listed, so
that a scenario cannot become empty.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mat

from ..support.mock_memories import Fault, failing_host, registered


@dataclass
class Scenario:
    """`prepare` gives named Mats, `act` is what fails; `after` are the values when it went well."""

    prepare: Any
    act: Any
    steps: str
    after: dict[str, Any]
    exact: bool = True  # nothing becomes fresh by an attempt that fails
    again: Any = None  # if not `act`
    before: Any = None  # the values before, if not those of `TWO`


def made(facet, *values):
    """A Mat whose only fresh copy is in the memory of `facet`, and which was nowhere else."""
    x = mat.empty(len(values))
    with x.facet("near", "output") as a:
        a[:] = values
    if facet != "near":
        with x.facet(facet, "io"):
            pass
        for name in {"near", "host", "far"} - x.fresh:
            x.drop(name)
    return x


def new():
    return {"x": mat.full(3, 5.0)}


def one(facet):
    return lambda: {"x": made(facet, 1, 2, 3)}


def two(first, second):
    return lambda: {"x": made(first, 1, 2, 3), "y": made(second, 4, 5, 6)}


def stale():
    """Fresh on the host, with old copies elsewhere."""
    x = made("near", 1, 2, 3)
    with x.facet("far", "input"):
        pass
    x.scal_(2)
    return {"x": x}


def access(facet, direction):
    def act(x):
        with x.facet(facet, direction) as a:
            if direction != "input":
                a[:] = 7
    return act


def access_part(x):
    with x[1:].facet("far", "output") as a:
        a[:] = 7


def keep(x):
    with x.keep("far"):
        assert "far" in {m.name for m in x.storage.handles}


def access_both(x, y):
    with mat.with_facets((x, "far", "input"), (y, "array", "io"), (x, "far", "input")) as (a, b, c):
        b += a + c


def set_element(x):
    x[1] = 9


def in_barrier(leave):
    """A barrier that ends when `leave` is called."""
    def prepare():
        barrier = mat.barrier(drop=("near", "far"))
        barrier.__enter__()
        mats = two("near", "far")()
        leave.append(barrier)
        return mats

    def act(x, y):
        leave.pop().__exit__(None, None, None)

    def again(x, y):
        for m in (x, y):
            m.to_numpy()
            assert m.drop("near") + m.drop("far") <= 1
    return Scenario(prepare, act, "host.allocate near.copy_out host.allocate far.copy_out",
                    {"x": [1, 2, 3], "y": [4, 5, 6]},
                    exact=False, again=again)


NEW, OLD = {"x": [5, 5, 5]}, {"x": [2, 4, 6]}
TWO = {"x": [1, 2, 3], "y": [4, 5, 6]}
BOTH = {"x": [1, 2, 3], "y": [6, 9, 12]}
SCENARIOS = {
    "first read": Scenario(new, access("array", "input"), "host.allocate host.fill",
                           {"x": [5, 5, 5]}, before=NEW),
    "first read elsewhere": Scenario(new, access("near", "input"), "near.allocate near.fill",
                                     {"x": [5, 5, 5]}, before=NEW),
    "first read through the host": Scenario(new, access("far", "input"), "far.allocate "
                                                                         "host.allocate host.fill "
                                                                         "far.copy_in",
                                            {"x": [5, 5, 5]}, before=NEW),
    "first write": Scenario(new, access("array", "io"), "host.allocate host.fill", {"x": [7, 7, 7]},
                            before=NEW),
    "first overwrite": Scenario(new, access("far", "output"), "far.allocate", {"x": [7, 7, 7]},
                                before=NEW),
    "overwrite elsewhere": Scenario(one("near"), access("far", "output"), "far.allocate",
                                    {"x": [7, 7, 7]}),
    "from the host": Scenario(one("array"), access("near", "input"), "near.allocate near.copy_in",
                              {"x": [1, 2, 3]}),
    "from the host to write": Scenario(one("array"), access("far", "io"), "far.allocate "
                                                                          "far.copy_in",
                                       {"x": [7, 7, 7]}),
    "from the host into a stale copy": Scenario(stale, access("far", "input"), "far.copy_in", OLD,
                                                before=OLD),
    "from the host to write a part": Scenario(one("array"), access_part, "far.allocate "
                                                                          "far.copy_in",
                                              {"x": [1, 7, 7]}),
    "to the host": Scenario(one("far"), access("array", "io"), "host.allocate far.copy_out",
                            {"x": [7, 7, 7]}),
    "through the host": Scenario(one("near"), access("far", "input"),
                                 "far.allocate host.allocate near.copy_out far.copy_in",
                                 {"x": [1, 2, 3]}),
    "directly": Scenario(one("far"), access("near", "io"), "near.allocate near.copy_from",
                         {"x": [7, 7, 7]}),
    "keep": Scenario(one("near"), keep, "far.allocate", {"x": [1, 2, 3]}),
    "print": Scenario(one("near"), repr, "host.allocate near.copy_out", {"x": [1, 2, 3]}),
    "set an element": Scenario(one("near"), set_element, "host.allocate near.copy_out",
                               {"x": [1, 9, 3]}),
    "an operation": Scenario(two("near", "far"), lambda x, y: mat.axpy(2.0, x, y),
                             "host.allocate far.copy_out host.allocate near.copy_out", BOTH,
                             exact=False),
    "an operation on what is there": Scenario(two("array", "array"), lambda x,
                                              y: mat.axpy(2.0, x, y), "", BOTH),
    "an operation with a result": Scenario(two("near", "far"), lambda x, y: mat.add(x, y, out=y),
                                           "host.allocate far.copy_out host.allocate near.copy_out",
                                           {"x": [1, 2, 3], "y": [5, 7, 9]}, exact=False),
    "with_facets": Scenario(two("near", "far"), access_both, "host.allocate far.copy_out "
                            "far.allocate host.allocate near.copy_out far.copy_in", BOTH,
                            exact=False),
    "the end of a barrier": in_barrier([]),
}


def held(mats):
    """How many handles the storages have in each memory that counts them."""
    names = [m.name for x in mats.values() for m in x.storage.handles if m.name != "host"]
    return {name: names.count(name) for name in names}


def state(mats):
    return {name: (x.fresh, x.storage.torn, x.storage.pristine) for name, x in mats.items()}


def check_values(mats, expected):
    for name, values in expected.items():
        np.testing.assert_array_equal(mats[name].to_numpy(), values, err_msg=name)


def attempt(scenario, world, fail_at):
    """Let step number `fail_at` fail, and check what is left behind."""
    mats = scenario.prepare()
    before = state(mats)
    world.log.reset(fail_at)
    with pytest.raises(Fault):
        scenario.act(*mats.values())
    world.log.reset()
    for name, x in mats.items():
        assert not x.storage.accesses, name
        assert x.storage.writer is None, name
    check_state(scenario, before, state(mats))
    assert world.held() == held(mats)
    check_values(mats, {name: (scenario.before or TWO)[name] for name in mats})
    (scenario.again or scenario.act)(*mats.values())
    check_values(mats, scenario.after)
    assert world.held() == held(mats)


def check_state(scenario, before, after):
    if scenario.exact:
        assert after == before
    for name, (fresh, *rest) in before.items():
        # what else is fresh is so in truth
        assert fresh <= after[name][0] or (scenario.again and after[name][0]), name
        assert rest == list(after[name][1:]), name


@pytest.mark.parametrize("name", SCENARIOS)
def test_steps(name):
    scenario = SCENARIOS[name]
    with registered() as world, failing_host(world.log):
        mats = scenario.prepare()
        world.log.reset()
        scenario.act(*mats.values())
        assert world.log.steps == scenario.steps.split()
        check_values(mats, scenario.after)
        del mats
        assert world.held() == {}


STEPS = [(name, k + 1) for name,
         scenario in SCENARIOS.items() for k in range(len(scenario.steps.split()))]


@pytest.mark.host
@pytest.mark.parametrize(("name", "fail_at"), STEPS)
def test_nothing_is_lost(name, fail_at):
    with registered() as world, failing_host(world.log):
        attempt(SCENARIOS[name], world, fail_at)


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_failing_copy_does_not_tear_or_heal(fail_at):
    with registered() as world:
        x = made("near", 1, 2, 3)
        with pytest.raises(ZeroDivisionError), x.facet("near"):
            1 / 0  # tears it  # noqa: B018
        world.log.reset(fail_at)
        with mat.settings(torn="ignore"), pytest.raises(Fault):
            x.facet("far", "io").__enter__()
        assert x.fresh == set()  # torn as before, and still there
        assert world.held() == {"near": 1}
        with pytest.raises(mat.TornError):
            x.to_numpy()
        with mat.settings(torn="ignore"):
            np.testing.assert_array_equal(x.to_numpy(), [1, 2, 3])
