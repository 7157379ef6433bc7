"""The declarations of cuBLAS that are made of one table: names and types as NVIDIA's manual has
them.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from importlib import import_module
from pathlib import Path

import cffi
import pytest

from mat.cuda.libraries import cublas_table as table
from mat.cuda.libraries.cublas_table import (
    declarations,
    fft_functions,
    functions,
    lt_functions,
    routine,
    solver_functions,
    symbol,
)
from mat.support.dtypes import ELEMENT_TYPES

BY_SYMBOL = {f.symbol: f for f in (*functions(), *lt_functions(), *solver_functions(),
                                   *fft_functions())}


@pytest.mark.parametrize(("verb", "letter", "name"), [
    ("axpy", "d", "cublasDaxpy_v2"), ("nrm2", "F", "cublasScnrm2_v2"),
    ("nrm2", "D", "cublasDznrm2_v2"),
    ("asum", "f", "cublasSasum_v2"), ("asum", "D", "cublasDzasum_v2"),
    ("iamax", "f", "cublasIsamax_v2"),
    ("iamax", "D", "cublasIzamax_v2"), ("dot", "F", "cublasCdotu_v2"),
    ("vdot", "F", "cublasCdotc_v2"),
    ("vdot", "d", "cublasDdot_v2"), ("ger", "f", "cublasSger_v2"), ("ger", "D", "cublasZgeru_v2"),
    ("gemm", "f", "cublasSgemm_v2"), ("gemmStridedBatched", "D", "cublasZgemmStridedBatched"),
    ("GemmEx", "e", "cublasGemmEx"),
])
def test_symbols(verb, letter, name):
    assert symbol(verb, letter) == name
    assert symbol(verb, letter, True) == name + "_64"
    assert routine(verb, letter) == name.removesuffix("_v2")
    assert name in BY_SYMBOL
    assert name + "_64" in BY_SYMBOL


def test_every_symbol_is_declared_once():
    assert len(list(functions())) == 141
    assert len(BY_SYMBOL) == 141 + 12 + 39 + len(list(fft_functions())) == 199
    ffi, declared = cffi.FFI(), declarations(BY_SYMBOL.values())
    ffi.cdef(declared)
    assert sorted(ffi.list_types()[0]) == []
    for name in BY_SYMBOL:
        assert f" {name}(" in declared


@pytest.mark.parametrize(("name", "text"), [
    ("cublasDaxpy_v2", ("cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double "
                        "* alpha, const double * x, "
                       "int incx, double * y, int incy);")),
    ("cublasIcamax_v2_64", ("cublasStatus_t cublasIcamax_v2_64(cublasHandle_t handle, int64_t n, "
                            "const cuComplex * x, "
                           "int64_t incx, int64_t * result);")),
    ("cublasDznrm2_v2", ("cublasStatus_t cublasDznrm2_v2(cublasHandle_t handle, int n, const "
                         "cuDoubleComplex * x, int incx, "
                        "double * result);")),
    ("cublasGetStatusString", "const char * cublasGetStatusString(cublasStatus_t status);"),
    ("cublasCgetriBatched", ("cublasStatus_t cublasCgetriBatched(cublasHandle_t handle, int n, "
                             "const cuComplex * const * a, int lda, const int * pivots, cuComplex "
                             "* const * c, int ldc, int * infos, int count);")),
    ("cusolverDnXgeqrf", ("cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, "
                          "cusolverDnParams_t params, int64_t m, int64_t n, cudaDataType type_a, "
                          "void * a, int64_t lda, cudaDataType type_tau, void * tau, cudaDataType "
                          "compute, void * room, size_t size, void * host_room, size_t host_size, "
                          "int * infos);")),
    ("cusolverDnXsyevBatched_bufferSize", (
        "cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, "
        "cusolverDnParams_t params, cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, "
        "cudaDataType type_a, const void * a, int64_t lda, cudaDataType type_w, const void * w, "
        "cudaDataType compute, size_t * size, size_t * host_size, int64_t count);")),
    ("cusolverDnCungqr", ("cusolverStatus_t cusolverDnCungqr(cusolverDnHandle_t handle, int m, int "
                          "n, int k, cuComplex * a, int lda, const cuComplex * tau, cuComplex * "
                          "room, int size, int * infos);")),
    ("cufftXtMakePlanMany", ("cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long "
                             "long int * lengths, long long int * embedded, long long int step, "
                             "long long int distance, cudaDataType type, long long int * "
                             "embedded_out, long long int step_out, long long int distance_out, "
                             "cudaDataType type_out, long long int count, size_t * size, "
                             "cudaDataType compute);")),
    ("cublasLtMatmulDescSetAttribute", (
        "cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, "
        "cublasLtMatmulDescAttributes_t kind, const void * value, size_t bytes);")),
    ("cusolverDnXgetrs", ("cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, "
                          "cusolverDnParams_t params, cublasOperation_t trans, int64_t n, int64_t "
                          "columns, cudaDataType type_a, const void * a, int64_t lda, const "
                          "int64_t * pivots, cudaDataType type_b, void * b, int64_t ldb, int * "
                          "infos);")),
])
def test_declarations_as_the_header_has_them(name, text):
    assert BY_SYMBOL[name].declaration(exact=True) == text


def test_declarations_for_cffi_want_addresses_on_the_device():
    assert BY_SYMBOL["cublasSscal_v2_64"].declaration() == (
        "int cublasSscal_v2_64(uintptr_t handle, int64_t n, const void * alpha, uintptr_t x, "
        "int64_t incx);")


# folders of headers, of several wheels perhaps
PLACES = [*os.environ.get("MAT_CUBLAS_HEADERS", "").split(os.pathsep),
          f"{sysconfig.get_path('purelib')}/nvidia/cu13/include", "/usr/local/cuda/include"]
HEADERS = {"cublas_v2.h": functions, "cublasLt.h": lt_functions, "cusolverDn.h": solver_functions,
           "cufftXt.h": fft_functions}
LT = {
    "MATMUL_DESC_TRANSA": table.DESC_OP_A, "MATMUL_DESC_TRANSB": table.DESC_OP_B,
    "MATMUL_DESC_A_SCALE_POINTER": table.DESC_A_SCALE,
    "MATMUL_DESC_B_SCALE_POINTER": table.DESC_B_SCALE,
    "MATMUL_DESC_A_SCALE_MODE": table.DESC_A_MODE, "MATMUL_DESC_B_SCALE_MODE": table.DESC_B_MODE,
    "MATRIX_LAYOUT_BATCH_COUNT": table.LAYOUT_COUNT,
    "MATRIX_LAYOUT_STRIDED_BATCH_OFFSET": table.LAYOUT_STEP,
    "MATMUL_PREF_MAX_WORKSPACE_BYTES": table.PREFER_ROOM,
    **{f"MATMUL_PREF_MIN_ALIGNMENT_{operand}_BYTES": kind
       for operand, kind in zip("ABCD", table.PREFER_ALIGNED, strict=True)},
    "MATMUL_MATRIX_SCALE_SCALAR_32F": table.SCALE_FOR_ALL,
    "MATMUL_MATRIX_SCALE_OUTER_VEC_32F": table.SCALE_FOR_LINES}
BLAS = {
    **{f"OP_{name}": value for name, value in table.OP.items()},
    "FILL_MODE_LOWER": table.FILL["L"], "FILL_MODE_UPPER": table.FILL["U"],
    "DIAG_NON_UNIT": table.DIAG["N"], "DIAG_UNIT": table.DIAG["U"],
    "SIDE_LEFT": table.SIDE["L"], "SIDE_RIGHT": table.SIDE["R"],
    "POINTER_MODE_HOST": table.POINTER_MODE_HOST, "POINTER_MODE_DEVICE": table.POINTER_MODE_DEVICE,
    "DEFAULT_MATH": table.DEFAULT_MATH,
    "MATH_DISALLOW_REDUCED_PRECISION_REDUCTION": table.WHOLE_SUMS,
    "GEMM_DEFAULT": table.GEMM_DEFAULT, "COMPUTE_32F": table.COMPUTE_32F,
    "COMPUTE_32I": table.COMPUTE_32I, "COMPUTE_32F_FAST_TF32": table.COMPUTE_FLOAT32["tf32"],
    "COMPUTE_32F_FAST_16BF": table.COMPUTE_FLOAT32["bfloat16"],
    **{f"STATUS_{name}": getattr(table, name)
       for name in ("ALLOC_FAILED", "INVALID_VALUE", "ARCH_MISMATCH", "NOT_SUPPORTED")}}
WORDS = {"bfloat16": "R_16BF", "float8_e4m3fn": "R_8F_E4M3", "float8_e5m2": "R_8F_E5M2"}


def data_type(t):
    """Return the name of an element type in library_types.h."""
    bits, kind = 8 * t.size, {"i": "I", "u": "U"}.get(t.kind, "F")
    return WORDS.get(t.name) or (f"C_{bits // 2}F" if t.kind == "c" else f"R_{bits}{kind}")


def constants(cublaslt, cufft, cusolver, factor):
    """Yield the names of constants in the headers, and what they are in these modules."""
    yield from ((f"CUBLAS_{name}", value) for name, value in BLAS.items())
    yield from ((f"CUBLASLT_{name}", value) for name, value in LT.items())
    yield from ((f"CUSOLVER_STATUS_{name}", k) for k, name in enumerate(cusolver.NAMES))
    yield from (("CUSOLVER_EIG_MODE_NOVECTOR", factor.NO_VECTORS),
                ("CUSOLVER_EIG_MODE_VECTOR", factor.VECTORS),
                ("CUFFT_FORWARD", cufft.FORWARD), ("CUFFT_INVERSE", cufft.INVERSE),
                ("sizeof(cublasLtMatmulHeuristicResult_t)", 8 * cublaslt.RESULT),
                ("__builtin_offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)", 64),
                ("__builtin_offsetof(cublasLtMatmulHeuristicResult_t, state)", 72))
    yield from ((f"CUDA_{data_type(t)}", t.cublas) for t in ELEMENT_TYPES if t.cublas >= 0)


def test_everything_is_as_the_headers_have_it(tmp_path):
    pytest.importorskip("cuda.bindings", reason="cuda-python is not installed")
    modules = [import_module(f"mat.cuda.libraries.{name}")
               for name in ("cublaslt", "cufft", "cusolver", "factor")]
    folders = [Path(p) for p in PLACES if p and Path(p).is_dir()]
    found = {name: next((f / name for f in folders if (f / name).exists()), None)
             for name in (*HEADERS, "cufft.h")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}; MAT_CUBLAS_HEADERS names the folders of headers")
    (tmp_path / "nv").mkdir()  # of another package, and for kernels
    (tmp_path / "nv" / "target").write_text("")
    source = tmp_path / "all.c"
    lines = [f"#include <{name}>\n{declarations(table_of(), exact=True)}"
             for name, table_of in HEADERS.items()]
    lines += [f'_Static_assert({name} == {value}, "");' for name, value in constants(*modules)]
    source.write_text("\n".join([*lines, ""]))
    done = subprocess.run(
        [shutil.which("cc") or "cc", "-fsyntax-only", "-Werror", "-DCUDA_NO_HALF", str(source),
         *(f"-I{folder}" for folder in (*folders, tmp_path))], capture_output=True, text=True,
        check=False)
    assert not done.returncode, done.stderr
    statuses = re.search(r"enum cufftResult_t \{(.*?)\}", found["cufft.h"].read_text(), re.S)
    assert statuses
    for name, value in re.findall(r"\bCUFFT_(\w+)\s*=\s*(0x[0-9A-F]+)", statuses[1]):
        assert modules[1].NAMES[int(value, 16)] == name
