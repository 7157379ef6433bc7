/* Part of core.c: the slots of Python's objects, the lock of a cube, and the begin and end of an
   access. */
#ifndef MAT_CORE_INLINE_H
#define MAT_CORE_INLINE_H

#include "limited_api.h"

/* The arguments of `register_types`: the classes, the lists of observers and of devices in use, and
   the offsets of slots. */
static PyObject *mat_type, *array_type, *observers, *in_use, *input, *enter_context;
static Py_ssize_t at_storage, at_presented, at_form; /* of a Mat */
static Py_ssize_t at_lock, at_fresh, at_accesses, at_writer, at_torn, at_pristine, at_version,
    at_spoiled; /* of a Cube */
static Py_ssize_t at_thread, at_mask, at_value, at_direction, at_view, at_where,
    at_make_value; /* of an AccessRecord */
static Py_ssize_t at_address; /* of a ForeignArray */
static PyTypeObject *lock_type, *plan_type;
static PyObject *execute_name, *on_device_name, *find_name, *slow_name, *close_name, *present_name,
    *undo_name, *enter_name, *leave_name;
static PyObject *reading_name, *writing_name, *lasti_name, *back_name, *zero;

static inline PyObject **slot(PyObject *object, Py_ssize_t at) {
    return (PyObject **)((char *)object + at);
}

static void put(PyObject *object, Py_ssize_t at, PyObject *value) {
    PyObject **target = slot(object, at), *old = *target;
    Py_INCREF(value);
    *target = value;
    Py_XDECREF(old);
}

/* Free an object of a heap type, and its reference to the type. */
static void release_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

/* Lock: reentrant, as threading.RLock; whether it is free is known here without a call. */

typedef struct {
    PyObject_HEAD
    PyThread_type_lock lock;
    unsigned long owner;
    unsigned long count;
} Lock;

static PyObject *lock_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    Lock *self = (Lock *)PyType_GenericAlloc(type, 0);
    if (self == NULL) return NULL;
    self->lock = PyThread_allocate_lock();
    if (self->lock == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void lock_dealloc(PyObject *object) {
    Lock *self = (Lock *)object;
    if (self->lock != NULL) {
        if (self->count) PyThread_release_lock(self->lock);
        PyThread_free_lock(self->lock);
    }
    release_object(object);
}

static PyObject *lock_acquire(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Lock *self = (Lock *)object;
    unsigned long me = PyThread_get_thread_ident();
    if (self->count && self->owner == me) {
        self->count++;
        Py_RETURN_TRUE;
    }
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    self->owner = me;
    self->count = 1;
    Py_RETURN_TRUE;
}

static PyObject *lock_try_acquire(PyObject *object, PyObject *ignored) {
    Lock *self = (Lock *)object;
    if (!(self->count && self->owner == PyThread_get_thread_ident()) &&
        !PyThread_acquire_lock(self->lock, NOWAIT_LOCK))
        Py_RETURN_FALSE;
    if (self->count && self->owner == PyThread_get_thread_ident())
        return lock_acquire(object, ignored);
    self->owner = PyThread_get_thread_ident();
    self->count = 1;
    Py_RETURN_TRUE;
}

static PyObject *lock_release(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Lock *self = (Lock *)object;
    if (!self->count || self->owner != PyThread_get_thread_ident()) {
        PyErr_SetString(PyExc_RuntimeError, "cannot release a lock that this thread does not hold");
        return NULL;
    }
    if (--self->count == 0) PyThread_release_lock(self->lock);
    Py_RETURN_NONE;
}

static PyMethodDef lock_methods[] = {
    {"acquire", lock_acquire, METH_NOARGS, "Acquire self, waiting for other threads."},
    {"try_acquire", lock_try_acquire, METH_NOARGS,
     "Acquire self if no other thread has it; return True if it was acquired."},
    {"release", lock_release, METH_NOARGS, "Release self, once for each acquire."},
    {"__enter__", lock_acquire, METH_NOARGS, "acquire"},
    {"__exit__", lock_release, METH_VARARGS, "release"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot lock_slots[] = {
    {Py_tp_doc, "A reentrant lock, as threading.RLock is."},
    {Py_tp_new, lock_new},
    {Py_tp_dealloc, lock_dealloc},
    {Py_tp_methods, lock_methods},
    {0, NULL},
};
static PyType_Spec lock_spec = {"mat._core.Lock", sizeof(Lock), 0, Py_TPFLAGS_DEFAULT, lock_slots};

/* Accesses: what core/cube.py does, in the simple cases. */

/* Record that `storage` was written in the memory with the bit `mask`, as Cube.close does. */
static int commit(PyObject *storage, PyObject *mask) {
    PyObject *version = PyLong_FromLongLong(PyLong_AsLongLong(*slot(storage, at_version)) + 1);
    if (version == NULL) return -1;
    put(storage, at_version, version);
    Py_DECREF(version);
    put(storage, at_fresh, mask);
    put(storage, at_pristine, Py_False);
    put(storage, at_torn, Py_None);
    return 0;
}

/* Record that an access began, as Cube.open does; -1 on an error. */
static int mark_begun(PyObject *view, PyObject *record, PyObject *direction, int writes,
                      PyObject *thread) {
    PyObject *storage = *slot(view, at_storage);
    if (PyList_Append(*slot(storage, at_accesses), record) < 0) return -1;
    put(record, at_direction, direction);
    put(record, at_view, view);
    put(record, at_thread, thread);
    if (writes && *slot(storage, at_writer) == Py_None) put(storage, at_writer, record);
    return 0;
}

/* End an access whose block did not fail, as Cube.close does; call that method unless it is the
   only access and no thread has the lock. */
static int mark_ended(PyObject *storage, PyObject *record, int writes) {
    PyObject *accesses = *slot(storage, at_accesses), *lock = *slot(storage, at_lock);
    if (PyList_Size(observers) || Py_TYPE(lock) != lock_type || ((Lock *)lock)->count ||
        PyList_Size(accesses) != 1 || PyList_GetItem(accesses, 0) != record ||
        *slot(storage, at_spoiled) == Py_True || (writes && *slot(storage, at_writer) != record)) {
        PyObject *done = PyObject_CallMethodObjArgs(storage, close_name, record, Py_False, NULL);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    Py_INCREF(record);
    int failed = PyList_SetSlice(accesses, 0, 1, NULL);
    put(record, at_where, Py_None);
    put(record, at_view, Py_None);
    put(record, at_thread, zero);
    if (writes) put(storage, at_writer, Py_None);
    if (!failed && writes) failed = commit(storage, *slot(record, at_mask));
    Py_DECREF(record);
    return failed;
}

#endif
