/* A cuBLAS of our own, for tests where there is no GPU: by NVIDIA's manual, in plain loops, on the
   mock driver's memory.

   Its signatures are written here by hand and not made of mat's table, so that a mistake there
   shows. What is computed is queued on the handle's stream; numbers on the host are read before a
   call returns, and results for the host are waited for. */
#include "call.hpp"
#include "factors.hpp"
#include "matrices.hpp"
#include "vectors.hpp"

STACKED(S, float)
STACKED(D, double)
STACKED(C, C32)
STACKED(Z, C64)

// Handles

EXPORT Status cublasCreate_v2(void **handle) {
    Status injected = mock_enter(__func__);
    if (injected) return injected;
    int device;
    if (cuCtxGetDevice(&device)) return NOT_INITIALIZED;
    *handle = new Handle{device, nullptr, false, 0};
    return SUCCESS;
}
EXPORT Status cublasDestroy_v2(Handle *h) {
    delete h;
    return SUCCESS;
}
EXPORT Status cublasGetVersion_v2(H, int *version) {
    *version = 130000;
    return SUCCESS;
}
EXPORT Status cublasSetStream_v2(Handle *h, void *stream) {
    h->stream = stream;
    h->has_workspace = false;  // as NVIDIA's does
    return SUCCESS;
}
EXPORT Status cublasSetWorkspace_v2(Handle *h, void *memory, size_t bytes) {
    if (!mock_real(reinterpret_cast<Address>(memory), bytes, 0, "cublasSetWorkspace"))
        return INVALID_VALUE;
    h->has_workspace = true;
    return SUCCESS;
}
EXPORT Status cublasSetPointerMode_v2(Handle *h, int mode) {
    if (mode != 0 && mode != 1) return INVALID_VALUE;
    h->on_device = mode == 1;
    return SUCCESS;
}
EXPORT Status cublasSetMathMode(Handle *h, int mode) {
    h->math = mode;
    return SUCCESS;
}
EXPORT const char *cublasGetStatusName(Status status) {
    switch (status) {
    case SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
    case INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
    }
}
EXPORT const char *cublasGetStatusString(Status status) {
    return status ? "what the mock cuBLAS says" : "success";
}
