/* Streams and events. What is queued is carried out at once, or, with delays, when something waits
   for it. */
#ifndef MAT_MOCK_STREAMS_HPP
#define MAT_MOCK_STREAMS_HPP

#include "world.hpp"

static double seconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static Result make_stream(void **stream, unsigned flags) {
    if (!current()) return INVALID_CONTEXT;
    Stream *made = new Stream{current(), (flags & 1) == 0, false, {}};
    current()->streams.push_back(made);
    *stream = made;
    return SUCCESS;
}

EXPORT Result cuStreamCreate(void **stream, unsigned flags) {
    CALL;
    return make_stream(stream, flags);
}

EXPORT Result cuStreamCreateWithPriority(void **stream, unsigned flags, int) {
    CALL;
    return make_stream(stream, flags);
}

EXPORT Result cuStreamDestroy_v2(void *stream) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s || reinterpret_cast<uintptr_t>(stream) <= 2)
        return fault(INVALID_HANDLE, "cuStreamDestroy: there is no such stream");
    run_until(*s, UINT64_MAX);
    std::vector<Stream *> &all = s->device->streams;
    for (size_t k = 0; k < all.size(); k++)
        if (all[k] == s)
            all.erase(all.begin() +
                      long(k));  // marks in events may still name it: it is never freed
    return SUCCESS;
}

EXPORT Result cuStreamSynchronize(void *stream) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_wait(*s));
    run_until(*s, UINT64_MAX);
    if (s->legacy) run_all(*s->device);
    return told(*s->device);
}

static void run_one(Stream &stream) {
    if (!stream.queue.empty()) run_until(stream, stream.queue.front().first);
}

EXPORT Result cuStreamQuery(void *stream) {  // whoever asks often enough gets there
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_wait(*s));
    MAY(outside_captures());
    if (s->queue.empty()) return told(*s->device);
    run_one(*s);
    return NOT_READY;
}

EXPORT Result cuStreamGetCtx(void *stream, void **context) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    *context = s->device;
    return SUCCESS;
}

EXPORT Result cuStreamGetCtx_v2(void *stream, void **context, void **green) {
    if (green) *green = nullptr;
    return cuStreamGetCtx(stream, context);
}

EXPORT Result cuStreamGetDevice(void *stream, int *device) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    *device = s->device->number;
    return SUCCESS;
}

EXPORT Result cuStreamGetFlags(void *stream, unsigned *flags) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    *flags = !s->blocking && !s->legacy;
    return SUCCESS;
}

EXPORT Result cuStreamGetPriority(void *, int *priority) {
    CALL;
    *priority = 0;
    return SUCCESS;
}

EXPORT Result cuStreamGetId(void *stream, unsigned long long *number) {
    CALL;
    *number = reinterpret_cast<uintptr_t>(stream);
    return SUCCESS;
}

// Events

EXPORT Result cuEventCreate(void **event, unsigned flags) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    *event = new Event{current(), (flags & 2) == 0, nullptr};
    return SUCCESS;
}

EXPORT Result cuEventDestroy_v2(void *event) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    delete static_cast<Event *>(event);
    return SUCCESS;
}

static Result record(void *event, void *stream) {
    Stream *s = stream_of(stream);
    Event *e = static_cast<Event *>(event);
    if (!s || !e) return INVALID_HANDLE;
    if (e->device != s->device)
        return fault(INVALID_HANDLE,
                     "cuEventRecord: an event of device %d on a stream of device %d",
                     e->device->number, s->device->number);
    MAY(may_queue(*s));
    std::shared_ptr<Mark> mark(new Mark{s, 0, false, 0, s->capture});
    e->mark = mark;
    if (s->capture) return SUCCESS;  // it is a place in the graph
    uint64_t number = enqueue(*s, [mark] {
        mark->done = true;
        mark->seconds = seconds();
    });
    mark->number = number;
    return SUCCESS;
}

EXPORT Result cuEventRecord(void *event, void *stream) {
    CALL;
    return record(event, stream);
}

EXPORT Result cuEventRecordWithFlags(void *event, void *stream, unsigned) {
    CALL;
    return record(event, stream);
}

static void reach(const Mark &mark) {
    if (!mark.done) run_until(*mark.stream, mark.number);
}

EXPORT Result cuStreamWaitEvent(void *stream, void *event, unsigned) {
    CALL;
    Stream *s = stream_of(stream);
    Event *e = static_cast<Event *>(event);
    if (!s || !e) return INVALID_HANDLE;
    std::shared_ptr<Mark> mark =
        e->mark;  // as it is now: the event may be recorded anew, or destroyed
    if (mark && mark->capture) {  // the stream joins the capture
        MAY(s->legacy ? CAPTURE_IMPLICIT : SUCCESS);
        s->capture = mark->capture;
        return SUCCESS;
    }
    MAY(may_queue(*s));
    if (mark) enqueue(*s, [mark] { reach(*mark); });
    return SUCCESS;
}

EXPORT Result cuEventSynchronize(void *event) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    Event *e = static_cast<Event *>(event);
    if (!e) return INVALID_HANDLE;
    if (e->mark && e->mark->capture) return CAPTURED_EVENT;
    if (e->mark) reach(*e->mark);
    return told(*e->device);
}

EXPORT Result cuEventQuery(void *event) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    Event *e = static_cast<Event *>(event);
    if (!e) return INVALID_HANDLE;
    if (e->mark && e->mark->capture) return CAPTURED_EVENT;
    MAY(outside_captures());
    if (!e->mark || e->mark->done) return SUCCESS;
    run_one(*e->mark->stream);
    return NOT_READY;
}

EXPORT Result cuEventElapsedTime_v2(float *milliseconds, void *first, void *second) {
    CALL;
    Event *a = static_cast<Event *>(first), *b = static_cast<Event *>(second);
    if (!a || !b || !a->timed || !b->timed || !a->mark || !b->mark) return INVALID_HANDLE;
    if (!a->mark->done || !b->mark->done) return NOT_READY;
    *milliseconds = float(1e3 * (b->mark->seconds - a->mark->seconds));
    return SUCCESS;
}

EXPORT Result cuEventElapsedTime(float *milliseconds, void *first, void *second) {
    return cuEventElapsedTime_v2(milliseconds, first, second);
}

EXPORT Result cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_queue(*s));
    enqueue(*s, [=] { function(data); });
    return SUCCESS;
}

#endif
