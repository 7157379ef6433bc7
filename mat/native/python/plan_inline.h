/* Parts of core.c: what a plan knows of its kernel, and how it is carried out. */
#ifndef MAT_QUICK_INLINE_H
#define MAT_QUICK_INLINE_H

enum { OPERANDS = 6, NUMBERS = 6, SETTINGS = 3, TOKENS = OPERANDS + SETTINGS, TABLE = 16 };

static const long long EXACT = 1LL << 53; /* integers up to here are floating-point numbers, too */

/* Quick: what a plan knows of its kernel. */

enum { LOOK, AGAIN, NUMBER };
enum {
    ALONE,
    AT_ONCE,
    SHARED
}; /* without the GIL by one thread, or under it, or by several threads */

/* mat_share of share.h, which is in the other extension, and how many threads it has; 0: Python
   shares. */
static void (*share)(uintptr_t kernel, const void *frame, char *const *operands,
                     const double *numbers, double *result, int64_t count, int64_t grain,
                     int64_t threads);
static int64_t share_threads;

typedef struct {
    PyObject_HEAD
    mat_kernel *kernel; /* NULL: not armed, Python does it */
    mat_kernel *finish; /* of two stages, the second one; else NULL */
    int64_t finish_count,
        room; /* units of that, and bytes of a buffer that both are given as a last operand */
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

/* What a call finds out about one operand. */
typedef struct {
    char *address;
    PyObject *storage,
        *record; /* borrowed; of an operand that needs a look of its own, else NULL */
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

/* Write a Python number as a pair; 0 if it is not of a kind that is converted here. */
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

/* Whether a look by this thread is open that covers one at `storage`: then that other one decides.
 */
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

/* Find the elements of `view`, if a look at it can begin; else Python must see to it, perhaps only
   since nothing was presented yet. */
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

/* The kernel, by one thread or several, and what follows it. */
static void call_kernel(const Plan *q, char **operands, double *numbers, double *result) {
    if (q->how == SHARED && share_threads)
        share((uintptr_t)q->kernel, q->frame, operands, numbers, result, q->count, q->grain,
              share_threads);
    else
        q->kernel(q->frame, operands, numbers, result, 0, q->count);
    if (q->finish != NULL) q->finish(q->frame, operands, numbers, result, 0, q->finish_count);
}

/* Run the kernel under marked looks, without the GIL; -1 on an error. */
static int run_marked(const Plan *q, PyObject *args, Found *found, char **operands, double *numbers,
                      double *result) {
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    int failed = thread == NULL;
    for (int k = 0; k < q->operands; k++) {
        if (found[k].record == NULL) continue;
        int mine = !failed && *slot(found[k].record, at_thread) ==
                                  zero; /* else an operand before has taken it, for both */
        if (mine)
            failed = mark_begun(PyTuple_GetItem(args, q->operand[k].position), found[k].record,
                                q->operand[k].direction, q->operand[k].writes, thread) < 0;
        if (!mine || failed) found[k].record = NULL; /* there is nothing of ours to end */
    }
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS
        call_kernel(q, operands, numbers, result);
        Py_END_ALLOW_THREADS
    }
    for (int writes = 0; writes < 2; writes++) /* who wrote decides when the others have left */
        for (int k = 0; k < q->operands; k++)
            if (found[k].record != NULL && !q->operand[k].writes == !writes)
                failed |= mark_ended(found[k].storage, found[k].record, writes) < 0;
    Py_XDECREF(thread);
    return failed ? -1 : 0;
}

/* Run the kernel and mark what is written, nobody else running; -1 on an error. */
static int run_at_once(const Plan *q, Found *found, char **operands, double *numbers,
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

/* Carry out a plan: the result, or NULL, without an error if Python must do it. Nothing is touched
   before all is settled.
   `*absent` becomes 1 if all that is amiss is that something was not presented yet. */
static PyObject *attempt(const Plan *q, PyObject *args, int *absent) {
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
        if (q->operand[k].kind == LOOK) {
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
        if (q->operand[k].kind == AGAIN) operands[k] = operands[q->operand[k].other];
    if (q->finish != NULL && (operands[q->operands] = malloc((size_t)q->room)) == NULL)
        return PyErr_NoMemory();
    int failed = q->how == AT_ONCE ? run_at_once(q, found, operands, numbers, result)
                              : run_marked(q, args, found, operands, numbers, result);
    if (q->finish != NULL) free(operands[q->operands]);
    return failed < 0 ? NULL : returned(q, args, result);
}

/* The same; what was not presented yet is presented by the method ready(args), which says whether
   it could do that. */
static PyObject *plan_do(Plan *q, PyObject *args) {
    int absent;
    PyObject *result = attempt(q, args, &absent);
    if (result != NULL || !absent || PyErr_Occurred()) return result;
    PyObject *ready = PyObject_CallMethodObjArgs((PyObject *)q, ready_name, args, NULL);
    if (ready == NULL) return NULL;
    if (ready == Py_True) result = attempt(q, args, &absent);
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

/* then(finish, count, room): the second stage, of so many units; both get a buffer of so many
   bytes. */
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

/* run(args, kwargs): here, or by the method walk(args, kwargs), or while a device is in use by the
   method away. */
static PyObject *plan_run(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "run(args, kwargs) takes a tuple and a dict");
        return NULL;
    }
    PyObject *result = plan_do((Plan *)self, given[0]);
    if (result != NULL || PyErr_Occurred()) return result;
    return PyObject_CallMethodObjArgs(self,
                                      in_use != NULL && PyList_Size(in_use) ? away_name : walk_name,
                                      given[0], given[1], NULL);
}

static PyMethodDef plan_methods[] = {
    {"arm", plan_arm, METH_VARARGS,
     "Say what kernel to call, with what frame, on which arguments."},
    {"then", plan_then, METH_VARARGS, "Say what second kernel to call."},
    {"run", (PyCFunction)(void (*)(void))plan_run, METH_FASTCALL,
     "Carry out the plan on ``(args, kwargs)``."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef plan_members[] = {
    {"armed", T_BOOL, offsetof(Plan, armed), READONLY, "whether calls can be done here"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot plan_slots[] = {
    {Py_tp_doc, "What can carry out a small operation without Python."},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_methods, plan_methods},
    {Py_tp_members, plan_members},
    {0, NULL},
};
static PyType_Spec plan_spec = {"mat._core.Quick", sizeof(Plan), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, plan_slots};

#endif
