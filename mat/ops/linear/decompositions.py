"""Singular values, eigenvalues, QR factors and determinants of stacks of matrices on devices: by
cuSOLVER, or in the device's memory by NumPy.

The functions with NumPy's names are `numpy/composites/linear_algebra.py`.
"""

from __future__ import annotations

from typing import Any

from ...layout.matrix_operand import MatrixOperand
from ...matrix.mat import Mat
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.plugins import at_first_use
from ...support.types import Array, Engine, Function
from ..engine.operation import Input, Output, op
from ..tiles.tile import made_later, over
from .integer_matmul import DEVICE_AXES, stack_of
from .linalg import WHOLE, or_raise

blocked, blocked_qr = at_first_use("ops.linear.blocked"), at_first_use("ops.linear.blocked_qr")


def _fits_device(a: Mat, *results: Mat) -> bool:
    """Return whether there are elements, of one precision, and few axes."""
    return (all(x.size > 0 for x in (a, *results)) and a.ndim <= DEVICE_AXES
            and len({x.dtype.char.lower() for x in (a, *results)}) == 1)


# Singular values


@op(method="", by_form=True, name="svdvals")
def singular_values(a: Input, s: Output) -> None:
    """Compute the singular values of each matrix."""


@op(method="", by_form=True, name="svd")
def singular_factors(a: Input, u: Output, vh: Output, s: Output) -> None:
    """Compute ``a = u diag(s) vh``; u and vh may have more columns and rows than s elements."""


@singular_values.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
@singular_factors.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
def svd_cuda(cuda: Engine, a: Mat, *results: Mat) -> Function:
    full = all(x.shape[-1] == x.shape[-2] for x in results[:-1])
    x, *factors, values = _operands(a, *results, vectors=1)
    return cuda.prepare_svd(a.dtype.char, a.shape[-2:], full, x, values, factors or None,
                            a.shape[:-2])


@singular_values.on("array")
def svdvals_numpy(np: Engine, a: Array, s: Array) -> None:
    s[...] = or_raise(lambda: np.linalg.svd(a, compute_uv=False))


@singular_factors.on("array")
def svd_numpy(np: Engine, a: Array, u: Array, vh: Array, s: Array) -> None:
    full = u.shape[-1] == u.shape[-2] and vh.shape[-1] == vh.shape[-2]
    u[...], s[...], vh[...] = or_raise(np.linalg.svd, a, full)


# Eigenvalues


@op(method="", by_form=True, name="eigvalsh")
def hermitian_values(a: Input, w: Output, lower: bool) -> None:
    """Compute the eigenvalues of Hermitian matrices, of which one triangle is read."""


@op(method="", by_form=True, name="eigh")
def hermitian_factors(a: Input, v: Output, w: Output, lower: bool) -> None:
    """Compute the eigenvalues w and eigenvectors, the columns of v, of Hermitian matrices."""


@op(method="", by_form=True, name="eigvals")
def eigen_values(a: Input, w: Output) -> None:
    """Compute the eigenvalues of each matrix, complex numbers."""


@op(method="", by_form=True, name="eig")
def eigen_factors(a: Input, v: Output, w: Output) -> None:
    """Compute the eigenvalues w, complex numbers, and eigenvectors of each matrix.

    Of real matrices, real and imaginary parts of the vectors for two conjugate eigenvalues are two
    columns of v.
    """


@hermitian_values.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
@hermitian_factors.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
def eigh_cuda(cuda: Engine, a: Mat, *results: Any) -> Function:
    *mats, lower = results
    x, *vectors, values = _operands(a, *mats, vectors=1)
    return cuda.prepare_eigh(a.dtype.char, a.shape[-1], lower, x, values,
                             *(vectors or [None]), a.shape[:-2])


@eigen_values.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="Xgeev")
@eigen_factors.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="Xgeev")
def eig_cuda(cuda: Engine, a: Mat, *results: Mat) -> Function:
    x, *vectors, values = _operands(a, *results, vectors=1)
    return cuda.prepare_eig(a.dtype.char, a.shape[-1], x, values, *(vectors or [None]),
                            a.shape[:-2])


@hermitian_values.on("array")
def eigvalsh_numpy(np: Engine, a: Array, w: Array, lower: bool) -> None:
    w[...] = or_raise(np.linalg.eigvalsh, a, "L" if lower else "U")


@hermitian_factors.on("array")
def eigh_numpy(np: Engine, a: Array, v: Array, w: Array, lower: bool) -> None:
    w[...], v[...] = or_raise(np.linalg.eigh, a, "L" if lower else "U")


@eigen_values.on("array")
def eigvals_numpy(np: Engine, a: Array, w: Array) -> None:
    w[...] = or_raise(np.linalg.eigvals, a)


@eigen_factors.on("array")
def eig_numpy(np: Engine, a: Array, v: Array, w: Array) -> None:
    w[...], found = or_raise(np.linalg.eig, a)
    if v.dtype.kind == "c":
        v[...] = found
        return
    v[...] = found.real
    second = np.zeros(w.shape, bool)  # of two conjugate eigenvalues
    second[..., 1:] = w.imag[..., :-1] > 0
    np.copyto(v, -found.imag, where=second[..., None, :])


# QR


@op(method="", by_form=True, name="qr")
def triangular_factor(a: Input, r: Output) -> None:
    """Compute the r of ``a = q r``."""


@op(method="", by_form=True, name="qr")
def orthogonal_factors(a: Input, q: Output, r: Output) -> None:
    """Compute ``a = q r``."""


@triangular_factor.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
@orthogonal_factors.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
def qr_cuda(cuda: Engine, a: Mat, *results: Mat) -> Function:
    x, *left, right = _operands(a, *results)
    return cuda.prepare_qr(a.dtype.char, a.shape[-2:], x, right, results[-1].shape[-2],
                           *(left or [None]), a.shape[:-2])


@triangular_factor.on("array")
def triangle_numpy(np: Engine, a: Array, r: Array) -> None:
    r[...] = np.linalg.qr(a, "r")


@orthogonal_factors.on("array")
def qr_numpy(np: Engine, a: Array, q: Array, r: Array) -> None:
    q[...], r[...] = np.linalg.qr(a, "complete" if r.shape[-2] > r.shape[-1] else "reduced")


# Determinants


@op(method="", by_form=True, name="slogdet")
def determinants(a: Input, sign: Output, logarithm: Output) -> None:
    """Compute the sign of the determinant of each matrix and the logarithm of its modulus."""


@determinants.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
def determinants_cuda(cuda: Engine, a: Mat, sign: Mat, logarithm: Mat) -> Function:
    batch = a.shape[:-2]
    results = [MatrixOperand(x.dtype.char, 0, 0, x.element_strides) for x in (sign, logarithm)]
    return cuda.prepare_slogdets(a.dtype.char, a.shape[-1], stack_of(a, 2, batch),
                                 results, batch)


@determinants.on("array")
def determinants_numpy(np: Engine, a: Array, sign: Array, logarithm: Array) -> None:
    sign[...], logarithm[...] = np.linalg.slogdet(a)


def _operands(*mats: Mat, vectors: int = 0) -> list[object]:
    """Return the steps of stacks of matrices, the last `vectors` of which are of vectors."""
    axes = [2] * (len(mats) - vectors) + [1] * vectors
    return [stack_of(x, n, x.shape[:x.ndim - n]) for x, n in zip(mats, axes, strict=True)]


for _operation, _signature in (
        (singular_values, "...__,..._"), (singular_factors, "...__,...__,...__,..._"),
        (hermitian_values, "...__,..._"), (hermitian_factors, "...__,...__,..._"),
        (eigen_values, "...__,..._"), (eigen_factors, "...__,...__,..._")):
    _operation.waits_for = "whether the computation converged"
    _operation.cut_by(over(_operation, _signature, f"a matrix is not cut, since {WHOLE}",
                           free=True))
triangular_factor.waits_for = orthogonal_factors.waits_for = "the factors"
triangular_factor.cut_by(over(triangular_factor, "...__",
                              made_later(lambda: blocked_qr.triangle_tiles), free=True))
orthogonal_factors.cut_by(over(orthogonal_factors, "...__",
                               made_later(lambda: blocked_qr.factor_tiles), free=True))
determinants.waits_for = "the pivots"
determinants.cut_by(over(determinants, "...__,...,...",
                         made_later(lambda: blocked.determinant_tiles), free=True))
