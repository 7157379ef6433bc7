/* A cuSOLVER of our own, for tests where there is no GPU: by NVIDIA's manual, in plain loops, on
   the mock driver's memory. Its signatures are written here by hand, as those of the mock cuBLAS,
   whose parts it is made of. Statuses have cuSOLVER's numbers.

   Workspaces are asked for, and overwritten. Singular values, eigenvalues and QR are LAPACK's,
   which SciPy has (lapack.hpp). */
#include "factors.hpp"
#include "lapack.hpp"

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
    if (!lapack::load()) return SOLVER_NOT_INITIALIZED;
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
        SOLVER_BEGIN(fill / 2 == 0 && is_square(n, lda) && count >= 0 && count <= MOST_STACKED); \
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

// Singular values, eigenvalues, QR: with one workspace as large as was said.

typedef const Params *P;

static int real_type(int type) { return type >= C_32F ? type - C_32F : type; }
static bool is_type(int type) {
    return type == R_32F || type == R_64F || type == C_32F || type == C_64F;
}

// A call with workspaces for `rows` rows; `work` computes with pointers to operands, and returns
// the status of LAPACK.
template<class Work>
static Status sized(H h, int64_t rows, Address room, size_t size, void *host, size_t host_size,
                    Address info, const char *me, Work work) {
    if (!use_rooms(rows, room, size, host, host_size, me)) return SOLVER_INVALID_VALUE;
    return solver(queue(h, [=] {
        void *there = size ? mock_real(room, size, 1, me) : nullptr;
        int *to = real<int>(Numbers{info, 1}, true, me);
        if (there) memset(there, 0x5a, size);
        if (to) *to = work();
    }));
}

static bool is_svd(int job_u, int job_v, int64_t m, int64_t n, int64_t lda, int type, int type_s,
                   int type_u, int type_v, int compute) {
    auto known = [](int job) { return job == 'N' || job == 'S' || job == 'A'; };
    return known(job_u) && known(job_v) && m >= n && n >= 0 && lda >= std::max<int64_t>(1, m) &&
           is_type(type) && type_s == real_type(type) && type_u == type && type_v == type &&
           compute == type;
}

EXPORT Status cusolverDnXgesvd_bufferSize(H h, P params, signed char job_u, signed char job_v,
                                          int64_t m, int64_t n, int type, Address, int64_t lda,
                                          int type_s, Address, int type_u, Address, int64_t,
                                          int type_v, Address, int64_t, int compute, size_t *size,
                                          size_t *host_size) {
    SOLVER_BEGIN(params && is_svd(job_u, job_v, m, n, lda, type, type_s, type_u, type_v, compute));
    (void)me;
    return room_of(m, size, host_size);
}

EXPORT Status cusolverDnXgesvd(H h, P params, signed char job_u, signed char job_v, int64_t m,
                               int64_t n, int type, Address a, int64_t lda, int type_s, Address s,
                               int type_u, Address u, int64_t ldu, int type_v, Address v,
                               int64_t ldv, int compute, Address room, size_t size, void *host,
                               size_t host_size, Address info) {
    SOLVER_BEGIN(params && is_svd(job_u, job_v, m, n, lda, type, type_s, type_u, type_v, compute) &&
                 (job_u == 'N' || ldu >= m) && (job_v == 'N' || ldv >= n));
    const int64_t columns = job_u == 'A' ? m : job_u == 'S' ? n : 0, rows = job_v == 'N' ? 0 : n;
    OF_TYPE(type, return sized(h, m, room, size, host, host_size, info, me, [=] {
        typedef typename lapack::Real<X>::type R;
        X *x = real<X>(Matrix{a, m, n, lda}, true, me);
        X *left = real<X>(Matrix{u, m, columns, ldu}, true, me);
        X *right = real<X>(Matrix{v, rows, rows, ldv}, true, me);
        R *values = real<R>(Numbers{s, n}, true, me);
        if (!x || !left || !right || !values) return -1;
        return lapack::gesvd(char(job_u), char(job_v), m, n, x, lda, values, left, ldu, right, ldv);
    }))
}

// Of stacks of small matrices, with v itself, not its conjugate transpose
struct Jacobi {};
EXPORT Status cusolverDnCreateGesvdjInfo(void **params) {
    *params = new Jacobi;
    return SUCCESS;
}
template<class X, class R>
static int jacobi(int job, int m, int n, X *a, int lda, R *s, X *u, int ldu, X *v, int ldv) {
    const int all = job ? 'A' : 'N';
    std::vector<X> adjoint(static_cast<size_t>(n * n));
    int info = lapack::gesvd(char(all), char(all), m, n, a, lda, s, u, ldu, adjoint.data(), n);
    for (int i = 0; job && i < n; i++)
        for (int j = 0; j < n; j++) v[i + j * ldv] = conjugate(adjoint[size_t(j + i * n)]);
    return info;
}
#define SMALL(L, X, R) \
    EXPORT Status cusolverDn##L##gesvdjBatched_bufferSize( \
        H h, int job, int m, int n, Address, int lda, Address, Address, int ldu, Address, int ldv, \
        int *size, const Jacobi *params, int count) { \
        SOLVER_BEGIN(params && job / 2 == 0 && m >= 1 && m <= 32 && n >= 1 && n <= 32 && \
                     lda >= m && ldu >= m && ldv >= n && count >= 1 && \
                     count <= INT32_MAX / 1049); /* as users report: its room is an int */ \
        (void)me; \
        *size = m * count + 1; \
        return SUCCESS; \
    } \
    EXPORT Status cusolverDn##L##gesvdjBatched( \
        H h, int job, int m, int n, Address a, int lda, Address s, Address u, int ldu, Address v, \
        int ldv, Address room, int size, Address infos, const Jacobi *params, int count) { \
        SOLVER_BEGIN(params && job / 2 == 0 && m >= 1 && m <= 32 && n >= 1 && n <= 32 && \
                     lda >= m && ldu >= m && ldv >= n && count >= 1 && size > m * count && \
                     mock_real(room, size_t(size) * sizeof(X), 0, __func__)); \
        return solver(queue(h, [=] { \
            const int64_t k = std::min(m, n), all = int64_t(job) * count; \
            X *x = real<X>(Numbers{a, int64_t(lda) * n * count}, true, me); \
            R *values = real<R>(Numbers{s, k * count}, true, me); \
            X *left = real<X>(Numbers{u, int64_t(ldu) * m * all}, true, me); \
            X *right = real<X>(Numbers{v, int64_t(ldv) * n * all}, true, me); \
            int *info = real<int>(Numbers{infos, count}, true, me); \
            for (int64_t j = 0; x && values && left && right && info && j < count; j++) \
                info[j] = jacobi(job, m, n, x + j * lda * n, lda, values + j * k, \
                                 left + j * job * ldu * m, ldu, right + j * job * ldv * n, ldv); \
        })); \
    }
SMALL(S, float, float)
SMALL(D, double, double)
SMALL(C, C32, float)
SMALL(Z, C64, double)

static bool is_eigen(int job, int fill, int64_t n, int64_t lda, int type, int type_w, int compute) {
    return job / 2 == 0 && fill / 2 == 0 && is_square(n, lda) && is_type(type) &&
           type_w == real_type(type) && compute == type;
}

template<class X>
static int eigen(int job, int fill, int64_t n, Address a, int64_t lda, Address w, const char *me) {
    typedef typename lapack::Real<X>::type R;
    X *x = real<X>(Matrix{a, n, n, lda}, true, me);
    R *values = real<R>(Numbers{w, n}, true, me);
    if (!x || !values) return -1;
    int found = lapack::syevd(job ? 'V' : 'N', fill == LOWER ? 'L' : 'U', n, x, lda, values);
    for (int64_t k = 0; !job && k < n; k++) x[k + k * lda] = X(std::nan(""));  // it is scratch
    return found;
}

EXPORT Status cusolverDnXsyevd_bufferSize(H h, P params, int job, int fill, int64_t n, int type,
                                          Address, int64_t lda, int type_w, Address, int compute,
                                          size_t *size, size_t *host_size) {
    SOLVER_BEGIN(params && is_eigen(job, fill, n, lda, type, type_w, compute));
    (void)me;
    return room_of(n, size, host_size);
}

EXPORT Status cusolverDnXsyevd(H h, P params, int job, int fill, int64_t n, int type, Address a,
                               int64_t lda, int type_w, Address w, int compute, Address room,
                               size_t size, void *host, size_t host_size, Address info) {
    SOLVER_BEGIN(params && is_eigen(job, fill, n, lda, type, type_w, compute));
    OF_TYPE(type, return sized(h, n, room, size, host, host_size, info, me,
                               [=] { return eigen<X>(job, fill, n, a, lda, w, me); }))
}

// Not more elements than 32 bits count, by the manual; and of small matrices about as many as users
// report.
static bool is_short(int64_t n, int64_t lda, int64_t count) {
    return count >= 0 && n * lda * count <= INT32_MAX && count < 1 << 15;
}

EXPORT Status cusolverDnXsyevBatched_bufferSize(H h, P params, int job, int fill, int64_t n,
                                                int type, Address, int64_t lda, int type_w,
                                                Address, int compute, size_t *size,
                                                size_t *host_size, int64_t count) {
    SOLVER_BEGIN(params && is_eigen(job, fill, n, lda, type, type_w, compute) &&
                 is_short(n, lda, count));
    (void)me;
    return room_of(n * count, size, host_size);
}

EXPORT Status cusolverDnXsyevBatched(H h, P params, int job, int fill, int64_t n, int type,
                                     Address a, int64_t lda, int type_w, Address w, int compute,
                                     Address room, size_t size, void *host, size_t host_size,
                                     Address infos, int64_t count) {
    SOLVER_BEGIN(params && is_eigen(job, fill, n, lda, type, type_w, compute) &&
                 is_short(n, lda, count));
    OF_TYPE(type, return sized(h, n * count, room, size, host, host_size, infos, me, [=] {
        typedef typename lapack::Real<X>::type R;
        int *found = real<int>(Numbers{infos, count}, true, me);
        for (int64_t k = 0; found && k < count; k++)
            found[k] = eigen<X>(job, fill, n, a + uint64_t(k * n * lda) * sizeof(X), lda,
                                w + uint64_t(k * n) * sizeof(R), me);
        return found ? found[0] : -1;
    }))
}

EXPORT Status cusolverDnXgeqrf_bufferSize(H h, P params, int64_t m, int64_t n, int type, Address,
                                          int64_t lda, int type_tau, Address, int compute,
                                          size_t *size, size_t *host_size) {
    SOLVER_BEGIN(params && m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, m) && is_type(type) &&
                 type_tau == type && compute == type);
    (void)me;
    return room_of(n, size, host_size);
}

EXPORT Status cusolverDnXgeqrf(H h, P params, int64_t m, int64_t n, int type, Address a,
                               int64_t lda, int type_tau, Address tau, int compute, Address room,
                               size_t size, void *host, size_t host_size, Address info) {
    SOLVER_BEGIN(params && m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, m) && type_tau == type &&
                 compute == type);
    OF_TYPE(type, return sized(h, n, room, size, host, host_size, info, me, [=] {
        X *x = real<X>(Matrix{a, m, n, lda}, true, me);
        X *factors = real<X>(Numbers{tau, std::min(m, n)}, true, me);
        return x && factors ? lapack::geqrf(m, n, x, lda, factors) : -1;
    }))
}

static bool is_geev(int left, int right, int64_t n, int64_t lda, int type, int type_w,
                    int type_left, int type_right, int compute) {
    return left == 0 && right / 2 == 0 && is_square(n, lda) && is_type(type) &&
           type_w == C_32F + real_type(type) && type_left == type && type_right == type &&
           compute == type;
}

EXPORT Status cusolverDnXgeev_bufferSize(H h, P params, int left, int right, int64_t n, int type,
                                         Address, int64_t lda, int type_w, Address, int type_left,
                                         Address, int64_t, int type_right, Address, int64_t,
                                         int compute, size_t *size, size_t *host_size) {
    SOLVER_BEGIN(params && is_geev(left, right, n, lda, type, type_w, type_left, type_right,
                                   compute));
    (void)me;
    return room_of(n, size, host_size);
}

EXPORT Status cusolverDnXgeev(H h, P params, int left, int right, int64_t n, int type, Address a,
                              int64_t lda, int type_w, Address w, int type_left, Address, int64_t,
                              int type_right, Address v, int64_t ldv, int compute, Address room,
                              size_t size, void *host, size_t host_size, Address info) {
    SOLVER_BEGIN(params && is_geev(left, right, n, lda, type, type_w, type_left, type_right,
                                   compute) && (!right || ldv >= n));
    OF_TYPE(type, return sized(h, n, room, size, host, host_size, info, me, [=] {
        typedef std::complex<typename lapack::Real<X>::type> W;
        X *x = real<X>(Matrix{a, n, n, lda}, true, me);
        W *values = real<W>(Numbers{w, n}, true, me);
        X *vectors = real<X>(Matrix{v, right ? n : 0, n, ldv}, true, me);
        if (!x || !values || !vectors) return -1;
        return lapack::geev(right ? 'V' : 'N', n, x, lda, values, vectors, ldv);
    }))
}

#define ORTHOGONAL(NAME, X) \
    EXPORT Status cusolverDn##NAME##_bufferSize(H h, int m, int n, int k, Address, int lda, \
                                                Address, int *size) { \
        SOLVER_BEGIN(m >= n && n >= k && k >= 0 && lda >= std::max(1, m)); \
        (void)me; \
        *size = m > 1 << 24 ? -1 : n + 1; /* beyond that it overflows, as users report */ \
        return SUCCESS; \
    } \
    EXPORT Status cusolverDn##NAME(H h, int m, int n, int k, Address a, int lda, Address tau, \
                                   Address room, int size, Address info) { \
        SOLVER_BEGIN(m >= n && n >= k && k >= 0 && lda >= std::max(1, m) && size > n && \
                     mock_real(room, size_t(size) * sizeof(X), 0, __func__)); \
        return solver(queue(h, [=] { \
            X *x = real<X>(Matrix{a, m, n, lda}, true, me); \
            const X *factors = real<X>(Numbers{tau, k}, true, me); \
            int *to = real<int>(Numbers{info, 1}, true, me); \
            if (x && factors && to) *to = lapack::orgqr(m, n, k, x, lda, factors); \
        })); \
    }
ORTHOGONAL(Sorgqr, float)
ORTHOGONAL(Dorgqr, double)
ORTHOGONAL(Cungqr, C32)
ORTHOGONAL(Zungqr, C64)
