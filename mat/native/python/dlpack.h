/* The structs of DLPack 1.0, and the function that adds those of dlpack.c to `mat._core`. */
#ifndef MAT_DLPACK_H
#define MAT_DLPACK_H

#include "limited_api.h"

typedef struct {
    int32_t kind, number; /* 1: the host's memory, 2: a CUDA device's, ... */
} mat_dl_device;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} mat_dl_type;

typedef struct {
    void *data;
    mat_dl_device device;
    int32_t ndim;
    mat_dl_type type;
    int64_t *shape, *strides; /* in elements; no strides: row-major without gaps */
    uint64_t offset;          /* of the first element from data, in bytes */
} mat_dl_tensor;

typedef struct mat_dl_legacy { /* in capsules "dltensor" */
    mat_dl_tensor tensor;
    void *context;
    void (*deleter)(struct mat_dl_legacy *);
} mat_dl_legacy;

typedef struct mat_dl_versioned { /* in capsules "dltensor_versioned" */
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct mat_dl_versioned *);
    uint64_t flags; /* 1: read-only, 2: a copy, made for the consumer */
    mat_dl_tensor tensor;
} mat_dl_versioned;

int mat_add_dlpack(PyObject *module);

#endif
