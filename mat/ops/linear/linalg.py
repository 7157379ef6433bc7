"""Linear algebra: inverses, solutions and factors with NumPy's names; singular values, eigenvalues,
QR factors and determinants, of which `numpy/composites/linear_algebra.py` makes NumPy's functions.

Those of small matrices have a kernel; else NumPy or SciPy computes, or the device by cuSOLVER.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...cpu.blas_kernels import STACK_AXES, SYSTEM_SIDE
from ...devices.in_use import has_kernels
from ...errors import DTypeError, LinAlgError, ShapeError
from ...layout.matrix_operand import MatrixOperand
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.mat import Mat, new_like
from ...matrix.methods import bind
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.dtypes import REAL_TYPES
from ...support.native import compiled
from ...support.plugins import at_first_use, imported
from ...support.types import Array, DType, Engine, Function, Number
from ..engine.declaration import method_like
from ..engine.functions import check_is_mat
from ..engine.operation import Input, Output, number_op, op
from ..tiles.tile import by_stacks, made_later, over
from .matmul import DEVICE_AXES, stack_of
from .matmul import matmul as matmul  # NumPy has it here, too

blocked = at_first_use("ops.linear.blocked")


def _check_square(name: str, value: object) -> Mat:
    """Return a square matrix, or a stack, that LAPACK has or takes as float64."""
    a = check_is_mat(value, "a")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name} requires a square matrix, got shape {a.shape}")
    return _check_lapack(a)


def _check_lapack(a: Mat) -> Mat:
    if a.dtype.char not in BLAS and a.dtype.kind not in "iub":
        raise DTypeError(f"LAPACK does not know {a.dtype}; convert with a.astype('float32')")
    return a


def _alike_for_lapack(*mats: Mat) -> tuple[tuple[Mat, ...], DType]:
    """Return the operands, converted for devices, and the dtype of the result.

    Integers are float64, also beside float32.
    """
    dtype = np.result_type(*(m.dtype if m.dtype.char in BLAS else np.float64 for m in mats))
    if has_kernels():
        mats = tuple(m if m.dtype == dtype else m.astype(dtype) for m in mats)
    return mats, dtype


def or_raise(compute: Function, *args: Any, refusal: LinAlgError | None = None) -> Any:
    """Return the result of `compute`; NumPy's error becomes `mat`'s, or the `refusal`."""
    try:
        return compute(*args)
    except np.linalg.LinAlgError as error:
        raise refusal or LinAlgError(str(error)) from None


def _result(out: Mat, axes: int) -> tuple[MatrixOperand | None, Ints]:
    """Return the steps of a result, None if it is packed, and the lengths of its leading axes."""
    batch = out.shape[:out.ndim - axes]
    return (None if out.layout.contiguous else stack_of(out, axes, batch)), batch


def _for_device(*operands: Mat) -> bool:
    """Return whether all are of one dtype, and the result, the last, has elements and few axes."""
    out = operands[-1]
    return (out.size > 0 and out.ndim <= DEVICE_AXES
            and all(x.element_type == out.element_type for x in operands))


def _few_unknowns(*operands: Mat) -> bool:
    """Return whether the host has a kernel: for real numbers of one dtype, and small matrices."""
    a, out = operands[0], operands[-1]
    return (out.size > 0 and a.shape[-1] <= SYSTEM_SIDE and out.ndim - 2 <= STACK_AXES
            and (len(operands) == 2 or operands[1].ndim == 1
                 or operands[1].shape[-1] <= SYSTEM_SIDE)
            and all(x.element_type == out.element_type for x in operands))


def _refusal(name: str, reason: str) -> LinAlgError:
    return LinAlgError(f"{name}: the matrix is {reason}")


LARGE = 128  # rows of a matrix of which copies take time
# why factorisations are not cut
WHOLE = "every step of a factorisation changes all of the rest of the matrix"


@op(method="", by_form=True, name="inv")
def inverse(a: Input, out: Output) -> None:
    """Compute ``out <- a^-1``."""


inverse.waits_for = "whether a matrix is singular"
inverse.cut_by(by_stacks(inverse, made_later(lambda: blocked.inverse_tiles)))
inverse.prepare("cuda", dtypes=BLAS, when=_for_device, needs="cuSOLVER")(
    lambda cuda, a, out: cuda.prepare_inverse(
        a.dtype.char, a.shape[-1], stack_of(a, 2, a.shape[:-2]), *_result(out, 2)))


@inverse.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_few_unknowns)
def inv_compiled(cpu: Engine, a: Mat, out: Mat) -> Function:
    batch = a.shape[:-2]
    return cpu.prepare_systems(
        a.dtype.char, a.shape[-1], 0, [stack_of(x, 2, batch) for x in (a, out)], batch,
        partial(_refusal, "inv", "singular"))


inverse.on("array")(lambda np, a, out: np.copyto(
    out, or_raise(np.linalg.inv, a, refusal=_refusal("inv", "singular"))))


def inv(a: Mat) -> Mat:
    """Return the inverse of a square matrix, or of each of a stack.

    Parameters
    ----------
    a : Mat
        Square matrix, or a stack of them; integers are converted to float64.

    Returns
    -------
    Mat
        The inverse, of a's shape.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Notes
    -----
    LAPACK ?GESV; for real matrices of up to 16 rows Gaussian elimination with partial pivoting in
    double precision, several matrices at once.

    Examples
    --------
    >>> import mat
    >>> mat.inv(mat.array([[2.0, 0], [0, 4]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    (a,), dtype = _alike_for_lapack(_check_square("inv", a))
    return inverse(a, new_like(a, a.shape, dtype))


@op(method="", by_form=True, name="solve")
def solution(a: Input, b: Input, out: Output) -> None:
    """Compute ``out <- a^-1 b``."""


solution.waits_for = inverse.waits_for
solution.cut_by(by_stacks(solution, made_later(lambda: blocked.solution_tiles)))


@solution.prepare("cuda", dtypes=BLAS, when=_for_device, needs="cuSOLVER")
def solve_cuda(cuda: Engine, a: Mat, b: Mat, out: Mat) -> Engine:
    axes = 1 if b.ndim == 1 else 2
    result, batch = _result(out, axes)
    sizes = a.shape[-1], b.shape[-1] if axes == 2 else 1
    return cuda.prepare_solution(a.dtype.char, sizes, stack_of(a, 2, batch),
                                 stack_of(b, axes, batch), result, batch)


@solution.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_few_unknowns)
def solve_compiled(cpu: Engine, a: Mat, b: Mat, out: Mat) -> Function:
    axes = 1 if b.ndim == 1 else 2
    batch = out.shape[:out.ndim - axes]
    operands = [stack_of(x, 2 if x is a else axes, batch) for x in (a, b, out)]
    return cpu.prepare_systems(
        a.dtype.char, a.shape[-1], b.shape[-1] if axes == 2 else 1, operands, batch,
        partial(_refusal, "solve", "singular"))


solution.on("array")(lambda np, a, b, out: np.copyto(
    out, or_raise(np.linalg.solve, a, b, refusal=_refusal("solve", "singular"))))


def solve(a: Mat, b: Mat) -> Mat:
    """Return the x with ``a x = b``.

    Parameters
    ----------
    a : Mat
        Square matrix, or a stack of them; integers are converted to float64.
    b : Mat
        Vector or matrix with as many rows, or a stack of matrices.

    Returns
    -------
    Mat
        The solution, of b's shape, with the leading axes of both.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    ShapeError
        If the numbers of rows differ.

    Notes
    -----
    As in `inv`.

    Examples
    --------
    >>> import mat
    >>> mat.solve(mat.array([[2.0, 0], [0, 4]]), mat.array([2.0, 4])).tolist()
    [1.0, 1.0]
    """
    a = _check_square("solve", a)
    _check_lapack(check_is_mat(b, "b"))
    rows = b.shape[0] if b.ndim == 1 else b.shape[-2] if b.ndim else None
    if rows != a.shape[-1]:
        raise ShapeError(f"solve: a of shape {a.shape} requires b with {a.shape[-1]} rows, got "
                         f"{b.shape}")
    (a, b), dtype = _alike_for_lapack(a, b)
    shape = (a.shape[:-1] if b.ndim == 1
             else broadcast_shapes((a.shape[:-2], b.shape[:-2])) + b.shape[-2:])
    return solution(a, b, new_like(a, shape, dtype))


@op(method="", by_form=True, name="cholesky")
def cholesky_factor(a: Input, out: Output) -> None:
    """Compute ``out <- L`` with ``a = L L^H``."""


cholesky_factor.waits_for = "whether a matrix is positive definite"
cholesky_factor.cut_by(made_later(lambda: blocked.cholesky_tiles(cholesky_factor)))
cholesky_factor.prepare("cuda", dtypes=BLAS, when=_for_device, needs="cuSOLVER")(
    lambda cuda, a, out: cuda.prepare_cholesky(
        a.dtype.char, a.shape[-1], stack_of(a, 2, a.shape[:-2]), *_result(out, 2)))


@cholesky_factor.on("array")
def cholesky_numpy(np: Engine, a: Array, out: Array) -> None:
    refusal = _refusal("cholesky", "not positive definite")
    # NumPy factors those of single precision in double
    if a.ndim == 2 and len(a) >= LARGE and out.flags.c_contiguous and out.dtype.char in "dD":
        np.copyto(out, a)
        (potrf,) = imported("scipy.linalg").get_lapack_funcs(("potrf",), dtype=out.dtype)
        # LAPACK's upper factor is along columns our lower one
        if potrf(out.T, lower=False, clean=True, overwrite_a=True)[1]:
            raise refusal
        return
    out[...] = or_raise(np.linalg.cholesky, a, refusal=refusal)


def cholesky(a: Mat) -> Mat:
    """Return the lower triangular L with ``a = L L^H``.

    Parameters
    ----------
    a : Mat
        Positive definite matrix, or a stack of them, of which only the lower triangle is read;
        integers are converted to float64.

    Returns
    -------
    Mat
        The factor, of a's shape.

    Raises
    ------
    LinAlgError
        Unless `a` is positive definite.

    Notes
    -----
    LAPACK ?POTRF.

    Examples
    --------
    >>> import mat
    >>> mat.cholesky(mat.array([[4.0, 0], [0, 9]]))
    <Mat 2x2 A [[2. 0.] [0. 3.]]>
    """
    (a,), dtype = _alike_for_lapack(_check_square("cholesky", a))
    return cholesky_factor(a, new_like(a, a.shape, dtype))


@number_op(by_form=True)
def slogdet(a: Input) -> None:
    """Return the sign of the determinant and the logarithm of its modulus.

    Parameters
    ----------
    a : Mat
        Square matrix; integers are converted to float64.

    Returns
    -------
    sign : float or complex
        1, -1 or 0; for a complex matrix a number of modulus 1, or 0.
    logabsdet : float
        ``log |det a|``; -inf if `a` is singular.

    Notes
    -----
    LAPACK ?GETRF.

    Examples
    --------
    >>> import mat
    >>> mat.slogdet(mat.array([[0.0, 1], [1, 0]]))
    (-1.0, 0.0)
    """
    _check_square("slogdet", a)
    if a.ndim != 2:
        raise ShapeError(f"slogdet requires one matrix, got shape {a.shape}")


slogdet.cut_by(made_later(lambda: blocked.one_determinant_tiles))
slogdet.prepare("cuda", dtypes=BLAS, when=lambda a: a.size > 0, needs="cuSOLVER")(
    lambda cuda, a: cuda.prepare_slogdet(a.dtype.char, a.shape[-1], stack_of(a, 2, ())))


@slogdet.on("array")
def slogdet_numpy(np: Engine, a: Array) -> tuple[Number, float]:
    sign, logabsdet = np.linalg.slogdet(a)
    return sign.item(), logabsdet.item()


def _bind_method(function: Function) -> None:
    """Bind a function of one Mat, `a`, as a method of the same name."""
    name = function.__name__
    bind(name, method_like(function, lambda self: function(self), name, "a"))


_bind_method(inv)
_bind_method(cholesky)
_bind_method(slogdet)


# Stacks of matrices


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


singular_values.on("array")(lambda np, a, s: np.copyto(
    s, or_raise(lambda: np.linalg.svd(a, compute_uv=False))))


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


hermitian_values.on("array")(lambda np, a, w, lower: np.copyto(
    w, or_raise(np.linalg.eigvalsh, a, "L" if lower else "U")))
eigen_values.on("array")(lambda np, a, w: np.copyto(w, or_raise(np.linalg.eigvals, a)))


@hermitian_factors.on("array")
def eigh_numpy(np: Engine, a: Array, v: Array, w: Array, lower: bool) -> None:
    w[...], v[...] = or_raise(np.linalg.eigh, a, "L" if lower else "U")


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


_MOST_ROWS = 15 << 20  # of Q: cuSOLVER's workspace for 16 million is more than its 32 bits count


def _fits_device_with_q(a: Mat, q: Mat, r: Mat) -> bool:
    """Return whether cuSOLVER finds Q, too."""
    return _fits_device(a, q, r) and q.layout.shape[-2] <= _MOST_ROWS


@op(method="", by_form=True, name="qr")
def triangular_factor(a: Input, r: Output) -> None:
    """Compute the r of ``a = q r``."""


@op(method="", by_form=True, name="qr")
def orthogonal_factors(a: Input, q: Output, r: Output) -> None:
    """Compute ``a = q r``."""


@triangular_factor.prepare("cuda", dtypes=BLAS, when=_fits_device, needs="cuSOLVER")
@orthogonal_factors.prepare("cuda", dtypes=BLAS, when=_fits_device_with_q, needs="cuSOLVER")
def qr_cuda(cuda: Engine, a: Mat, *results: Mat) -> Function:
    x, *left, right = _operands(a, *results)
    return cuda.prepare_qr(a.dtype.char, a.shape[-2:], x, right, results[-1].shape[-2],
                           *(left or [None]), a.shape[:-2])


triangular_factor.on("array")(lambda np, a, r: np.copyto(r, np.linalg.qr(a, "r")))


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
    return cuda.prepare_slogdets(a.dtype.char, a.shape[-1], stack_of(a, 2, batch), results, batch)


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
                              made_later(lambda: blocked.triangle_tiles), free=True))
orthogonal_factors.cut_by(over(orthogonal_factors, "...__",
                               made_later(lambda: blocked.factor_tiles), free=True))
determinants.waits_for = "the pivots"
determinants.cut_by(over(determinants, "...__,...,...",
                         made_later(lambda: blocked.determinant_tiles), free=True))
