/* What the mock driver keeps: devices, streams with what is queued on them, blocks of memory,
   faults and counters.

   One lock is held by every call. An address on a device is that of the block behind it plus
   ELSEWHERE, so that nothing on the host can use it. What a program must not do is a *fault*: it is
   noted, with what was wrong, and the call fails. */
#ifndef MAT_MOCK_WORLD_HPP
#define MAT_MOCK_WORLD_HPP

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

typedef int Result;
typedef uint64_t Address;

enum : Result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    PEER_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ALREADY = 704,
    ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    GRAPH_EXEC_UPDATE_FAILURE = 910
};

static const Address ELSEWHERE = Address(1) << 60;
static const unsigned MOST_DEVICES = 8;
enum Kind { ON_DEVICE, PINNED, REGISTERED };
enum Copy { H2D, D2H, D2D, P2P, H2H, THROUGH_HOST, COPIES };  // the last: of P2P, too

struct Device;

struct Capture {  // what is recorded instead of being queued
    struct Stream *origin;
    int mode;  // 0: of all threads, 1: of the thread that began it, 2: relaxed
    uintptr_t thread;
    Result broken = SUCCESS;
    std::vector<std::function<void()>> work;
};

struct Stream {
    Device *device;
    bool blocking, legacy;  // blocking: ordered with the legacy stream
    std::deque<std::pair<uint64_t, std::function<void()>>> queue;
    std::shared_ptr<Capture> capture = nullptr;
};

struct Device {  // and its only context
    int number;
    size_t used = 0;  // by blocks, and kept by its pools
    size_t live = 0, peak = 0;  // of blocks
    bool retained = false;
    int capability = 90;
    Result broken = SUCCESS;  // a fatal error, which all calls return from then on
    Stream legacy{this, false, true, {}}, per_thread{this, true, false, {}};
    std::vector<Stream *> streams;
    bool peers[MOST_DEVICES] = {};
    struct Pool *pool, *standard_pool;
};

struct Pool {
    Device *device;  // null: of the host
    std::map<int, uint64_t> settings;
    size_t used = 0, reserved = 0;  // what it has from the device, which includes what is used
    bool reached[MOST_DEVICES] = {};  // by other devices

    // Return what is not used to the device, but for so many bytes.
    void shrink(size_t keep) {
        keep = std::max(keep, used);
        if (reserved <= keep) return;
        if (device) device->used -= reserved - keep;
        reserved = keep;
    }
};

struct Block {
    Address low;
    size_t bytes;
    Kind kind;
    Device *device;
    Pool *pool;
    char *room;  // what is to be freed
    uint64_t number;
    unsigned flags;
    bool ready, leaving,
        gone;  // in the order of its stream; giving it back was asked for; it was given back
    bool lost = false;  // its device has failed since, and is as new

    char *real() const {
        return reinterpret_cast<char *>(kind == ON_DEVICE ? low - ELSEWHERE : low);
    }
};

struct Mark {  // what an event stands for: a place in a stream
    Stream *stream;
    uint64_t number;
    bool done;
    double seconds;
    std::shared_ptr<Capture> capture = nullptr;
};

struct Event {
    Device *device;
    bool timed;
    std::shared_ptr<Mark> mark;
};

struct Failure {
    long after, times;
    Result status;
};

struct World {
    std::recursive_mutex lock;
    int process = 0;  // that called cuInit
    unsigned devices = 2;
    size_t capacity = size_t(1) << 30;
    Device all[MOST_DEVICES];
    std::map<Address, Block> blocks;  // by where they begin
    std::deque<Address>
        graves;  // blocks that were given back, and are kept to tell who still uses them
    size_t buried = 0;
    uint64_t numbers = 0;  // of blocks, and of what is queued
    bool delayed = false;
    bool at_once = false;  // launches do nothing, and calls are not counted
    uint64_t seed = 0, launches = 0;
    std::map<std::string, uint64_t> calls;
    std::map<std::string, Failure> failures;
    uint64_t copies[COPIES] = {}, copied[COPIES] = {};
    bool peers = true;  // whether devices can access each other's memory
    std::vector<std::string> faults;
    std::string answer, last;  // texts that were handed out
};

static World &world = *[] {
    World *w = new World;  // never destroyed: objects of Python are freed after us
    for (unsigned k = 0; k < MOST_DEVICES; k++) {
        w->all[k].number = int(k);
        w->all[k].pool = w->all[k].standard_pool = new Pool{&w->all[k], {}};
    }
    return w;
}();

__attribute__((format(printf, 2, 3))) static Result fault(Result status, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (world.faults.size() < 1000) world.faults.push_back(text);
    world.last = text;
    return status;
}

// The thread's contexts

static thread_local std::vector<Device *> contexts;

static Device *current() { return contexts.empty() ? nullptr : contexts.back(); }

static bool is_device(const void *context) {
    return context >= world.all && context < world.all + MOST_DEVICES;
}

static bool is_fatal(Result status) {
    return status == 214 || status == 220 || status == 226 || status == ILLEGAL_ADDRESS ||
           status == 702 || status == 709 || status == 710 || (status >= 714 && status <= 719) ||
           status == 721;
}

struct Call {  // of an entry point: holds the lock, counts, and fails where it is to
    std::lock_guard<std::recursive_mutex> hold;
    Result failed = SUCCESS;

    Call(const char *function, bool anywhere = false, bool anyway = false) : hold(world.lock) {
        if (world.at_once) return;
        std::string name(function);
        for (const char *end : {"_64", "_v2", "_v3"})
            if (name.size() > 3 && name.compare(name.size() - 3, 3, end) == 0)
                name.resize(name.size() - 3);
        world.calls[name]++;
        if (!anywhere && world.process != getpid()) failed = NOT_INITIALIZED;
        if (!failed && !anyway && current()) failed = current()->broken;
        auto found = world.failures.find(name);
        if (found == world.failures.end() || found->second.after-- > 0 ||
            found->second.times-- <= 0)
            return;
        failed = found->second.status;
        if (is_fatal(failed) && current()) current()->broken = failed;
        world.last = "as it was told to";
    }
};

#define CALL                    \
    Call call(__func__);        \
    if (call.failed) return call.failed
// Of functions that a failed context has, too
#define CALL_ANYWAY                             \
    Call call(__func__, false, true);           \
    if (call.failed) return call.failed

// Streams

static Stream *stream_of(void *handle) {  // null: there is none, or the thread has no context
    uintptr_t number = reinterpret_cast<uintptr_t>(handle);
    Device *d = current();
    if (!d) return nullptr;
    if (number <= 2) return number == 2 ? &d->per_thread : &d->legacy;
    for (Device &each : world.all)
        for (Stream *s : each.streams)
            if (s == handle) return s;
    return nullptr;
}

static void run_until(Stream &stream, uint64_t number) {
    while (!stream.queue.empty() && stream.queue.front().first <= number) {
        auto task = std::move(stream.queue.front());
        stream.queue.pop_front();
        if (stream.legacy) {  // which follows the others, as they follow it
            run_until(stream.device->per_thread, task.first - 1);
            for (Stream *s : std::vector<Stream *>(stream.device->streams))
                if (s->blocking) run_until(*s, task.first - 1);
        } else if (stream.blocking) {
            run_until(stream.device->legacy, task.first - 1);
        }
        if (!stream.device->broken) task.second();
    }
}

static uint64_t enqueue(Stream &stream, std::function<void()> work) {
    if (stream.capture) {
        stream.capture->work.push_back(std::move(work));
        return ++world.numbers;
    }
    uint64_t number = ++world.numbers;
    stream.queue.emplace_back(number, std::move(work));
    if (!world.delayed) run_until(stream, number);
    return number;
}

static void run_all(Device &device) {
    run_until(device.legacy, UINT64_MAX);
    run_until(device.per_thread, UINT64_MAX);
    for (Stream *s : std::vector<Stream *>(device.streams)) run_until(*s, UINT64_MAX);
}

static const int RELEASE_THRESHOLD = 4;  // an attribute of pools

static Result told(Device &device) {  // to who waited: pools return memory then
    device.pool->shrink(device.pool->settings[RELEASE_THRESHOLD]);
    return device.broken;
}

// Captures

static uintptr_t this_thread() { return reinterpret_cast<uintptr_t>(&contexts); }

static std::vector<Stream *> streams_of(Device &device) {
    std::vector<Stream *> found(device.streams);
    found.push_back(&device.per_thread);
    return found;
}

static Result invalidate(Capture &capture, Result status, const char *what) {
    capture.broken = status;
    world.last = what;
    return status;
}

// Return what forbids to queue work on a stream, or to wait for it: the legacy stream would have to
// be in order with a stream that is being captured.
static Result may_queue(Stream &stream) {
    if (stream.capture) return stream.capture->broken ? CAPTURE_INVALIDATED : SUCCESS;
    for (Stream *s : streams_of(*stream.device))
        if (stream.legacy && s->capture && s->blocking)
            return invalidate(*s->capture, CAPTURE_IMPLICIT,
                              "the legacy stream is used while a stream is captured that it is "
                              "ordered with");
    return SUCCESS;
}

static Result may_wait(Stream &stream) {
    if (stream.capture)
        return invalidate(*stream.capture, CAPTURE_UNSUPPORTED, "a captured stream is waited for");
    return may_queue(stream);
}

// Return what forbids a call that waits for all, or may: allocating, locking pages.
static Result outside_captures() {
    for (Device &d : world.all)
        for (Stream *s : streams_of(d))
            if (s->capture && (s->capture->mode == 0 ||
                               (s->capture->mode == 1 && s->capture->thread == this_thread())))
                return invalidate(*s->capture, CAPTURE_UNSUPPORTED,
                                  "a call that is not allowed while a stream is captured");
    return SUCCESS;
}

#define MAY(condition) \
    if (Result forbidden = condition) return forbidden

// Memory

static Block *
block_at(Address at) {  // its end belongs to it: an operand without elements may lie there
    auto after = world.blocks.upper_bound(at);
    if (after == world.blocks.begin()) return nullptr;
    Block &b = std::prev(after)->second;
    return at <= b.low + b.bytes ? &b : nullptr;
}

static bool check_guards(const Block &block, const char *when);

#endif
