"""Singular values, eigenvalues and QR factors by cuSOLVER: which of its functions are called, what
is copied, errors, and versions that lack some.
"""

from itertools import accumulate

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat import DeviceError, OutOfDeviceMemory

from ..support.layouts import numbers

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.libraries import cublas, cusolver
from mat.ops.linear import linalg

OPERATIONS = [value for value in vars(linalg).values()
              if isinstance(value, mat.extend.Op)]


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


@pytest.fixture
def forgotten():
    """Plans are made anew, and forgotten at the end."""
    def forget():
        for operation in OPERATIONS:
            operation.forget()
        cusolver.library.forget()
    forget()
    yield forget
    forget()


def test_what_cusolver_is_called_for(rng):
    a, many = (mat.array(numbers(rng, shape, "float32")) for shape in ((4, 4), (3, 4, 4)))
    large, z = mat.ones(2, 33, 4), mat.array(numbers(rng, (4, 2), "complex64"))
    for compute, names in (
            (lambda: mat.linalg.svd(a), ["cusolverDnXgesvd"]),
            (lambda: mat.linalg.svdvals(many), ["cusolverDnSgesvdjBatched"]),
            (lambda: mat.linalg.svdvals(large), ["cusolverDnXgesvd"] * 2),
            (lambda: mat.linalg.eigh(a), ["cusolverDnXsyevd"]),
            (lambda: mat.linalg.eigvalsh(many), ["cusolverDnXsyevBatched"]),
            (lambda: mat.linalg.eig(a), ["cusolverDnXgeev"]),
            (lambda: mat.linalg.qr(a, "r"), ["cusolverDnXgeqrf"]),
            (lambda: mat.linalg.qr(a), ["cusolverDnXgeqrf", "cusolverDnSorgqr"]),
            (lambda: mat.linalg.qr(z), ["cusolverDnXgeqrf", "cusolverDnCungqr"])):
        with mat.debug.list_calls() as made:
            compute()
        assert [c.routine for c in made.calls if c.routine.startswith("cusolver")] == names


def test_wide_matrices_are_copied_once_since_they_are_destroyed(rng, device):
    def copies(compute):
        compute()
        before = device.calls("cuLaunchKernel")
        compute()
        return device.calls("cuLaunchKernel") - before
    wide = mat.array(numbers(rng, (4, 6), "float32"))
    for full in (True, False):
        assert copies(lambda full=full: mat.linalg.svd(wide, full)) <= 1
    assert copies(lambda: mat.linalg.svd(wide.T)) <= 3


def test_without_cusolver_the_host_computes(monkeypatch, rng, forgotten):
    a = numbers(rng, (3, 3), "float64")
    monkeypatch.setenv("MAT_CUSOLVER", "/nowhere/libcusolver.so")
    forgotten()
    with mat.debug.trace() as trace, mat.debug.count_copies() as counted:
        s, w = mat.linalg.svdvals(mat.array(a)), mat.linalg.eigvals(mat.array(a))
    assert_allclose(s.to_numpy(), np.linalg.svdvals(a))
    assert_allclose(np.sort(w.to_numpy()), np.sort(np.linalg.eigvals(a)))
    assert counted.fallbacks == trace.fallbacks == 2
    assert "svdvals was carried out on the host, since cuSOLVER cannot be loaded" in repr(trace)


class Older:
    """A cuSOLVER that lacks a function."""

    def __init__(self, library, *missing):
        self.library, self.missing = library, missing

    def __getattr__(self, name):
        if name in self.missing:
            raise AttributeError(name)
        return getattr(self.library, name)


def test_older_versions_lack_functions(monkeypatch, rng, forgotten):
    older = Older(cusolver.library(), "cusolverDnXgeev", "cusolverDnXsyevBatched")
    monkeypatch.setattr(cusolver.library, "loaded", older)
    many = numbers(rng, (3, 4, 4), "complex128")
    many += many.conj().swapaxes(-1, -2)
    with mat.debug.list_calls() as made, mat.debug.trace() as trace:
        w, values = mat.linalg.eigvalsh(mat.array(many)), mat.linalg.eigvals(mat.array(many))
    assert [call.routine for call in made.calls] == ["cusolverDnXsyevd"] * 3
    assert_allclose(w.to_numpy(), np.linalg.eigvalsh(many))
    assert_allclose(np.sort(values.to_numpy().real), w.to_numpy())
    assert trace.fallbacks == 1
    assert "since cuSOLVER is too old for Xgeev" in repr(trace)
    monkeypatch.undo()  # before the fixture forgets what is cached


@pytest.mark.parametrize(("status", "error"), [(2, OutOfDeviceMemory), (7, DeviceError)])
@pytest.mark.parametrize(("function", "name"), [
    ("cusolverDnXgesvd", "svd"), ("cusolverDnXsyevd", "eigh"), ("cusolverDnXgeqrf", "qr"),
    ("cusolverDnDorgqr", "qr"), ("cusolverDnXgeev", "eig")])
def test_errors_of_cusolver(device, rng, function, name, status, error):
    a = mat.array(numbers(rng, (3, 3), "float64"))
    device.fail(function, times=99, status=status)
    if (name, status) == ("qr", 2):  # what lacks memory is factored by blocks, of which the host
        q, r = mat.linalg.qr(a)      # does the panels
        assert_allclose((q @ r).to_numpy(), a.to_numpy())
        return
    with pytest.raises(error, match=rf"CUSOLVER_STATUS_[A-Z_]+ \({status}\)"):
        getattr(mat.linalg, name)(a)
    device.fail(function, times=1, status=2)  # once: there is more memory the second time
    getattr(mat.linalg, name)(a)


def each_of_a_stack(rng, many, dtype="float32"):
    """Compute with a stack of small matrices; return names, results and NumPy's."""
    a, b = numbers(rng, (many, 2, 2), dtype), numbers(rng, (many, 2, 1), dtype)
    a[:, 0, 0] += 9
    spd = a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(2, dtype=dtype)
    x, y, z = map(mat.array, (a, b, spd))
    w, v = mat.linalg.eigh(z)
    u, s, vh = mat.linalg.svd(x)
    yield mat.inv(x), np.linalg.inv(a)
    yield mat.solve(x, y), np.linalg.solve(a, b)
    yield mat.cholesky(z), np.linalg.cholesky(spd)
    yield mat.linalg.det(x), np.linalg.det(a)
    yield w, np.linalg.eigvalsh(spd)
    yield z @ v, v * w[:, None]
    yield s, np.linalg.svd(a, compute_uv=False)
    yield (u * s[:, None]) @ vh, a


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_stacks_of_more_matrices_than_a_call_takes(rng, dtype, forgotten, monkeypatch):
    monkeypatch.setattr(cublas, "MOST", 3)
    with mat.debug.list_calls() as made:
        found = list(each_of_a_stack(rng, 7, dtype))
    for ours, theirs in found:
        assert_allclose(mat.array(ours).to_numpy(), mat.array(theirs).to_numpy(), rtol=1e-3,
                        atol=1e-4)
    stacked = [c.routine for c in made.calls if c.routine.endswith("Batched")
               and c.routine.startswith(("cusolver", "cublasSget", "cublasZget"))]
    assert len(stacked) == 3 * 8  # three factors, their inverses and solutions, and so on


def test_no_call_gets_more_matrices_than_the_libraries_take():
    for many, size in ((1, 1), (5, 4), (40_000, 1), (70_000, 4), (3, 2**30), (3, 2**40)):
        calls = list(cublas.calls_for(many, size))
        assert [first for first, _ in calls] == list(
            accumulate((count for _, count in calls[:-1]), initial=0))
        assert sum(count for _, count in calls) == many
        assert all(count < 2**15 and (count == 1 or count * size < 2**31) for _, count in calls)


def test_forty_thousand_matrices(rng, forgotten):
    a = numbers(rng, (40_000, 1, 1), "float32")
    assert_allclose(mat.linalg.eigvalsh(mat.array(a)).to_numpy(), a[..., 0], rtol=1e-6)


@pytest.mark.parametrize("name", ["eigh", "svd", "inv", "cholesky", "eigvals", "qr"])
def test_stacks_of_nothing(name):
    found = getattr(mat.linalg, name)(mat.zeros(0, 3, 3))
    assert (found if isinstance(found, mat.Mat) else found[0]).shape[0] == 0


def test_a_workspace_that_is_too_large_for_32_bits(rng, forgotten, monkeypatch):
    """cuSOLVER says a negative number of elements; the matrix is factored by blocks."""
    library = cusolver.library()
    overflowing = Older(library)

    def ask(*arguments):
        status = library.cusolverDnSorgqr_bufferSize(*arguments)
        arguments[-1][0] = -1
        return status

    overflowing.cusolverDnSorgqr_bufferSize = ask
    monkeypatch.setattr(cusolver.library, "loaded", overflowing)
    a = numbers(rng, (40, 40), "float32")
    with mat.debug.list_calls() as made:
        q, r = mat.linalg.qr(mat.array(a))
    assert "cusolverDnSorgqr" not in [call.routine for call in made.calls]
    assert_allclose((q @ r).to_numpy(), a, atol=1e-5)
    monkeypatch.undo()  # before the fixture forgets what is cached


def test_q_with_more_rows_than_cusolver_has_a_workspace_for(rng, forgotten, monkeypatch):
    monkeypatch.setattr(linalg, "_MOST_ROWS", 30)
    a = numbers(rng, (31, 2), "float64")
    with mat.debug.count_copies() as counted:
        q, r = mat.linalg.qr(mat.array(a))
    assert counted.fallbacks == 1
    assert_allclose((q @ r).to_numpy(), a)
    with mat.debug.count_copies() as counted:
        mat.linalg.qr(mat.array(a), "r")
        mat.linalg.qr(mat.array(a.T))
    assert counted.fallbacks == 0
