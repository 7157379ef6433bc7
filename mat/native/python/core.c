/* `mat._core`: accesses, and the calls of small operations, compiled. Every case that is not
   handled here is left to Python, which handles all of them.

   A call is made here if its plan exists, its implementation is a compiled kernel (`mat_kernel`),
   and no operand is in use or stale. If there is little work, all of it happens under the GIL, so
   that accesses need not be recorded: no other thread could see them. Otherwise they are recorded,
   and the kernel runs without the GIL. Cubes, Mats and access records are objects of Python's
   classes; `register_types` finds out the offsets of their slots. */
#include "access_inline.h"
#include "core_inline.h"
#include "dlpack.h"
#include "limited_api.h"
#include "plan_inline.h"

/* Operation: an operation that is called with operands, and caches the plans of the last forms of
   operands. */

typedef struct {
    PyObject *plans, *plan, *token[TOKENS];
    int zero;
} Remembered;

typedef struct {
    PyObject_HEAD PyObject *plans; /* Python's dict of plans; if it is replaced, the cached plans
                                      are invalid */
    int arity, operands, settings, zero_at; /* the last operand is the main one */
    int operand[OPERANDS], setting[SETTINGS];
    Remembered table[TABLE];
} Operation;

static void forget(Remembered *entry) {
    Py_CLEAR(entry->plans);
    Py_CLEAR(entry->plan);
    for (int k = 0; k < TOKENS; k++) Py_CLEAR(entry->token[k]);
}

static int operation_traverse(PyObject *object, visitproc visit, void *arg) {
    Operation *self = (Operation *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->plans);
    for (int k = 0; k < TABLE; k++) Py_VISIT(self->table[k].plan);
    return 0;
}

static int operation_clear(PyObject *object) {
    Operation *self = (Operation *)object;
    Py_CLEAR(self->plans);
    for (int k = 0; k < TABLE; k++) forget(&self->table[k]);
    return 0;
}

static void operation_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    operation_clear(object);
    release_object(object);
}

static PyObject *operation_forget(PyObject *object, PyObject *ignored) {
    (void)ignored;
    for (int k = 0; k < TABLE; k++) forget(&((Operation *)object)->table[k]);
    Py_RETURN_NONE;
}

static int read_positions(PyObject *tuple, int *positions, int most, int *count) {
    Py_ssize_t n = PyTuple_Size(tuple);
    *count = 0;
    if (n < 0 || n > most) return 0;
    for (int k = 0; k < n; k++) positions[k] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, k));
    *count = (int)n;
    return 1;
}

/* set_positions(arity, operands, settings, zero_at): set the positions of those arguments that a
   plan depends on. */
static PyObject *operation_set_positions(PyObject *object, PyObject *args) {
    Operation *self = (Operation *)object;
    PyObject *operands, *settings;
    if (!PyArg_ParseTuple(args, "iO!O!i", &self->arity, &PyTuple_Type, &operands, &PyTuple_Type,
                          &settings, &self->zero_at))
        return NULL;
    if (!read_positions(operands, self->operand, OPERANDS, &self->operands)
        || !read_positions(settings, self->setting, SETTINGS, &self->settings))
        self->operands = 0; /* more than there is room for: Python makes the calls */
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* Return what a plan depends on of one operand: its form, or Ellipsis if it is the main operand
   again, or its type if it is a number. NULL if Python must find the plan. */
static PyObject *token_of(PyObject *value, PyObject *main) {
    if ((PyObject *)Py_TYPE(value) == mat_type) {
        if (value == main) return Py_Ellipsis;
        if (*slot(value, at_storage) == *slot(main, at_storage)) return NULL;
        PyObject *form = *slot(value, at_form);
        return form == Py_None ? NULL : form;
    }
    if (PyFloat_CheckExact(value)) return (PyObject *)&PyFloat_Type;
    if (PyLong_CheckExact(value)) {
        int overflow;
        long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow && small >= 0 && small < 128 ? (PyObject *)&PyLong_Type : NULL;
    }
    return NULL;
}

/* Store what the plan of a call depends on; return 0 if Python must find the plan. */
static int tokens(const Operation *self, PyObject *args, PyObject **token, int *zero) {
    PyObject *main = PyTuple_GetItem(args, self->operand[self->operands - 1]);
    if ((PyObject *)Py_TYPE(main) != mat_type) return 0;
    int last = self->operands - 1;
    for (int k = 0; k < last; k++)
        if ((token[k] = token_of(PyTuple_GetItem(args, self->operand[k]), main)) == NULL) return 0;
    token[last] = *slot(main, at_form);
    if (token[last] == NULL || token[last] == Py_None) return 0;
    for (int k = 0; k < self->settings; k++)
        token[self->operands + k] = PyTuple_GetItem(args, self->setting[k]);
    *zero = 0;
    if (self->zero_at >= 0) {
        double pair[2];
        if (!number_pair(PyTuple_GetItem(args, self->zero_at), pair, 0)) return 0;
        *zero = pair[0] == 0;
    }
    return 1;
}

static int same_tokens(const Operation *self, const Remembered *entry, PyObject **token, int zero) {
    if (entry->plans != self->plans || entry->zero != zero || entry->plan == NULL) return 0;
    for (int k = 0; k < self->operands + self->settings; k++)
        if (entry->token[k] != token[k]) return 0;
    return 1;
}

/* Return the plan for a call, as a new reference: while its kernel runs without the GIL, another
   thread may clear the cache. NULL without an error if Python must make the call. */
static PyObject *plan_for(Operation *self, PyObject *args) {
    PyObject *token[TOKENS];
    int zero;
    if (!tokens(self, args, token, &zero)) return NULL;
    uintptr_t hash = (uintptr_t)zero;
    for (int k = 0; k < self->operands + self->settings; k++)
        hash = hash * 31 + ((uintptr_t)token[k] >> 4);
    Remembered *entry = &self->table[(hash ^ hash >> 7) % TABLE];
    if (same_tokens(self, entry, token, zero)) {
        Py_INCREF(entry->plan);
        return entry->plan;
    }
    PyObject *empty = PyDict_New();
    if (empty == NULL) return NULL;
    PyObject *plan = PyObject_CallMethodObjArgs((PyObject *)self, find_name, args, empty, NULL);
    Py_DECREF(empty);
    if (plan == NULL) return NULL;
    if (plan == Py_None) {
        Py_DECREF(plan);
        return NULL;
    }
    forget(entry);
    for (int k = 0; k < self->operands + self->settings; k++) {
        Py_INCREF(token[k]);
        entry->token[k] = token[k];
    }
    Py_INCREF(self->plans);
    entry->plans = self->plans;
    entry->zero = zero;
    Py_INCREF(plan);
    return entry->plan = plan;
}

static PyObject *operation_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    Operation *self = (Operation *)object;
    if ((kwargs == NULL || PyDict_Size(kwargs) == 0) && PyTuple_Size(args) == self->arity &&
        self->operands && mat_type != NULL && PyList_Size(in_use) == 0) {
        PyObject *plan = plan_for(self, args);
        PyObject *result = plan != NULL && PyObject_TypeCheck(plan, plan_type)
                               ? plan_call((Plan *)plan, args)
                               : NULL;
        Py_XDECREF(plan);
        if (result != NULL || PyErr_Occurred()) return result;
    }
    PyObject *slow = PyObject_GetAttr(object, slow_name);
    if (slow == NULL) return NULL;
    PyObject *result = PyObject_Call(slow, args, kwargs);
    Py_DECREF(slow);
    return result;
}

static PyMethodDef operation_methods[] = {
    {"set_positions", operation_set_positions, METH_VARARGS,
     "Set the positions of operands and settings among the arguments."},
    {"forget_compiled", operation_forget, METH_NOARGS,
     "Clear the cache of plans."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef operation_members[] = {
    {"plans", T_OBJECT_EX, offsetof(Operation, plans), 0, "Python's dict of plans"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot operation_slots[] = {
    {Py_tp_doc, "An operation that is called with operands and caches plans by their forms."},
    {Py_tp_dealloc, operation_dealloc},
    {Py_tp_traverse, operation_traverse},
    {Py_tp_clear, operation_clear},
    {Py_tp_methods, operation_methods},
    {Py_tp_members, operation_members},
    {Py_tp_call, operation_call},
    {0, NULL},
};
static PyType_Spec operation_spec = {"mat._core.Operation", sizeof(Operation), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                     operation_slots};

/* register_types finds the offset of a slot by setting the attribute to a new object and searching
   for that. */

static Py_ssize_t offset_of(PyObject *object, const char *name) {
    PyObject *mark = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    PyObject *size = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__basicsize__");
    Py_ssize_t bytes = size ? PyLong_AsSsize_t(size) : -1, found = -1;
    if (mark != NULL && bytes > 0 && PyObject_SetAttrString(object, name, mark) == 0) {
        for (Py_ssize_t at = sizeof(PyObject); at + (Py_ssize_t)sizeof(PyObject *) <= bytes;
             at += sizeof(PyObject *))
            if (*slot(object, at) == mark) found = at;
        PyObject_SetAttrString(object, name, NULL);
        if (found < 0) PyErr_Format(PyExc_SystemError, "the slot %s was not found", name);
    }
    Py_XDECREF(mark);
    Py_XDECREF(size);
    return found;
}

static int offsets(PyObject *object, ...) {
    va_list list;
    va_start(list, object);
    const char *name;
    int fine = 1;
    while (fine && (name = va_arg(list, const char *)) != NULL) {
        Py_ssize_t *at = va_arg(list, Py_ssize_t *);
        fine = (*at = offset_of(object, name)) > 0;
    }
    va_end(list);
    return fine;
}

/* register_types(mat, cube, record, array, observers, in_use, input, enter_context): new, empty
   objects of these classes, the lists of observers and of devices in use, the direction of accesses
   that read, and the code of ExitStack.enter_context. */
static PyObject *register_types(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *mat, *cube, *record, *array, *list, *devices, *reading, *code;
    if (!PyArg_ParseTuple(args, "OOOOO!O!OO", &mat, &cube, &record, &array, &PyList_Type, &list,
                          &PyList_Type, &devices, &reading, &code))
        return NULL;
    if (!offsets(mat, "storage", &at_storage, "presented", &at_presented, "form", &at_form, NULL) ||
        !offsets(cube, "lock", &at_lock, "fresh", &at_fresh, "accesses", &at_accesses, "writer",
                 &at_writer, "torn", &at_torn, "pristine", &at_pristine, "version", &at_version,
                 "spoiled", &at_spoiled, NULL) ||
        !offsets(record, "thread", &at_thread, "mask", &at_mask, "value", &at_value, "direction",
                 &at_direction, "view", &at_view, "where", &at_where, "make_value", &at_make_value,
                 NULL) ||
        !offsets(array, "address", &at_address, NULL))
        return NULL;
    Py_INCREF(list);
    Py_INCREF(devices);
    Py_INCREF(reading);
    Py_INCREF(code);
    observers = list, in_use = devices, input = reading, enter_context = code;
    array_type = (PyObject *)Py_TYPE(array);
    Py_INCREF(array_type);
    mat_type = (PyObject *)Py_TYPE(mat); /* last: from now on calls are made here */
    Py_INCREF(mat_type);
    Py_RETURN_NONE;
}

/* share_by(address of mat_share, threads): from now on divide large work among so many threads;
   with 0, leave such calls to Python. */
static PyObject *share_by(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long address;
    long long threads;
    if (!PyArg_ParseTuple(args, "KL", &address, &threads)) return NULL;
    *(void **)&share = (void *)(uintptr_t)address;
    share_threads = threads;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"share_by", share_by, METH_VARARGS,
     "Set the function, and the number of threads, that divide the range of a kernel."},
    {"register_types", register_types, METH_VARARGS,
     "Find the offsets of the slots of Python's classes."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_core",
                                        "Accesses and calls of small operations, compiled.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

static PyTypeObject *add_type(PyObject *module, const char *name, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL) return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type) < 0) return NULL;
    return (PyTypeObject *)type;
}

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    const struct {
        PyObject **name;
        const char *text;
    } names[] = {{&execute_name, "execute"}, {&on_device_name, "execute_on_device"},
                 {&find_name, "find"},       {&slow_name, "call"},
                 {&close_name, "close"},     {&present_name, "present"},
                 {&undo_name, "undo"},       {&enter_name, "enter"},     {&leave_name, "leave"},
                 {&reading_name, "reading"}, {&writing_name, "writing"}, {&lasti_name, "f_lasti"},
                 {&back_name, "f_back"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        *names[k].name = PyUnicode_InternFromString(names[k].text);
    zero = PyLong_FromLong(0);
    lock_type = add_type(module, "Lock", &lock_spec);
    plan_type = add_type(module, "Plan", &plan_spec);
    PyTypeObject *access = add_type(module, "Access", &access_spec);
    PyTypeObject *operation = add_type(module, "Operation", &operation_spec);
    if (PyErr_Occurred() || lock_type == NULL || plan_type == NULL || access == NULL ||
        operation == NULL || mat_add_dlpack(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
