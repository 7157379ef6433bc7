"""Correct programs, which the direction check must not complain about."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress

import numpy as np

import mat

from .planted import (
    correct,
)


@correct
def all_is_overwritten():
    x = mat.zeros(2, 3)
    with x.facet("array", "output") as a:
        a[0], a[1] = 1, 2
    assert x.tolist() == [[1, 1, 1], [2, 2, 2]]


@correct
def all_is_overwritten_by_other_accesses():
    x = mat.zeros(2, 3)
    with x.facet("array", "output") as a:
        x[0].fill_(1)
        a[1] = 2
    assert x.tolist() == [[1, 1, 1], [2, 2, 2]]


@correct
def nans_are_written():
    x = mat.zeros(4)
    with x.facet("array", "output") as a:
        a[:] = np.nan
    x.log_().sqrt_()


@correct
def every_byte_is_written():
    x = mat.zeros(256, dtype="uint8")
    with x.facet("array", "output") as a:
        a[:] = np.arange(256)
    x.fill_(0xA5)


@correct
def an_output_access_inside_another_does_not_lose_data():
    x = mat.zeros(4)
    with x.facet("array", "output") as a:
        a[:] = 3
        with x.facet("foreign", "output"):
            pass
    assert x.tolist() == [3] * 4


@correct
def an_array_that_is_gone_when_the_block_ends():
    x = mat.ones(3)

    def total():
        with x.facet("array", "input") as a:
            return a[1:].sum()

    assert total() == 2


@correct
def a_copy_outlives_the_block():
    x = mat.ones(3)
    with x.facet("array", "input") as a:
        kept = a.copy()
    kept += 1


@correct
def an_array_is_named_but_not_used():
    x = mat.ones(3)
    with x.facet("array", "input") as a:
        a.sum()
    with x.facet("array", "input") as a:
        a.sum()
    assert a.shape == (3,)


@correct
def a_failing_block_for_output():
    x = mat.zeros(3).fill_(4)
    with suppress(KeyError), x.facet("array", "output"):
        raise KeyError
    assert x.accept_torn().tolist() == [4, 4, 4]


@correct
def an_access_that_cannot_begin_changes_nothing():
    x, y = mat.ones(3), mat.zeros(3).fill_(1)
    with ExitStack() as stack:
        stack.enter_context(mat.use_device("emulated"))
        stack.enter_context(x.facet("emulated", "io"))
        with suppress(mat.ConflictError), mat.with_facets((y, "array", "output"),
                                                          (x, "array", "input")):
            pass
    assert y.tolist() == [1, 1, 1]


@correct
def writing_inside_of_reading():
    x = mat.ones(4)
    with x.facet("array", "input") as a, mat.debug.allow_conflicts():
        x.scal_(3)
        assert a.sum() == 12
        with x[1:].facet("array", "io") as b:
            b[:] = 0
        assert a.sum() == 3


@correct
def reading_inside_of_writing():
    x = mat.ones(4, 4)
    with x.facet("array", "io") as a, x[1].facet("foreign", "input") as p:
        a[1] = 5
        assert p.pointer[0] == 5


@correct
def rows_of_one_mat_are_operands():
    x = mat.ones(4, 4)
    mat.axpy(2.0, x[0], x[1])
    mat.blas.copy(x[:, 0], x[:, 3])
    x[2:] = x[:2]


@correct
def the_backing_of_a_part():
    x = mat.ones(8)[2:4]
    with x.facet("backing", "io") as b:
        b[7] = 1
        b[0] = 2


@correct
def the_users_own_array_between_blocks():
    own = np.zeros(4)
    x = mat.from_numpy(own)
    own[:] = 1
    x.scal_(2)
    own += 1
    assert x.tolist() == [3] * 4
    with mat.from_numpy(own[::2]).facet("foreign", "input"):
        own[1] = 9  # not one of its elements


@correct
def readers_in_threads():
    x = mat.ones(100)
    threads = [threading.Thread(target=lambda: [x.sum() for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@correct
def devices_in_turns():
    x = mat.ones(3, 4)
    with mat.use_device("emulated"):
        y = mat.matmul(x, x.T)
        y[0] = 1
        y.fill_(3).scal_(2)
        with x.facet("array", "io") as a:
            a += 1
        mat.gemm(1, x, x, 0, mat.empty(3, 3), transpose_b=True)
    assert y.tolist() == [[6] * 3] * 3


@correct
def scratch_and_slices():
    with mat.scratch(4) as t:
        t.fill_(1)
        t[1:3] = 2
        assert t.sum().item() == 6
    x = mat.zeros(4, 4)
    x[::2, 1] = 3
    x.T[1] += 1
    assert x[0, 1] == 4


@correct
def a_failed_write_inside_of_reading_is_brought_back():
    x = mat.ones(3)
    with mat.use_device("emulated"):
        with x.facet("emulated", "input"):
            pass
        with x.facet("foreign", "input"), mat.debug.allow_conflicts():
            with suppress(KeyError), x.facet("array", "io") as a:
                a[0] = 7
                raise KeyError
            assert mat.asum(x) == 3
