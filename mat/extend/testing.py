"""Tests that every memory space should pass: subclass `MemoryTests` in a test file of your own.

They need NumPy only; pytest, or any other tool that calls methods ``test_...``, runs them.
"""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from ..core.registry import Facet, Memory, facet_named
from ..debug.counters import count_copies
from ..matrix.arrays import array
from ..matrix.creation import zeros
from ..matrix.filled import full
from ..matrix.mat import Mat
from ..support.types import Array

__all__ = ["MemoryTests"]

_DTYPES = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex128")
_LONG = 100_000  # elements of Mats whose parts are worth a copy of their own
_SECONDS = 60  # after which a thread counts as hanging


class _Failure(Exception):
    """The error of a block that fails on purpose."""


class MemoryTests:
    """Tests of a memory space, through a facet that presents it.

    Attributes
    ----------
    facet : str
        The name of the facet, registered by `register_facet`.
    views : bool
        Whether the facet presents any view. With False only whole Mats are tested.
    seed : int
        The seed of the random programs.

    Notes
    -----
    The facet's value is read by `read` and written by `write`. They are made for arrays; override
    them for other values.

    Examples
    --------
    ``from mat.extend.testing import MemoryTests`` and then, in a file that pytest collects:
    ``class TestAttic(MemoryTests): facet = "attic"``.
    """

    facet: str
    views: bool = True
    seed: int = 0

    def read(self, value: Any) -> Array:
        """Return a copy of the elements of a block's value as an array."""
        return np.array(value)

    def write(self, value: Any, elements: Array) -> None:
        """Overwrite the elements of a block's value."""
        value[...] = elements

    # What is copied

    def test_every_dtype_comes_back(self) -> None:
        """Elements of every dtype and length that are read there, and copied back, are the same."""
        for dtype in _DTYPES:
            for size in (1, 7, 1000):
                given = self._elements(size, dtype)
                x = array(given)
                assert_array_equal(self._get(x), given)
                x.drop("host")
                assert_array_equal(x.to_numpy(), given)

    def test_no_elements(self) -> None:
        """A Mat without elements can be accessed."""
        x = zeros((0, 3))
        assert self._get(x).size == 0
        assert x.to_numpy().shape == (0, 3)

    def test_a_write_there_is_read_on_the_host(self) -> None:
        """A block for ``io`` makes the host's copy stale, one for ``input`` does not."""
        x = array(np.arange(12.0).reshape(3, 4))
        self._get(x)
        with count_copies() as copies:
            x.to_numpy()
        assert not copies.h2d + copies.d2h, "reading made the host's copy stale"
        self._put(x, np.full((3, 4), 5.0))
        assert_array_equal(x.to_numpy(), np.full((3, 4), 5.0))

    def test_output_copies_nothing(self) -> None:
        """A block for ``output`` gets no copy of elements that it overwrites."""
        x = array(np.arange(12.0))
        with count_copies() as copies:
            self._put(x, np.ones(12), "output")
        assert not copies.h2d + copies.d2h, "elements were copied that are overwritten"
        assert_array_equal(x.to_numpy(), np.ones(12))

    def test_fill_values(self) -> None:
        """A Mat that was never written has its fill value there."""
        for dtype in _DTYPES:
            for value in (0, 1):
                x = full((5,), value, dtype=dtype)
                assert_array_equal(self._get(x), np.full(5, value, dtype))

    def test_views(self) -> None:
        """Views with offsets, steps and exchanged axes see their own elements."""
        if not self.views:
            return
        base = np.arange(60.0).reshape(3, 4, 5)
        for index in ((1,), (slice(None), slice(1, 3)), (slice(None, None, -1), 2),
                      (slice(None), slice(None, None, 2), slice(4, 1, -1))):
            x, expected = array(base), base.copy()
            assert_array_equal(self._get(x[index]), expected[index])
            self._put(x[index], expected[index] + 100)
            expected[index] += 100
            assert_array_equal(x.to_numpy(), expected)
        assert_array_equal(self._get(array(base).T), base.T)

    def test_mats_of_one_size(self) -> None:
        """Each Mat has memory of its own."""
        x, y = zeros(_LONG), zeros(_LONG)
        self._put(x, np.ones(_LONG))
        self._put(y, np.full(_LONG, 2.0))
        assert (self._get(x) == 1).all()
        assert (self._get(y) == 2).all()

    def test_elements(self) -> None:
        """Single elements of data that is fresh only there can be read and written."""
        given = np.arange(float(_LONG)).reshape(-1, 10)
        x = array(given)
        self._put(x, given + 1)
        x[8, 4] = -5.0
        assert x[7, 3] == given[7, 3] + 1
        expected = given + 1
        expected[8, 4] = -5
        assert_array_equal(self._get(x), expected)
        assert str(x), "the printer reads some elements"

    def test_parts(self) -> None:
        """A memory with copies of parts copies only the elements that a block accesses."""
        if not self._memory.has_spans:
            return
        given = np.arange(float(_LONG)).reshape(-1, 10)
        x = array(given)
        with count_copies() as copies:
            self._put(x[5:7], given[5:7] * 2)
        assert copies.bytes <= 3 * given[5:7].nbytes, "more than the part was copied"
        x[100:102] = -1
        expected = given.copy()
        expected[5:7] *= 2
        expected[100:102] = -1
        assert_array_equal(self._get(x[4:9]), expected[4:9])
        assert_array_equal(x.to_numpy(), expected)
        assert_array_equal(self._get(x), expected)

    # What fails

    def test_a_failed_block_is_rolled_back(self) -> None:
        """A block that fails half-way leaves the data that another memory has."""
        given = np.arange(8.0)
        x = array(given)
        try:
            with x.facet(self._facet, "io") as value:
                self.write(value, np.zeros(8))
                raise _Failure
        except _Failure:
            pass
        assert_array_equal(x.to_numpy(), given)
        assert_array_equal(self._get(x), given)

    def test_a_failing_allocation_changes_nothing(self) -> None:
        """An error in `allocate` leaves the Mat as it was, and it can be accessed later."""
        given = np.arange(8.0)
        x = array(given)
        with self._failing("allocate", MemoryError):
            self._fails(x, MemoryError)
        assert_array_equal(x.to_numpy(), given)
        assert_array_equal(self._get(x), given)

    def test_a_failing_copy_changes_nothing(self) -> None:
        """An error in a copy to the memory leaves the Mat as it was, and frees nothing twice."""
        given = np.arange(8.0)
        with self._counted() as live:
            x = array(given)
            with self._failing("copy_in", _Failure):
                self._fails(x, _Failure)
            assert_array_equal(x.to_numpy(), given)
            assert_array_equal(self._get(x), given)
            del x
            gc.collect()
        assert not live, "handles that were not freed, or freed twice"

    # What is freed

    def test_every_handle_is_freed_once(self) -> None:
        """Handles are freed when copies are dropped, and when Mats are garbage."""
        with self._counted() as live:
            for _ in range(3):
                x = array(np.arange(float(_LONG)))
                self._get(x)
                x.drop(self._memory)
                self._put(x, np.ones(_LONG))
                if self.views:
                    self._get(x[10:20])
                del x
                gc.collect()
        assert not live, "handles that were not freed, or freed twice"

    def test_a_handle_is_freed_in_another_thread(self) -> None:
        """`free` works in a thread that did not allocate."""
        with self._counted() as live:
            mats = [array(np.arange(9.0)) for _ in range(4)]
            for k in range(4):
                self._get(mats[k])
            self._in_threads([mats.clear])
            gc.collect()
        assert not live, "handles that were not freed, or freed twice"

    def test_threads(self) -> None:
        """Threads that use Mats of their own do not disturb each other."""
        def work(k: int) -> Callable[[], None]:
            def run() -> None:
                x = array(np.full(100, float(k)))
                for step in range(20):
                    self._put(x, np.full(100, k + step))
                    assert_array_equal(x.to_numpy(), np.full(100, k + step))
            return run

        self._in_threads([work(100 * k) for k in range(4)])

    # All together

    def test_random_programs(self) -> None:
        """Random accesses there and on the host see the last write to each element."""
        for number in range(10):
            self._run(np.random.default_rng([self.seed, number]))

    def _run(self, rng: np.random.Generator) -> None:
        expected = np.zeros((30, _LONG // 30))
        x = zeros(expected.shape)
        for step in range(40):
            first, last = sorted(rng.integers(0, 31, 2)) if self.views else (0, 30)
            part, there = slice(int(first), int(last)), bool(rng.integers(2))
            action = rng.integers(4)
            if action == 0:
                expected[part] = step
                if there:
                    self._put(x[part], expected[part])
                else:
                    x[part] = step
            elif action == 1:
                expected[part] += 1
                if there:
                    self._put(x[part], self._get(x[part]) + 1)
                else:
                    x[part] += 1
            elif action == 2 and "host" in x.fresh:
                x.drop(self._memory)
            got = self._get(x[part]) if there else x[part].to_numpy()
            assert_array_equal(got, expected[part])

    # Helpers

    @property
    def _facet(self) -> Facet:
        return facet_named(self.facet)

    @property
    def _memory(self) -> Memory:
        return self._facet.memory

    def _get(self, x: Mat) -> Array:
        with x.facet(self._facet, "input") as value:
            return self.read(value)

    def _put(self, x: Mat, elements: Array, direction: Any = "io") -> None:
        with x.facet(self._facet, direction) as value:
            self.write(value, elements)

    def _elements(self, size: int, dtype: str) -> Array:
        drawn = np.random.default_rng(self.seed).integers(0, 2 if dtype == "bool" else 100, size)
        return drawn.astype(dtype)

    def _fails(self, x: Mat, error: type[Exception]) -> None:
        try:
            self._get(x)
        except error:
            return
        raise AssertionError(f"the {error.__name__} of the memory did not reach the caller")

    @contextmanager
    def _failing(self, method: str, error: type[Exception]) -> Iterator[None]:
        def fail(*_: Any) -> None:
            raise error(f"{method} fails in a test")

        with _replaced(self._memory, {method: fail}):
            yield

    @contextmanager
    def _counted(self) -> Iterator[Counter[int]]:
        """Count the live handles by identity, if the memory frees them: allocations less frees."""
        memory, live = self._memory, Counter[int]()
        kept: list[Any] = []
        allocate, free = memory.allocate, memory.free

        def allocated(cube: Any) -> Any:
            handle = allocate(cube)
            kept.append(handle)  # so that no other handle gets its identity
            live[id(handle)] += 1
            return handle

        def freed(handle: Any) -> None:
            live[id(handle)] -= 1
            if not live[id(handle)]:
                del live[id(handle)]
            free(handle)

        gc.collect()
        frees = type(memory).free is not Memory.free
        with _replaced(memory, {"allocate": allocated, "free": freed} if frees else {}):
            yield live

    def _in_threads(self, calls: list[Callable[[], object]]) -> None:
        errors: list[BaseException] = []

        def run(call: Callable[[], object]) -> None:
            try:
                call()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_SECONDS)
            assert not thread.is_alive(), "a thread hangs"
        if errors:
            raise errors[0]


@contextmanager
def _replaced(memory: Memory, methods: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Replace methods of one memory within the block."""
    for name, method in methods.items():
        setattr(memory, name, method)
    try:
        yield
    finally:
        for name in methods:
            delattr(memory, name)
