/* The driver itself, devices and contexts. */
#ifndef MAT_MOCK_DEVICES_HPP
#define MAT_MOCK_DEVICES_HPP

#include "world.hpp"

EXPORT Result cuInit(unsigned) {
    Call call(__func__, true);
    if (call.failed) return call.failed;
    if (!world.devices) return NO_DEVICE;
    if (world.process && world.process != getpid())
        return NOT_INITIALIZED;  // no driver survives a fork
    world.process = getpid();
    return SUCCESS;
}

EXPORT Result cuDriverGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
}

EXPORT Result cuDeviceGetCount(int *count) {
    CALL_ANYWAY;
    *count = int(world.devices);
    return SUCCESS;
}

EXPORT Result cuDeviceGet(int *device, int number) {
    CALL_ANYWAY;
    if (number < 0 || unsigned(number) >= world.devices) return INVALID_DEVICE;
    *device = number;
    return SUCCESS;
}

EXPORT Result cuDeviceGetName(char *name, int length, int device) {
    CALL_ANYWAY;
    snprintf(name, size_t(length), "Mock GPU %d", device);
    return SUCCESS;
}

EXPORT Result cuDeviceGetUuid_v2(char *uuid, int device) {
    CALL_ANYWAY;
    memset(uuid, 0, 16);
    uuid[15] = char(device);
    return SUCCESS;
}

EXPORT Result cuDeviceTotalMem_v2(size_t *bytes, int) {
    CALL_ANYWAY;
    *bytes = world.capacity;
    return SUCCESS;
}

EXPORT Result cuDeviceGetPCIBusId(char *text, int length, int device) {
    CALL_ANYWAY;
    snprintf(text, size_t(length), "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

static const std::map<int, int> ATTRIBUTES = {
    // of an H200, where that matters; all others are 0
    {1, 1024},   {2, 1024},  {3, 1024},     {4, 64},     {5, 2147483647}, {6, 65535},
    {7, 65535},  // threads and blocks
    {8, 49152},  {9, 65536}, {10, 32},      {12, 65536}, {13, 1980000},   {16, 132},
    {19, 1},     {31, 1},    {36, 3201000}, {37, 6144},  {38, 62914560},  {39, 2048},
    {40, 3},     {41, 1},        {78, 1},         {81, 233472},
    {82, 65536}, {95, 1},    {97, 232448},  {99, 1},     {106, 32},       {111, 1024},
    {113, 1},    {115, 1},   {120, 1},
};

EXPORT Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    CALL_ANYWAY;
    if (device < 0 || unsigned(device) >= MOST_DEVICES) return INVALID_DEVICE;
    auto found = ATTRIBUTES.find(attribute);
    int capability = world.all[device].capability;
    *value = attribute == 75   ? capability / 10
             : attribute == 76 ? capability % 10
             : attribute == 33 ? device + 1 : found == ATTRIBUTES.end() ? 0 : found->second;
    return SUCCESS;
}

EXPORT Result cuDeviceGetP2PAttribute(int *value, int, int, int) {
    CALL_ANYWAY;
    *value = 1;
    return SUCCESS;
}

EXPORT Result cuDeviceCanAccessPeer(int *can, int device, int peer) {
    CALL_ANYWAY;
    *can = device != peer && world.peers;
    return SUCCESS;
}

// Contexts: a device has one

EXPORT Result cuDevicePrimaryCtxRetain(void **context, int device) {
    CALL_ANYWAY;
    if (device < 0 || unsigned(device) >= MOST_DEVICES) return INVALID_DEVICE;
    world.all[device].retained = true;
    *context = &world.all[device];
    return SUCCESS;
}

EXPORT Result cuDevicePrimaryCtxRelease_v2(int) {
    CALL_ANYWAY;
    return SUCCESS;
}

EXPORT Result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    CALL_ANYWAY;
    *flags = 0;
    *active = world.all[device].retained;
    return SUCCESS;
}

EXPORT Result cuCtxGetCurrent(void **context) {
    CALL_ANYWAY;
    *context = current();
    return SUCCESS;
}

EXPORT Result cuCtxSetCurrent(void *context) {
    CALL_ANYWAY;
    if (context && !is_device(context)) return INVALID_CONTEXT;
    if (!contexts.empty()) contexts.pop_back();
    if (context) contexts.push_back(static_cast<Device *>(context));
    return SUCCESS;
}

EXPORT Result cuCtxPushCurrent_v2(void *context) {
    CALL_ANYWAY;
    if (!is_device(context)) return INVALID_CONTEXT;
    contexts.push_back(static_cast<Device *>(context));
    return SUCCESS;
}

EXPORT Result cuCtxPopCurrent_v2(void **context) {
    CALL_ANYWAY;
    if (contexts.empty()) return INVALID_CONTEXT;
    if (context) *context = contexts.back();
    contexts.pop_back();
    return SUCCESS;
}

EXPORT Result cuCtxGetDevice(int *device) {
    CALL_ANYWAY;
    if (!current()) return INVALID_CONTEXT;
    *device = current()->number;
    return SUCCESS;
}

EXPORT Result cuCtxGetDevice_v2(int *device, void *context) {
    CALL_ANYWAY;
    Device *d = context ? static_cast<Device *>(context) : current();
    if (!is_device(d)) return INVALID_CONTEXT;
    *device = d->number;
    return SUCCESS;
}

EXPORT Result cuCtxGetId(void *context, unsigned long long *number) {
    CALL_ANYWAY;
    Device *d = context ? static_cast<Device *>(context) : current();
    if (!is_device(d)) return INVALID_CONTEXT;
    *number = unsigned(d->number) + 1;
    return SUCCESS;
}

EXPORT Result cuCtxGetApiVersion(void *, unsigned *version) {
    CALL_ANYWAY;
    *version = 13000;
    return SUCCESS;
}

EXPORT Result cuCtxGetFlags(unsigned *flags) {
    CALL_ANYWAY;
    *flags = 0;
    return SUCCESS;
}

EXPORT Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CALL_ANYWAY;
    *least = 0;
    *greatest = -5;
    return SUCCESS;
}

EXPORT Result cuCtxSynchronize() {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    MAY(outside_captures());
    run_all(*current());
    return told(*current());
}

EXPORT Result cuCtxSynchronize_v2(void *context) {
    CALL;
    Device *d = context ? static_cast<Device *>(context) : current();
    if (!is_device(d)) return INVALID_CONTEXT;
    run_all(*d);
    return told(*d);
}

EXPORT Result cuCtxEnablePeerAccess(void *peer, unsigned) {
    CALL;
    if (!current() || !is_device(peer)) return INVALID_CONTEXT;
    if (!world.peers) return INVALID_DEVICE;
    bool &enabled = current()->peers[static_cast<Device *>(peer)->number];
    if (enabled) return PEER_ALREADY;
    enabled = true;
    return SUCCESS;
}

// Errors

static const std::map<int, std::pair<const char *, const char *>> ERRORS = {
    {SUCCESS, {"CUDA_SUCCESS", "no error"}},
    {INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {NO_DEVICE, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {NO_BINARY,
     {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
    {INVALID_HANDLE, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {NOT_FOUND, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {ILLEGAL_ADDRESS, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {PEER_ALREADY, {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
    {ALREADY_REGISTERED,
     {"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the memory is already mapped"}},
    {NOT_REGISTERED,
     {"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
      "pointer does not correspond to a registered memory region"}},
    {LAUNCH_FAILED, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {NOT_SUPPORTED, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
    {900,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing"}},
    {901,
     {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
      "operation failed due to a previous error during capture"}},
    {903, {"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not initiated in this stream"}},
    {904, {"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"}},
    {906,
     {"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
      "operation would make the legacy stream depend on a capturing blocking stream"}},
    {910, {"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed"}},
    {907, {"CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a "
                                        "capturing stream"}},
    {802, {"CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"}},
};

EXPORT Result cuGetErrorName(int error, const char **text) {
    auto found = ERRORS.find(error);
    *text = found == ERRORS.end() ? nullptr : found->second.first;
    return *text ? SUCCESS : INVALID_VALUE;
}

EXPORT Result cuGetErrorString(int error,
                               const char **text) {  // what it is, and what the last fault was
    std::lock_guard<std::recursive_mutex> hold(world.lock);
    auto found = ERRORS.find(error);
    if (found == ERRORS.end()) return INVALID_VALUE;
    world.answer = found->second.second;
    if (!world.last.empty()) world.answer += ": " + world.last;
    *text = world.answer.c_str();
    return SUCCESS;
}

#endif
