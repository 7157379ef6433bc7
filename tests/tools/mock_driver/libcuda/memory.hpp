/* Memory of devices, poisoned and with guards around it, and memory of the host with locked pages.
 */
#ifndef MAT_MOCK_MEMORY_HPP
#define MAT_MOCK_MEMORY_HPP

#include <sys/mman.h>

#include "world.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
static const size_t GUARD = 0;  // AddressSanitizer has guards of its own
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes)
static const size_t GUARD = 512;
#endif
static const size_t MOST_BURIED = size_t(64) << 20;
static const unsigned READ_ONLY = 8;  // of cuMemHostRegister
static const unsigned char FRESH = 0xff, GIVEN_BACK = 0xdd, GUARDED = 0xa7;

static bool check_guards(const Block &block, const char *when) {
    if (block.kind != ON_DEVICE || block.gone || !GUARD) return true;
    const unsigned char *low = reinterpret_cast<unsigned char *>(block.real()),
                        *high = low + block.bytes;
    for (size_t k = 0; k < GUARD; k++) {
        long long at = low[-1 - long(k)] != GUARDED ? -1 - (long long)(k)
                       : high[k] != GUARDED         ? (long long)(block.bytes + k)
                                                    : 0;
        if (!at) continue;
        fault(ILLEGAL_ADDRESS, "%s: byte %lld of a block of %zu bytes on device %d was written",
              when, at, block.bytes, block.device->number);
        memset(block.real() - GUARD, GUARDED, GUARD);  // told once
        memset(block.real() + block.bytes, GUARDED, GUARD);
        return false;
    }
    return true;
}

static Result take(Address *at, size_t bytes, Kind kind, Device *device, Pool *pool, bool ready) {
    if (!bytes) return INVALID_VALUE;
    size_t more = bytes;  // that the device has to give
    if (pool) more = std::max(pool->used + bytes, pool->reserved) - pool->reserved;
    if (kind == ON_DEVICE && (more > world.capacity || device->used + more > world.capacity))
        return OUT_OF_MEMORY;
    void *room = nullptr;
    size_t before = kind == ON_DEVICE ? GUARD : 0;
    if (kind == ON_DEVICE) {
        if (posix_memalign(&room, 512, bytes + 2 * before)) return OUT_OF_MEMORY;
    } else {  // a forked child shares it
        room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) return OUT_OF_MEMORY;
    }
    char *real = static_cast<char *>(room) + before;
    memset(room, GUARDED, before);
    memset(real, FRESH, bytes);
    memset(real + bytes, GUARDED, before);
    *at = reinterpret_cast<Address>(real) + (kind == ON_DEVICE ? ELSEWHERE : 0);
    world.blocks[*at] = {
        *at, bytes, kind,  device, pool, static_cast<char *>(room), ++world.numbers,
        0,   ready, false, false};
    if (kind == ON_DEVICE) {
        device->used += more;
        device->live += bytes;
        device->peak = std::max(device->peak, device->live);
    }
    if (pool) pool->used += bytes, pool->reserved += more;
    return SUCCESS;
}

static void
bury(Address at) {  // what is behind the block goes later, so that who still uses it is found
    Block &b = world.blocks[at];
    check_guards(b, "when it was given back");
    b.gone = true;
    memset(b.real(), GIVEN_BACK, b.bytes);
    ASAN_POISON_MEMORY_REGION(b.real(), b.bytes);
    world.graves.push_back(at);
    world.buried += b.bytes;
    while (world.buried > MOST_BURIED || world.graves.size() > 10000) {
        auto oldest = world.blocks.find(world.graves.front());
        world.graves.pop_front();
        world.buried -= oldest->second.bytes;
        ASAN_UNPOISON_MEMORY_REGION(oldest->second.real(), oldest->second.bytes);
        if (oldest->second.kind == ON_DEVICE) free(oldest->second.room);
        else munmap(oldest->second.room, oldest->second.bytes);
        world.blocks.erase(oldest);
    }
}

static Result leave(Address at, Kind kind,
                    const char *what) {  // the first half of giving a block back
    auto found = world.blocks.find(at);
    if (found == world.blocks.end() || found->second.kind != kind)
        return fault(INVALID_VALUE, "%s: %#llx is no block", what, (unsigned long long)at);
    Block &b = found->second;
    if (b.leaving)
        return fault(INVALID_VALUE, "%s: the block of %zu bytes was given back before", what,
                     b.bytes);
    b.leaving = true;
    if (b.lost) return SUCCESS;
    if (kind == ON_DEVICE) b.device->live -= b.bytes;
    if (kind == ON_DEVICE && !b.pool) b.device->used -= b.bytes;
    if (b.pool) b.pool->used -= b.bytes;
    return SUCCESS;
}

static std::string usable(Address at, size_t bytes, const Device *user,
                          bool queued) {  // what forbids it; "" is nothing
    char text[200] = "";
    Block *b = block_at(at);
    if (!b) {
        snprintf(text, sizeof text, "there is no memory at %#llx", (unsigned long long)at);
    } else if (queued ? b->gone : b->leaving) {
        snprintf(text, sizeof text, "the block of %zu bytes at %#llx was given back", b->bytes,
                 (unsigned long long)b->low);
    } else if (at + bytes > b->low + b->bytes) {
        snprintf(text, sizeof text, "%zu bytes from byte %zu on are not inside of a block of %zu",
                 bytes, size_t(at - b->low), b->bytes);
    } else if (queued && !b->ready) {
        snprintf(text, sizeof text, "the block of %zu bytes is used before its stream has got it",
                 b->bytes);
    } else if (user && b->kind == ON_DEVICE && b->device != user &&
               !user->peers[b->device->number]) {
        snprintf(text, sizeof text, "a block of device %d is used on device %d", b->device->number,
                 user->number);
    }
    return text;
}

EXPORT Result cuMemAlloc_v2(Address *at, size_t bytes) {
    CALL;
    MAY(outside_captures());
    if (!current()) return INVALID_CONTEXT;
    return take(at, bytes, ON_DEVICE, current(), nullptr, true);
}

EXPORT Result cuMemFree_v2(Address at) {  // waits for the device, as NVIDIA's does
    CALL;
    MAY(outside_captures());
    if (!at) return SUCCESS;
    Result status = leave(at, ON_DEVICE, "cuMemFree");
    if (status) return status;
    run_all(*world.blocks[at].device);
    bury(at);
    return SUCCESS;
}

static Result take_in_order(Address *at, size_t bytes, Pool *pool, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream) return INVALID_HANDLE;
    MAY(may_queue(*stream));
    Result status = take(at, bytes, pool->device ? ON_DEVICE : PINNED,
                         pool->device ? pool->device : stream->device, pool, false);
    if (status) return status;
    Address low = *at;
    enqueue(*stream, [low] { world.blocks[low].ready = true; });
    return SUCCESS;
}

EXPORT Result cuMemAllocAsync(Address *at, size_t bytes, void *stream) {
    CALL;
    Stream *s = stream_of(stream);
    return s ? take_in_order(at, bytes, s->device->pool, stream) : INVALID_HANDLE;
}

EXPORT Result cuMemAllocFromPoolAsync(Address *at, size_t bytes, void *pool, void *stream) {
    CALL;
    return take_in_order(at, bytes, static_cast<Pool *>(pool), stream);
}

EXPORT Result cuMemFreeAsync(Address at, void *stream) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_queue(*s));
    if (!at) return SUCCESS;
    Block *b = block_at(at);
    Result status = leave(at, b ? b->kind : ON_DEVICE, "cuMemFreeAsync");
    if (!status) enqueue(*s, [at] { bury(at); });
    return status;
}

EXPORT Result cuMemGetInfo_v2(size_t *left, size_t *all) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    *all = world.capacity;
    *left = world.capacity - std::min(world.capacity, current()->used);
    return SUCCESS;
}

EXPORT Result cuMemGetAddressRange_v2(Address *low, size_t *bytes, Address at) {
    CALL;
    Block *b = block_at(at);
    if (!b || b->leaving) return NOT_FOUND;
    if (low) *low = b->low;
    if (bytes) *bytes = b->bytes;
    return SUCCESS;
}

// Pools

EXPORT Result cuDeviceGetDefaultMemPool(void **pool, int device) {
    CALL_ANYWAY;
    *pool = world.all[device].standard_pool;
    return SUCCESS;
}

EXPORT Result cuDeviceGetMemPool(void **pool, int device) {
    CALL_ANYWAY;
    *pool = world.all[device].pool;
    return SUCCESS;
}

EXPORT Result cuDeviceSetMemPool(int device, void *pool) {
    CALL_ANYWAY;
    world.all[device].pool = static_cast<Pool *>(pool);
    return SUCCESS;
}

EXPORT Result cuMemPoolCreate(void **pool,
                              const int *properties) {  // whose third and fourth int say where
    CALL_ANYWAY;
    *pool = new Pool{properties[2] == 1 ? &world.all[properties[3]] : nullptr, {}};
    return SUCCESS;
}

EXPORT Result cuMemPoolDestroy(void *) {  // what was taken from it may outlive it
    CALL_ANYWAY;
    return SUCCESS;
}

EXPORT Result cuMemPoolTrimTo(void *pool, size_t keep) {
    CALL_ANYWAY;
    static_cast<Pool *>(pool)->shrink(keep);
    return SUCCESS;
}

struct Access {  // CUmemAccessDesc
    int kind, device, flags;
};

EXPORT Result cuMemPoolSetAccess(void *pool, const Access *given, size_t count) {
    CALL_ANYWAY;
    Pool *p = static_cast<Pool *>(pool);
    for (size_t k = 0; k < count; k++) {
        const Access &a = given[k];
        if (a.kind != 1 || a.device < 0 || unsigned(a.device) >= world.devices ||
            (a.flags != 0 && a.flags != 1 && a.flags != 3))
            return INVALID_VALUE;
        if (!p->device || (p->device->number == a.device && a.flags != 3)) return INVALID_VALUE;
        if (!world.peers && p->device->number != a.device) return INVALID_DEVICE;
        p->reached[a.device] = a.flags == 3;
    }
    return SUCCESS;
}

static bool has_64_bits(int attribute) { return attribute >= 4; }

EXPORT Result cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
    CALL_ANYWAY;
    Pool *p = static_cast<Pool *>(pool);
    uint64_t found = attribute == 5 || attribute == 6   ? p->reserved
                     : attribute == 7 || attribute == 8 ? p->used
                                                        : p->settings[attribute];
    memcpy(value, &found, has_64_bits(attribute) ? 8 : 4);
    return SUCCESS;
}

EXPORT Result cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
    CALL_ANYWAY;
    uint64_t given = 0;
    memcpy(&given, value, has_64_bits(attribute) ? 8 : 4);
    static_cast<Pool *>(pool)->settings[attribute] = given;
    return SUCCESS;
}

// The host's memory

static Result take_pinned(void **at, size_t bytes, unsigned flags) {
    if (!current()) return INVALID_CONTEXT;
    Address low;
    Result status = take(&low, bytes, PINNED, current(), nullptr, true);
    if (status) return status;
    world.blocks[low].flags = flags;
    *at = reinterpret_cast<void *>(low);
    return SUCCESS;
}

EXPORT Result cuMemAllocHost_v2(void **at, size_t bytes) {
    CALL;
    MAY(outside_captures());
    return take_pinned(at, bytes, 0);
}

EXPORT Result cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    CALL;
    MAY(outside_captures());
    return take_pinned(at, bytes, flags);
}

EXPORT Result cuMemFreeHost(void *at) {  // waits for all devices, as NVIDIA's does
    CALL;
    MAY(outside_captures());
    Result status = leave(reinterpret_cast<Address>(at), PINNED, "cuMemFreeHost");
    if (status) return status;
    for (Device &d : world.all) run_all(d);
    bury(reinterpret_cast<Address>(at));
    return SUCCESS;
}

// Return whether all pages of a range are mapped, and can be written to.
static bool writable(Address low, Address high) {
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long begin = 0, end = 0;
    char mode[8] = "", line[512];
    while (maps && low < high && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %7s", &begin, &end, mode) == 3 && begin <= low && low < end &&
            mode[1] == 'w')
            low = end;
    if (maps) fclose(maps);
    return low >= high;
}

EXPORT Result cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
    CALL;
    MAY(outside_captures());
    if (!current()) return INVALID_CONTEXT;
    Address low = reinterpret_cast<Address>(at), page = 4095;
    if (!at || !bytes) return INVALID_VALUE;
    for (auto &[start, b] : world.blocks)  // pages are locked whole
        if (b.kind != ON_DEVICE && !b.gone && (start & ~page) < ((low + bytes + page) & ~page) &&
            (low & ~page) < ((start + b.bytes + page) & ~page))
            return ALREADY_REGISTERED;
    if (!(flags & READ_ONLY) && !writable(low, low + bytes)) return INVALID_VALUE;
    world.blocks[low] = {low,   bytes, REGISTERED, current(), nullptr, nullptr, ++world.numbers,
                         flags, true,  false,      false};
    return SUCCESS;
}

EXPORT Result cuMemHostUnregister(void *at) {
    CALL;
    MAY(outside_captures());
    auto found = world.blocks.find(reinterpret_cast<Address>(at));
    if (found == world.blocks.end() || found->second.kind != REGISTERED) return NOT_REGISTERED;
    for (Device &d : world.all) run_all(d);
    world.blocks.erase(found);
    return SUCCESS;
}

EXPORT Result cuMemHostGetDevicePointer_v2(Address *there, void *at, unsigned) {
    CALL;
    Block *b = block_at(reinterpret_cast<Address>(at));
    if (!b || b->kind == ON_DEVICE || b->gone) return INVALID_VALUE;
    *there = reinterpret_cast<Address>(at);
    return SUCCESS;
}

EXPORT Result cuMemHostGetFlags(unsigned *flags, void *at) {
    CALL;
    Block *b = block_at(reinterpret_cast<Address>(at));
    if (!b || b->kind == ON_DEVICE || b->gone) return INVALID_VALUE;
    *flags = b->flags;
    return SUCCESS;
}

// What an address is

static size_t attribute_of(const Block *b, int attribute, Address at,
                           uint64_t &value) {  // its bytes; 0: we do not know
    switch (attribute) {
    case 1: value = b ? reinterpret_cast<uint64_t>(b->device) : 0; return 8;
    case 2: value = !b ? 0 : b->kind == ON_DEVICE ? 2 : 1; return 4;
    case 3: value = b ? at : 0; return 8;
    case 4: value = b && b->kind != ON_DEVICE ? at : 0; return 8;
    case 6: value = 0; return 4;
    case 7: value = b ? b->number : 0; return 8;
    case 8: value = 0; return 4;
    case 9: value = uint64_t(int64_t(b ? b->device->number : -2)); return 4;
    case 11: value = b ? b->low : 0; return 8;
    case 12: value = b ? b->bytes : 0; return 8;
    case 13: value = b != nullptr; return 4;
    case 17: value = b ? reinterpret_cast<uint64_t>(b->pool) : 0; return 8;
    default: return 0;
    }
}

EXPORT Result cuPointerGetAttribute(void *value, int attribute, Address at) {
    CALL;
    Block *b = block_at(at);
    if (!b || b->leaving || at == b->low + b->bytes) return INVALID_VALUE;
    uint64_t found = 0;
    size_t bytes = attribute_of(b, attribute, at, found);
    memcpy(value, &found, bytes);
    return bytes ? SUCCESS : NOT_SUPPORTED;
}

EXPORT Result cuPointerGetAttributes(unsigned count, int *attributes, void **values, Address at) {
    CALL;
    Block *b = block_at(at);
    if (b && (b->leaving || at == b->low + b->bytes)) b = nullptr;
    for (unsigned k = 0; k < count; k++) {
        uint64_t found = 0;
        size_t bytes = attribute_of(b, attributes[k], at, found);
        memcpy(values[k], &found, bytes ? bytes : 4);
    }
    return SUCCESS;
}

#endif
