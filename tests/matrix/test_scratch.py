"""`scratch` and `ones_view`: whose memory is used again and by whom, what is left after a block,
and that ones stay ones.
"""

import asyncio
import gc
import os
import threading
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.registry import facets
from mat.errors import AliasError, ConflictError, DTypeError, ShapeError, TornError

from ..cpu.test_native import ended, leave
from ..support.layouts import NUMPY_DTYPES


@pytest.fixture(autouse=True)
def nothing_kept():
    mat.scratch.clear()
    yield
    mat.scratch.clear()


def address(x):
    with x.facet("backing", "io") as b:
        return b.ctypes.data


def used(shape, dtype=None, place="scratch"):
    """The address of a block's memory."""
    with mat.scratch(shape, dtype, place) as t:
        return address(t)


def in_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join(30)
    return found[0]


# What a block is given


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), 0, 7, (3, 5), (2, 0, 3), (2, 3, 4)])
@pytest.mark.sample(3)
def test_a_scratch_mat_is_a_mat_of_its_shape(shape, dtype):
    for _ in range(2):
        with mat.scratch(shape, dtype) as t:
            assert t.shape == mat.zeros(shape).shape
            assert t.dtype == mat.zeros(1, dtype=dtype).dtype
            assert t.is_contiguous
            assert (t.displacement, t.max_size) == (0, t.size)
            t.fill_(1)
            assert_array_equal(t.to_numpy().astype("complex64"), np.ones(t.shape))


def test_the_dtype_is_the_default_one():
    with mat.scratch(3) as t, mat.settings(dtype="float32"), mat.scratch(3) as u:
        assert (t.dtype, u.dtype) == (np.float64, np.float32)


def test_no_memory_is_taken_before_it_is_looked_at():
    with mat.scratch(1 << 50) as t:
        assert t.fresh == set()


# What is used again


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_the_next_block_has_the_same_memory():
    with mat.scratch(10) as t:
        first = address(t.fill_(7))
    with mat.scratch((2, 5)) as t:
        assert address(t) == first
        assert t.fresh == {"host"}


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_smaller_blocks_use_larger_memory_and_larger_ones_replace_it():
    first = used(10)
    assert used(3) == first
    assert used(10) == first
    used(20)
    second = used(20)
    assert used(10) == second  # the one of ten is gone
    assert "160 bytes" in repr(mat.scratch)


def test_reuse_is_no_allocation():
    used(10)
    with mat.debug.count_allocations() as n:
        used(10)
        assert n.count == 0
        used(11)
    assert n.count == 1


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_other_places_and_dtypes_have_memory_of_their_own():
    first = used(10)
    assert used(10, place="other") != first
    assert used(10, "int64") != first
    assert used(10, place=("a", 1)) == used(10, place=("a", 1))
    assert used(10) == first


@pytest.mark.parametrize("place", ["scratch", "other"])
def test_nested_blocks_share_nothing(place):
    for _ in range(3):
        with mat.scratch(4) as t:
            t.fill_(1)
            with mat.scratch(4, place=place) as u:
                u.fill_(2)
                with mat.scratch(2, place=place) as v:
                    v.fill_(3)
                    assert len({address(t), address(u), address(v)}) == 3
                assert u.tolist() == [2] * 4
            assert t.tolist() == [1] * 4


def test_nesting_again_takes_no_more_memory():
    def recurse(depth):
        if depth:
            with mat.scratch(100) as t:
                t.fill_(depth)
                recurse(depth - 1)
                assert (t.to_numpy() == depth).all()

    recurse(5)
    with mat.debug.count_allocations() as n:
        recurse(5)
    assert n.count == 0
    assert "4000 bytes" in repr(mat.scratch)


def test_clear_frees_what_is_kept_and_nothing_else():
    with mat.scratch(10) as t:
        used(20)
        mat.scratch.clear()
        assert "0 bytes" in repr(mat.scratch)
        assert t.fill_(3).tolist() == [3] * 10
    assert "80 bytes" in repr(mat.scratch)


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_an_error_gives_back_too():
    first = used(10)
    with pytest.raises(ShapeError), mat.scratch(10) as t:
        t.fill_(1).reshape(3)
    assert used(10) == first
    with pytest.raises(ValueError,
                       match="could not"), mat.scratch(10) as t, t.facet("array", "io") as a:
        a[:] = [*"123456789", "oops"]
    assert used(10) == first
    with mat.scratch(10) as t:
        t.to_numpy()  # that the last one was left torn is forgotten


def test_closing_or_growing_a_scratch_mat_harms_nobody():
    first = used(10)
    with mat.scratch(10) as t:
        t.fill_(1).close()
        t.fill_(2)
    used(10)
    with mat.scratch(10) as t:
        t.adjust_(100).fill_(5)
    assert t.tolist() == [5] * 100  # memory of its own
    assert isinstance(first, int)
    with mat.scratch(10) as u:
        u.fill_(9)
        assert (t.to_numpy() == 5).all()


# After the block


def left():
    with mat.scratch((2, 3)) as t:
        t.fill_(1)
        return t, t[0], t.T


@pytest.mark.parametrize("read", [lambda x: x.sum(), lambda x: x.to_numpy(), lambda x: x.copy(),
                                  lambda x: x @ x.T,
                                  lambda x: x.add_(1), lambda x: mat.blas.dot(x, x),
                                  lambda x: x.facet("foreign").__enter__()])
def test_reading_what_was_given_back_is_refused(read):
    for x in left():
        if x.ndim == 2:
            with pytest.raises(TornError,
                               match=r"released at the end of its block.*test_scratch.py:\d+"):
                read(x)
            assert "torn" in repr(x)


def test_writing_what_was_given_back_harms_nobody():
    t, row, _ = left()
    with pytest.raises(TornError):  # it sees a part only
        row.fill_(5)
    with mat.scratch((2, 3)) as u:
        u.fill_(2)
        assert t.fill_(3).tolist() == [[3] * 3] * 2
        assert u.tolist() == [[2] * 3] * 2
        assert address(t) != address(u)


@pytest.mark.parametrize("policy", ["warn", "ignore"])
@pytest.mark.filterwarnings("ignore:reading torn data:RuntimeWarning")
def test_who_insists_on_reading_sees_arbitrary_numbers_of_their_own(policy):
    t, _, _ = left()
    with mat.scratch((2, 3)) as u, mat.settings(torn=policy):
        u.fill_(2)
        t.add_(1)
        assert u.tolist() == [[2] * 3] * 2


def test_accepting_as_it_is_does_not_bring_it_back():
    t, _, _ = left()
    with pytest.raises(TornError):
        t.accept_torn().sum()


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_memory_that_is_still_looked_at_is_not_used_again():
    block = mat.scratch(10)
    t = block.__enter__()
    first = address(t)
    with t.facet("array", "input") as a:
        block.__exit__(None, None, None)
        with mat.scratch(10) as u:
            assert address(u.fill_(5)) != first
        assert a.ctypes.data == first
    assert t.copy().size == 10


def test_memory_that_is_kept_is_not_used_again():
    block = mat.scratch(10)
    t = block.__enter__()
    first = address(t)
    with t.keep("host"):
        block.__exit__(None, None, None)
        with mat.scratch(10) as u:
            assert address(u) != first


def test_a_block_that_is_open_is_not_opened_again():
    block = mat.scratch(10)
    with block, pytest.raises(ConflictError, match="already open"):
        block.__enter__()
    with block as t:  # but another time
        t.fill_(1)


def test_copies_elsewhere_are_freed(mocks):
    before = mocks.held()
    name = next(f.name for f in facets.values() if f.memory.name != "host")
    with mat.scratch(10) as t:
        t.fill_(1)
        with t.facet(name, "input"):
            assert mocks.held() != before
        storage = t.storage
    assert storage.handles == {}
    assert mocks.held() == before


# Who shares with whom


def test_threads_share_nothing():
    first = used(1000)
    with mat.scratch(1000) as t:
        t.fill_(1)
        assert in_thread(lambda: used(1000)) != first
    assert in_thread(lambda: repr(mat.scratch)).startswith("<mat.scratch: 0 bytes")


def test_many_threads_at_once():
    wrong = []

    def work(k):
        for n in range(200):
            with mat.scratch(50 + n % 7) as t, mat.scratch(20) as u:
                t.fill_(k)
                u.fill_(-k)
                if not (t.to_numpy() == k).all() or not (u.to_numpy() == -k).all():
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


@pytest.mark.unchecked("arrays do not own pages")
def test_the_memory_of_a_thread_that_ended_is_freed():
    def work():
        with mat.scratch(10) as t, t.facet("backing", "output") as b:
            return weakref.ref(b.base)

    ref = in_thread(work)
    gc.collect()
    assert ref() is None


@pytest.mark.unchecked("the memory of a Mat is moved after each block")
def test_a_block_that_ends_in_another_thread():
    block = mat.scratch(10)
    t = block.__enter__()
    first = address(t)
    in_thread(lambda: block.__exit__(None, None, None))
    used_again = [used(10) for _ in range(2)]
    assert used_again[0] == used_again[1]
    with pytest.raises(TornError):
        t.sum()
    assert isinstance(first, int)


def test_generators_that_take_turns_share_nothing():
    def numbers(k):
        with mat.scratch(10) as t:
            t.fill_(k)
            while True:
                yield t.sum().item()

    for _ in range(2):
        one, two = numbers(1), numbers(2)
        assert [next(one), next(two), next(one), next(two)] == [10, 20, 10, 20]
        one.close()
        assert next(two) == 20
        del two  # the garbage collector ends the block


def test_tasks_that_take_turns_share_nothing():
    async def task(k):
        for _ in range(5):
            with mat.scratch(10) as t:
                t.fill_(k)
                await asyncio.sleep(0)
                assert t.sum().item() == 10 * k

    async def main():
        await asyncio.gather(*(task(k) for k in range(10)))

    asyncio.run(main())


@pytest.mark.host  # no device outlives a fork
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own():
    used(10)
    with mat.scratch(10) as t, mat.ones_view(10) as one:
        t.fill_(1)
        child = os.fork()
        if child == 0:
            try:
                with mat.scratch(10) as u:
                    u.fill_(2)
                    fine = t.sum().item() == 10 and u.sum().item() == 20 and one.sum().item() == 10
                leave(0 if fine and t.fill_(3).sum().item() == 30 else 1)
            except BaseException:
                leave(2)
        assert ended(child) == 0
        assert t.sum().item() == 10


# Bad input


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ((-1,), ShapeError, "-1"), (("3",), ShapeError, "'3'"), ((1.5,), ShapeError, "1.5"),
    ((2, "float99"), DTypeError, "float99"), ((1 << 62,), ShapeError, "64 bits")])
def test_bad_input_is_refused_before_the_block(arguments, error, text):
    for function in (mat.scratch, mat.ones_view):
        with pytest.raises(error, match=text):
            function(*arguments)


def test_a_place_is_a_name():
    with pytest.raises(DTypeError, match=r"\[1\]"):
        mat.scratch(3, place=[1])


def test_writing_elements_that_overlap_is_still_an_alias_error():
    with mat.scratch(3) as t, pytest.raises(AliasError):
        t.fill_(1).broadcast_to(2, 3).fill_(2)
