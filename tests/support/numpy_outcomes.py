"""What a call gives, and how that of `mat` is compared with that of NumPy."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mat import Mat
from mat.support.dtypes import SUPPORTED

TOLERANCE = {"bfloat16": 4e-2, "float16": 4e-3, "float32": 2e-5, "complex64": 2e-5,
             "int16": 2e-5, "uint16": 2e-5}  # whose functions give float32
ARBITRARY = {  # of rounding errors, on which operands' strides have a say
    "linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.pinv", "linalg.lstsq",
    "linalg.cond", "linalg.eigvals",
    "linalg.eigvalsh", "corrcoef", "cov"}


def outcome(call, function, operands):
    """Return the result of the call, or the error that it raises."""
    try:
        return call(function, operands)
    except Exception as error:
        return error


def check_same(got, wanted, tolerance, arrays):
    """Fail unless `got` is `wanted`, the result for arrays, with Mats for all arrays of supported
    dtypes except `arrays`.
    """
    if isinstance(wanted, Exception):
        kinds = [k for k in type(wanted).__mro__ if k.__module__ == "builtins"
                 and k not in (Exception, BaseException, object)]
        assert isinstance(got, (*kinds, TypeError, ValueError)), f"{got!r} for {wanted!r}"
    elif (isinstance(wanted, np.ndarray | np.generic) and wanted.dtype.name in SUPPORTED
          and type(wanted) is not np.memmap):
        number = isinstance(wanted, np.generic) and type(got) is type(wanted)  # of numbers only
        assert isinstance(got, Mat) or number or any(got is a for a in arrays), type(got)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind in "iub":
            assert_array_equal(np.asarray(got), wanted)
        else:  # `tolerance` is the operands'; dtype= may ask for a result that is less precise
            tolerance = max(tolerance, TOLERANCE.get(wanted.dtype.name, 0))
            assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    elif isinstance(wanted, list | tuple):
        assert (type(got), len(got)) == (type(wanted), len(wanted))
        for one, other in zip(got, wanted, strict=True):
            check_same(one, other, tolerance, arrays)
    elif isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key in wanted:
            check_same(got[key], wanted[key], tolerance, arrays)
    elif isinstance(wanted, np.ndarray):
        assert (type(got), got.dtype) == (type(wanted), wanted.dtype)
        assert got.tolist() == wanted.tolist()
    else:
        assert type(got) is type(wanted)
        assert got == wanted or got != got
