/* A driver of our own, for tests where there is no GPU: what cuda.core and cuda.bindings call,
   computing on the CPU.

   Python has it under its control by the functions named mock_*. */
#include <dlfcn.h>

#include "captures.hpp"
#include "copies.hpp"
#include "devices.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "streams.hpp"
#include "world.hpp"

// How the driver's functions are found: by name and version

EXPORT Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t,
                                  int *status) {
    static void *self = [] {
        Dl_info info;
        dladdr(reinterpret_cast<void *>(&cuInit), &info);
        return dlopen(info.dli_fname, RTLD_LAZY);
    }();
    struct Since {
        const char *name;
        int v2, v3;
    };  // where versions of a function take other arguments
    static const Since table[] = {{"cuStreamGetCtx", 12050, 99999},
                                  {"cuCtxGetDevice", 13000, 99999},
                                  {"cuCtxSynchronize", 13000, 99999},
                                  {"cuStreamGetCaptureInfo", 0, 12030}};
    Since since = {name, 0, 0};
    for (const Since &row : table)
        if (!strcmp(row.name, name)) since = row;
    *function = nullptr;
    if (version >= since.v3) *function = dlsym(self, (std::string(name) + "_v3").c_str());
    if (!*function && version >= since.v2)
        *function = dlsym(self, (std::string(name) + "_v2").c_str());
    if (!*function) *function = dlsym(self, name);
    if (status) *status = *function ? 0 : 1;
    return *function ? SUCCESS : NOT_FOUND;
}

EXPORT Result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

EXPORT Result cuGetExportTable(const void **table, const void *) {  // NVRTC asks, if it is loaded
    *table = nullptr;
    return NOT_FOUND;
}

// Control

static std::lock_guard<std::recursive_mutex> held() {
    return std::lock_guard<std::recursive_mutex>(world.lock);
}

EXPORT void mock_configure(unsigned devices, size_t bytes) {
    auto hold = held();
    world.devices = std::min(devices, MOST_DEVICES);
    world.capacity = bytes;
}

EXPORT void mock_capability(int device, int capability) {
    auto hold = held();
    world.all[device].capability = capability;
}

EXPORT void mock_peers(int peers) {
    auto hold = held();
    world.peers = peers;
}

EXPORT void mock_delay(int delayed) {
    auto hold = held();
    world.delayed = delayed != 0;
    if (!delayed)
        for (Device &d : world.all) run_all(d);
}

EXPORT void mock_at_once(int at_once) {
    auto hold = held();
    world.at_once = at_once != 0;
}

EXPORT int mock_is_at_once() {
    auto hold = held();
    return world.at_once;
}

EXPORT void mock_seed(uint64_t seed) {
    auto hold = held();
    world.seed = seed;
    world.launches = 0;
}

EXPORT void mock_fail(const char *function, long after, long times, int status) {
    auto hold = held();
    world.failures[function] = {after, times, status};
}

EXPORT uint64_t mock_calls(const char *function) {
    auto hold = held();
    uint64_t count = 0;
    if (!*function)
        for (auto &[name, times] : world.calls) count += times;
    auto found = world.calls.find(function);
    return found == world.calls.end() ? count : found->second;
}

EXPORT uint64_t mock_copies(int kind, int bytes) {
    auto hold = held();
    return bytes ? world.copied[kind] : world.copies[kind];
}

EXPORT uint64_t mock_pending() {
    auto hold = held();
    uint64_t count = 0;
    for (Device &d : world.all) {
        count += d.legacy.queue.size() + d.per_thread.queue.size();
        for (Stream *s : d.streams) count += s->queue.size();
    }
    return count;
}

EXPORT uint64_t mock_held(int device, int bytes) {  // of a device; of -1, the host's locked pages
    auto hold = held();
    uint64_t found = 0;
    for (auto &[low, b] : world.blocks)
        if (!b.leaving && !b.lost &&
            (device < 0 ? b.kind != ON_DEVICE : b.kind == ON_DEVICE && b.device->number == device))
            found += bytes ? b.bytes : 1;
    return found;
}

EXPORT uint64_t mock_peak(int device) {  // since it was asked for last
    auto hold = held();
    uint64_t found = world.all[device].peak;
    world.all[device].peak = world.all[device].live;
    return found;
}

EXPORT uint64_t mock_fault_count() {  // of all, with the guards of all memory checked
    auto hold = held();
    for (auto &[low, b] : world.blocks) check_guards(b, "at the end");
    return world.faults.size();
}

EXPORT const char *mock_fault(uint64_t index) {
    auto hold = held();
    return index < world.faults.size() ? world.faults[index].c_str() : "";
}

EXPORT void mock_forget() {  // faults, counters, failures to come; what is queued is carried out
    auto hold = held();
    world.failures.clear();
    world.at_once = false;
    mock_delay(0);
    mock_seed(0);
    world.calls.clear();
    world.faults.clear();
    world.last.clear();
    memset(world.copies, 0, sizeof world.copies);
    memset(world.copied, 0, sizeof world.copied);
    for (Device &d : world.all)
        for (Stream *s : streams_of(d)) s->capture = nullptr;
    for (auto &[low, b] : world.blocks)
        if (b.kind == ON_DEVICE && b.device->broken) b.lost = b.ready = true;
    for (auto it = world.blocks.begin(); it != world.blocks.end();)  // with its context, locks end
        it = it->second.kind == REGISTERED && it->second.device->broken ? world.blocks.erase(it)
                                                                         : std::next(it);
    for (Device &d : world.all) {
        if (d.broken) d.used = d.live = d.pool->used = d.pool->reserved = 0;
        d.broken = SUCCESS;
        d.capability = 90;
        memset(d.pool->reached, 0, sizeof d.pool->reached);
        memset(d.peers, 0, sizeof d.peers);
    }
    world.peers = true;
}

// For libcublas

EXPORT int mock_queue(void *stream, void (*work)(void *), void (*drop)(void *), void *data) {
    auto hold = held();
    std::shared_ptr<void> kept(data, drop);  // a graph does it more than once
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_queue(*s));
    enqueue(*s, [=] { work(kept.get()); });
    return SUCCESS;
}

EXPORT int mock_is_captured(void *stream) {
    auto hold = held();
    Stream *s = stream_of(stream);
    return s && s->capture;
}

EXPORT int mock_enter(const char *function) {
    Call call(function);
    return call.failed;
}

EXPORT int mock_wrong(const char *what, const char *why) {
    auto hold = held();
    return fault(INVALID_VALUE, "%s: %s", what, why);
}

EXPORT void *mock_real(Address at, size_t bytes, int queued,
                       const char *what) { // null, and a fault, if it cannot be used
    auto hold = held();
    std::string wrong = usable(at, bytes, nullptr, queued != 0);
    if (wrong.empty()) return reinterpret_cast<void *>(at >= ELSEWHERE ? at - ELSEWHERE : at);
    Result status = fault(ILLEGAL_ADDRESS, "%s: %s", what, wrong.c_str());
    if (queued && current()) current()->broken = status;
    return nullptr;
}
