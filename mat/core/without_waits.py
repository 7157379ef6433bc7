"""What to write so that the host does not wait for a device."""

from .observers import ELEMENT, SIZE

# by what the host would wait for
INSTEAD = {
    ELEMENT: "x[k, ...] and the results of reductions are Mats that stay there, by which mat.where "
             "and other operations decide",
    SIZE: "mat.where(m, x, 0) and x * m have results whose size is known, and a product with a "
          "matrix of zeros and ones sums the rows of each group",
    "printing": "print it after the block",
    "iteration": "compute with all elements at once",
    "whether indices are in range": "mat.take(x, indices, mode='clip') takes any indices",
    "the result of dot": "x @ y stays there",
    "the result of vdot": "x.conj() @ y stays there",
    "the result of nrm2": "mat.sqrt((abs(x) ** 2).sum()) stays there",
    "the result of asum": "abs(x).sum() stays there",
    "the result of iamax": "abs(x).argmax() stays there",
    "the result of equals": "(x == y).all() stays there",
    "the result of allclose": "mat.isclose(x, y).all() stays there"}
