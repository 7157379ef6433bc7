"""Copies and conversions as a device does them, on the CPU: what `prepare` functions give, for Mats
of any layout.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.launching import launch_all
from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, numbers, place, whole
from ..tools.bench import cuda_permute as cases
from ..tools.mock_driver import harness

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import copy

pytestmark = pytest.mark.skipif(harness.compiler() is None, reason="kernels for the device are "
                                                                   "compiled by a C++ compiler "
                                                                   "here")
DTYPES = (*NUMPY_DTYPES, "bfloat16")


def seen_by(m, storage):
    """The visible elements of a Mat, in a copy of its storage."""
    return np.ndarray(m.shape, storage.dtype, storage, m.displacement * m.itemsize,
                      [n * m.itemsize for n in m.element_strides])


def carry_out(prepared, x, out, seed=0):
    """Run what was prepared on copies of the Mats' storages, and put what comes out into `out`."""
    storages = {id(m.storage): whole(m) for m in (x, out)}
    views = [seen_by(m, storages[id(m.storage)]) for m in (x, out)]
    made = prepared.make(*(copy.alignment(m.displacement * m.itemsize) for m in (x, out)))
    if made is not None:
        launch_all(made, views, seed=seed)
    with out.facet("backing", "io") as b:
        b[...] = storages[id(out.storage)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sample(5)
def test_copies(dtype, layout, rng):
    values = numbers(rng, (5, 6, 7), "float32").astype(mat.zeros(1, dtype=dtype).dtype)
    x = place(values, layout)
    for axes in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        out = place(np.zeros_like(values.transpose(axes)), layout)
        view = x.permute(axes)
        carry_out(copy.prepare_copy(view, out), view, out)
        assert_array_equal(out.to_numpy(), values.transpose(axes))
        check_hidden(out)


@pytest.mark.parametrize("seed", [0, 5])
def test_copies_within_one_storage(seed, rng):
    values = numbers(rng, (40, 40), "float32")
    for read, write in ((lambda a: a[1:], lambda a: a[:-1]), (lambda a: a[:-1], lambda a: a[1:]),
                        (lambda a: a.T, lambda a: a), (lambda a: a[::-1, ::-1], lambda a: a)):
        x, wanted = mat.array(values), values.copy()
        write(wanted)[...] = read(values)
        carry_out(copy.prepare_copy(read(x), write(x), through=True), read(x), write(x), seed)
        assert_array_equal(x.to_numpy(), wanted)


NAMES = list(copy.TYPES)
# values that all dtypes of that kind can hold, or whose conversion NumPy does by C's rules on
# this machine
EVERY = {
    "b": [True, False], "u": [0, 1, 2, 100, 127], "i": [0, 1, -1, -2, 100, -128],
    "f": [0.0, -0.0, 0.3, 0.99, -0.99, 1.5, 2.5, -3.7, 100.25, -100.75, 1e-8],
    "c": [0, 1 + 2j, -3.5 - 0.25j, 1e-8j],
}
# where no integer is asked for
BEYOND = {"f": [np.inf, -np.inf, np.nan, 65519.0, 65520.0, 1e5, 6e-8], "u": [200], "i": []}


def samples(source, target):
    dtype, kind = mat.zeros(1, dtype=source).dtype, source[0] if source[0] in "buci" else "f"
    values = list(EVERY[kind])
    # from floating point to floating point, complex or bool
    if target[0] in "fcb" and kind in BEYOND:
        values += BEYOND[kind]
    if kind in "iu" and dtype.itemsize > 1:
        limits = np.iinfo(dtype)
        values += [limits.max, limits.min, limits.max - 1, 300, 2**15 - 1]
        values += [2**k + d for k in range(8, 8 * dtype.itemsize - 1) for d in (-1, 1)]
    with np.errstate(all="ignore"):
        return np.array(values, dtype)


def to(values, dtype):
    with np.errstate(all="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.sample(5)
def test_conversions_between_all_dtypes(source):
    for target in copy.targets(source):
        given = samples(source, target)
        for values in (given, np.resize(given, 64), np.resize(given, (3, 16)).T,
                       np.resize(given, (3, 2050))[:, 1:-1]):
            x = mat.from_numpy(values)
            out = mat.empty(values.shape, dtype=target)
            carry_out(copy.prepare_convert(x, out), x, out)
            found, wanted = out.to_numpy(), to(values, out.dtype)
            # whose NaNs are not known to be equal
            if target == "bfloat16" or target in copy.EIGHT_BITS:
                found, wanted = found.astype("float32"), wanted.astype("float32")
            assert_array_equal(found, wanted, f"{source} to {target}")


def test_the_programs_have_what_is_asked_for():
    given = list(copy.conversions())
    assert len(given) == len(set(given))
    assert sum(len(copy.targets(source)) for source in NAMES) == 218
    for source in NAMES:
        for target in copy.targets(source):
            assert copy.program(source, target) in given
            types = f"({copy.TYPES[source]}, {copy.TYPES[target]})"
            assert types in copy.program(source, target).text


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("source", "target"),
                         [("float32", "float64"), ("float64", "float32"), ("int16", "uint16")])
def test_conversions_of_any_layout(layout, source, target, rng, monkeypatch):
    for large in (1 << 16, 1):
        monkeypatch.setattr(copy, "LARGE", large)
        values = numbers(rng, (5, 6, 16), source)
        x = place(values, layout)
        for axes in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            view, out = x.permute(axes), place(np.zeros(values.transpose(axes).shape, target),
                                               layout)
            carry_out(copy.prepare_convert(view, out), view, out, seed=1)
            assert_array_equal(out.to_numpy(), values.transpose(axes).astype(target))
            check_hidden(out)
        row, out = x[1, 2], mat.empty(16, 33, dtype=target)
        for a, b in ((row, out.T), (row.expand_dims(1), out), (x[0, 0, :1], out)):
            carry_out(copy.prepare_convert(a, b), a, b)
            assert_array_equal(b.to_numpy(), np.broadcast_to(a.to_numpy(), b.shape).astype(target))


def test_what_is_too_much_for_one_launch_is_converted_in_parts(monkeypatch, rng):
    monkeypatch.setattr("mat.cuda.kernels.permute.MOST", 1000)
    values = numbers(rng, (70, 90), "float32")
    for a in (values, values.T, values[::-1, ::2]):
        x, out = mat.from_numpy(a), mat.empty(a.shape, dtype="float64")
        carry_out(copy.prepare_convert(x, out), x, out)
        assert_array_equal(out.to_numpy(), a)


def test_nothing_is_launched_for_nothing():
    x, out = mat.zeros(3, 0), mat.zeros(3, 0)
    assert copy.prepare_copy(x, out).make(16, 16) is None


def test_programs():
    found = list(copy.programs())
    assert len(found) == len(set(found))


@pytest.mark.slow
def test_every_case_to_measure_computes(cuda, monkeypatch):
    """A small one of each; what they reach is measured where there is a GPU."""
    monkeypatch.setattr(cases, "LARGE", 1 << 19)
    given = [c for c in cases.cases() if c.nbytes <= 1 << 21 and 0 not in c.shape]
    assert len(given) > 40
    with mat.use_device("cuda", required=True):
        for case in given[::4]:
            with mat.debug.count_copies() as n:
                cases.thunk(case)()
            assert (n.h2d, n.d2h) == (0, 0), case.name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_numbers_beyond_64_bits_are_what_numpy_makes_of_them(cuda, dev, dtype):
    below = np.nextafter(np.array(2.0**64, dtype), np.array(0, dtype))
    values = np.array([np.inf, -np.inf, np.nan, 2.0**64, 2.0**65, 1e38, below, 2.0**63,
                       2.0**63 + 2.0**41, -1, -2.0**63, -2.0**64, 3.7], dtype)
    for target in ("uint64", "int64"):
        made = mat.from_numpy(values).astype(target)
        assert made.fresh == {"cuda:0"}
        assert_array_equal(made.to_numpy(), values.astype(target))


ROUNDS = """
#include "elements.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(rounded, sizes, 256) {
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < frame.n)
        ((uint16_t *)call.at[1])[i] = to_bfloat_by_integers(((const float *)call.at[0])[i]);
}
"""


@pytest.mark.skipif(not harness.compiler(), reason="no C++ compiler")
def test_bfloats_of_gpus_without_an_instruction_for_them(rng):
    ends = np.arange(1 << 16, dtype=np.uint32) << 16
    bits = np.concatenate([ends, ends + 0x7fff, ends + 0x8000, ends + 0x8001,
                           rng.integers(0, 1 << 32, 50_000, dtype=np.uint32)])
    values, found = bits.view(np.float32), np.empty(bits.size, np.uint16)
    harness.run(ROUNDS, "rounded", (bits.size,), [values, found], grid=-(-bits.size // 256),
                block=256)
    wanted = to(values, mat.zeros(1, dtype="bfloat16").dtype).view(np.uint16)
    numbers = ~np.isnan(values)
    assert_array_equal(found[numbers], wanted[numbers])
    assert (found[~numbers] == 0x7fff).all()  # as the instruction has it
