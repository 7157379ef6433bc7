"""Show the BLAS calls for the three products of a linear layer's forward and backward pass.

BLAS stores matrices by columns, `mat` by rows. The operands are exchanged, transposed views become
flags, and nothing is transposed or copied: the products are the TN, NN and NT kernels of BLAS. Run:
python examples/linear_layer.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mat


def show(text: str, product: Callable[[], mat.Mat], expected: np.ndarray) -> mat.Mat:
    """Compute `product`, print the BLAS call, and compare with NumPy."""
    with mat.debug.list_calls() as calls, mat.debug.count_copies() as copies:
        result = product()
    np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-12)
    print(f"{text:30} {result.shape!s:9} {calls}  packed operands: {copies.packs}")
    return result


def main() -> None:
    batch, inputs, outputs = 32, 64, 10
    rng = np.random.default_rng(1)
    x, w, dy = (rng.standard_normal(shape)
                for shape in ((batch, inputs), (outputs, inputs), (batch, outputs)))
    X, W, dY = mat.from_numpy(x), mat.from_numpy(w), mat.from_numpy(dy)
    print(f"X is {batch} x {inputs}, W is {outputs} x {inputs}, dY is {batch} x {outputs}, all "
          "row-major\n")

    show("Y  = X W^T   (forward)", lambda: X @ W.T, x @ w.T)
    show("dX = dY W    (to the input)", lambda: dY @ W, dy @ w)
    show("dW = dY^T X  (to the weights)", lambda: dY.T @ X, dy.T @ x)

    print("\nThe same with results allocated once, as in a training loop; the gradient is added:")
    Y, dW = mat.empty(batch, outputs), mat.ones(outputs, inputs)
    show("matmul(X, W.T, out=Y)", lambda: mat.matmul(X, W.T, out=Y), x @ w.T)
    show("gemm(1, dY, X, 1, dW)", lambda: mat.gemm(1, dY, X, 1, dW, transpose_a=True), dy.T @ x + 1)

    print("\nA mini-batch is a view of some rows: only the pointer differs.")
    show("X[8:16] @ W.T", lambda: X[8:16] @ W.T, x[8:16] @ w.T)
    print("Some columns: the leading dimension stays that of the whole matrix.")
    show("X[:, :16] @ W[:, :16].T", lambda: X[:, :16] @ W[:, :16].T, x[:, :16] @ w[:, :16].T)
    print("Every second column: BLAS cannot express this, so both operands are packed first.")
    show("X[:, ::2] @ W[:, ::2].T", lambda: X[:, ::2] @ W[:, ::2].T, x[:, ::2] @ w[:, ::2].T)


if __name__ == "__main__":
    main()
