/* Captures of streams, and graphs of what was captured: in the order in which it was recorded,
   which is one of those that the streams allow. */
#ifndef MAT_MOCK_CAPTURES_HPP
#define MAT_MOCK_CAPTURES_HPP

#include "streams.hpp"

struct Graph {
    std::vector<std::function<void()>> work;
};

EXPORT Result cuStreamBeginCapture_v2(void *stream, int mode) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    if (s->legacy) return CAPTURE_UNSUPPORTED;
    if (s->capture) return INVALID_VALUE;
    s->capture.reset(new Capture{s, mode, this_thread(), SUCCESS, {}});
    return SUCCESS;
}

EXPORT Result cuStreamEndCapture(void *stream, void **graph) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    *graph = nullptr;
    if (!s->capture || s->capture->origin != s) return CAPTURE_UNMATCHED;
    std::shared_ptr<Capture> capture = s->capture;
    Result status = capture->broken ? CAPTURE_INVALIDATED : SUCCESS;
    for (Device &d : world.all)
        for (Stream *each : streams_of(d))
            if (each->capture == capture) each->capture = nullptr;
    if (!status) *graph = new Graph{capture->work};
    return status;
}

EXPORT Result cuStreamIsCapturing(void *stream, int *status) {
    CALL;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(s->legacy ? may_queue(*s) : SUCCESS);
    *status = !s->capture ? 0 : s->capture->broken ? 2 : 1;
    return SUCCESS;
}

EXPORT Result cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *, void **, void **,
                                        size_t *) {
    return cuStreamIsCapturing(stream, status);
}

EXPORT Result cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *, void **, void **,
                                        void **, size_t *) {
    return cuStreamIsCapturing(stream, status);
}

EXPORT Result cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long) {
    CALL;
    *made = new Graph(*static_cast<Graph *>(graph));
    return SUCCESS;
}

struct UpdateResult {  // CUgraphExecUpdateResultInfo
    int result;
    void *node, *other;
};

EXPORT Result cuGraphExecUpdate_v2(void *made, void *graph, UpdateResult *found) {
    CALL;
    Graph *old = static_cast<Graph *>(made), *with = static_cast<Graph *>(graph);
    *found = {old->work.size() == with->work.size() ? 0 : 2, nullptr, nullptr};
    if (found->result) return GRAPH_EXEC_UPDATE_FAILURE;
    *old = *with;  // what is queued has the work as it was
    return SUCCESS;
}

EXPORT Result cuGraphLaunch(void *made, void *stream) {
    CALL;
    if (world.at_once) return SUCCESS;
    Stream *s = stream_of(stream);
    if (!s) return INVALID_HANDLE;
    MAY(may_queue(*s));
    auto work = static_cast<Graph *>(made)->work;
    enqueue(*s, [work] {
        for (auto &each : work) each();
    });
    return SUCCESS;
}

EXPORT Result cuGraphDestroy(void *graph) {
    CALL;
    delete static_cast<Graph *>(graph);
    return SUCCESS;
}

EXPORT Result cuGraphExecDestroy(void *made) {
    CALL;
    delete static_cast<Graph *>(made);
    return SUCCESS;
}

#endif
