"""The functions of cuBLAS that `mat` calls, as one table, and the C declarations made of it.

It loads nothing. The same table declares them for cffi (`declarations`), for a check against
NVIDIA's header (`declarations(exact=True)`), and lists the symbols that a stand-in for the library
must have; ``MAT_CUBLAS`` in the environment is the path of a library to load instead of NVIDIA's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..support.blas_library import PREFIX, REAL, routine_name
from ..support.dtypes import COMPLEX_TYPES, ELEMENT_TYPES

# The kinds of arguments: for cffi, and exactly as cublas_v2.h has them. T is the element's type, R
# that of its real part. An operand on the device is an address, an integer; one on the host is a
# pointer to memory that cffi owns.
CFFI = {
    "handle": "uintptr_t", "handle_out": "void *", "stream": "uintptr_t", "version": "void *",
    "status": "int", "op": "int", "fill": "int", "diag": "int", "side": "int", "data": "int",
    "compute": "int", "algo": "int", "math": "int", "mode": "int", "bytes": "size_t",
    "n": "int", "stride": "long long",
    "in": "uintptr_t", "io": "uintptr_t", "raw_in": "uintptr_t", "raw_io": "uintptr_t",
    "factor": "const void *", "raw_factor": "const void *", "result": "void *", "real": "void *",
    "index": "void *",
}
EXACT = {
    "handle": "cublasHandle_t", "handle_out": "cublasHandle_t *", "stream": "cudaStream_t",
    "version": "int *", "status": "cublasStatus_t", "op": "cublasOperation_t",
    "fill": "cublasFillMode_t", "diag": "cublasDiagType_t", "side": "cublasSideMode_t",
    "data": "cudaDataType", "compute": "cublasComputeType_t", "algo": "cublasGemmAlgo_t",
    "math": "cublasMath_t", "mode": "cublasPointerMode_t", "bytes": "size_t",
    "n": "int", "stride": "long long int",
    "in": "const T *", "io": "T *", "raw_in": "const void *", "raw_io": "void *",
    "factor": "const T *", "raw_factor": "const void *", "result": "T *", "real": "R *",
    "index": "int *",
}
TYPES = {char: (real, real) for char, real in REAL.items()}
TYPES |= {"F": ("cuComplex", "float"), "D": ("cuDoubleComplex", "double")}

# For elements of four types, each with the handle before, and with sizes of 32 bits and of 64.
LETTERED = {
    "axpy": "n:n alpha:factor x:in incx:n y:io incy:n",
    "scal": "n:n alpha:factor x:io incx:n",
    "copy": "n:n x:in incx:n y:io incy:n",
    "swap": "n:n x:io incx:n y:io incy:n",
    "dot": "n:n x:in incx:n y:in incy:n result:result",
    "vdot": "n:n x:in incx:n y:in incy:n result:result",
    "nrm2": "n:n x:in incx:n result:real",
    "asum": "n:n x:in incx:n result:real",
    "iamax": "n:n x:in incx:n result:index",
    "gemv": "trans:op m:n n:n alpha:factor a:in lda:n x:in incx:n beta:factor y:io incy:n",
    "ger": "m:n n:n alpha:factor x:in incx:n y:in incy:n a:io lda:n",
    "gemm": "transa:op transb:op m:n n:n k:n alpha:factor a:in lda:n b:in ldb:n "
            "beta:factor c:io ldc:n",
    "gemmStridedBatched": "transa:op transb:op m:n n:n k:n alpha:factor "
                          "a:in lda:n stride_a:stride b:in ldb:n stride_b:stride "
                          "beta:factor c:io ldc:n stride_c:stride count:n",
    "syrk": "uplo:fill trans:op n:n k:n alpha:factor a:in lda:n beta:factor c:io ldc:n",
    "trsm": "side:side uplo:fill trans:op diag:diag m:n n:n alpha:factor a:in lda:n b:io ldb:n",
}
# Those whose element types are arguments.
TYPED = {
    "GemmEx": "transa:op transb:op m:n n:n k:n alpha:raw_factor a:raw_in type_a:data lda:n "
              "b:raw_in type_b:data ldb:n beta:raw_factor c:raw_io type_c:data ldc:n "
              "compute:compute algo:algo",
    "GemmStridedBatchedEx": "transa:op transb:op m:n n:n k:n alpha:raw_factor "
                            "a:raw_in type_a:data lda:n stride_a:stride "
                            "b:raw_in type_b:data ldb:n stride_b:stride "
                            "beta:raw_factor c:raw_io type_c:data ldc:n stride_c:stride "
                            "count:n compute:compute algo:algo",
}
# Those of no type, under their full names.
OTHERS = {
    "cublasCreate_v2": "handle:handle_out",
    "cublasDestroy_v2": "handle:handle",
    "cublasGetVersion_v2": "handle:handle version:version",
    "cublasSetStream_v2": "handle:handle stream:stream",
    "cublasSetWorkspace_v2": "handle:handle workspace:raw_io bytes:bytes",
    "cublasSetPointerMode_v2": "handle:handle mode:mode",
    "cublasSetMathMode": "handle:handle mode:math",
    "cublasGetStatusName": "status:status",
    "cublasGetStatusString": "status:status",
}
# those that return a string, not a status
TEXTS = frozenset(("cublasGetStatusName", "cublasGetStatusString"))

# Constants of cublas_v2.h and library_types.h.
OP = {"N": 0, "T": 1, "C": 2}
FILL = {"L": 0, "U": 1}
DIAG = {"N": 0, "U": 1}
SIDE = {"L": 0, "R": 1}
POINTER_MODE_HOST, POINTER_MODE_DEVICE = 0, 1
# WHOLE_SUMS: DISALLOW_REDUCED_PRECISION_REDUCTION
DEFAULT_MATH, WHOLE_SUMS, GEMM_DEFAULT = 0, 16, -1
# by dtype character: CUDA_R_32F and so on
DATA = {t.char: t.cublas for t in ELEMENT_TYPES if t.cublas >= 0}
COMPUTE_32F, COMPUTE_32I = 68, 72
ALLOC_FAILED, NOT_SUPPORTED = 3, 15


class CublasFunction(NamedTuple):
    """A function of the library."""

    symbol: str
    arguments: str  # as in the tables above
    letter: str  # of the elements; "" where they have no type of their own
    long: bool  # sizes have 64 bits

    def declaration(self, exact: bool = False) -> str:
        """Return the declaration in C: for cffi, or as NVIDIA's header has it."""
        arguments = (argument.split(":") for argument in self.arguments.split())
        words = [f"{self._ctype(kind, exact)} {name}" for name, kind in arguments]
        status = (EXACT if exact else CFFI)["status"]
        returns = "const char *" if self.symbol in TEXTS else status
        return f"{returns} {self.symbol}({', '.join(words)});"

    def _ctype(self, kind: str, exact: bool) -> str:
        """Return the C type of an argument of that kind."""
        if not exact:
            return "int64_t" if self.long and kind == "n" else CFFI[kind]
        element, real = TYPES.get(self.letter, ("", ""))
        ctype = EXACT[kind]
        if "T *" in ctype:
            return ctype.replace("T *", element + " *")
        if "R *" in ctype:
            return ctype.replace("R *", real + " *")
        return ctype.replace("int", "int64_t") if self.long and kind in ("n", "index") else ctype


def symbol(verb: str, letter: str, long: bool = False) -> str:
    """Return the symbol of `verb` for elements of a dtype character.

    Examples are ``cublasDaxpy_v2`` and ``cublasIsamax_v2_64``.
    """
    return routine(verb, letter) + ("" if verb.startswith(("gemmS", "Gemm"))
                                    else "_v2") + ("_64" if long else "")


def routine(verb: str, letter: str) -> str:
    """Return the name of the routine in the manual: ``cublasDaxpy``, ``cublasGemmEx``."""
    if verb in TYPED:
        return "cublas" + verb
    name = PREFIX[letter] + verb if verb.startswith("gemm") else routine_name(verb, letter)
    return "cublas" + name[0].upper() + name[1:]


def functions() -> Iterator[CublasFunction]:
    """Yield all functions that `mat` calls."""
    for name, arguments in OTHERS.items():
        yield CublasFunction(name, arguments, "", False)
    for long in (False, True):
        for verb, arguments in TYPED.items():
            yield CublasFunction(symbol(verb, "", long), "handle:handle " + arguments, "", long)
        for verb, arguments in LETTERED.items():
            for letter in TYPES:
                if verb != "vdot" or letter in COMPLEX_TYPES:  # of real numbers that is dot
                    yield CublasFunction(symbol(verb, letter, long), "handle:handle " + arguments,
                                         letter, long)


def declarations(exact: bool = False) -> str:
    """Return the declarations of all of them in C."""
    return "\n".join(f.declaration(exact) for f in functions())
