"""Random programs in `mat.fused` blocks, beside NumPy and Mats outside of blocks, bit for bit; and
planted faults, which they find.
"""

import pytest

from mat.ops.expressions import deferral, nodes, passes, program
from mat.support.native import lib

from ..stress.children import outcome_of
from ..support.fused_programs import programs

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is pending")]
WHERE = {"host": {}, "emulated": {"device": "emulated"},
         "small pool": {"device": "emulated", "pool_bytes": 1500}}
where = pytest.mark.parametrize("where", WHERE)


@where
def test_programs(where, tmp_path):
    counted = programs(1, 1000, folder=tmp_path, **WHERE[where])
    assert counted.nodes > counted.passes > 50
    assert counted.updates > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_programs(seed, tmp_path):
    for k, options in enumerate(({}, {}, *WHERE.values())):
        programs(1_000_000 * (seed + 1) + 100_000 * k, 20_000, folder=tmp_path, **options)


# Planted faults


def writers_compute_nothing(patch):
    patch.setattr(nodes.Expressions, "dependents", lambda self, leaves: [])


def writers_compute_one_reader(patch):
    real = nodes.Expressions.dependents
    patch.setattr(nodes.Expressions, "dependents", lambda self, leaves: real(self, leaves)[:1])


def old_elements_are_overwritten_although_others_read_them(patch):
    real = nodes.Expressions.dependents
    patch.setattr(nodes.Expressions, "dependents", lambda self, leaves: (
        [] if self.busy else real(self, leaves)))


def elements_move_although_views_see_them(patch):
    patch.setattr(deferral, "viewers", lambda x: deferral.ALONE + len(deferral.readers_of(x)))


def old_elements_are_overwritten_although_views_see_them(patch):
    patch.setattr(passes, "readers_of", lambda view: [])
    patch.setattr(passes, "viewers", Anything)


class Anything:
    """A number that is any other one."""

    def __init__(self, _):
        pass

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def temporary_elements_share_places(patch):
    real = program.prepare_program
    patch.setattr(program, "prepare_program", lambda steps, slots, count: real(
        [s._replace(slots=[min(k, len(slots) - 1 - (slots[k].operand < 0)) for k in s.slots])
         for s in steps], slots, count))


def updated_mats_see_what_was_there_before(patch):
    patch.setattr(passes, "give_back", lambda node, view: None)


FAULTS = (writers_compute_nothing, writers_compute_one_reader,
          old_elements_are_overwritten_although_others_read_them,
          elements_move_although_views_see_them,
          old_elements_are_overwritten_although_views_see_them,
          temporary_elements_share_places, updated_mats_see_what_was_there_before)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_found(fault, monkeypatch, tmp_path):
    fault(monkeypatch)
    found = outcome_of(lambda: programs(1, 4000, folder=tmp_path) and None)  # it may crash
    assert found
    assert "the child ended" not in found
