"""Blocks for output that leave elements unwritten, or write others, and late uses."""

from __future__ import annotations

import threading

import numpy as np

import mat

from .planted import (
    LATE,
    LEFT,
    UNSEEN,
    file_of_ones,
    planted,
)


@planted(LEFT + r" 3 elements, \(1, 0\), \(1, 1\), \(1, 2\);")
def the_last_row_is_missing():
    x = mat.zeros(2, 3)
    with x.facet("array", "output") as a:
        a[:1] = 1


@planted(LEFT + r" 4 elements, first \(0, 2\), \(1, 2\), \(2, 2\);")
def the_last_row_of_the_transposed_is_missing():
    x = mat.zeros(4, 3)
    with x.facet("array", "output") as a:
        for k in range(2):
            a.T[k] = 1


@planted(LEFT + r" 2 elements, \(1, 0\), \(1, 1\);")
def a_row_is_missing_in_a_transposed_mat():
    x = mat.zeros(2, 3).T
    with x.facet("array", "output") as a:
        a[::2] = 1


@planted(LEFT + " 4 elements")
def nothing_is_written():
    x = mat.ones(4)
    with x.facet("array", "output"):
        pass


@planted(LEFT + r" 1 element, \(9\)")
def a_loop_ends_one_too_early():
    x = mat.ones(10)
    with x.facet("foreign", "output") as p:
        for k in range(9):
            p.pointer[k] = k


@planted(LEFT)
def a_name_is_bound_instead():
    x = mat.ones(4)
    with x.facet("array", "output") as a:
        a = np.zeros(4)
    assert a.sum() == 0


@planted(LEFT)
def it_adds_where_it_should_assign():
    x = mat.ones(4)
    with x.facet("array", "output") as a:
        a += 1


@planted(LEFT + " 2 elements")
def a_mask_leaves_some():
    x = mat.zeros(4)
    with x.facet("array", "output") as a:
        a[np.array([True, False, True, False])] = 1


@planted(LEFT)
def a_short_file():
    x = mat.zeros(6)
    with file_of_ones(4) as file, x.facet("array", "output") as a:
        file.readinto(a)


@planted(LEFT + " 2 elements")
def one_row_by_a_nested_operation():
    x = mat.zeros(3, 2)
    with x.facet("array", "output") as a:
        x[0].fill_(1)
        a[1] = 2


@planted(LEFT)
def the_real_parts_only():
    x = mat.zeros(3, dtype="complex64")
    with x.facet("array", "output") as a:
        a.real[:] = 1


@planted(LEFT + " 1 element")
def one_integer():
    x = mat.zeros(4, dtype="int32")
    with x.facet("array", "output") as a:
        a[1:] = 1


@planted(LEFT + " 16 elements")
def a_row_of_bytes():
    x = mat.zeros(4, 16, dtype="uint8")
    with x.facet("array", "output") as a:
        a[:3] = 1


@planted(LEFT + " 2 elements")
def two_truths():
    x = mat.zeros(4, dtype="bool")
    with x.facet("array", "output") as a:
        a[::2] = True


@planted(LEFT)
def short_floats():
    x = mat.zeros(4, dtype="float16")
    with x.facet("array", "output") as a:
        a[:3] = 1


@planted(LEFT)
def the_whole_is_promised_and_a_part_is_written():
    x = mat.zeros(4, 2)
    with x.facet("backing", "output") as b:
        b[:4] = 1


# Blocks that write what they do not see


@planted(UNSEEN + ", 1 element, storage element 8")
def the_next_row_is_written():
    x = mat.ones(4, 4)
    with x[1].facet("foreign", "io") as p:
        for k in range(5):
            p.pointer[k] = 7


@planted(UNSEEN)
def the_element_before_is_written():
    x = mat.ones(4, 4)
    with x[2].facet("foreign", "io") as p:
        p.pointer[-1] = 7


@planted(UNSEEN + ", 3 elements")
def strides_are_ignored_in_writing():
    x = mat.ones(4, 4)
    with x[:, 0].facet("foreign", "output") as p:
        for k in range(4):
            p.pointer[k] = 7


@planted(UNSEEN)
def slack_is_written():
    x = mat.Mat(3, max_size=6, fill=1)
    with x.facet("foreign", "io") as p:
        p.pointer[3] = 7


@planted(UNSEEN)
def an_array_is_stretched():
    x = mat.ones(8)[2:5]
    with x.facet("array", "io") as a:
        np.lib.stride_tricks.as_strided(a, (5,))[:] = 0


# What a block was given is used after its end


@planted(LATE)
def a_kept_array_is_written():
    x = mat.zeros(3)
    with x.facet("array") as a:
        a[:] = 1
    a[0] = 5


@planted(LATE)
def a_kept_array_is_read():
    x = mat.zeros(3)
    with x.facet("array", "input") as a:
        pass
    a.sum()


@planted(LATE)
def a_part_of_a_kept_array():
    x = mat.zeros(4, 4)
    with x.facet("array", "input") as a:
        corner = a[:2, :2].T
    corner.sum()


@planted(LATE)
def a_kept_array_is_used_in_the_next_block():
    x = mat.zeros(3)
    with x.facet("array", "io") as a:
        a[:] = 1
    with x.facet("array", "input"):
        a[0] = 2


@planted(LATE)
def a_kept_pointer_is_written():
    x = mat.zeros(3)
    with x.facet("foreign") as p:
        p.pointer[0] = 1
        kept = p.pointer
    kept[1] = 5


@planted(LATE)
def a_kept_buffer():
    x = mat.zeros(3)
    with x.facet("array") as a:
        a[:] = 1
        kept = memoryview(a)
    kept[0] = 5.0


@planted(LATE)
def an_attribute_of_a_kept_object():
    x = mat.zeros(3)
    with x.facet("foreign", "input") as p:
        pass
    p.pointer  # noqa: B018


@planted(LATE)
def a_function_hands_it_out():
    def contents(x):
        with x.facet("array", "input") as a:
            return a

    contents(mat.ones(3)).sum()


@planted(LATE)
def a_generator_goes_on():
    def rows(x):
        with x.facet("array", "input") as a:
            pass
        for row in a:
            yield row.sum()

    list(rows(mat.ones(3, 2)))


@planted(LATE)
def a_thread_goes_on():
    x = mat.zeros(3)
    with x.facet("array") as a:
        a[:] = 1
        writer = threading.Thread(target=a.fill, args=(2.0,))
    writer.start()
    writer.join()
