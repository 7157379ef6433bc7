/* A cuBLASLt of our own, for tests where there is no GPU: products of 8-bit floats by NVIDIA's
   manual, in plain loops, on the mock driver's memory. It refuses what the manual excludes, wants
   the workspace that its heuristic has asked for, and overwrites it. */
#include "call.hpp"

enum : Status { ARCH_MISMATCH = 8 };
enum : int {
    R_32F = 0,
    E4M3 = 28,
    E5M2 = 29,
    COMPUTE_32F = 68,
    ADA = 89,
    HOPPER = 90,
    ALIGN = 16,
    FOR_ALL = 0,
    FOR_LINES = 3,
    TAG = 0x17
};
extern "C" int cuDeviceGetAttribute(int *value, int attribute, int device);

struct Desc {
    int compute, factors, op_a = N, op_b = N, mode_a = FOR_ALL, mode_b = FOR_ALL;
    Address scale_a = 0, scale_b = 0;
};
struct Layout {
    int type;
    uint64_t rows, columns;
    int64_t ld;
    int32_t count = 1;
    int64_t step = 0;
    size_t bytes() const {
        return (size_t(columns - 1) * size_t(ld) + rows) * (type == R_32F ? 4 : 1);
    }
};
struct Preference {
    uint64_t room = 0;
    uint32_t aligned[4] = {256, 256, 256, 256};
};
struct Algorithm {
    uint64_t tag, rows, columns, inner, types, mode, more[2];
};
struct Result {
    Algorithm algorithm;
    size_t room;
    Status state;
    float waves;
    int reserved[4];
};
typedef const Desc *D;
typedef const Layout *L;

static float number_of(int type, uint8_t bits) {
    const int digits = type == E4M3 ? 3 : 2, bias = type == E4M3 ? 7 : 15;
    const int exponent = (bits & 0x7f) >> digits, rest = bits & ((1 << digits) - 1);
    float size;
    if (type == E4M3 ? (bits & 0x7f) == 0x7f : exponent == 31)
        size = type == E5M2 && !rest ? INFINITY : NAN;
    else
        size = std::ldexp(float(exponent ? rest + (1 << digits) : rest),
                          (exponent ? exponent : 1) - bias - digits);
    return bits & 0x80 ? -size : size;
}

static bool is_float8(int type) { return type == E4M3 || type == E5M2; }

// What the manual has no kernel for; the same for the heuristic and for a product.
static Status supported(const Handle *h, D d, L a, L b, L c) {
    int major = 0, minor = 0;
    cuDeviceGetAttribute(&major, 75, h->device);
    cuDeviceGetAttribute(&minor, 76, h->device);
    const int capability = 10 * major + minor;
    if (capability < ADA) return ARCH_MISMATCH;
    if (d->compute != COMPUTE_32F || d->factors != R_32F) return NOT_SUPPORTED;
    if (!is_float8(a->type) || !is_float8(b->type) || c->type != R_32F) return NOT_SUPPORTED;
    if (a->type == E5M2 && b->type == E5M2) return NOT_SUPPORTED;
    if (d->op_a != T || d->op_b != N) return NOT_SUPPORTED;
    if (a->rows != b->rows || a->columns != c->rows || b->columns != c->columns)
        return INVALID_VALUE;
    if (a->ld < int64_t(a->rows) || b->ld < int64_t(b->rows) || c->ld < int64_t(c->rows))
        return INVALID_VALUE;
    if (a->count != c->count || b->count != c->count || (c->count > 1 && !c->step))
        return INVALID_VALUE;
    if (a->rows % ALIGN || a->columns % ALIGN || a->ld % ALIGN || b->ld % ALIGN || c->ld % 4 ||
        a->step % ALIGN || b->step % ALIGN || c->step % 4)
        return NOT_SUPPORTED;
    if ((d->mode_a != FOR_ALL || d->mode_b != FOR_ALL) &&
        (d->mode_a != d->mode_b || capability != HOPPER || c->count > 1))
        return NOT_SUPPORTED;
    return SUCCESS;
}

static Algorithm algorithm_for(D d, L a, L c) {
    return {TAG, c->rows, c->columns, a->rows, uint64_t(a->type), uint64_t(d->mode_a), {}};
}

static size_t room_for(L c) { return 256 * (1 + c->columns % 4); }

// Descriptions

EXPORT Status cublasLtCreate(void **handle) {
    Status injected = mock_enter(__func__);
    if (injected) return injected;
    int device;
    if (cuCtxGetDevice(&device)) return NOT_INITIALIZED;
    *handle = new Handle{device, nullptr, false, 0};
    return SUCCESS;
}
EXPORT Status cublasLtMatmulDescCreate(Desc **made, int compute, int factors) {
    mock_enter(__func__);
    *made = new Desc{compute, factors};
    return SUCCESS;
}
EXPORT Status cublasLtMatmulDescDestroy(Desc *d) {
    mock_enter(__func__);
    delete d;
    return SUCCESS;
}
EXPORT Status cublasLtMatrixLayoutCreate(Layout **made, int type, uint64_t rows, uint64_t columns,
                                         int64_t ld) {
    mock_enter(__func__);
    *made = new Layout{type, rows, columns, ld};
    return SUCCESS;
}
EXPORT Status cublasLtMatrixLayoutDestroy(Layout *l) {
    mock_enter(__func__);
    delete l;
    return SUCCESS;
}
EXPORT Status cublasLtMatmulPreferenceCreate(Preference **made) {
    mock_enter(__func__);
    *made = new Preference;
    return SUCCESS;
}
EXPORT Status cublasLtMatmulPreferenceDestroy(Preference *p) {
    mock_enter(__func__);
    delete p;
    return SUCCESS;
}

template<class X> static Status put(X &to, const void *from, size_t bytes) {
    if (!from || bytes != sizeof(X)) return INVALID_VALUE;
    memcpy(&to, from, bytes);
    return SUCCESS;
}
EXPORT Status cublasLtMatmulDescSetAttribute(Desc *d, int kind, const void *value, size_t bytes) {
    switch (kind) {
    case 3: return put(d->op_a, value, bytes);
    case 4: return put(d->op_b, value, bytes);
    case 17: return put(d->scale_a, value, bytes);
    case 18: return put(d->scale_b, value, bytes);
    case 31: return put(d->mode_a, value, bytes);
    case 32: return put(d->mode_b, value, bytes);
    default: return INVALID_VALUE;
    }
}
EXPORT Status cublasLtMatrixLayoutSetAttribute(Layout *l, int kind, const void *value,
                                               size_t bytes) {
    switch (kind) {
    case 5: return put(l->count, value, bytes);
    case 6: return put(l->step, value, bytes);
    default: return INVALID_VALUE;
    }
}
EXPORT Status cublasLtMatmulPreferenceSetAttribute(Preference *p, int kind, const void *value,
                                                   size_t bytes) {
    if (kind == 1) return put(p->room, value, bytes);
    if (kind < 5 || kind > 8) return INVALID_VALUE;
    return put(p->aligned[kind - 5], value, bytes);
}

// Products

EXPORT Status cublasLtMatmulAlgoGetHeuristic(const Handle *h, D d, L a, L b, L c, L to,
                                             const Preference *wanted, int most, Result *found,
                                             int *count) {
    BEGIN(most == 1 && to == c);
    (void)me;
    *count = 0;
    Status status = supported(h, d, a, b, c);
    if (status) return status;
    for (uint32_t bytes : wanted->aligned)
        if (bytes % ALIGN) return NOT_SUPPORTED;
    if (room_for(c) > wanted->room) return NOT_SUPPORTED;
    *found = {algorithm_for(d, a, c), room_for(c), SUCCESS, 1, {}};
    *count = 1;
    return SUCCESS;
}

static bool usable(const char *me, Address at, size_t bytes) {
    if (at % ALIGN) mock_wrong(me, "an operand that is not aligned to 16 bytes");
    return at % ALIGN == 0 && mock_real(at, bytes, 0, me);
}

EXPORT Status cublasLtMatmul(const Handle *h, D d, const float *alpha, Address x, L a, Address y,
                             L b, const float *beta, Address, L, Address z, L c,
                             const Algorithm *algorithm, Address room, size_t room_bytes,
                             void *stream) {
    BEGIN(alpha && beta && *beta == 0 && algorithm);
    Status status = supported(h, d, a, b, c);
    if (status) return status;
    const Algorithm right = algorithm_for(d, a, c);
    if (memcmp(&right, algorithm, sizeof right)) {
        mock_wrong(me, "an algorithm for another form");
        return INVALID_VALUE;
    }
    if (room_bytes < room_for(c)) return INVALID_VALUE;
    const bool lines = d->mode_a == FOR_LINES;
    const size_t scales_a = d->scale_a ? 4 * (lines ? c->rows : 1) : 0;
    const size_t scales_b = d->scale_b ? 4 * (lines ? c->columns : 1) : 0;
    for (int64_t k = 0; k < c->count; k += std::max(1, c->count - 1))
        if (!usable(me, x + Address(k * a->step), a->bytes()) ||
            !usable(me, y + Address(k * b->step), b->bytes()) ||
            !usable(me, z + Address(4 * k * c->step), c->bytes()))
            return EXECUTION_FAILED;
    if (!usable(me, room, room_bytes)) return EXECUTION_FAILED;
    if ((scales_a && !mock_real(d->scale_a, scales_a, 0, me)) ||
        (scales_b && !mock_real(d->scale_b, scales_b, 0, me)))
        return EXECUTION_FAILED;
    const Desc how = *d;  // which may change after this call, as its layouts
    const Layout one = *a, other = *b, out = *c;
    Handle on{h->device, stream, false, 0, true};
    return queue(&on, [=, factor = *alpha] {
        void *work = mock_real(room, room_bytes, 1, me);
        if (work) memset(work, 0x5a, room_bytes);
        const float *sa = scales_a ? static_cast<float *>(mock_real(how.scale_a, scales_a, 1, me))
                                   : nullptr;
        const float *sb = scales_b ? static_cast<float *>(mock_real(how.scale_b, scales_b, 1, me))
                                   : nullptr;
        for (int64_t each = 0; each < out.count; each++) {
            auto *p = static_cast<const uint8_t *>(
                mock_real(x + Address(each * one.step), one.bytes(), 1, me));
            auto *q = static_cast<const uint8_t *>(
                mock_real(y + Address(each * other.step), other.bytes(), 1, me));
            auto *r = static_cast<float *>(
                mock_real(z + Address(4 * each * out.step), out.bytes(), 1, me));
            if (!p || !q || !r) return;
            for (uint64_t j = 0; j < out.columns; j++)
                for (uint64_t i = 0; i < out.rows; i++) {
                    float sum = 0;
                    for (uint64_t k = 0; k < one.rows; k++)
                        sum += number_of(one.type, p[k + i * uint64_t(one.ld)]) *
                               number_of(other.type, q[k + j * uint64_t(other.ld)]);
                    sum *= factor * (sa ? sa[lines ? i : 0] : 1.0f);
                    r[i + j * uint64_t(out.ld)] = sum * (sb ? sb[lines ? j : 0] : 1.0f);
                }
        }
    });
}
