/* DLPack capsules: made over memory that a Python object keeps alive, and taken from other
   libraries.

   A consumer calls the deleter from any thread, with an error set or not, and also while the
   interpreter ends or after it has ended: then nothing is done. */
#include "dlpack.h"

#define LEGACY "dltensor"
#define VERSIONED "dltensor_versioned"
#define TAKEN "mat_tensor" /* the name of a capsule over a tensor that was taken */
#define MOST_AXES 1024

/* Exporting */

static void release_owner(PyObject *owner) {
    if (!Py_IsInitialized()) return; /* no longer, or never in this process */
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace); /* of the consumer, which may be handling an error */
    Py_DECREF(owner);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}

static void delete_legacy(mat_dl_legacy *managed) {
    release_owner(managed->context);
    free(managed);
}

static void delete_versioned(mat_dl_versioned *managed) {
    release_owner(managed->context);
    free(managed);
}

/* The destructor of a capsule that was not taken; one that was taken has another name. */
static void drop_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, LEGACY)) {
        mat_dl_legacy *managed = PyCapsule_GetPointer(capsule, LEGACY);
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, VERSIONED)) {
        mat_dl_versioned *managed = PyCapsule_GetPointer(capsule, VERSIONED);
        managed->deleter(managed);
    }
}

static int numbers_of(PyObject *tuple, int64_t *numbers, Py_ssize_t count) {
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PyTuple_GetItem(tuple, k);
        if (item == NULL) return 0;
        numbers[k] = PyLong_AsLongLong(item);
        if (numbers[k] == -1 && PyErr_Occurred()) return 0;
    }
    return 1;
}

/* make_capsule(owner, address, shape, strides, (device kind, device number), (code, bits), flags):
   return a capsule; flags < 0: a legacy one, which has none. Strides are in elements. The owner
   lives for as long as the capsule, or what was taken of it. */
static PyObject *make_capsule(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *owner, *shape, *strides;
    unsigned long long address;
    mat_dl_device device;
    unsigned char code, bits;
    long long flags;
    if (!PyArg_ParseTuple(args, "OKO!O!(ii)(bb)L", &owner, &address, &PyTuple_Type, &shape,
                          &PyTuple_Type, &strides, &device.kind, &device.number, &code, &bits,
                          &flags))
        return NULL;
    const Py_ssize_t ndim = PyTuple_Size(shape);
    const size_t head = flags < 0 ? sizeof(mat_dl_legacy) : sizeof(mat_dl_versioned);
    /* sizes are multiples of 8, so that the numbers after the head are aligned */
    char *managed = malloc(head + 2 * (size_t)ndim * sizeof(int64_t));
    if (managed == NULL) return PyErr_NoMemory();
    int64_t *numbers = (int64_t *)(managed + head);
    if (!numbers_of(shape, numbers, ndim) || !numbers_of(strides, numbers + ndim, ndim)) {
        free(managed);
        return NULL;
    }
    const mat_dl_tensor tensor = {(void *)(uintptr_t)address,
                                  device,
                                  (int32_t)ndim,
                                  {code, bits, 1},
                                  numbers,
                                  numbers + ndim,
                                  0};
    if (flags < 0)
        *(mat_dl_legacy *)managed = (mat_dl_legacy){tensor, owner, delete_legacy};
    else
        *(mat_dl_versioned *)managed =
            (mat_dl_versioned){1, 0, owner, delete_versioned, (uint64_t)flags, tensor};
    PyObject *capsule = PyCapsule_New(managed, flags < 0 ? LEGACY : VERSIONED, drop_capsule);
    if (capsule == NULL) {
        free(managed);
        return NULL;
    }
    Py_INCREF(owner);
    return capsule;
}

/* Importing */

static void release_tensor(PyObject *holder) {
    if (!Py_IsInitialized()) return; /* its library may be unloaded already */
    const char *name = PyCapsule_GetContext(holder);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    void *managed = PyCapsule_GetPointer(holder, TAKEN);
    if (name[sizeof(LEGACY) - 1] == 0) {
        mat_dl_legacy *legacy = managed;
        if (legacy->deleter) legacy->deleter(legacy);
    } else {
        mat_dl_versioned *versioned = managed;
        if (versioned->deleter) versioned->deleter(versioned);
    }
    PyErr_Restore(type, value, trace);
}

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (int32_t k = 0; tuple != NULL && k < count; k++) {
        PyObject *item = PyLong_FromLongLong(numbers[k]);
        if (item == NULL || PyTuple_SetItem(tuple, k, item) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

/* Return address, shape, strides (or None), device, element type and flags of a tensor. */
static PyObject *described(const mat_dl_tensor *t, uint64_t flags) {
    PyObject *shape = tuple_of(t->shape, t->ndim);
    PyObject *strides = t->strides == NULL ? Py_NewRef(Py_None) : tuple_of(t->strides, t->ndim);
    if (shape == NULL || strides == NULL) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    return Py_BuildValue("(KNN(ii)(iii)K)", (unsigned long long)(uintptr_t)t->data + t->offset,
                         shape, strides, (int)t->device.kind, (int)t->device.number,
                         (int)t->type.code, (int)t->type.bits, (int)t->type.lanes,
                         (unsigned long long)flags);
}

/* take(capsule): return (holder, (address, shape, strides, (device kind, number), (code, bits,
   lanes), flags)). The memory exists for as long as the holder. If this fails, the capsule is left
   as it is; else others cannot use it any more. */
static PyObject *take(PyObject *module, PyObject *capsule) {
    (void)module;
    const int legacy = PyCapsule_IsValid(capsule, LEGACY);
    if (!legacy && !PyCapsule_IsValid(capsule, VERSIONED)) {
        PyErr_Format(PyExc_BufferError,
                     "not a DLPack capsule that can be taken, or taken already: %R", capsule);
        return NULL;
    }
    void *managed = PyCapsule_GetPointer(capsule, legacy ? LEGACY : VERSIONED);
    const mat_dl_versioned *versioned = managed;
    if (!legacy && versioned->major != 1) {
        PyErr_Format(PyExc_BufferError, "DLPack %u.%u is not known here, only 1.x",
                     versioned->major, versioned->minor);
        return NULL;
    }
    const mat_dl_tensor *tensor = legacy ? &((mat_dl_legacy *)managed)->tensor : &versioned->tensor;
    if (tensor->ndim < 0 || tensor->ndim > MOST_AXES || (tensor->ndim && tensor->shape == NULL)) {
        PyErr_Format(PyExc_BufferError, "a DLPack capsule with %d axes, or without a shape",
                     (int)tensor->ndim);
        return NULL;
    }
    /* a legacy capsule cannot say that it may be written: it is taken as read-only */
    PyObject *facts = described(tensor, legacy ? 1 : versioned->flags);
    if (facts == NULL) return NULL;
    PyObject *holder = PyCapsule_New(managed, TAKEN, NULL);
    if (holder == NULL || PyCapsule_SetContext(holder, legacy ? LEGACY : VERSIONED) < 0 ||
        PyCapsule_SetName(capsule, legacy ? "used_" LEGACY : "used_" VERSIONED) < 0) {
        Py_XDECREF(holder);
        Py_DECREF(facts);
        return NULL;
    }
    /* only now: until then the capsule releases the tensor */
    PyCapsule_SetDestructor(holder, release_tensor);
    return Py_BuildValue("(NN)", holder, facts);
}

static PyMethodDef functions[] = {
    {"make_capsule", make_capsule, METH_VARARGS,
     "Return a DLPack capsule over memory that an object keeps alive."},
    {"take", take, METH_O, "Take over the tensor of a DLPack capsule."},
    {NULL, NULL, 0, NULL},
};

int mat_add_dlpack(PyObject *module) { return PyModule_AddFunctions(module, functions); }
