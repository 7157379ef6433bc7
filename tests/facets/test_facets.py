"""What the facets present: arrays, the whole storage, C pointers; and facets and memories of an
outsider.
"""

import ctypes
import gc
import warnings
import weakref

import numpy as np
import pytest
from cffi import FFI
from numpy.testing import assert_array_equal

import mat
from mat.core import registry
from mat.errors import ConflictError, DTypeError, FacetError, MatError
from mat.extend import Facet, Input, Memory, Output, op, register_facet, register_memory

from ..support.mock_memories import registered

DTYPES = mat.supported_dtypes
ffi = FFI()
ffi.cdef("void *memcpy(void *, const void *, size_t);")
libc = ffi.dlopen(None)

C_TYPES = {"bool": "_Bool", "float16": "uint16_t", "bfloat16": "uint16_t", "float32": "float",
           "float64": "double", "float8_e4m3fn": "uint8_t", "float8_e5m2": "uint8_t",
           "complex64": "float _Complex", "complex128": "double _Complex"}


def numpy_dtype(name):
    of_ml_dtypes = name.startswith(("bfloat", "float8"))
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if of_ml_dtypes else name)


def layouts(dtype="float64"):
    """Mats with elements of 0 and 1, over storages of 30 elements, in every layout."""
    def base():
        return mat.array(np.arange(30).astype(dtype) if dtype != "bool" else np.arange(30) % 2 > 0)
    return {"packed": base().reshape(5, 6), "displaced": base().view((2, 3), 4),
            "transposed": base().reshape(5, 6).T,
            "strided": base().reshape(5, 6)[1::2, ::3],
            "negative": base().reshape(5, 6)[::-1, ::-2], "0-d": base()[7, ...],
            "empty": base()[3:3], "empty matrix": base().reshape(5, 6)[:, 6:],
            "3-d": base().reshape(2, 3, 5)[:, ::2, 1:]}


KINDS = list(layouts())
cases = pytest.mark.parametrize(("name", "kind"), [(n, k) for n in DTYPES for k in KINDS])


def elements(x):
    """The elements by the definition of a layout, from the whole storage."""
    with x.facet("backing", "input") as whole:
        return whole[list(x.layout.indices())].reshape(x.shape)


# array and backing


CHANGES = {"shape": lambda a: setattr(a, "shape", (6, 5)),
           "dtype": lambda a: setattr(a, "dtype", "int64"),
           "flags": lambda a: a.setflags(write=False)}


@pytest.mark.filterwarnings("ignore:Setting the")  # NumPy 2.5 deprecates to set shapes and dtypes
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("facet", ["array", "backing"])
def test_what_a_block_changes_of_its_array_no_later_block_sees(facet, change):
    x = mat.array(np.arange(30.0).reshape(5, 6))
    for _ in range(4):
        with x.facet(facet) as a:
            assert (a.shape, a.dtype) == ((5, 6) if facet == "array" else (30,), "float64")
            assert a.flags.writeable
            CHANGES[change](a)


def test_blocks_at_the_same_time_and_kept_arrays_have_arrays_of_their_own():
    x = mat.array(np.arange(6.0))
    kept = []
    for _ in range(5):
        with x.facet("array", "input") as a, x.facet("array", "input") as b:
            kept += [a, b, a[:]]
    assert len(set(map(id, kept))) == len(kept)
    for a in kept:
        assert_array_equal(a, np.arange(6.0))


def test_a_weak_reference_to_the_array_of_a_block_is_to_no_later_one():
    x = mat.ones(3)
    dead = []
    for _ in range(4):
        with x.facet("array", "input") as a:
            assert all(found() is not a for found in dead)
        dead.append(weakref.ref(a))
        del a


def test_arrays_of_blocks_end_with_the_mat():
    x = mat.ones(3)
    for _ in range(3):
        with x.facet("array") as a:
            pass
    owner = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    ended = weakref.ref(owner)
    del a, owner, x
    gc.collect()
    assert ended() is None


@cases
@pytest.mark.sample(3)
def test_array_presents_the_visible_elements_in_their_strides(name, kind):
    x = layouts(numpy_dtype(name))[kind]
    with x.facet("array", "input") as a:
        assert type(a) is np.ndarray
        assert_array_equal(a, elements(x), strict=True)
        assert not a.size or all(s == t for n, s,
                                 t in zip(a.shape, a.strides, x.strides, strict=True) if n > 1)
        assert not a.flags.writeable
    with x.facet("array", "io") as a:
        assert a.flags.writeable
        a[...] = 1
    assert_array_equal(elements(x), np.ones(x.shape, x.dtype))


@cases
@pytest.mark.sample(3)
def test_backing_presents_the_whole_storage_flat(name, kind):
    x = layouts(numpy_dtype(name))[kind]
    with x.facet("backing", "input") as whole:
        assert (type(whole), whole.shape, whole.dtype,
                whole.flags.c_contiguous) == (np.ndarray, (30,), x.dtype, True)
        assert not whole.flags.writeable
    with x.facet("backing", "io") as whole, x.facet("array", "io") as a:
        assert np.shares_memory(whole, a) == bool(a.size)
        whole[:] = 0
        assert_array_equal(a, np.zeros(x.shape, x.dtype))


def test_output_through_a_part_keeps_the_rest_through_backing_too():
    x = mat.arange(6.0)[2:4]
    with x.facet("array", "output") as a:
        a[:] = 9
    with x.facet("backing", "output") as whole:
        assert_array_equal(whole, [0, 1, 9, 9, 4, 5])


@pytest.mark.parametrize("facet", ["array", "backing"])
def test_input_is_read_only_and_stays_so(facet):
    x = mat.arange(4.0)
    with x.facet(facet, "input") as a:
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            a[1:][0] = 1
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_array_of_an_input_can_be_made_writable(dtype):
    for x in (*layouts(numpy_dtype(dtype)).values(), mat.zeros(0, 3, dtype=dtype)):
        expected = x.to_numpy()
        for _ in range(2):  # the second block is given the value that was kept
            with x.facet("array", "input") as a, x.facet("backing", "input") as b:
                exported = np.asarray(x)
                assert a.dtype == b.dtype == exported.dtype == x.dtype
                assert_array_equal(a, expected)
                for array in (a, b, exported, a.view(), a[...], b[:2], a.T, np.asarray(a)):
                    with pytest.raises(ValueError, match="WRITEABLE"):
                        array.flags.writeable = True
                    with pytest.raises(ValueError, match="WRITEABLE"):
                        array.setflags(write=True)


def test_buffers_of_arrays_of_an_input_are_read_only():
    x = mat.arange(4.0)
    with x.facet("array", "input") as a:
        for buffer in (memoryview(a), memoryview(np.asarray(x)), a.data):
            assert buffer.readonly
            with pytest.raises(TypeError, match="read-only"):
                buffer[0] = 1.0
            with pytest.raises(TypeError, match="not writable"):
                ctypes.c_double.from_buffer(buffer)
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.unchecked("its blocks for output write nothing")
@pytest.mark.parametrize("facet", ["array", "backing"])
@pytest.mark.parametrize("direction", ["input", "io", "output"])
def test_what_a_block_does_to_its_array_does_not_affect_the_next_access(facet, direction):
    x = mat.arange(6.0)
    for _ in range(2):
        with x.facet(facet, direction) as a:
            assert (a.shape, a.strides, a.dtype) == ((6,), (8,), np.float64)
            assert a.flags.writeable == (direction != "input")
            a.flags.writeable = False
            reshape_in_place(a, (2, 3))
    assert x.shape == (6,)
    assert_array_equal(mat.exp(x).to_numpy(), np.exp(np.arange(6.0)))
    x.fill_(1)
    assert_array_equal((x + 1).to_numpy(), np.full(6, 2.0))


def reshape_in_place(a, shape):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5
        a.shape = shape


def test_several_accesses_give_arrays_of_their_own():
    x = mat.arange(6.0)
    with x.facet("array", "io") as c, x.facet("array",
                                              "input") as a, x.facet("array", "input") as b:
        assert a is not b
        assert np.shares_memory(a, b)
        reshape_in_place(a, (3, 2))
        assert b.shape == c.shape == (6,)
        assert c.flags.writeable
        c[0] = 5
        assert b[0] == 5
    assert x[0] == 5


@pytest.mark.unchecked("reads an array after its block")
def test_arrays_do_not_keep_the_mat_but_their_memory():
    x = mat.arange(6.0)
    with x.facet("array", "input") as a:
        pass
    ref = weakref.ref(x.storage)
    del x
    gc.collect()
    assert ref() is None
    assert_array_equal(a, np.arange(6.0))


# foreign


@cases
@pytest.mark.sample(3)
def test_foreign_pointers_point_at_the_elements(name, kind):
    dtype = numpy_dtype(name)
    x = layouts(dtype)[kind]
    with x.facet("foreign", "input") as p, x.facet("backing", "input") as whole:
        assert (p.shape, p.strides) == (x.shape, x.element_strides)
        assert (p.size, p.dtype) == (x.size, x.dtype)
        kind_of = ffi.typeof(p.pointer)
        assert kind_of.item.cname == ffi.typeof(C_TYPES.get(name, f"{name}_t")).cname
        assert ffi.typeof(p.base_pointer) is kind_of
        assert ffi.sizeof(kind_of.item) == x.itemsize
        address = int(ffi.cast("uintptr_t", p.base_pointer))
        assert address == whole.ctypes.data
        assert int(ffi.cast("uintptr_t", p.pointer)) == address + x.displacement * x.itemsize
        seen = np.frombuffer(ffi.buffer(p.base_pointer, 30 * x.itemsize), dtype)
        assert_array_equal(seen, whole)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [d for d in DTYPES if not d.startswith("complex")])
@pytest.mark.sample(3)
def test_writing_through_pointers(name, kind):
    x = layouts(numpy_dtype(name))[kind]
    with x.facet("backing", "input") as whole:
        before = whole.copy()
    bits = x.dtype.itemsize * 8
    one = np.ones((), x.dtype)
    as_bits = bits <= 16 and x.dtype.kind not in "biu"
    value = int(one.view(f"u{x.itemsize}")) if as_bits else one.item()
    with x.facet("foreign", "io") as p:
        for k in x.layout.indices():
            p.base_pointer[k] = value
        if x.size:
            p.pointer[0] = value
    before[list(x.layout.indices())] = 1
    with x.facet("backing", "input") as whole:
        assert_array_equal(whole, before)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_writing_complex_numbers_through_pointers(name):
    x = mat.zeros(3, dtype=name)[1:]
    source = np.array([1 + 2j, 3 - 4j], name)
    with x.facet("foreign", "io") as p:
        libc.memcpy(p.pointer, ffi.from_buffer(source), source.nbytes)
    assert x.tolist() == [1 + 2j, 3 - 4j]


def test_foreign_memory_is_that_of_the_array():
    a = np.arange(6.0)
    x = mat.from_numpy(a[::-2])
    with x.facet("foreign", "io") as p:
        assert int(ffi.cast("uintptr_t", p.pointer)) == a[5:].ctypes.data
        assert p.strides == (-2,)
        p.pointer[-2] = 9  # the next element lies before
    assert_array_equal(a, [0, 1, 2, 9, 4, 5])
    assert x.tolist() == [5, 9, 1]


@pytest.mark.unchecked("uses a pointer after its block")
def test_foreign_says_what_it_is_and_lives_on_with_its_memory():
    x = mat.array([[1, 2], [3, 4]], "float32").T
    with x.facet("foreign", "input") as p:
        assert "shape (2, 2) strides (1, 2) float32" in repr(p)
    del x
    gc.collect()
    assert [p.pointer[k] for k in range(4)] == [1, 2, 3, 4]


def test_foreign_of_a_mat_that_was_never_written_is_filled():
    x = mat.full(3, 7.0)
    with x.facet("foreign", "input") as p:
        assert [p.pointer[k] for k in range(3)] == [7, 7, 7]


@pytest.mark.parametrize("order", [("array", "backing", "foreign"), ("foreign", "backing", "array"),
                                   ("backing", "foreign", "array")])
def test_facets_of_one_memory_are_never_out_of_step(order):
    x = mat.zeros(3)
    with mat.debug.count_copies() as n:
        for k, name in enumerate(order):
            with x.facet(name, "io") as value:
                (value.pointer if name == "foreign" else value)[k] = k + 1
    assert (n.h2d, n.d2h) == (0, 0)
    assert x.tolist() == [1, 2, 3]
    assert set(x.facets) == {"backing", "array", "foreign"}


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: x.facet("nonsense"), FacetError, "'nonsense'.*array.*foreign"),
    (lambda x: x.facet(None), FacetError, "None"),
    (lambda x: x.facet(["array"]), FacetError, "array"),
    (lambda x: x.facet("host"), FacetError, "'host'"),
    (lambda x: x.facet("array", "inout"), mat.DirectionError,
     "'inout'.*'input', 'output' and 'io'"),
    (lambda x: x.facet("array", None), mat.DirectionError, "None"),
    (lambda x: x.facet("array", []), mat.DirectionError, r"\[\]"),
    (lambda x: mat.with_facets((x, "nonsense")), FacetError, "nonsense"),
    (lambda x: mat.with_facets((np.zeros(2), "array")), DTypeError, "array"),
    (lambda x: x.drop("array"), FacetError, "no memory 'array'.*host"),
    (lambda x: x.keep("nowhere"), FacetError, "nowhere"),
])
def test_unknown_names(call, error, message):
    x = mat.arange(2.0)
    with pytest.raises(error, match=message):
        call(x)
    assert x.storage.accesses == []
    assert x.tolist() == [0, 1]


def test_directions_can_be_given_as_members():
    x = mat.zeros(2)
    with x.facet("array", mat.Direction.OUTPUT) as a:
        a[:] = 1
    with x.facet("array", mat.Direction.INPUT) as a:
        assert not a.flags.writeable
    assert x.tolist() == [1, 1]


# User-defined facets


class Elsewhere(Memory):
    """Keeps the data negated, so that a copy which was left out shows."""

    def __init__(self, name="elsewhere"):
        self.name = name

    def allocate(self, cube):
        return np.empty(cube.size, cube.dtype)

    def copy_in(self, cube, handle, host):
        np.negative(host, out=handle)

    def copy_out(self, cube, handle, host):
        np.negative(handle, out=host)


class Shadow(Facet):
    def __init__(self, name="shadow", letter="s", memory=None):
        self.name, self.letter, self.memory = name, letter, memory or Elsewhere()

    def present(self, view, handle, writable):
        strides = tuple(s * view.itemsize for s in view.element_strides)
        return np.lib.stride_tricks.as_strided(handle[view.displacement:], view.shape, strides,
                                               writeable=writable)


def test_a_user_defined_facet_works_like_the_built_in_ones():
    with registered():
        facet = register_facet(Shadow())
        assert (facet.letter, facet.name) == ("S", "shadow")
        x = mat.arange(6.0).reshape(2, 3)
        with x.T.facet("shadow", "input") as s:
            assert_array_equal(s, -np.arange(6.0).reshape(2, 3).T)
            assert not s.flags.writeable
        assert x.fresh == {"host", "elsewhere"}
        assert repr(x) == "<Mat 2x3 AS [[0. 1. 2.] [3. 4. 5.]]>"
        with x[0].facet("shadow", "output") as s:
            s[:] = -7
        assert x.fresh == {"elsewhere"}
        assert repr(x) == "<Mat 2x3 aS [[7. 7. 7.] [3. 4. 5.]]>"
        x.drop("host")
        assert_array_equal((x + 1).to_numpy(), [[8, 8, 8], [4, 5, 6]])
        assert x.facets["shadow"].memory == "elsewhere"
        with pytest.raises(ConflictError), x.facet("shadow", "input"), x.facet("array", "io"):
            pass


def test_what_was_registered_is_taken_where_its_name_is():
    with registered():
        facet = register_facet(Shadow())
        x, y = mat.arange(3), mat.zeros(3)
        with x.facet(facet, "input") as s:
            assert_array_equal(s, [0, -1, -2])
        with mat.with_facets((x, facet, "input"), (y, facet, mat.Direction.OUTPUT)) as (s, t):
            t[:] = 2 * s
        assert_array_equal(y.to_numpy(), [0, 2, 4])
        with mat.barrier(ensure="host", drop=facet) as b, mat.ones(2).facet(facet):
            assert b.count == 1
        with mat.barrier(ensure=facet.memory, drop=("emulated",)), x.keep(facet):
            pass
        for given in (facet, facet.memory):
            assert x.drop(given) is (given is facet)
        assert x.fresh == {"host"}

        @op(method="")
        def negate(x: Input, out: Output) -> None: ...

        @negate.on(facet)
        def negate_there(engine, x, out):
            out[:] = -x
        assert negate.implementations[0].facet_name == "shadow"
    for wrong in (facet, facet.memory, 3, Shadow):
        with pytest.raises(FacetError, match="no facet"):
            x.facet(wrong)
        with pytest.raises(FacetError, match="no memory"):
            x.drop(wrong)


def test_every_operation_works_on_data_that_is_elsewhere():
    with registered():
        register_facet(Shadow())
        x = mat.arange(4.0).reshape(2, 2)
        with x.facet("shadow", "io"):
            pass
        x.drop("host")
        for made, wanted in ((x @ x, [[2, 3], [6, 11]]), (x[:, 1], [1, 3]), (x.sum(axis=0), [2, 4]),
                             (x.copy(), [[0, 1], [2, 3]]),
                             (x.T.copy(), [[0, 2], [1, 3]])):
            assert made.tolist() == wanted
            with x.facet("shadow", "io"):
                pass


def test_the_registry_is_as_before_outside_of_the_block():
    before = set(registry.facets), set(registry.memories)
    with registered():
        register_facet(Shadow())
        assert "shadow" in registry.facets
    assert (set(registry.facets), set(registry.memories)) == before
    with pytest.raises(FacetError, match="shadow"):
        mat.zeros(1).facet("shadow")


@pytest.mark.parametrize(("make", "message"), [
    (lambda: register_facet(Shadow("array")), "'array' is already registered"),
    (lambda: register_facet(Shadow(letter="a")), "'a'"),
    (lambda: register_facet(Shadow(letter="F")), "'F'"),
    (lambda: register_facet(Shadow(letter="xy")), "'xy'"),
    (lambda: register_facet(Shadow(letter="")), "''"),
    (lambda: register_facet(Shadow(memory=Elsewhere("host"))), "memory 'host' is already "
                                                               "registered"),
    (lambda: register_memory(Elsewhere("host")), "memory 'host' is already registered"),
    (lambda: register_facet(Shadow("near", "q")), "'near'"),
])
def test_duplicates_are_refused_and_leave_no_trace(make, message):
    with registered():
        before = dict(registry.facets), dict(registry.memories)
        with pytest.raises(FacetError, match=message):
            make()
        assert (dict(registry.facets), dict(registry.memories)) == before
    assert issubclass(FacetError, MatError)
    assert issubclass(FacetError, LookupError)


def test_two_facets_may_share_a_memory():
    with registered():
        memory = Elsewhere()
        register_facet(Shadow("one", "o", memory))
        register_facet(Shadow("two", "w", memory))
        assert register_memory(memory) is memory
        x = mat.arange(2.0)
        with x.facet("one", "io") as a, x.facet("two", "io") as b:
            assert np.shares_memory(a, b)
            a[0] = -5
            assert b[0] == -5
        assert repr(x) == "<Mat 2 aOW [5. 1.]>"


def test_barrier_says_of_which_memories_it_drops_copies(monkeypatch):
    with mat.barrier(drop="emulated") as barrier:
        assert repr(barrier) == "<barrier: 0 copies to drop from emulated>"
    monkeypatch.setattr(barrier, "dropped", ())
    assert repr(barrier) == "<barrier: 0 copies to drop from no memory>"
