"""Blocks for input that write."""

from __future__ import annotations

import ctypes
import threading
from contextlib import ExitStack, suppress

import numpy as np

import mat
from mat.support.blas_library import INTS, BlasRoutine

from .planted import (
    ONLY_READ,
    UNSEEN,
    ffi,
    file_of_ones,
    libc,
    planted,
)


@planted(ONLY_READ + r", 1 element, \(1, 1\): 0.0 became 5.0")
def a_pointer_writes():
    x = mat.zeros(2, 3)
    with x.facet("foreign", "input") as p:
        p.pointer[4] = 5


@planted(ONLY_READ)
def the_base_pointer_writes():
    x = mat.zeros(8)[2:4]
    with x.facet("foreign", "input") as p:
        p.base_pointer[2] = 1


@planted(ONLY_READ + ", 2 elements")
def an_address_writes():
    x = mat.ones(4)
    with x.facet("foreign", "input") as p:
        ctypes.memset(p.address + 8, 0, 16)


@planted(ONLY_READ)
def the_address_of_an_array_is_used():
    x = mat.ones(4)
    with x.facet("array", "input") as a:
        ctypes.memset(a.ctypes.data, 0, 8)


@planted(ONLY_READ)
def the_memory_of_an_array_is_opened_again():
    x = mat.zeros(5)
    with x.facet("array", "input") as a:
        np.ndarray(5, a.dtype, (ctypes.c_char * a.nbytes).from_address(a.ctypes.data))[2] = 1


@planted(ONLY_READ)
def the_base_of_an_array_is_written():
    x = mat.zeros(5)
    with x.facet("backing", "input") as a:
        base = a.base
        while not isinstance(base, memoryview):  # which is read-only
            base = base.base
        base.obj.view(np.uint8)[:8] = 1


@planted(ONLY_READ + r", 1 element, \(2\): 0.0 became 7.0")
def an_alias_made_before_writes():
    own = np.zeros(4)
    x = mat.from_numpy(own)
    with x.facet("array", "input") as a:
        own[2] = 7
        a.sum()


@planted(ONLY_READ)
def a_strided_alias_writes():
    own = np.zeros((4, 6))
    x = mat.from_numpy(own[::2, ::3])
    with x.facet("foreign", "input"):
        own[2, 3] = 1


@planted(ONLY_READ)
def read_mat():
    """MGL-MAT's own bug: a function that fills a Mat from a file accesses it as input."""
    x = mat.zeros(3, 4)
    with file_of_ones(12) as file, x.facet("foreign", "input") as p:
        file.readinto(ffi.buffer(ffi.cast("char *", p.pointer), x.nbytes))


@planted("refused: .* Bad address|" + ONLY_READ, loud=True)
def read_mat_without_a_buffer():
    """Do the same by a system call, which is refused or not noticed."""
    x = mat.zeros(3, 4)
    with file_of_ones(12) as file, x.facet("foreign", "input") as p:
        file.raw.readinto(ffi.buffer(ffi.cast("char *", p.pointer), x.nbytes))


@planted(ONLY_READ + ", 6 elements, first ")
def a_library_is_given_the_wrong_pointer():
    x, y = mat.ones(6), mat.zeros(6)
    with mat.with_facets((x, "foreign", "input"), (y, "foreign", "output")) as (p, q):
        ctypes.memset(q.address, 0, 48)
        libc.memset(p.pointer, 0, 48)


@planted(ONLY_READ)
def a_copy_goes_the_wrong_way():
    x, y = mat.ones(6), mat.zeros(6)
    with mat.with_facets((x, "foreign", "input"), (y, "foreign", "io")) as (p, q):
        libc.memcpy(p.pointer, q.pointer, 48)


@planted(ONLY_READ)
def a_routine_of_blas_swaps():
    x, y = mat.ones(6), mat.zeros(6)
    with mat.with_facets((x, "foreign", "input"), (y, "foreign", "io")) as (p, q):
        BlasRoutine("swap", "ipipi")["d"](INTS[6], p.pointer, INTS[1], q.pointer, INTS[1])


@planted(UNSEEN + "|outside of what it sees")
def a_reader_writes_beside_what_it_sees():
    x = mat.zeros(4, 4)
    with x[1].facet("foreign", "input") as p:
        p.pointer[4] = 1


@planted(ONLY_READ)
def strides_are_ignored_in_reading():
    x = mat.zeros(4, 4)
    with x[:, 1].facet("foreign", "input") as p:
        for k in range(4):
            p.pointer[k] = k


@planted("wrote what it promised to only read.*written at", pages=True)
def the_same_value_is_written():
    x = mat.ones(4)
    with x.facet("foreign", "input") as p:
        p.pointer[0] = 1


@planted("wrote what it promised to only read.*written at", pages=True)
def a_value_is_changed_and_put_back():
    x = mat.ones(4)
    with x.facet("foreign", "input") as p:
        p.pointer[0] += 1
        p.pointer[0] -= 1


@planted(ONLY_READ)
def two_mats_of_one_storage():
    x = mat.zeros(2, 3)
    y = x.reshape(6)
    with x.facet("array", "input") as a, y.facet("foreign", "input") as p:
        p.pointer[5] = a[0, 0] + 1


@planted(ONLY_READ)
def a_later_element_of_a_large_mat():
    x = mat.zeros(300_000)
    with x.facet("foreign", "input") as p:
        p.pointer[299_999] = 1


@planted(ONLY_READ)
def an_error_hides_it():
    x = mat.zeros(3)
    with suppress(KeyError), x.facet("foreign", "input") as p:
        p.pointer[0] = 1
        raise KeyError


@planted(ONLY_READ)
def another_thread_writes():
    x = mat.zeros(3)
    with x.facet("foreign", "input") as p:
        writer = threading.Thread(target=p.pointer.__setitem__, args=(1, 2.0))
        writer.start()
        writer.join()


@planted(ONLY_READ)
def one_of_two_readers_writes():
    x = mat.zeros(3)

    def read():
        with x.facet("array", "input") as a:
            a.sum()

    with x.facet("foreign", "input") as p:
        reader = threading.Thread(target=read)
        reader.start()
        reader.join()
        p.pointer[0] = 1


@planted(ONLY_READ)
def several_blocks_are_left_by_a_stack():
    x, y = mat.zeros(3), mat.zeros(3)
    with ExitStack() as stack:
        stack.enter_context(y.facet("array", "input"))
        p = stack.enter_context(x.facet("foreign", "input"))
        p.pointer[1] = 1


@planted(ONLY_READ)
def it_is_written_before_a_nested_block():
    x = mat.zeros(3)
    with x.facet("foreign", "input") as p:
        p.pointer[0] = 1
        x.sum()


@planted(ONLY_READ)
def it_is_written_after_a_nested_block():
    x = mat.zeros(3)
    with x.facet("foreign", "input") as p:
        with x.facet("array", "input") as a:
            assert a[0] == 0
        p.pointer[0] = 2


@planted(ONLY_READ)
def another_dtype():
    x = mat.zeros(8, dtype="int8")
    with x.facet("foreign", "input") as p:
        p.pointer[7] = 1


@planted(ONLY_READ)
def half_of_a_complex_number():
    x = mat.zeros(2, dtype="complex128")
    with x.facet("foreign", "input") as p:
        ffi.cast("double *", p.address)[3] = 1
