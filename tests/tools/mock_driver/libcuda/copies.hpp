/* Copies and fills. As NVIDIA's driver does, memory of the host that is not page-locked is read
   before the call returns, and is written before it returns; page-locked memory is touched when the
   copy's turn comes. */
#ifndef MAT_MOCK_COPIES_HPP
#define MAT_MOCK_COPIES_HPP

#include "memory.hpp"
#include "streams.hpp"

struct Side {
    Address at;
    bool device;  // in a block of a device; else the host's
    bool locked;

    char *real() const { return reinterpret_cast<char *>(device ? at - ELSEWHERE : at); }
};

static Side side(Address at) {
    Block *b = block_at(at);
    return {at, at >= ELSEWHERE, at < ELSEWHERE && b && !b->leaving && at < b->low + b->bytes};
}

// Refuse a copy of memory that is partly in locked pages and partly not, or in two ranges of them.
static Result whole(Address at, size_t bytes, bool written, const char *what) {
    if (at >= ELSEWHERE) return SUCCESS;
    auto after = world.blocks.lower_bound(at + bytes);
    if (after == world.blocks.begin()) return SUCCESS;
    const Block &last = std::prev(after)->second;  // that begins before the end
    if (last.leaving || at >= last.low + last.bytes) return SUCCESS;
    if (at < last.low || at + bytes > last.low + last.bytes)
        return fault(INVALID_VALUE, "%s: %zu bytes are partly in %zu bytes of locked pages", what,
                     bytes, last.bytes);
    if (written && last.kind == REGISTERED && last.flags & READ_ONLY)
        return fault(INVALID_VALUE, "%s: the pages are locked for reading only", what);
    return SUCCESS;
}

static Result check_side(const Side &s, size_t bytes, const char *what, const Device *user,
                         bool queued) {
    if (!s.device && !s.locked) return SUCCESS;
    std::string wrong = usable(s.at, bytes, s.device ? user : nullptr, queued);
    return wrong.empty()
               ? SUCCESS
               : fault(INVALID_VALUE, "%s: %s", what, wrong.c_str());
}

static void carry_out(Stream *s, const Side &to, const Side &from, size_t bytes, const char *what) {
    if (check_side(to, bytes, what, nullptr, true) ||
        check_side(from, bytes, what, nullptr, true)) {
        s->device->broken = ILLEGAL_ADDRESS;
        return;
    }
    memmove(to.real(), from.real(), bytes);
}

static Copy kind_of(const Side &to, const Side &from) {
    if (!to.device && !from.device) return H2H;
    if (to.device != from.device) return to.device ? H2D : D2H;
    return block_at(to.at)->device == block_at(from.at)->device ? D2D : P2P;
}

// Whether the device of a stream reaches memory of another one.
static bool reaches(const Device *user, const Side &there) {
    const Block *b = block_at(there.at);
    return b->device == user || (b->pool ? b->pool->reached[user->number]
                                         : user->peers[b->device->number]);
}

static Result copy(Address to_at, Address from_at, size_t bytes, void *handle, const char *what,
                   bool waits) {
    Stream *s = stream_of(handle);
    if (!s) return current() ? INVALID_HANDLE : INVALID_CONTEXT;
    MAY(waits ? may_wait(*s) : may_queue(*s));
    if (!bytes) return SUCCESS;
    Side to = side(to_at), from = side(from_at);
    Result status = whole(to_at, bytes, true, what);
    if (!status) status = whole(from_at, bytes, false, what);
    if (!status) status = check_side(to, bytes, what, nullptr, false);
    if (!status) status = check_side(from, bytes, what, nullptr, false);
    if (status) return status;
    Copy kind = kind_of(to, from);
    world.copies[kind]++;
    world.copied[kind] += bytes;
    if (kind == P2P && !(reaches(s->device, to) && reaches(s->device, from))) {
        world.copies[THROUGH_HOST]++;
        world.copied[THROUGH_HOST] += bytes;
    }
    if (from.device || from.locked) {
        enqueue(*s, [=] { carry_out(s, to, from, bytes, what); });
    } else {
        std::shared_ptr<std::string> staged(new std::string(from.real(), bytes));
        enqueue(*s, [=] {
            carry_out(s, to, {reinterpret_cast<Address>(staged->data()), false, false}, bytes,
                      what);
        });
    }
    if (waits || (!to.device && !to.locked)) {
        MAY(may_wait(*s));
        run_until(*s, UINT64_MAX);
        return told(*s->device);
    }
    return SUCCESS;
}

static Result device_only(Address at, const char *what) {
    return at >= ELSEWHERE ? SUCCESS
                           : fault(INVALID_VALUE, "%s: %#llx is no address on a device", what,
                                   (unsigned long long)at);
}

static Result host_only(const void *at, const char *what) {
    return reinterpret_cast<Address>(at) < ELSEWHERE
               ? SUCCESS
               : fault(INVALID_VALUE, "%s: %p is no address on the host", what, at);
}

#define COPY(to, from, stream, waits, first_check, second_check)                    \
    CALL;                                                                           \
    Result wrong = first_check;                                                     \
    if (!wrong) wrong = second_check;                                               \
    return wrong ? wrong : copy(Address(to), Address(from), bytes, stream, __func__, waits)

EXPORT Result cuMemcpyAsync(Address to, Address from, size_t bytes, void *stream) {
    COPY(to, from, stream, false, SUCCESS, SUCCESS);
}
EXPORT Result cuMemcpy(Address to, Address from, size_t bytes) {
    COPY(to, from, nullptr, true, SUCCESS, SUCCESS);
}
EXPORT Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
    COPY(to, from, stream, false, device_only(to, __func__), host_only(from, __func__));
}
EXPORT Result cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    COPY(to, from, nullptr, true, device_only(to, __func__), host_only(from, __func__));
}
EXPORT Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
    COPY(to, from, stream, false, host_only(to, __func__), device_only(from, __func__));
}
EXPORT Result cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    COPY(to, from, nullptr, true, host_only(to, __func__), device_only(from, __func__));
}
EXPORT Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
    COPY(to, from, stream, false, device_only(to, __func__), device_only(from, __func__));
}
EXPORT Result cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    COPY(to, from, nullptr, false, device_only(to, __func__), device_only(from, __func__));
}
EXPORT Result cuMemcpyPeerAsync(Address to, void *, Address from, void *, size_t bytes,
                                void *stream) {
    COPY(to, from, stream, false, device_only(to, __func__), device_only(from, __func__));
}
EXPORT Result cuMemcpyPeer(Address to, void *, Address from, void *, size_t bytes) {
    COPY(to, from, nullptr, false, device_only(to, __func__), device_only(from, __func__));
}

// Rows that lie apart

struct Rows {  // CUDA_MEMCPY2D
    size_t from_x, from_y;
    int from_kind;
    const void *from_host;
    Address from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void *to_host;
    Address to_device;
    void *to_array;
    size_t to_pitch, width, height;
};

static Address beginning(int kind, const void *host, Address device, size_t x, size_t y,
                         size_t pitch) {
    return (kind == 1 ? reinterpret_cast<Address>(host) : device) + y * pitch +
           x;  // 1: of the host; 2 and 4 are not
}

static Result copy_rows(const Rows *r, void *stream, bool waits, const char *what) {
    size_t to_pitch = r->to_pitch ? r->to_pitch : r->width,
           from_pitch = r->from_pitch ? r->from_pitch : r->width;
    if (r->height > 1 && (to_pitch < r->width || from_pitch < r->width)) return INVALID_VALUE;
    Address to = beginning(r->to_kind, r->to_host, r->to_device, r->to_x, r->to_y, to_pitch);
    Address from =
        beginning(r->from_kind, r->from_host, r->from_device, r->from_x, r->from_y, from_pitch);
    uint64_t counts[5];
    memcpy(counts, world.copies, sizeof counts);
    for (size_t k = 0; k < r->height; k++) {
        Result status =
            copy(to + k * to_pitch, from + k * from_pitch, r->width, stream, what, waits);
        if (status) return status;
    }
    for (int k = 0; k < 5; k++)
        world.copies[k] = counts[k] + (world.copies[k] > counts[k]);  // all of them are one
    return SUCCESS;
}

EXPORT Result cuMemcpy2DAsync_v2(const Rows *rows, void *stream) {
    CALL;
    return copy_rows(rows, stream, false, __func__);
}
EXPORT Result cuMemcpy2D_v2(const Rows *rows) {
    CALL;
    return copy_rows(rows, nullptr, true, __func__);
}
EXPORT Result cuMemcpy2DUnaligned_v2(const Rows *rows) {
    CALL;
    return copy_rows(rows, nullptr, true, __func__);
}

// Fills

template<class T>
static Result fill_rows(Address at, size_t pitch, T value, size_t width, size_t height,
                        void *stream, const char *what) {
    Stream *s = stream_of(stream);
    if (!s) return current() ? INVALID_HANDLE : INVALID_CONTEXT;
    MAY(may_queue(*s));
    if (!width || !height) return SUCCESS;
    if (at % sizeof(T)) return INVALID_VALUE;
    size_t bytes = (height - 1) * pitch + width * sizeof(T);
    Result status = device_only(at, what);
    if (!status) status = check_side(side(at), bytes, what, s->device, false);
    if (status) return status;
    enqueue(*s, [=] {
        if (check_side(side(at), bytes, what, s->device, true)) {
            s->device->broken = ILLEGAL_ADDRESS;
            return;
        }
        for (size_t row = 0; row < height; row++) {
            T *to = reinterpret_cast<T *>(side(at + row * pitch).real());
            for (size_t k = 0; k < width; k++) to[k] = value;
        }
    });
    return SUCCESS;
}

#define FILLS(bits, type) \
    EXPORT Result cuMemsetD##bits##_v2(Address at, type value, size_t n) { \
        CALL; \
        return fill_rows(at, 0, value, n, 1, nullptr, __func__); \
    } \
    EXPORT Result cuMemsetD##bits##Async(Address at, type value, size_t n, void *stream) { \
        CALL; \
        return fill_rows(at, 0, value, n, 1, stream, __func__); \
    } \
    EXPORT Result cuMemsetD2D##bits##Async(Address at, size_t pitch, type value, size_t width, \
                                           size_t height, void *stream) { \
        CALL; \
        return fill_rows(at, pitch, value, width, height, stream, __func__); \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

#endif
