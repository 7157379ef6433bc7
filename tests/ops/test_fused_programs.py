"""Random programs in `mat.fused` blocks, beside NumPy and Mats outside of blocks, bit for bit; and
planted faults, which they find.
"""

import operator
import shutil

import numpy as np
import pytest

import mat
from mat.cpu import program as cpu_program
from mat.cpu import program as loops
from mat.memories import file_pages
from mat.ops.expressions import computing, deferral, in_place, nodes, passes, program
from mat.ops.tiles import file_tiles
from mat.support.native import lib

from ..stress.children import outcome_of
from ..support import fused_reductions
from ..support.composed_programs import composed
from ..support.fused_programs import KINDS, Program, programs
from ..support.selection import most

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is pending")]
WHERE = {"host": {}, "emulated": {"device": "emulated"},
         "small pool": {"device": "emulated", "pool_bytes": 1500}}
where = pytest.mark.parametrize("where", WHERE)


@where
def test_programs(where, tmp_path):
    counted = programs(1, most(1000, 500), folder=tmp_path, **WHERE[where])
    assert counted.nodes > counted.passes > 50
    assert counted.updates > 3


def test_programs_over_large_files(tmp_path, monkeypatch):
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 100)
    monkeypatch.setattr(file_tiles, "TILE", 512)
    for kind in ("standard", "standard_in_place", "moments"):
        monkeypatch.setitem(KINDS, kind, 3)
    counted, real = [], program.Together.tiles
    monkeypatch.setattr(program.Together, "tiles",
                        lambda *args: counted.append(args) or real(*args))
    programs(3, most(2000, 600), folder=tmp_path)
    assert len(counted) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_many_programs(seed, tmp_path):
    for k, options in enumerate(({}, {}, *WHERE.values())):
        programs(1_000_000 * (seed + 1) + 100_000 * k, 20_000, folder=tmp_path, **options)


def test_sums_of_terms_that_cancel_out_are_as_near_as_last_bits_of_terms():
    a = np.random.default_rng(1).normal(0, 150, (12, 8)).astype("f4")
    for seed in range(40):  # some sum terms of up to 170,000 to about 0
        program = Program(f"{seed}")
        program.values = [(mat.array(a), mat.array(a), a.copy())]
        program.standard_in_place()
    terms, one = np.array([1e5, -1e5], "f4"), mat.ones(1, dtype="f4")
    program.adjusted(one, one, np.array([1.5], "f4"), terms)
    for off, of in ((3, terms), (1.5, 1)):
        with pytest.raises(AssertionError):
            program.adjusted(one, one, np.array([off], "f4"), of)


def test_arrays_are_views_of_results_where_mats_are():
    """NumPy's x.T + 1 has the order of x.T, ours is row-major: its transpose is copied."""
    a = np.arange(6, dtype="f4").reshape(2, 3)
    program = Program("1")
    for function in (lambda m, x: x.T + 1, lambda m, x: x.T.astype("f8")):
        y = program.each(function, (mat.array(a), mat.array(a), a.copy()))
        for view in (lambda m, y: y.T.reshape(-1), lambda m, y: y.reshape(-1)):
            flat = program.each(view, y, own=True)
            program.write(lambda m, x: operator.imul(x, 2), flat)
            program.compare(flat)
            program.compare(y)


def test_products_of_short_floats_that_would_vanish_between_are_compared(monkeypatch):
    monkeypatch.setattr(fused_reductions, "FOLDS", ("prod",))
    a = np.array([[2.0**k] * 2 for k in (-12, -13, -9, 12, 15, 8)], "e")
    program = Program("1")
    program.values = [(mat.array(a), mat.array(a), a)]
    assert not np.prod(a, 0).any()
    found = [one for _ in range(20) for one in program.fold() if one.size == 2]
    assert found
    assert all(np.asarray(one).tolist() in ([2, 2], [[2, 2]]) for one in found)


# Planted faults


def writers_compute_nothing(patch):
    patch.setattr(nodes.Expressions, "dependents", lambda self, leaves: [])


def writers_compute_one_reader(patch):
    real = nodes.Expressions.dependents
    patch.setattr(nodes.Expressions, "dependents", lambda self, leaves: real(self, leaves)[:1])


def old_elements_are_overwritten_although_others_read_them(patch):
    for module in (computing, in_place, passes):
        patch.setattr(module, "VALUES", NoOthers())


class NoOthers:
    """The pending values, none of which anybody would read."""

    def __getattr__(self, name):
        return getattr(nodes.VALUES, name)

    def __setattr__(self, name, value):
        setattr(nodes.VALUES, name, value)

    def wanted(self):
        return []


def elements_move_although_views_see_them(patch):
    patch.setattr(deferral, "ALONE", Anything())


def old_elements_are_overwritten_although_views_see_them(patch):
    patch.setattr(passes, "ALONE", Anything())


class Anything:
    """A number that is any other one."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __add__(self, other):
        return self

    __sub__ = __add__


def temporary_elements_share_places(patch):
    real = program.prepare_program
    patch.setattr(program, "prepare_program", lambda steps, slots, *rest: real(
        [s._replace(slots=[next(j for j, slot in enumerate(slots) if slot.operand < 0)
                           if slots[k].operand < 0 else k for k in s.slots])
         for s in steps], slots, *rest))


def updated_mats_see_what_was_there_before(patch):
    patch.setattr(passes, "give_back", lambda node, view: None)


def updates_of_files_forget_who_reads_what_was_there(patch):
    patch.setattr(computing, "with_readers", lambda nodes: nodes)
    patch.setattr(passes, "keep_old", lambda update, position: None)


def reductions_read_what_comes_later(patch):
    real = program.FusedOp.__init__

    def begin(self, structure):
        real(self, structure)
        self.last = {k: v for k, v in self.last.items() if v < len(structure.instructions)}
    patch.setattr(program.FusedOp, "__init__", begin)


def reductions_share_their_parts(patch):
    real = cpu_program.put_folds

    def put(frame, folds, operands):
        made, finish = real(frame, folds, operands)
        for one in made:
            one.slot = made[0].slot
        return made, finish
    patch.setattr(cpu_program, "put_folds", put)


FAULTS = (writers_compute_nothing, writers_compute_one_reader,
          old_elements_are_overwritten_although_others_read_them,
          elements_move_although_views_see_them,
          old_elements_are_overwritten_although_views_see_them,
          temporary_elements_share_places, updated_mats_see_what_was_there_before,
          updates_of_files_forget_who_reads_what_was_there, reductions_read_what_comes_later,
          reductions_share_their_parts)


@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_found(fault, monkeypatch, tmp_path):
    fault(monkeypatch)
    found = outcome_of(lambda: programs(3000, 4000, folder=tmp_path) and None)  # it may crash
    assert found
    assert "the child ended" not in found


def test_a_planted_fault_of_updates_in_tiles_is_found(monkeypatch, tmp_path):
    """That updates wait although they read other places than they overwrite: in tiles only, since
    the elements of small operands are copied before.
    """
    monkeypatch.setattr(deferral, "updates_all", lambda out, found, key: True)
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 100)
    monkeypatch.setattr(file_tiles, "TILE", 512)
    monkeypatch.setitem(KINDS, "standard_in_place", 6)
    found = outcome_of(lambda: programs(
        3000, 4000, folder=tmp_path, **WHERE["small pool"]) and None)
    assert "AssertionError" in found


# The same by compiled programs

compiles = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")),
                              reason="no C compiler")


@compiles
@where
def test_programs_by_compiled_loops(where, tmp_path):
    statements = most(1500, 200)
    assert composed(lambda: programs(2, statements, folder=tmp_path, **WHERE[where])) > 12


@compiles
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_programs_by_compiled_loops(seed, tmp_path):
    assert composed(lambda: programs(1_000_000 * (seed + 1), 20_000, folder=tmp_path)) > 500


def results_that_are_read_later_are_not_kept(patch):
    patch.setattr(loops, "live_after", lambda rest, kept: set(kept))


def rows_have_steps_of_columns(patch):
    real = loops.packed_strides
    patch.setattr(loops, "packed_strides", lambda shape: real(shape)[::-1])


def operands_are_mixed_up(patch):
    real = loops.LoopBuilder.value_of
    patch.setattr(loops.LoopBuilder, "value_of", lambda self, x, step: real(
        self, step.operands[0] if x.size == step.operands[0].size else x, step))


LOOP_FAULTS = (results_that_are_read_later_are_not_kept, rows_have_steps_of_columns,
               operands_are_mixed_up)


@compiles
@pytest.mark.parametrize("fault", LOOP_FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_of_loops_is_found(fault, monkeypatch, tmp_path):
    fault(monkeypatch)
    statements = most(4000, 300)
    found = outcome_of(lambda: composed(
        lambda: programs(3000, statements, folder=tmp_path)) and None, 300)
    assert any(f"{n}Error" in found for n in ("Assertion", "Direction", "Device")), found
