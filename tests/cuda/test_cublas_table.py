"""The declarations of cuBLAS that are made of one table: names and types as NVIDIA's manual has
them.
"""

import os
import re
import sysconfig
from pathlib import Path

import cffi
import pytest

from mat.cuda.libraries import cublas_table
from mat.cuda.libraries.cublas_table import (
    declarations,
    fft_functions,
    functions,
    lt_functions,
    routine,
    solver_functions,
    symbol,
)

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


PLACES = [os.environ.get("MAT_CUBLAS_HEADERS", ""),
          f"{sysconfig.get_path('purelib')}/nvidia/cu13/include", "/usr/local/cuda/include"]
HEADERS = next((Path(p) for p in PLACES if p and Path(p, "cublasLt.h").exists()), None)
CONSTANTS = {
    "MATMUL_DESC_TRANSA": "DESC_OP_A", "MATMUL_DESC_TRANSB": "DESC_OP_B",
    "MATMUL_DESC_A_SCALE_POINTER": "DESC_A_SCALE", "MATMUL_DESC_B_SCALE_POINTER": "DESC_B_SCALE",
    "MATMUL_DESC_A_SCALE_MODE": "DESC_A_MODE", "MATMUL_DESC_B_SCALE_MODE": "DESC_B_MODE",
    "MATRIX_LAYOUT_BATCH_COUNT": "LAYOUT_COUNT",
    "MATRIX_LAYOUT_STRIDED_BATCH_OFFSET": "LAYOUT_STEP",
    "MATMUL_PREF_MAX_WORKSPACE_BYTES": "PREFER_ROOM",
    "MATMUL_MATRIX_SCALE_SCALAR_32F": "SCALE_FOR_ALL",
    "MATMUL_MATRIX_SCALE_OUTER_VEC_32F": "SCALE_FOR_LINES"}


@pytest.mark.skipif(HEADERS is None, reason="no header of cuBLASLt; MAT_CUBLAS_HEADERS names its "
                                            "folder")
def test_cublaslt_is_as_its_header_has_it():
    text = re.sub(r"//[^\n]*|/\*.*?\*/|CUBLASWINAPI", "", (HEADERS / "cublasLt.h").read_text(),
                  flags=re.S) if HEADERS else ""
    for name, ours in CONSTANTS.items():
        value = re.search(rf"\bCUBLASLT_{name} = (\d+)", text)
        assert value, name
        assert int(value[1]) == getattr(cublas_table, ours), name
    for f in lt_functions():
        found = re.search(rf"{f.symbol}\((.*?)\);", text, re.S)
        assert found, f.symbol
        assert _types(found[1]) == _types(f.declaration(exact=True).partition("(")[2][:-2]), f


def _types(arguments):
    """Return the types of a function's parameters, without their names."""
    found = [re.sub(r"(\w+)\[\]$", r"*\1", a.strip()) for a in arguments.split(",")]
    return [re.sub(r"\s+|cudaDataType_t", lambda m: "cudaDataType" if m[0].strip() else "",
                   re.sub(r"\w+$", "", a)) for a in found]
