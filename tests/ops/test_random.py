"""Random numbers: known answers, the same bits whatever computes them, and generators."""

import copy
import pickle
import subprocess
import threading

import cffi
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.native import build
from mat.ops.linear import blas_level23
from mat.ops.primitives import philox
from mat.ops.primitives import random as ops
from mat.support.native import ffi, lib

from ..support.drawing import REAL, real, uniform
from ..support.layouts import LAYOUTS, check_hidden, place
from ..support.machine import LEVELS, runs
from ..support.random_cases import STATES
from ..support.random_cases import philox as reference

compiled = pytest.mark.skipif(lib is None, reason="the kernels are not compiled")
KNOWN = [  # Random123, kat_vectors: counter, key, words
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c "
                                                                 "9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 "
                                                                 "6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 "
                                                                 "24126ea1"),
]


def hexadecimal(text):
    return [int(word, 16) for word in text.split()]


DRAWS = {"uniform": lambda x, rng: x.uniform_(2.5, rng=rng), "normal": lambda x,
         rng: x.normal_(3, 0.3, rng=rng),
         "bernoulli": lambda x, rng: x.bernoulli_(0.3, rng=rng)}
draws = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


# Philox


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers(counter, key, words):
    assert reference(hexadecimal(counter), hexadecimal(key)) == hexadecimal(words)
    if lib is not None:
        found = ffi.new("uint32_t[4]", hexadecimal(counter))
        lib.random_words(found, *hexadecimal(key))
        assert list(found) == hexadecimal(words)


def test_the_first_known_answer_is_what_the_seed_0_gives():
    words = hexadecimal(KNOWN[0][2])
    assert philox.blocks(0, 1, (0, 0)).tolist() == [words]
    assert uniform(0, 4, "float32").tolist() == [(w >> 8) / 2**24 for w in words]
    assert uniform(0, 2).tolist() == [((words[k] << 32 | words[k + 1]) >> 11) / 2**53
                                      for k in (0, 2)]


@compiled
@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("first", [0, 2**32 - 5, 2**64 - 7])
def test_each_way_to_make_words(level, first):
    found = ffi.new("uint32_t[4][64]")
    if not lib.random_batch(level, first, 123, 2**32 - 9, ffi.cast("uint32_t *", found)):
        pytest.skip("not on this machine")
    wanted = [reference(((first + i) % 2**32, (first + i) % 2**64 >> 32, 0, 0), (123, 2**32 - 9))
              for i in range(64)]
    assert [list(row) for row in found] == [list(column) for column in zip(*wanted, strict=True)]


# The same bits


NUMBERS = {"uniform": (0.1, 0.09), "normal": (-0.7, 1.3), "bernoulli": (2.0**31, 1.0)}


def by_numpy(name, n, dtype, state):
    out = np.empty(n, dtype)
    getattr(philox, name)(out, *NUMBERS[name], *state)
    return out


@pytest.mark.host
@compiled
@real
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("n", [1, 2, 3, 127, 128, 129, 256, 257, 100_003])
@pytest.mark.sample(3)
def test_kernels_and_numpy_give_the_same_bits(name, dtype, state, n):
    x = mat.empty(n, dtype=dtype)
    getattr(ops, name)(*NUMBERS[name], *state, x)
    assert set(x.facets) == {"foreign"}
    assert_array_equal(x.to_numpy().view("u1"), by_numpy(name, n, dtype, state).view("u1"))


@pytest.mark.sample(3)
@compiled
@pytest.mark.parametrize("level", LEVELS)
def test_code_for_every_machine_gives_the_same_bits(level, tmp_path):
    """Compile with and without fused multiply-add, in vectors of any length."""
    if not runs(level):
        pytest.skip("not on this machine")
    target = tmp_path / "random.so"
    subprocess.run(["gcc", *build.FLAGS, *build.for_source("random.c"),
                    "-fvisibility=default", f"-march={level}", "-DMAT_NO_CLONES",
                    "-shared", "-fPIC", "-o", target, "random.c",
                    *(f"-I{path}" for path in build.FOLDERS), "-lm"],
                   check=True, cwd=build.HERE / "cpu")
    types = cffi.FFI()
    types.cdef((build.HERE / "cpu" / "random.h").read_text(encoding="ascii"))
    other = types.dlopen(str(target))
    n, state = 10_007, STATES[1]
    for name in NUMBERS:
        for dtype in REAL:
            found = np.empty(n, dtype)
            numbers = types.new("double[12]",
                                [v for number in (*NUMBERS[name], *state) for v in (number, 0.0)])
            operands = types.new("char *[1]", [types.from_buffer("char *", found)])
            stop = -(-ops.blocks(name, found.dtype, n) // 64)
            kernel = getattr(other, f"random_{name}_{found.dtype.char}")
            kernel(types.new("random_frame *", [n]), operands, numbers, types.NULL, 0, stop)
            assert_array_equal(found.view("u1"), by_numpy(name, n, dtype, state).view("u1"))


@real
@draws
def test_threads_do_not_matter(draw, dtype):
    found = []
    for threads in (1, 2, 5):
        with mat.settings(threads=threads):
            found.append(draw(mat.empty(500_001, dtype=dtype), mat.Rng(3)).to_numpy())
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


@draws
@pytest.mark.parametrize("dtype", ["float16", *REAL, "complex64", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7, 5), (), (2, 0), (3, 4, 2)])
@pytest.mark.sample(6)
def test_layouts_do_not_matter(draw, layout, dtype, shape):
    packed = draw(mat.empty(shape, dtype=dtype), mat.Rng(4))
    x = place(np.zeros(shape, dtype), layout)
    assert draw(x, mat.Rng(4)) is x
    assert_array_equal(x.to_numpy(), packed.to_numpy())
    check_hidden(x)


@real
@draws
def test_calls_that_use_whole_blocks_join(draw, dtype):
    whole, rng = draw(mat.empty(1000, dtype=dtype), mat.Rng(5)), mat.Rng(5)
    parts = [draw(mat.empty(n, dtype=dtype), rng) for n in (4, 256, 300, 440)]
    assert mat.concat(parts).equals(whole)


@draws
def test_a_part_of_a_call_is_found_by_its_counter(draw):
    whole = draw(mat.empty(1000, dtype="float32"), mat.Rng(5)).to_numpy()
    assert_array_equal(draw(mat.empty(100, dtype="float32"), mat.Rng(5, counter=100)).to_numpy(),
                       whole[400:500])


def test_a_block_is_not_used_twice():
    rng = mat.Rng(5)
    counts = []
    for size, dtype in ((1, "float32"), (4, "float32"), (5, "float32"), (1, "float64"),
                        (3, "float64"), (0, "float64")):
        mat.empty(size, dtype=dtype).uniform_(rng=rng)
        counts.append(rng.counter)
    assert counts == [1, 2, 4, 5, 7, 7]
    mat.empty(9, dtype="int8").bernoulli_(0.5, rng=rng)
    assert rng.counter == 10


# Generators


def test_seeds_and_copies():
    rng = mat.Rng(42)
    assert (rng.seed, rng.counter, repr(rng)) == (42, 0, "Rng(42, counter=0)")
    first = mat.empty(9).uniform_(rng=rng).tolist()
    clones = (rng.copy(), copy.copy(rng), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng)),
              eval(repr(rng), {"Rng": mat.Rng}))
    second = mat.empty(9).uniform_(rng=rng).tolist()
    assert first != second
    for clone in clones:
        assert clone.counter == 5
        assert mat.empty(9).uniform_(rng=clone).tolist() == second
        assert clone.counter == rng.counter
    assert mat.empty(9).uniform_(rng=mat.Rng(43)).tolist() != first
    assert mat.Rng(np.int64(3)).seed == 3


def test_generators_without_a_seed_differ():
    assert mat.Rng().seed != mat.Rng().seed


def test_the_default_generator():
    mat.seed(7)
    first = mat.empty(9).normal_(), mat.multivariate_normal(mat.zeros(2),
                                                            mat.eye(2)), mat.empty(9).normal_()
    assert first[0].tolist() != first[2].tolist()
    mat.seed(7)
    again = mat.empty(9).normal_(), mat.multivariate_normal(mat.zeros(2),
                                                            mat.eye(2)), mat.empty(9).normal_()
    assert all(a.equals(b) for a, b in zip(first, again, strict=True))
    assert first[0].equals(mat.empty(9).normal_(rng=mat.Rng(7)))
    mat.seed()
    assert mat.empty(9).normal_().tolist() != first[0].tolist()


def test_counters_wrap_round():
    rng = mat.Rng(1, counter=2**64 - 1)
    x = mat.empty(8, dtype="float32").uniform_(rng=rng)
    assert rng.counter == 1
    assert_array_equal(x.to_numpy()[4:], uniform(1, 4, "float32"))


def test_threads_get_blocks_of_their_own():
    rng, found = mat.Rng(2), [[] for _ in range(8)]
    threads = [threading.Thread(target=lambda k: found[k].extend(rng.take(3) for _ in range(500)),
                                args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(low for part in found for _, _, low, _ in part) == list(range(0, 3 * 8 * 500, 3))


@pytest.mark.parametrize(("seed", "error"),
                         [(-1, mat.SettingError), (2**64, mat.SettingError), (1.0, mat.DTypeError),
                          ("1", mat.DTypeError), (True, mat.DTypeError),
                          (mat.ones(1), mat.DTypeError)])
def test_bad_seeds(seed, error):
    for call in (mat.Rng, mat.seed, lambda s: mat.Rng(0, counter=s)):
        with pytest.raises(error, match=r"integer|from 0 to"):
            call(seed)


# Bad input

BAD = [
    ("uniform_", (0,), "float64", mat.SettingError, "limit.*0"),
    ("uniform_", (-1,), "float64", mat.SettingError, "-1"),
    ("uniform_", (np.inf,), "float64", mat.SettingError, "inf"),
    ("uniform_", (np.nan,), "float64", mat.SettingError, "nan"),
    ("uniform_", (1e300,), "float32", mat.SettingError, "float32.*1e.300"),
    ("uniform_", ("1",), "float64", mat.DTypeError, "'1'"),
    ("uniform_", (1e6,), "float16", mat.SettingError, "float16.*1000000"),
    ("uniform_", (1e-9,), "float16", mat.SettingError, "1e-09"),
    ("uniform_", (1e-60,), "float32", mat.SettingError, "1e-60"),
    ("uniform_", (1j,), "complex64", mat.DTypeError, "complex"),
    ("uniform_", (), "int32", mat.DTypeError, "int32"),
    ("uniform_", (), "bool", mat.DTypeError, "bool"),
    ("normal_", (), "uint8", mat.DTypeError, "uint8"),
    ("normal_", (0, -1), "float64", mat.SettingError, "stddev.*-1"),
    ("normal_", (0, np.nan), "float64", mat.SettingError, "nan"),
    ("normal_", (0, np.inf), "float64", mat.SettingError, "inf"),
    ("normal_", (1j,), "float64", mat.DTypeError, "complex"),
    ("normal_", (0, 1j), "complex128", mat.DTypeError, "complex"),
    ("normal_", (None,), "float64", mat.DTypeError, "None"),
    ("normal_", (mat.ones(1),), "float64", mat.DTypeError, "mean"),
    ("bernoulli_", (1.5,), "float64", mat.SettingError, "1.5"),
    ("bernoulli_", (-0.1,), "int8", mat.SettingError, "-0.1"),
    ("bernoulli_", (np.nan,), "int8", mat.SettingError, "nan"),
    ("bernoulli_", (mat.ones(2),), "int8", mat.DTypeError, "p must"),
    ("orthogonal_", ("a",), "float64", mat.DTypeError, "scale"),
    ("orthogonal_", (), "int64", mat.DTypeError, "int64"),
]


@pytest.mark.parametrize(("name", "args", "dtype", "error", "text"), BAD)
def test_bad_input(name, args, dtype, error, text):
    rng, x = mat.Rng(1), mat.ones(3, 3, dtype=dtype)
    before = repr(x)
    with pytest.raises(error, match=text):
        getattr(x, name)(*args, rng=rng)
    assert (rng.counter, repr(x)) == (0, before)


@pytest.mark.parametrize("rng", [5, np.random.default_rng(), "rng", mat.Rng])
def test_bad_generators(rng):
    for call in (mat.ones(3).uniform_, mat.ones(3).normal_,
                 lambda rng: mat.ones(3).bernoulli_(0.5, rng=rng),
                 mat.ones(3, 3).orthogonal_,
                 lambda rng: mat.multivariate_normal(mat.zeros(1), mat.eye(1), rng=rng)):
        with pytest.raises(mat.DTypeError, match=r"mat\.Rng"):
            call(rng=rng)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "orthogonal_", "bernoulli_"])
def test_what_cannot_be_written(name):
    a, rng = np.ones((2, 2)), mat.Rng(1)
    a.flags.writeable = False
    args = (0.5,) if name == "bernoulli_" else ()
    with pytest.raises(mat.DirectionError, match="read-only"):
        getattr(mat.from_numpy(a), name)(*args, rng=rng)
    with pytest.raises(mat.AliasError, match="overlap"):
        getattr(mat.ones(2).broadcast_to((2, 2)), name)(*args, rng=rng)
    assert rng.counter == 0


def test_orthogonal_wants_a_matrix():
    with pytest.raises(mat.ShapeError, match=r"\(3,\)"):
        mat.ones(3).orthogonal_()


# What is refused uses no numbers


CALLS = {"uniform_": lambda x, rng: x.uniform_(2, rng=rng),
         "normal_": lambda x, rng: x.normal_(3, 2, rng=rng),
         "bernoulli_": lambda x, rng: x.bernoulli_(0.5, rng=rng),
         "orthogonal_": lambda x, rng: x.orthogonal_(2, rng=rng)}
FORMS = {"packed": lambda x: x, "strided": lambda x: x[::2, 1:]}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@every_call
@every_form
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex128"])
def test_a_conflict_leaves_the_generator_as_it_was(call, form, dtype):
    x, rng = mat.ones(4, 4, dtype=dtype), mat.Rng(5, counter=2**64 - 1)
    exported = np.asarray(x)
    with pytest.raises(mat.ConflictError):
        call(form(x), rng)
    del exported
    assert (rng.seed, rng.counter) == (5, 2**64 - 1)
    assert x.equals(mat.ones(4, 4, dtype=dtype))
    call(form(x), rng)
    assert rng.counter < 100


@every_call
@pytest.mark.parametrize("x", [
    lambda: mat.ones(3, 3, dtype="complex64"), lambda: mat.ones(3, 3), lambda: mat.ones(3, 3).T])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("what", ["launch", "h2d", "allocation"])
@pytest.mark.unchecked("the check moves data itself")
def test_a_failing_device_leaves_the_generator_as_it_was(call, x, n, what):
    x, rng = x(), mat.Rng(5, counter=7)
    with mat.use_device("emulated") as dev:
        dev.fail(**{what: n})
        try:
            call(x, rng)
            failed = False
        except mat.DeviceError:
            failed = True
        dev.fail(**{what: 0})
    assert (rng.counter == 7) == failed


def test_refused_covariances_leave_the_generator_as_it_was(monkeypatch):
    rng = mat.Rng(5, counter=7)
    with pytest.raises(mat.LinAlgError):
        mat.multivariate_normal(mat.ones(2), mat.zeros(2, 2), rng=rng)

    def fails(*args):
        raise mat.DeviceError("planted")

    monkeypatch.setattr(blas_level23, "gemv", fails)
    with pytest.raises(mat.DeviceError, match="planted"):
        mat.multivariate_normal(mat.ones(2), mat.eye(2), rng=rng)
    assert rng.counter == 7


def test_blocks_are_given_back_only_if_nobody_used_others_since():
    rng = mat.Rng(2**64 - 1, counter=2**64 - 2)
    first = rng.take(3)
    second = rng.take(2)
    rng.give_back(first, 3)
    assert rng.counter == 3  # those of the other call stay used
    rng.give_back(second, 2)
    assert rng.counter == 1
    rng.give_back(first, 3)
    assert rng.counter == 2**64 - 2
    words = rng.take(3)
    rng.restart(3)
    rng.give_back(words, 3)
    assert (rng.seed, rng.counter) == (3, 0)
