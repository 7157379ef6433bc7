/* A cuFFT of our own, for tests where there is no GPU: by NVIDIA's manual, on the mock driver's
   memory. Plans must have the caller's work area, which is overwritten; so is the operand of a
   transform from complex to real numbers. Statuses have cuFFT's numbers. */
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "call.hpp"

enum : Status { FFT_INVALID_PLAN = 1, FFT_INVALID_VALUE = 4, FFT_EXEC_FAILED = 6,
                FFT_INVALID_SIZE = 8 };
enum : int { R_32F = 0, R_64F = 1, C_32F = 4, C_64F = 5, ROOM = 48 };  // bytes for an element

typedef std::vector<long long> Lengths;

struct Side {  // blocks of so many elements, as in the manual's advanced data layout
    int type;
    Lengths lengths, embedded;
    long long step, distance, count;
    size_t size() const { return type == R_32F ? 4 : type == C_64F ? 16 : 8; }
    bool is_real() const { return type == R_32F || type == R_64F; }
    bool fits() const {
        for (size_t k = 1; k < lengths.size(); k++)
            if (embedded[k] < lengths[k]) return false;
        return step > 0 && (count == 1 || distance > 0);
    }
    long long elements() const {
        long long found = 1;
        for (long long n : lengths) found *= n;
        return found;
    }
    long long place(long long block, long long element) const {
        long long at = 0, inner = step;
        for (size_t k = lengths.size(); k-- > 0; element /= lengths[k], inner *= embedded[k])
            at += element % lengths[k] * inner;
        return at + block * distance;
    }
    size_t bytes() const { return size_t(place(count - 1, elements() - 1) + 1) * size(); }
    C64 get(const void *from, long long at) const {
        switch (type) {
        case R_32F: return static_cast<const float *>(from)[at];
        case R_64F: return static_cast<const double *>(from)[at];
        case C_32F: return static_cast<const C32 *>(from)[at];
        default: return static_cast<const C64 *>(from)[at];
        }
    }
    void put(void *to, long long at, C64 x) const {
        switch (type) {
        case R_32F: static_cast<float *>(to)[at] = float(x.real()); break;
        case R_64F: static_cast<double *>(to)[at] = x.real(); break;
        case C_32F: static_cast<C32 *>(to)[at] = C32(x); break;
        default: static_cast<C64 *>(to)[at] = x;
        }
    }
};

struct Plan {
    Handle handle;
    bool allocates = true, made = false;
    Lengths lengths;
    Side source, target;
    size_t size = 0;
    Address room = 0;
};

static std::mutex lock;
static std::map<int, std::shared_ptr<Plan>> plans;
static int last = 0;

static Status begin_plan(const char *name, int number, std::shared_ptr<Plan> &plan) {
    {
        std::lock_guard<std::mutex> guard(lock);
        auto found = plans.find(number);
        if (found == plans.end()) return FFT_INVALID_PLAN;
        plan = found->second;
    }
    Status status = begin(name, &plan->handle);
    return status == EXECUTION_FAILED ? FFT_EXEC_FAILED : status;
}
#define PLAN(number) \
    std::shared_ptr<Plan> plan; \
    Status begun = begin_plan(__func__, number, plan); \
    if (begun) return begun; \
    const char *const me = __func__; \
    (void)me

// The transform of one line: of every p-th element, for the smallest prime factor p, then combined.
static void transform(std::vector<C64> &x, int sign) {
    const size_t n = x.size();
    size_t p = 2;
    while (p * p <= n && n % p) p++;
    if (n < 2) return;
    if (n % p) p = n;
    const size_t m = n / p;
    std::vector<std::vector<C64>> parts(p, std::vector<C64>(m));
    for (size_t k = 0; k < n; k++) parts[k % p][k / p] = x[k];
    for (auto &part : parts) transform(part, sign);
    std::vector<C64> roots(n);
    for (size_t k = 0; k < n; k++)
        roots[k] = std::polar(1.0, sign * 6.283185307179586476925 * double(k) / double(n));
    for (size_t k = 0; k < n; k++) {
        x[k] = 0;
        for (size_t r = 0; r < p; r++) x[k] += parts[r][k % m] * roots[r * k % n];
    }
}

static void transform_block(std::vector<C64> &x, const Lengths &lengths, int sign) {
    size_t inner = 1;
    for (size_t axis = lengths.size(); axis-- > 0; inner *= size_t(lengths[axis])) {
        const size_t n = size_t(lengths[axis]);
        std::vector<C64> line(n);
        for (size_t first = 0; first < x.size(); first++) {
            if (first / inner % n) continue;
            for (size_t k = 0; k < n; k++) line[k] = x[first + k * inner];
            transform(line, sign);
            for (size_t k = 0; k < n; k++) x[first + k * inner] = line[k];
        }
    }
}

// The element `k` of a whole block, of which the last axis of `side` may have the first half.
static C64 whole(const Side &side, const void *from, long long block, const Lengths &lengths,
                 long long k) {
    long long half = side.lengths.back(), n = lengths.back();
    long long i = k % n, rest = k / n;
    if (i < half) return side.get(from, side.place(block, rest * half + i));
    long long mirrored = 0, inner = 1;
    for (size_t axis = lengths.size() - 1; axis-- > 0; inner *= lengths[axis]) {
        mirrored += (lengths[axis] - rest % lengths[axis]) % lengths[axis] * inner;
        rest /= lengths[axis];
    }
    return std::conj(side.get(from, side.place(block, mirrored * half + n - i)));
}

static void execute(const Plan &plan, const void *from, void *to, int sign) {
    const Side &source = plan.source, &target = plan.target;
    long long count = 1, n = plan.lengths.back(), kept = target.lengths.back();
    for (long long length : plan.lengths) count *= length;
    std::vector<C64> x(static_cast<size_t>(count));
    for (long long block = 0; block < source.count; block++) {
        for (long long k = 0; k < count; k++)
            x[size_t(k)] = whole(source, from, block, plan.lengths, k);
        transform_block(x, plan.lengths, sign);
        for (long long k = 0; k < count; k++)
            if (k % n < kept)
                target.put(to, target.place(block, k / n * kept + k % n), x[size_t(k)]);
    }
}

EXPORT Status cufftCreate(int *number) {
    Status injected = mock_enter(__func__);
    if (injected) return injected;
    auto plan = std::make_shared<Plan>();
    plan->handle = Handle{0, nullptr, false, 0};
    if (cuCtxGetDevice(&plan->handle.device)) return FFT_INVALID_PLAN;
    std::lock_guard<std::mutex> guard(lock);
    plans[*number = ++last] = plan;
    return SUCCESS;
}
EXPORT Status cufftDestroy(int number) {
    PLAN(number);
    std::lock_guard<std::mutex> guard(lock);
    plans.erase(number);
    return SUCCESS;
}
EXPORT Status cufftSetAutoAllocation(int number, int allocates) {
    PLAN(number);
    if (plan->made) return FFT_INVALID_PLAN;
    plan->allocates = allocates;
    return SUCCESS;
}
EXPORT Status cufftSetStream(int number, void *stream) {
    PLAN(number);
    plan->handle.stream = stream;
    return SUCCESS;
}
EXPORT Status cufftSetWorkArea(int number, Address room) {
    PLAN(number);
    if (!plan->made || !mock_real(room, plan->size, 0, me)) return FFT_INVALID_VALUE;
    plan->room = room;
    plan->handle.has_workspace = true;
    return SUCCESS;
}
EXPORT Status cufftXtMakePlanMany(int number, int rank, long long *n, long long *embedded,
                                  long long step, long long distance, int type,
                                  long long *embedded_out, long long step_out,
                                  long long distance_out, int type_out, long long count,
                                  size_t *size, int compute) {
    PLAN(number);
    if (plan->made) return FFT_INVALID_PLAN;
    if (plan->allocates) {
        mock_wrong(me, "the plan would allocate its work area");
        return FFT_EXEC_FAILED;
    }
    if (rank < 1 || rank > 3 || count < 1) return FFT_INVALID_SIZE;
    Lengths lengths(n, n + rank), half = lengths;
    for (long long length : lengths)
        if (length < 1) return FFT_INVALID_SIZE;
    half.back() = half.back() / 2 + 1;
    const bool real = type < C_32F, to_real = type_out < C_32F;
    const int complex = real ? type_out : type;
    plan->source = Side{type, to_real ? half : lengths, {embedded, embedded + rank}, step,
                        distance, count};
    plan->target = Side{type_out, real ? half : lengths, {embedded_out, embedded_out + rank},
                        step_out, distance_out, count};
    const bool known = (complex == C_32F || complex == C_64F) && compute == complex &&
                       !(real && to_real) && (!real || type == complex - C_32F) &&
                       (to_real ? type_out == complex - C_32F : type_out == complex);
    if (!known || !plan->source.fits() || !plan->target.fits()) return FFT_INVALID_VALUE;
    plan->lengths = lengths;
    plan->made = true;
    *size = plan->size = size_t(plan->source.elements() * count) * ROOM;
    return SUCCESS;
}
EXPORT Status cufftXtExec(int number, Address x, Address out, int direction) {
    PLAN(number);
    if (!plan->made || !plan->room || (direction != -1 && direction != 1)) return FFT_INVALID_VALUE;
    const bool real = plan->source.is_real(), to_real = plan->target.is_real();
    const size_t pair = plan->source.size() * (real ? 2 : 1);
    if (x % pair || out % pair) {
        mock_wrong(me, "an operand that is not aligned as complex numbers are");
        return FFT_EXEC_FAILED;
    }
    const int sign = real ? -1 : to_real ? 1 : direction;  // which these ignore
    if (!mock_real(x, plan->source.bytes(), 0, me) || !mock_real(out, plan->target.bytes(), 0, me))
        return FFT_EXEC_FAILED;
    const Address room = plan->room;  // at the time of the call
    Status status = queue(&plan->handle, [=] {
        void *from = mock_real(x, plan->source.bytes(), 1, me);
        void *to = mock_real(out, plan->target.bytes(), 1, me);
        void *area = mock_real(room, plan->size, 1, me);
        if (!from || !to || !area) return;
        memset(area, 0x5a, plan->size);
        if (to_real) {
            std::vector<char> copied(plan->source.bytes());
            memcpy(copied.data(), from, copied.size());
            memset(from, 0xff, copied.size());
            execute(*plan, copied.data(), to, sign);
        } else {
            execute(*plan, from, to, sign);
        }
    });
    return status == EXECUTION_FAILED ? FFT_EXEC_FAILED : status;
}
