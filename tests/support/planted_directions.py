"""Programs that break the promise of a direction, one small function for each way to do so, and
similar correct ones.

`BUGS` lists them with the expected message of the direction check. Without the check they raise
nothing and continue with wrong data, except those marked `loud`.
"""

from __future__ import annotations

import ctypes
import tempfile
import threading
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
from cffi import FFI

import mat
from mat.cpu import blas
from mat.extend import InOut, Input, Output, op

ffi = FFI()
ffi.cdef("void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t);")
libc = ffi.dlopen(None)
ONLY_READ, UNSEEN, LEFT, LATE = "only read", "does not see", "left as it was", "after its end"
BUGS = []


def planted(text, *, device="host", loud=False, pages=False):
    """Register a bug, of which the check says `text`; `pages`: only protected pages notice it."""
    def register(function):
        BUGS.append((function, text, device, loud, pages))
        return function
    return register


def file_of_ones(n):
    """An open file of `n` doubles."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(np.ones(n).tobytes())
    file.seek(0)
    return file


# Blocks for input that write


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
def an_array_is_made_writable_again():
    x = mat.zeros(5)
    with x.facet("array", "input") as a:
        a.flags.writeable = True
        a[2] = 1


@planted(ONLY_READ)
def the_base_of_an_array_is_written():
    x = mat.zeros(5)
    with x.facet("backing", "input") as a:
        base = a.base
        base.view(np.uint8)[:8] = 1


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
        blas.swap(p, q)


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
        x.scal_(2)


@planted(ONLY_READ)
def it_is_written_after_a_nested_block():
    x = mat.zeros(3)
    with x.facet("foreign", "input") as p:
        with x.facet("array", "io") as a:
            a[0] = 1
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


# Operations that are declared wrongly


def operation(facet, implementation, **directions):
    """An operation that checks nothing, with such directions and that implementation."""
    roles = {"input": Input, "output": Output, "io": InOut}
    space = {"__name__": __name__}
    exec(f"def {implementation.__name__}({', '.join(directions)}): pass", space)
    check = space[implementation.__name__]
    check.__annotations__ = {name: roles[d] for name, d in directions.items()}
    found = op(check, method="")
    found.on(facet)(lambda engine, *args: implementation(*args))
    return found


@planted("by operation increment changed what it promised to only read")
def a_kernel_that_increments_is_declared_input():
    """MGL-MAT's documented example of a kernel."""
    def increment(x):
        for k in range(x.size):
            x.pointer[k] += 1

    operation("foreign", increment, x="input")(mat.zeros(3))


@planted("by operation exchange changed what it promised to only read")
def an_operation_writes_both():
    def exchange(x, y):
        for k in range(x.size):
            x.pointer[k], y.pointer[k] = y.pointer[k], x.pointer[k]

    operation("foreign", exchange, x="input", y="io")(mat.zeros(3), mat.ones(3))


@planted("by operation half promised to overwrite everything and left as it was 3 elements")
def an_operation_writes_half_of_its_output():
    def half(x, y):
        y[:3] = x[:3]

    operation("array", half, x="input", y="output")(mat.zeros(6), mat.ones(6))


@planted(LEFT)
def an_operation_adds_to_its_output():
    def add(x, y):
        y += x

    operation("array", add, x="input", y="output")(mat.zeros(6), mat.ones(6))


@planted(LEFT)
def an_operation_writes_its_input_instead():
    def assign(x, y):
        for k in range(x.size):
            x.pointer[k] = y.pointer[k]

    operation("foreign", assign, x="io", y="output")(mat.zeros(3), mat.ones(3))


@planted(UNSEEN)
def an_operation_writes_beyond_its_operand():
    def clear(y):
        for k in range(y.size + 1):
            y.pointer[k] = 0

    operation("foreign", clear, y="io")(mat.ones(4, 4)[2])


@planted(ONLY_READ)
def an_operation_on_two_rows_writes_the_wrong_one():
    def assign(x, y):
        x.pointer[0] = 9

    a = mat.zeros(4, 4)
    operation("foreign", assign, x="input", y="io")(a[0], a[2])


@planted(LATE)
def an_operation_keeps_its_operand():
    kept = []

    def keep(x):
        kept.append(x)

    operation("foreign", keep, x="input")(mat.zeros(3))
    kept[0].pointer[0] = 1


# Blocks for output that leave something


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


# On devices


@contextmanager
def in_use(device):
    with mat.use_device(device, required=True) as dev:
        yield dev


@planted(ONLY_READ, device="emulated")
def an_implementation_on_the_device_writes_its_input():
    with in_use("emulated") as dev:
        x = mat.ones(3, 2)

        def implementation(a):
            a.flags.writeable = True
            a[1] = 5

        with x.facet("emulated", "input") as a:
            dev.launch(implementation, a)


@planted(LEFT + r" 4 elements, first \(1, 0\)", device="emulated")
def an_implementation_on_the_device_leaves_rows():
    with in_use("emulated") as dev:
        x = mat.ones(3, 2)

        def implementation(a):
            a[0] = 1

        with x.facet("emulated", "output") as a:
            dev.launch(implementation, a)


@planted(UNSEEN, device="emulated")
def an_implementation_on_the_device_writes_the_next_row():
    with in_use("emulated") as dev:
        x = mat.ones(4, 2)

        def implementation(a):
            np.lib.stride_tricks.as_strided(a, (3,))[:] = 0

        with x[1].facet("emulated", "io") as a:
            dev.launch(implementation, a)


@planted(LATE, device="emulated")
def an_array_of_the_device_is_kept():
    with in_use("emulated") as dev:
        x = mat.ones(4)
        with x.facet("emulated", "input") as a:
            pass
        dev.launch(np.sum, a)


@planted("by operation increment changed what it promised to only read", device="emulated")
def an_operation_on_the_device_writes_its_input():
    def increment(x):
        for k in range(x.size):
            x.pointer[k] += 1

    with in_use("emulated"):
        operation("foreign", increment, x="input")(mat.zeros(3))


@planted(LEFT, device="emulated")
def an_operation_on_the_device_leaves_some():
    def half(x, y):
        y[:3] = x[:3]

    with in_use("emulated"):
        operation("array", half, x="input", y="output")(mat.zeros(6), mat.ones(6))


def set_bytes(a, at, value, count):
    """Write bytes as a kernel with a wrong signature would."""
    from cuda.bindings import driver
    with a.gpu.current():
        assert driver.cuMemsetD8Async(a.address + at, value, count, a.gpu.stream)[0] == 0


@planted(ONLY_READ + r", 1 element, \(1\)", device="cuda")
def a_program_on_the_gpu_writes_its_input():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "input") as a:
            set_bytes(a, 8, 0, 8)


@planted(LEFT + r" 2 elements, \(1\), \(2\)", device="cuda")
def a_program_on_the_gpu_leaves_some():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "output") as a:
            set_bytes(a, 0, 0, 8)


@planted(UNSEEN, device="cuda")
def a_program_on_the_gpu_writes_the_next_row():
    with in_use("cuda"):
        x = mat.ones(4, 2)
        with x[1].facet("cuda", "io") as a:
            set_bytes(a, 0, 0, 24)


@planted(LATE, device="cuda")
def an_array_of_the_gpu_is_kept():
    with in_use("cuda"):
        x = mat.ones(3)
        with x.facet("cuda", "input") as a:
            pass
        a.pointer  # noqa: B018


# Correct programs


CORRECT = []


def correct(function):
    """Register a program that the check does not reject."""
    CORRECT.append(function)
    return function


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
    with x.facet("array", "input") as a:
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
    mat.copy(x[:, 0], x[:, 3])
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
        with x.facet("foreign", "input"):
            with suppress(KeyError), x.facet("array", "io") as a:
                a[0] = 7
                raise KeyError
            assert mat.asum(x) == 3
