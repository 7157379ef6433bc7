"""The functions of cuBLAS, cuBLASLt, cuSOLVER and cuFFT that `mat` calls, as tables, and the C
declarations made of them.

It loads nothing. The same tables declare them for cffi (`declarations`), for a check against
NVIDIA's headers (`declarations(exact=True)`), and list the symbols that a stand-in for the library
must have; ``MAT_CUBLAS``, ``MAT_CUBLASLT``, ``MAT_CUSOLVER`` and ``MAT_CUFFT`` in the environment
are the paths of libraries to load instead of NVIDIA's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import NamedTuple

from ...support.blas_library import PREFIX, REAL, routine_name
from ...support.dtypes import COMPLEX_TYPES, ELEMENT_TYPES

# The kinds of arguments: for cffi, and exactly as cublas_v2.h has them. T is the element's type, R
# that of its real part. An operand on the device is an address, an integer; one on the host is a
# pointer to memory that cffi owns.
KINDS = {
    "handle": ("uintptr_t", "cublasHandle_t"), "handle_out": ("void *", "cublasHandle_t *"),
    "stream": ("uintptr_t", "cudaStream_t"), "version": ("void *", "int *"),
    "status": ("int", "cublasStatus_t"), "op": ("int", "cublasOperation_t"),
    "fill": ("int", "cublasFillMode_t"), "diag": ("int", "cublasDiagType_t"),
    "side": ("int", "cublasSideMode_t"), "data": ("int", "cudaDataType"),
    "compute": ("int", "cublasComputeType_t"), "algo": ("int", "cublasGemmAlgo_t"),
    "math": ("int", "cublasMath_t"), "mode": ("int", "cublasPointerMode_t"),
    "bytes": ("size_t", "size_t"), "n": ("int", "int"), "stride": ("long long", "long long int"),
    "in": ("uintptr_t", "const T *"), "io": ("uintptr_t", "T *"),
    "raw_in": ("uintptr_t", "const void *"), "raw_io": ("uintptr_t", "void *"),
    "factor": ("const void *", "const T *"), "raw_factor": ("const void *", "const void *"),
    "result": ("void *", "T *"), "real": ("void *", "R *"), "index": ("void *", "int *"),
    "wide": ("int64_t", "int64_t"), "each_in": ("uintptr_t", "const T * const *"),
    "each": ("uintptr_t", "T * const *"), "each_io": ("uintptr_t", "T * *"),
    "pivots_in": ("uintptr_t", "const int *"), "pivots": ("uintptr_t", "int *"),
    "long_pivots_in": ("uintptr_t", "const int64_t *"), "long_pivots": ("uintptr_t", "int64_t *"),
    "infos": ("uintptr_t", "int *"), "info": ("int *", "int *"),
    "solver_status": ("int", "cusolverStatus_t"), "solver": ("uintptr_t", "cusolverDnHandle_t"),
    "solver_out": ("void *", "cusolverDnHandle_t *"), "params": ("uintptr_t", "cusolverDnParams_t"),
    "params_out": ("void *", "cusolverDnParams_t *"), "room": ("void *", "void *"),
    "size_out": ("size_t *", "size_t *"), "fft_status": ("int", "cufftResult"),
    "plan": ("int", "cufftHandle"), "plan_out": ("int *", "cufftHandle *"), "flag": ("int", "int"),
    "lengths": ("long long *", "long long int *"), "eig": ("int", "cusolverEigMode_t"),
    "job": ("signed char", "signed char"), "real_in": ("uintptr_t", "const R *"),
    "real_io": ("uintptr_t", "R *"), "jacobi": ("uintptr_t", "gesvdjInfo_t"),
    "jacobi_out": ("void *", "gesvdjInfo_t *"), "lt": ("uintptr_t", "cublasLtHandle_t"),
    "lt_out": ("void *", "cublasLtHandle_t *"), "desc": ("uintptr_t", "cublasLtMatmulDesc_t"),
    "desc_out": ("void *", "cublasLtMatmulDesc_t *"),
    "desc_kind": ("int", "cublasLtMatmulDescAttributes_t"),
    "layout": ("uintptr_t", "cublasLtMatrixLayout_t"),
    "layout_out": ("void *", "cublasLtMatrixLayout_t *"),
    "layout_kind": ("int", "cublasLtMatrixLayoutAttribute_t"),
    "preference": ("uintptr_t", "cublasLtMatmulPreference_t"),
    "preference_out": ("void *", "cublasLtMatmulPreference_t *"),
    "preference_kind": ("int", "cublasLtMatmulPreferenceAttributes_t"),
    "value": ("const void *", "const void *"), "length": ("uint64_t", "uint64_t"),
    "algorithm": ("const void *", "const cublasLtMatmulAlgo_t *"),
    "found": ("void *", "cublasLtMatmulHeuristicResult_t *"),
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
# For stacks of matrices, of which arrays on the device have the addresses; sizes have 32 bits.
STACKED = {
    "getrfBatched": "n:n a:each lda:n pivots:pivots infos:infos count:n",
    "getriBatched": "n:n a:each_in lda:n pivots:pivots_in c:each ldc:n infos:infos count:n",
    "getrsBatched": "trans:op n:n columns:n a:each_in lda:n pivots:pivots_in b:each ldb:n "
                    "info:info count:n",
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
# Those of cuSOLVER: of any type, and for elements of four types.
SOLVER = {
    "cusolverDnCreate": "handle:solver_out",
    "cusolverDnCreateParams": "params:params_out",
    "cusolverDnCreateGesvdjInfo": "params:jacobi_out",
    "cusolverDnSetStream": "handle:solver stream:stream",
    "cusolverDnXgetrf_bufferSize": "handle:solver params:params m:wide n:wide type_a:data a:raw_in "
                                   "lda:wide compute:data size:size_out host_size:size_out",
    "cusolverDnXgetrf": "handle:solver params:params m:wide n:wide type_a:data a:raw_io lda:wide "
                        "pivots:long_pivots compute:data room:raw_io size:bytes host_room:room "
                        "host_size:bytes infos:infos",
    "cusolverDnXgetrs": "handle:solver params:params trans:op n:wide columns:wide type_a:data "
                        "a:raw_in lda:wide pivots:long_pivots_in type_b:data b:raw_io ldb:wide "
                        "infos:infos",
}
# Those of any type that take workspaces, of the size that a function of the same arguments says.
SOLVER_SIZED = {
    "Xpotrf": "uplo:fill n:wide type_a:data a:raw_io lda:wide",
    "Xgeqrf": "m:wide n:wide type_a:data a:raw_io lda:wide type_tau:data tau:raw_io",
    "Xgesvd": "job_u:job job_v:job m:wide n:wide type_a:data a:raw_io lda:wide type_s:data "
              "s:raw_io type_u:data u:raw_io ldu:wide type_v:data v:raw_io ldv:wide",
    "Xsyevd": "job:eig uplo:fill n:wide type_a:data a:raw_io lda:wide type_w:data w:raw_io",
    "XsyevBatched": "job:eig uplo:fill n:wide type_a:data a:raw_io lda:wide type_w:data w:raw_io",
    "Xgeev": "job_left:eig job_right:eig n:wide type_a:data a:raw_io lda:wide type_w:data w:raw_io "
             "type_left:data left:raw_io ldl:wide type_right:data right:raw_io ldr:wide",
}
SOLVER_LETTERED = {
    "potrfBatched": "uplo:fill n:n a:each_io lda:n infos:infos count:n",
    "orgqr_bufferSize": "m:n n:n k:n a:in lda:n tau:in size:info",
    "gesvdjBatched_bufferSize": "job:eig m:n n:n a:in lda:n s:real_in u:in ldu:n v:in ldv:n "
                                "size:info params:jacobi count:n",
    "gesvdjBatched": "job:eig m:n n:n a:io lda:n s:real_io u:io ldu:n v:io ldv:n room:io size:n "
                     "infos:infos params:jacobi count:n",
    "orgqr": "m:n n:n k:n a:io lda:n tau:in room:io size:n infos:infos",
}
FFT = {
    "cufftCreate": "plan:plan_out",
    "cufftDestroy": "plan:plan",
    "cufftSetAutoAllocation": "plan:plan allocates:flag",
    "cufftSetStream": "plan:plan stream:stream",
    "cufftSetWorkArea": "plan:plan room:raw_io",
    "cufftXtMakePlanMany": "plan:plan rank:flag lengths:lengths embedded:lengths step:stride "
                           "distance:stride type:data embedded_out:lengths step_out:stride "
                           "distance_out:stride type_out:data count:stride size:size_out "
                           "compute:data",
    "cufftXtExec": "plan:plan x:raw_io out:raw_io direction:flag",
}
# Those of cuBLASLt
LT = {
    "cublasLtCreate": "handle:lt_out",
    "cublasLtMatmulDescCreate": "desc:desc_out compute:compute factors:data",
    "cublasLtMatmulDescSetAttribute": "desc:desc kind:desc_kind value:value bytes:bytes",
    "cublasLtMatmulDescDestroy": "desc:desc",
    "cublasLtMatrixLayoutCreate": "layout:layout_out type:data rows:length columns:length ld:wide",
    "cublasLtMatrixLayoutSetAttribute": "layout:layout kind:layout_kind value:value bytes:bytes",
    "cublasLtMatrixLayoutDestroy": "layout:layout",
    "cublasLtMatmulPreferenceCreate": "preference:preference_out",
    "cublasLtMatmulPreferenceSetAttribute": "preference:preference kind:preference_kind "
                                            "value:value bytes:bytes",
    "cublasLtMatmulPreferenceDestroy": "preference:preference",
    "cublasLtMatmulAlgoGetHeuristic": "handle:lt desc:desc a:layout b:layout c:layout d:layout "
                                      "preference:preference wanted:flag found:found count:info",
    "cublasLtMatmul": "handle:lt desc:desc alpha:raw_factor a:raw_in a_layout:layout b:raw_in "
                      "b_layout:layout beta:raw_factor c:raw_in c_layout:layout d:raw_io "
                      "d_layout:layout algorithm:algorithm room:raw_io bytes:bytes stream:stream",
}
# those that return a string, not a status
TEXTS = frozenset(("cublasGetStatusName", "cublasGetStatusString"))
STATUSES = {"cusolver": "solver_status", "cufft": "fft_status"}

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
COMPUTE_FLOAT32 = {"ieee": COMPUTE_32F, "tf32": 77, "bfloat16": 75}  # by a setting
ALLOC_FAILED, INVALID_VALUE, ARCH_MISMATCH, NOT_SUPPORTED = 3, 7, 8, 15
# of cublasLt.h: what is set of a product, of a matrix, and of a search for an algorithm
DESC_OP_A, DESC_OP_B, DESC_A_SCALE, DESC_B_SCALE, DESC_A_MODE, DESC_B_MODE = 3, 4, 17, 18, 31, 32
LAYOUT_COUNT, LAYOUT_STEP = 5, 6
PREFER_ROOM, PREFER_ALIGNED = 1, (5, 6, 7, 8)  # for A, B, C and D
SCALE_FOR_ALL, SCALE_FOR_LINES = 0, 3


class CublasFunction(NamedTuple):
    """A function of one of the libraries."""

    symbol: str
    arguments: str  # as in the tables above
    letter: str = ""  # of the elements, if they have a type of their own
    long: bool = False  # sizes have 64 bits

    def declaration(self, exact: bool = False) -> str:
        """Return the declaration in C: for cffi, or as NVIDIA's header has it."""
        arguments = (argument.split(":") for argument in self.arguments.split())
        words = [f"{self._ctype(kind, exact)} {name}" for name, kind in arguments]
        kind = next((kind for library, kind in STATUSES.items()
                     if self.symbol.startswith(library)), "status")
        returns = "const char *" if self.symbol in TEXTS else KINDS[kind][exact]
        return f"{returns} {self.symbol}({', '.join(words)});"

    def _ctype(self, kind: str, exact: bool) -> str:
        """Return the C type of an argument of that kind."""
        if not exact:
            return "int64_t" if self.long and kind == "n" else KINDS[kind][0]
        element, real = TYPES.get(self.letter, ("", ""))
        ctype = KINDS[kind][1]
        if "T *" in ctype:
            return ctype.replace("T *", element + " *")
        if "R *" in ctype:
            return ctype.replace("R *", real + " *")
        return ctype.replace("int", "int64_t") if self.long and kind in ("n", "index") else ctype


def symbol(verb: str, letter: str, long: bool = False) -> str:
    """Return the symbol of `verb`: ``cublasDaxpy_v2``, ``cublasIsamax_v2_64``."""
    return routine(verb, letter) + ("" if verb.startswith("Gemm") or verb.endswith("Batched")
                                    else "_v2") + ("_64" if long else "")


def routine(verb: str, letter: str) -> str:
    """Return the name of the routine in the manual: ``cublasDaxpy``, ``cublasGemmEx``."""
    if verb in TYPED:
        return "cublas" + verb
    name = routine_name(verb, letter)
    return "cublas" + name[0].upper() + name[1:]


def functions() -> Iterator[CublasFunction]:
    """Yield all functions of cuBLAS that `mat` calls."""
    yield from starmap(CublasFunction, OTHERS.items())
    for verb, arguments in STACKED.items():
        for letter in TYPES:
            yield CublasFunction(symbol(verb, letter), "handle:handle " + arguments, letter)
    for long in (False, True):
        for verb, arguments in TYPED.items():
            yield CublasFunction(symbol(verb, "", long), "handle:handle " + arguments, "", long)
        for verb, arguments in LETTERED.items():
            for letter in TYPES:
                if verb != "vdot" or letter in COMPLEX_TYPES:  # of real numbers that is dot
                    yield CublasFunction(symbol(verb, letter, long), "handle:handle " + arguments,
                                         letter, long)


def solver_functions() -> Iterator[CublasFunction]:
    """Yield all functions of cuSOLVER that `mat` calls."""
    yield from starmap(CublasFunction, SOLVER.items())
    first = "handle:solver params:params"
    for verb, arguments in SOLVER_SIZED.items():
        count = " count:wide" if verb.endswith("Batched") else ""
        asked = arguments.replace("raw_io", "raw_in")
        yield CublasFunction(f"cusolverDn{verb}_bufferSize", f"{first} {asked} compute:data "
                             f"size:size_out host_size:size_out{count}")
        yield CublasFunction(f"cusolverDn{verb}", f"{first} {arguments} compute:data room:raw_io "
                             f"size:bytes host_room:room host_size:bytes infos:infos{count}")
    for verb, arguments in SOLVER_LETTERED.items():
        for letter in TYPES:
            yield CublasFunction(solver_symbol(verb, letter), f"handle:solver {arguments}", letter)


def fft_functions() -> Iterator[CublasFunction]:
    """Yield all functions of cuFFT that `mat` calls."""
    return starmap(CublasFunction, FFT.items())


def lt_functions() -> Iterator[CublasFunction]:
    """Yield all functions of cuBLASLt that `mat` calls."""
    return starmap(CublasFunction, LT.items())


def solver_symbol(verb: str, letter: str) -> str:
    """Return the symbol of a verb of cuSOLVER for elements of a dtype character."""
    verb = verb.replace("org", "ung") if letter in COMPLEX_TYPES else verb
    return f"cusolverDn{PREFIX[letter].upper()}{verb}"


def declarations(found: Iterable[CublasFunction], exact: bool = False) -> str:
    """Return the declarations of these functions in C."""
    return "\n".join(f.declaration(exact) for f in found)
