/* A cuSOLVER of our own, for tests where there is no GPU: by NVIDIA's manual, in plain loops, on
   the mock driver's memory. Its signatures are written here by hand, as those of the mock cuBLAS,
   whose parts it is made of. Statuses have cuSOLVER's numbers.

   Workspaces are asked for, and overwritten. */
#include "factors.hpp"

enum : Status { SOLVER_NOT_INITIALIZED = 1, SOLVER_INVALID_VALUE = 3, SOLVER_EXECUTION_FAILED = 6 };
enum : int { R_64F = 1, C_32F = 4, C_64F = 5, ROOM = 24, HOST_ROOM = 8 };  // bytes for a row

struct Params {};

static Status solver(Status status) {  // of cuBLAS; what a test injects remains
    return status == EXECUTION_FAILED ? SOLVER_EXECUTION_FAILED : status;
}

// Calls work() of that element type, or returns that there is none.
#define OF_TYPE(type, work) \
    switch (type) { \
    case R_32F: { typedef float X; work; } \
    case R_64F: { typedef double X; work; } \
    case C_32F: { typedef C32 X; work; } \
    case C_64F: { typedef C64 X; work; } \
    default: return SOLVER_INVALID_VALUE; \
    }
#define SOLVER_BEGIN(valid) \
    Status begun = begin(__func__, h); \
    if (begun) return solver(begun); \
    if (!(valid)) return SOLVER_INVALID_VALUE; \
    const char *const me = __func__

EXPORT Status cusolverDnCreate(void **handle) {
    Status injected = mock_enter(__func__);
    if (injected) return injected;
    int device;
    if (cuCtxGetDevice(&device)) return SOLVER_NOT_INITIALIZED;
    *handle = new Handle{device, nullptr, false, 0};
    return SUCCESS;
}
EXPORT Status cusolverDnCreateParams(void **params) {
    *params = new Params;
    return SUCCESS;
}
EXPORT Status cusolverDnSetStream(Handle *h, void *stream) {
    h->stream = stream;
    return SUCCESS;
}

static bool is_square(int64_t n, int64_t lda) { return n >= 0 && lda >= std::max<int64_t>(1, n); }

static Status room_of(int64_t n, size_t *size, size_t *host_size) {
    *size = size_t(n) * ROOM;
    *host_size = size_t(n) * HOST_ROOM;
    return SUCCESS;
}

// Whether both workspaces are as large as was said, which they must be; they are overwritten.
static bool use_rooms(int64_t n, Address room, size_t size, void *host, size_t host_size,
                      const char *me) {
    if (size < size_t(n) * ROOM || host_size < size_t(n) * HOST_ROOM) return false;
    memset(host, 0x5a, host_size);
    void *there = mock_real(room, size, 0, me);
    return there != nullptr;
}

EXPORT Status cusolverDnXgetrf_bufferSize(H h, const Params *params, int64_t m, int64_t n, int type,
                                          Address a, int64_t lda, int compute, size_t *size,
                                          size_t *host_size) {
    SOLVER_BEGIN(params && m == n && is_square(n, lda) && type == compute && a);
    (void)me;
    return room_of(n, size, host_size);
}
EXPORT Status cusolverDnXpotrf_bufferSize(H h, const Params *params, int fill, int64_t n, int type,
                                          Address a, int64_t lda, int compute, size_t *size,
                                          size_t *host_size) {
    SOLVER_BEGIN(params && fill / 2 == 0 && is_square(n, lda) && type == compute && a);
    (void)me;
    return room_of(n, size, host_size);
}

template<class X, class Work>
static Status factored(H h, Address a, int64_t n, int64_t lda, Address info, const char *me,
                       Work work) {
    if (!real<X>(Matrix{a, n, n, lda}, false, me)) return SOLVER_EXECUTION_FAILED;
    return solver(queue(h, [=] {
        X *x = real<X>(Matrix{a, n, n, lda}, true, me);
        int *to = real<int>(Numbers{info, 1}, true, me);
        if (x && to) *to = work(x);
    }));
}

EXPORT Status cusolverDnXgetrf(H h, const Params *params, int64_t m, int64_t n, int type, Address a,
                               int64_t lda, Address pivots, int compute, Address room, size_t size,
                               void *host, size_t host_size, Address info) {
    SOLVER_BEGIN(params && m == n && is_square(n, lda) && type == compute &&
                 use_rooms(n, room, size, host, host_size, __func__));
    OF_TYPE(type, return factored<X>(h, a, n, lda, info, me, [=](X *x) {
        int64_t *p = real<int64_t>(Numbers{pivots, n}, true, me);
        return p ? getrf(x, n, lda, p) : -1;
    }))
}

EXPORT Status cusolverDnXgetrs(H h, const Params *params, int op, int64_t n, int64_t columns,
                               int type, Address a, int64_t lda, Address pivots, int type_b,
                               Address b, int64_t ldb, Address info) {
    SOLVER_BEGIN(params && is_op(op) && columns >= 0 && is_square(n, lda) && is_square(n, ldb) &&
                 type == type_b);
    OF_TYPE(type, return factored<X>(h, a, n, lda, info, me, [=](X *x) {
        const int64_t *p = real<int64_t>(Numbers{pivots, n}, true, me);
        X *to = real<X>(Matrix{b, n, columns, ldb}, true, me);
        for (int64_t j = 0; p && to && j < columns; j++) getrs(x, n, lda, op, p, to + j * ldb);
        return 0;
    }))
}

EXPORT Status cusolverDnXpotrf(H h, const Params *params, int fill, int64_t n, int type, Address a,
                               int64_t lda, int compute, Address room, size_t size, void *host,
                               size_t host_size, Address info) {
    SOLVER_BEGIN(params && fill / 2 == 0 && is_square(n, lda) && type == compute &&
                 use_rooms(n, room, size, host, host_size, __func__));
    OF_TYPE(type, return factored<X>(h, a, n, lda, info, me, [=](X *x) {
        return potrf(x, n, lda, fill == LOWER);
    }))
}

#define POTRF_STACKED(L, X) \
    EXPORT Status cusolverDn##L##potrfBatched(H h, int fill, int n, Address a, int lda, \
                                              Address infos, int count) { \
        SOLVER_BEGIN(fill / 2 == 0 && is_square(n, lda) && count >= 0); \
        return solver(queue(h, [=] { \
            int *info = real<int>(Numbers{infos, count}, true, me); \
            for_each<X>(a, n, lda, count, me, \
                        [=](int64_t k, X *x) { info[k] = potrf(x, n, lda, fill == LOWER); }); \
        })); \
    }
POTRF_STACKED(S, float)
POTRF_STACKED(D, double)
POTRF_STACKED(C, C32)
POTRF_STACKED(Z, C64)
