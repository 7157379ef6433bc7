/* The parts of each routine: status codes, handles, operands, factors, and a stream's queue. */
#ifndef MAT_MOCK_CALL_HPP
#define MAT_MOCK_CALL_HPP

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "numbers.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

typedef uint64_t Address;
typedef int Status;
enum : Status {
    SUCCESS = 0,
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 7,
    EXECUTION_FAILED = 13,
    NOT_SUPPORTED = 15
};
enum : int {
    N = 0,
    T = 1,
    C = 2,
    LOWER = 0,
    UPPER = 1,
    NON_UNIT = 0,
    UNIT = 1,
    LEFT = 0,
    RIGHT = 1
};

// Of the mock driver
extern "C" int mock_enter(const char *function);
extern "C" int mock_is_at_once();
extern "C" int mock_queue(void *stream, void (*work)(void *), void (*drop)(void *), void *data);
extern "C" int mock_is_captured(void *stream);
extern "C" void *mock_real(Address at, size_t bytes, int queued, const char *what);
extern "C" int mock_wrong(const char *what, const char *why);
extern "C" int cuCtxGetDevice(int *device);
extern "C" int cuStreamSynchronize(void *stream);

struct Handle {
    int device;
    void *stream;
    bool on_device;  // where factors are read and results written
    int math;
    bool has_workspace = false;  // of the caller
};

typedef const Handle *H;

// Operands

struct Vector {
    Address at;
    int64_t n, inc;
    size_t bytes(size_t size) const {
        return n > 0 ? (size_t(n - 1) * size_t(std::abs(inc)) + 1) * size : 0;
    }
    int64_t place(int64_t k) const { return inc >= 0 ? k * inc : (n - 1 - k) * -inc; }
};

struct Matrix {
    Address at;
    int64_t rows, columns, ld;
    size_t bytes(size_t size) const {
        return rows > 0 && columns > 0 ? (size_t(columns - 1) * size_t(ld) + size_t(rows)) * size
                                       : 0;
    }
};

template<class X, class Operand> static X *real(const Operand &o, bool queued, const char *what) {
    size_t bytes = o.bytes(sizeof(X));
    if (!bytes) return reinterpret_cast<X *>(sizeof(X));  // never used
    if (o.at % alignof(X)) {
        mock_wrong(what, "a misaligned operand");
        return nullptr;
    }
    return static_cast<X *>(mock_real(o.at, bytes, queued, what));
}

template<class X>
struct Factor {  // a number on the host, read at once, or on the device, read when its turn comes
    X value;
    Address at;
    Factor(H h, const void *p) : value(), at(h->on_device ? reinterpret_cast<Address>(p) : 0) {
        if (!at) value = *static_cast<const X *>(p);
    }
    X operator()(const char *what) const {
        if (!at) return value;
        X *there = static_cast<X *>(mock_real(at, sizeof(X), 1, what));
        return there ? *there : X();
    }
};

static void carry_out(void *work) {
    (*static_cast<std::function<void()> *>(work))();
}

static void drop(void *work) { delete static_cast<std::function<void()> *>(work); }

static Status queue(H h, std::function<void()> work) {
    if (mock_is_at_once()) return SUCCESS;
    if (mock_is_captured(h->stream) && !h->has_workspace) {
        mock_wrong("cuBLAS", "a call that is captured would allocate its workspace");
        return EXECUTION_FAILED;
    }
    return mock_queue(h->stream, carry_out, drop, new std::function<void()>(std::move(work)))
               ? EXECUTION_FAILED
               : SUCCESS;
}

static Status begin(const char *name, H h) {
    Status injected = mock_enter(name);
    if (injected) return injected < 100 ? injected : EXECUTION_FAILED;  // of the driver
    if (!h) return NOT_INITIALIZED;
    int device = -1;
    if (cuCtxGetDevice(&device) || device != h->device) {
        mock_wrong(name, "the handle is of another device than the current one");
        return EXECUTION_FAILED;
    }
    return SUCCESS;
}

#define BEGIN(valid)                                \
    Status begun = begin(__func__, h);              \
    if (begun) return begun;                        \
    if (!(valid)) return INVALID_VALUE;             \
    const char *const me = __func__

#define USABLE(type, operand) \
    if (!real<type>(operand, false, me)) return EXECUTION_FAILED

template<class R>
static Status give(H h, void *to, R value_of,
                   const char *me) {  // a result, to the host or the device
    typedef decltype(value_of()) Value;
    if (h->on_device) {
        Address at = reinterpret_cast<Address>(to);
        if (!mock_real(at, sizeof(Value), 0, me)) return EXECUTION_FAILED;
        return queue(h, [=] {
            Value *there = static_cast<Value *>(mock_real(at, sizeof(Value), 1, me));
            if (there) *there = value_of();
        });
    }
    Status status = queue(h, [=] { *static_cast<Value *>(to) = value_of(); });
    if (status || cuStreamSynchronize(h->stream)) return EXECUTION_FAILED;
    return SUCCESS;
}

#endif
