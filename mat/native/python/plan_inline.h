/* Part of core.c: a plan's kernel and the positions of its arguments, and how a plan is carried
   out. */
#ifndef MAT_PLAN_INLINE_H
#define MAT_PLAN_INLINE_H

#include "limited_api.h"

#include "call.h"
#include "core_inline.h"

enum { OPERANDS = 6, NUMBERS = 6, SETTINGS = 3, TOKENS = OPERANDS + SETTINGS, TABLE = 16 };

static const long long EXACT = 1LL << 53; /* integers up to here are floating-point numbers, too */

/* The kinds of operands: a Mat, the same Mat as another operand, a number. */
enum { ACCESSED, REPEATED, NUMBER };
/* How a kernel runs: in one thread without the GIL, under the GIL, or in several threads. */
enum { ONE_THREAD, UNDER_GIL, SHARED };

/* mat_share of share.h, which is in the other extension, and the number of its threads; with 0,
   Python divides large work. */
static void (*share)(uintptr_t kernel, const void *frame, char *const *operands,
                     const double *numbers, double *result, int64_t count, int64_t grain,
                     int64_t threads);
static int64_t share_threads;

typedef struct {
    PyObject_HEAD
    mat_kernel *kernel; /* NULL: not armed, Python carries the plan out */
    mat_kernel *finish; /* the second of two stages, or NULL */
    int64_t finish_count;
    int64_t room; /* bytes of a buffer that both stages are given as a last operand */
    const void *frame;
    int64_t count, grain;
    PyObject *mask; /* the bit of the memory, as a Python integer */
    long mask_bits;
    int operands, numbers, result, takes_complex;
    char returns;
    struct {
        int kind, position, writes, other; /* writes: 0 for input, 1 for io, 2 for output */
        PyObject *key, *direction;
    } operand[OPERANDS];
    int number[NUMBERS];
    char armed, how;
} Plan;

/* One operand of a call. */
typedef struct {
    char *address;
    PyObject *storage, *record; /* borrowed; NULL unless the operand needs an access of its own */
} Found;

static void plan_disarm(Plan *self) {
    self->kernel = self->finish = NULL;
    self->armed = 0;
    Py_CLEAR(self->mask);
    for (int k = 0; k < OPERANDS; k++) {
        Py_CLEAR(self->operand[k].key);
        Py_CLEAR(self->operand[k].direction);
    }
}

static void plan_dealloc(PyObject *object) {
    plan_disarm((Plan *)object);
    release_object(object);
}

/* Store a Python number as a pair; return 0 if it is of a type that is not converted here. */
static int number_pair(PyObject *value, double *pair, int takes_complex) {
    pair[1] = 0;
    if (PyFloat_CheckExact(value)) {
        pair[0] = PyFloat_AsDouble(value);
        return 1;
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        long long exact = PyLong_AsLongLongAndOverflow(value, &overflow);
        pair[0] = (double)exact;
        return !overflow && exact <= EXACT && exact >= -EXACT;
    }
    if (takes_complex && PyComplex_CheckExact(value)) {
        pair[0] = PyComplex_RealAsDouble(value);
        pair[1] = PyComplex_ImagAsDouble(value);
        return 1;
    }
    return 0;
}

/* Return 1 if this thread has an open access that includes the one to `storage`, which then needs
   none of its own. */
static int covered(PyObject *storage, PyObject *accesses, const Plan *q, int writes) {
    unsigned long me = PyThread_get_thread_ident();
    PyObject *writer = *slot(storage, at_writer);
    if (writer != Py_None)
        return PyLong_AsUnsignedLong(*slot(writer, at_thread)) == me &&
               PyLong_AsLong(*slot(writer, at_mask)) == q->mask_bits;
    if (writes || !(PyLong_AsLong(*slot(storage, at_fresh)) & q->mask_bits)) return 0;
    for (Py_ssize_t k = 0; k < PyList_Size(accesses); k++) {
        PyObject *record = PyList_GetItem(accesses, k);
        if (PyLong_AsUnsignedLong(*slot(record, at_thread)) == me &&
            PyLong_AsLong(*slot(record, at_mask)) == q->mask_bits)
            return 1;
    }
    return 0;
}

enum { PYTHON, FOUND, ABSENT };

/* Find the elements of `view`: FOUND if an access to it can begin, ABSENT if it was not presented
   yet, PYTHON if Python must begin the access. */
static int find(PyObject *view, const Plan *q, int k, Found *found) {
    if ((PyObject *)Py_TYPE(view) != mat_type) return PYTHON;
    PyObject *storage = *slot(view, at_storage), *presented = *slot(view, at_presented);
    if (storage == NULL || presented == NULL) return PYTHON;
    PyObject *record = PyDict_GetItemWithError(presented, q->operand[k].key),
             *accesses = *slot(storage, at_accesses);
    if (record == NULL) return ABSENT;
    if (PyList_Size(accesses) > 0) {
        if (!covered(storage, accesses, q, q->operand[k].writes)) return PYTHON;
    } else {
        PyObject *lock = *slot(storage, at_lock);
        if (Py_TYPE(lock) != lock_type || ((Lock *)lock)->count) return PYTHON;
        if (q->operand[k].writes != 2 && !(PyLong_AsLong(*slot(storage, at_fresh)) & q->mask_bits))
            return PYTHON;
        found->storage = storage;
        found->record = record;
    }
    PyObject *value = *slot(record, at_value);
    if ((PyObject *)Py_TYPE(value) != array_type) return PYTHON;
    found->address = PyLong_AsVoidPtr(*slot(value, at_address));
    return found->address != NULL ? FOUND : PYTHON;
}

static PyObject *returned(const Plan *q, PyObject *args, const double *result) {
    if (q->result >= 0) {
        PyObject *written = PyTuple_GetItem(args, q->result);
        Py_XINCREF(written);
        return written;
    }
    switch (q->returns) {
        case 'd': return PyFloat_FromDouble(result[0]);
        case 'i': return PyLong_FromDouble(result[0]);
        case 'D': return PyComplex_FromDoubles(result[0], result[1]);
        default: Py_RETURN_NONE;
    }
}

/* Call the kernel, in one thread or several, and the second stage. */
static void call_kernel(const Plan *q, char **operands, double *numbers, double *result) {
    if (q->how == SHARED && share_threads)
        share((uintptr_t)q->kernel, q->frame, operands, numbers, result, q->count, q->grain,
              share_threads);
    else
        q->kernel(q->frame, operands, numbers, result, 0, q->count);
    if (q->finish != NULL) q->finish(q->frame, operands, numbers, result, 0, q->finish_count);
}

/* Record the accesses and call the kernel without the GIL; -1 on an error. */
static int run_recorded(const Plan *q, PyObject *args, Found *found, char **operands,
                        double *numbers, double *result) {
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    int failed = thread == NULL;
    for (int k = 0; k < q->operands; k++) {
        if (found[k].record == NULL) continue;
        /* else it was recorded for an operand before, for both */
        int mine = !failed && *slot(found[k].record, at_thread) == zero;
        if (mine)
            failed = mark_begun(PyTuple_GetItem(args, q->operand[k].position), found[k].record,
                                q->operand[k].direction, q->operand[k].writes, thread) < 0;
        if (!mine || failed) found[k].record = NULL; /* not to be ended here */
    }
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS
        call_kernel(q, operands, numbers, result);
        Py_END_ALLOW_THREADS
    }
    for (int writes = 0; writes < 2; writes++) /* those that write end, and commit, last */
        for (int k = 0; k < q->operands; k++)
            if (found[k].record != NULL && !q->operand[k].writes == !writes)
                failed |= mark_ended(found[k].storage, found[k].record, writes) < 0;
    Py_XDECREF(thread);
    return failed ? -1 : 0;
}

/* Call the kernel under the GIL and commit the storages that it wrote; -1 on an error. */
static int run_under_gil(const Plan *q, Found *found, char **operands, double *numbers,
                         double *result) {
    call_kernel(q, operands, numbers, result);
    for (int k = 0; k < q->operands; k++) {
        int again = !q->operand[k].writes;
        for (int j = 0; j < k; j++)
            again |= q->operand[j].writes && found[j].storage == found[k].storage;
        if (found[k].storage != NULL && !again && commit(found[k].storage, q->mask) < 0) return -1;
    }
    return 0;
}

/* Carry out a plan and return the result; NULL without an error if Python must do it, in which case
   nothing has changed. `*absent` is set to 1 if the only obstacle is a view that was not presented
   yet. */
static PyObject *plan_try(const Plan *q, PyObject *args, int *absent) {
    *absent = 0;
    if (!q->armed || PyList_Size(observers) != 0 || PyList_Size(in_use) != 0 ||
        (q->how == SHARED && !share_threads))
        return NULL;
    Found found[OPERANDS] = {{0}};
    char *operands[OPERANDS + 1] = {0};
    double numbers[2 * (NUMBERS + OPERANDS)], result[2] = {0, 0};
    for (int k = 0; k < q->numbers; k++)
        if (!number_pair(PyTuple_GetItem(args, q->number[k]), numbers + 2 * k, q->takes_complex))
            return NULL;
    for (int k = 0; k < q->operands; k++) {
        PyObject *value = PyTuple_GetItem(args, q->operand[k].position);
        if (q->operand[k].kind == ACCESSED) {
            int how = find(value, q, k, &found[k]);
            *absent = how == ABSENT;
            if (how != FOUND) return NULL;
            operands[k] = found[k].address;
        } else if (q->operand[k].kind == NUMBER) {
            double *pair = numbers + 2 * (q->numbers + k);
            if (!number_pair(value, pair, q->takes_complex)) return NULL;
            operands[k] = (char *)pair;
        }
    }
    for (int k = 0; k < q->operands; k++)
        if (q->operand[k].kind == REPEATED) operands[k] = operands[q->operand[k].other];
    if (q->finish != NULL && (operands[q->operands] = malloc((size_t)q->room)) == NULL)
        return PyErr_NoMemory();
    int failed = q->how == UNDER_GIL
                     ? run_under_gil(q, found, operands, numbers, result)
                     : run_recorded(q, args, found, operands, numbers, result);
    if (q->finish != NULL) free(operands[q->operands]);
    return failed < 0 ? NULL : returned(q, args, result);
}

/* Carry out a plan as `plan_try` does; views that were not presented yet are presented first, by
   the method ready(args), which returns True if it could. */
static PyObject *plan_call(Plan *q, PyObject *args) {
    int absent;
    PyObject *result = plan_try(q, args, &absent);
    if (result != NULL || !absent || PyErr_Occurred()) return result;
    PyObject *ready = PyObject_CallMethodObjArgs((PyObject *)q, present_name, args, NULL);
    if (ready == NULL) return NULL;
    if (ready == Py_True) result = plan_try(q, args, &absent);
    Py_DECREF(ready);
    return result;
}

/* arm(kernel, frame, count, grain, how, mask, operands, numbers, takes_complex, result, returns):
   `operands` are tuples (kind, position, writes, other, key, direction). */
static PyObject *plan_arm(PyObject *object, PyObject *args) {
    Plan *self = (Plan *)object;
    unsigned long long kernel, frame;
    long long count, grain;
    PyObject *mask, *operands, *numbers;
    int how, takes_complex, result;
    const char *returns;
    plan_disarm(self);
    if (!PyArg_ParseTuple(args, "KKLLiOO!O!pis", &kernel, &frame, &count, &grain, &how, &mask,
                          &PyTuple_Type, &operands, &PyTuple_Type, &numbers, &takes_complex,
                          &result, &returns))
        return NULL;
    if (PyTuple_Size(operands) > OPERANDS || PyTuple_Size(numbers) > NUMBERS) Py_RETURN_FALSE;
    self->operands = (int)PyTuple_Size(operands);
    self->numbers = (int)PyTuple_Size(numbers);
    for (int k = 0; k < self->operands; k++) {
        PyObject *key, *direction;
        if (!PyArg_ParseTuple(PyTuple_GetItem(operands, k), "iiiiOO", &self->operand[k].kind,
                              &self->operand[k].position, &self->operand[k].writes,
                              &self->operand[k].other, &key, &direction))
            return NULL;
        Py_INCREF(key);
        Py_INCREF(direction);
        self->operand[k].key = key;
        self->operand[k].direction = direction;
    }
    for (int k = 0; k < self->numbers; k++)
        self->number[k] = (int)PyLong_AsLong(PyTuple_GetItem(numbers, k));
    self->mask_bits = PyLong_AsLong(mask);
    if (PyErr_Occurred()) return NULL;
    Py_INCREF(mask);
    self->mask = mask;
    self->kernel = (mat_kernel *)(uintptr_t)kernel;
    self->frame = (const void *)(uintptr_t)frame;
    self->count = count;
    self->grain = grain;
    self->how = (char)how;
    self->takes_complex = takes_complex;
    self->result = result;
    self->returns = returns[0];
    self->armed = mat_type != NULL;
    Py_RETURN_TRUE;
}

/* then(finish, count, room): set the second stage, of `count` units; both stages are given a buffer
   of `room` bytes. */
static PyObject *plan_then(PyObject *object, PyObject *args) {
    Plan *self = (Plan *)object;
    unsigned long long finish;
    long long count, room;
    if (!PyArg_ParseTuple(args, "KLL", &finish, &count, &room)) return NULL;
    self->finish = (mat_kernel *)(uintptr_t)finish;
    self->finish_count = count;
    self->room = room;
    Py_RETURN_NONE;
}

/* run(args, kwargs): carry out the plan here, or by the method walk(args, kwargs), or while a
   device is in use by the method away. */
static PyObject *plan_run(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "run(args, kwargs) takes a tuple and a dict");
        return NULL;
    }
    PyObject *result = plan_call((Plan *)self, given[0]);
    if (result != NULL || PyErr_Occurred()) return result;
    PyObject *name = in_use != NULL && PyList_Size(in_use) ? on_device_name : execute_name;
    return PyObject_CallMethodObjArgs(self, name, given[0], given[1], NULL);
}

static PyMethodDef plan_methods[] = {
    {"arm", plan_arm, METH_VARARGS,
     "Set the kernel to call, its frame and the positions of its arguments."},
    {"then", plan_then, METH_VARARGS, "Set a second kernel to call."},
    {"run", (PyCFunction)(void (*)(void))plan_run, METH_FASTCALL,
     "Carry out the plan on ``(args, kwargs)``."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef plan_members[] = {
    {"armed", T_BOOL, offsetof(Plan, armed), READONLY, "True if calls can be made here"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot plan_slots[] = {
    {Py_tp_doc, "A plan that can call a compiled kernel without Python."},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_methods, plan_methods},
    {Py_tp_members, plan_members},
    {0, NULL},
};
static PyType_Spec plan_spec = {"mat._core.Plan", sizeof(Plan), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, plan_slots};

#endif
