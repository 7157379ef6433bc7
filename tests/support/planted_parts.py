"""Programs that have parts of a Mat in several memories at once, with faults and without.

The Mats are larger than what is copied whole: `mat.core.coherence.SMALL`.
"""

from __future__ import annotations

import numpy as np

import mat

from ..core.span_blocks import write_block
from .planted import ONLY_READ, UNSEEN, correct, in_use, planted

ROWS, COLUMNS = 1000, 100


def rows_on_both_sides():
    """A Mat of ones of which the first ten rows are fresh on the device only, as twos."""
    x = mat.ones(ROWS, COLUMNS)
    x[:10] += 1
    return x


@planted(UNSEEN + r", 1 element, storage element 3999, outside of what it sees: 1.0 became 9.0",
         device="emulated")
def the_host_writes_before_its_rows_while_the_device_writes_others():
    with in_use("emulated"):
        x = rows_on_both_sides()
        with x[5:8].facet("emulated", "io") as d, x[40].facet("foreign", "io") as p:
            write_block(d, 3)
            p.pointer[-1] = 9


@planted(UNSEEN + r", 100 elements, storage element 100, ", device="emulated")
def the_device_writes_the_rows_between():
    def implementation(a):
        np.lib.stride_tricks.as_strided(a, (10, COLUMNS), (8 * COLUMNS, 8))[1] = 9

    with in_use("emulated") as dev:
        x = rows_on_both_sides()
        with x[:10:2].facet("emulated", "io") as d:
            dev.launch(implementation, d)


@planted(ONLY_READ, device="emulated")
def the_host_writes_rows_that_it_reads_beside_a_device():
    with in_use("emulated"):
        x = rows_on_both_sides()
        with x[5:8].facet("emulated", "io") as d, x[40:42].facet("foreign", "input") as p:
            write_block(d, 3)
            p.pointer[5] = 9


@planted(UNSEEN + r", 1 element, storage element 1000, outside of what it sees: 1.0 became 9.0",
         device="emulated")
def the_host_writes_what_it_has_copied_from_the_device_meanwhile():
    with in_use("emulated"):
        x = rows_on_both_sides()
        with x[11].facet("foreign", "io") as p:
            assert mat.to_numpy(x[9:10]).max() == 2  # copied beside the open block
            p.pointer[-COLUMNS] = 9


@correct
def the_host_and_a_device_write_rows_in_turns():
    with in_use("emulated"):
        x = rows_on_both_sides()
        with x[5:8].facet("emulated", "io") as d, x[40:50].facet("array", "io") as a:
            write_block(d, 3)
            a[...] = 4
            with x[60:70].facet("emulated", "output") as e:
                write_block(e, 5)
            with x[:5].facet("array", "io") as b:
                b += 1
        assert x[:71:10, 0].tolist() == [3, 1, 1, 1, 4, 1, 5, 1]


@correct
def rows_that_were_never_written_are_filled_beside_others():
    with in_use("emulated"):
        x = mat.full((ROWS, COLUMNS), 5.0)
        with x[:2].facet("emulated", "output") as d:
            write_block(d, 1)
            with x[40].facet("array", "io") as a, x[60].facet("array", "input") as b:
                a += b
        assert x[[0, 40, 60], 0].tolist() == [1, 10, 5]


@correct
def rows_are_exported_while_a_device_writes_others():
    with in_use("emulated"):
        x = rows_on_both_sides()
        a = np.asarray(x[20:30])
        x[:10] *= 2
        x[40:] += 1
        with x[35].facet("array", "output") as b:
            b[...] = 7
        assert a.max() == 1
        del a
        assert x[[0, 20, 35, 40], 3].tolist() == [4, 1, 7, 2]
