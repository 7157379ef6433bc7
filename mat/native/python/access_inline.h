/* Part of core.c: an access as a context manager. If it is not the only one, or the data is not
   fresh, it is left to the methods enter(frame) and leave(failed) of the Python class. */
#ifndef MAT_ACCESS_INLINE_H
#define MAT_ACCESS_INLINE_H

#include "core_inline.h"
#include "limited_api.h"

typedef struct {
    PyObject_HEAD PyObject *view, *facet, *direction;
    PyObject *record; /* None, or absent, unless the access is open */
} Access;

static int access_traverse(PyObject *object, visitproc visit, void *arg) {
    Access *self = (Access *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->view);
    Py_VISIT(self->facet);
    Py_VISIT(self->direction);
    Py_VISIT(self->record);
    return 0;
}

static int access_clear(PyObject *object) {
    Access *self = (Access *)object;
    Py_CLEAR(self->view);
    Py_CLEAR(self->facet);
    Py_CLEAR(self->direction);
    Py_CLEAR(self->record);
    return 0;
}

static void access_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    access_clear(object);
    release_object(object);
}

/* Return the record with which an access can begin at once, a borrowed reference; NULL if Python
   must begin it. */
static PyObject *ready_record(Access *self) {
    if (mat_type == NULL || self->view == NULL || (PyObject *)Py_TYPE(self->view) != mat_type ||
        PyList_Size(observers))
        return NULL;
    if (self->record != NULL && self->record != Py_None) return NULL;
    PyObject *storage = *slot(self->view, at_storage), *presented = *slot(self->view, at_presented);
    if (storage == NULL || presented == NULL || PyList_Size(*slot(storage, at_accesses)) != 0)
        return NULL;
    PyObject *lock = *slot(storage, at_lock);
    if (Py_TYPE(lock) != lock_type || ((Lock *)lock)->count) return NULL;
    PyObject *key =
        PyObject_GetAttr(self->facet, self->direction == input ? reading_name : writing_name);
    if (key == NULL) return NULL;
    PyObject *record = PyDict_GetItemWithError(presented, key);
    Py_DECREF(key);
    if (record == NULL || *slot(record, at_thread) != zero) return NULL;
    return PyLong_AsLong(*slot(storage, at_fresh)) & PyLong_AsLong(*slot(record, at_mask)) ? record
                                                                                           : NULL;
}

/* Return the line of the block in `frame` as a code object and an instruction, as
   core/access_record.py has it. */
static PyObject *line_of(PyObject *frame) {
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *outer = NULL;
    if (code == enter_context) { /* ExitStack.enter_context: its caller counts */
        outer = PyObject_GetAttr(frame, back_name);
        if (outer != NULL && outer != Py_None) {
            Py_DECREF(code);
            frame = outer;
            code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        }
    }
    PyObject *last = PyObject_GetAttr(frame, lasti_name),
             *line = last == NULL ? NULL : PyTuple_Pack(2, code, last);
    Py_XDECREF(last);
    Py_XDECREF(outer);
    Py_DECREF(code);
    return line;
}

static PyObject *access_enter(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Access *self = (Access *)object;
    PyObject *frame = (PyObject *)PyEval_GetFrame(),
             *record = frame == NULL ? NULL : ready_record(self);
    if (record == NULL) {
        if (PyErr_Occurred()) return NULL;
        return PyObject_CallMethodObjArgs(object, enter_name, frame == NULL ? Py_None : frame,
                                          NULL);
    }
    PyObject *line = line_of(frame),
             *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (line == NULL || thread == NULL ||
        mark_begun(self->view, record, self->direction, self->direction != input, thread) < 0) {
        Py_XDECREF(line);
        Py_XDECREF(thread);
        return NULL;
    }
    put(record, at_where, line);
    Py_DECREF(line);
    Py_DECREF(thread);
    put(object, offsetof(Access, record), record);
    PyObject *make_value = *slot(record, at_make_value);
    if (make_value == Py_None) {
        PyObject *value = *slot(record, at_value);
        Py_INCREF(value);
        return value;
    }
    PyObject *value = PyObject_CallNoArgs(make_value);
    if (value == NULL) { /* the block never begins */
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        put(object, offsetof(Access, record), Py_None);
        PyObject *undone =
            PyObject_CallMethodObjArgs(*slot(self->view, at_storage), undo_name, record, NULL);
        Py_XDECREF(undone);
        PyErr_Restore(kind, error, trace);
    }
    return value;
}

static PyObject *access_exit(PyObject *object, PyObject *const *given, Py_ssize_t count) {
    Access *self = (Access *)object;
    int failed = count > 0 && given[0] != Py_None;
    PyObject *record = self->record;
    if (record == NULL || record == Py_None) Py_RETURN_NONE;
    if (failed || mat_type == NULL || (PyObject *)Py_TYPE(self->view) != mat_type)
        return PyObject_CallMethodObjArgs(object, leave_name, failed ? Py_True : Py_False, NULL);
    Py_INCREF(record);
    put(object, offsetof(Access, record), Py_None);
    int failure = mark_ended(*slot(self->view, at_storage), record, self->direction != input);
    Py_DECREF(record);
    if (failure) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef access_methods[] = {
    {"__enter__", access_enter, METH_NOARGS, "Begin the access; return what the facet presents."},
    {"__exit__", (PyCFunction)(void (*)(void))access_exit, METH_FASTCALL, "End the access."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef access_members[] = {
    {"view", T_OBJECT_EX, offsetof(Access, view), 0, "the view that is accessed"},
    {"facet", T_OBJECT_EX, offsetof(Access, facet), 0, "the facet"},
    {"direction", T_OBJECT_EX, offsetof(Access, direction), 0, "the direction"},
    {"record", T_OBJECT_EX, offsetof(Access, record), 0, "its record while it is open, else None"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot access_slots[] = {
    {Py_tp_doc, "An access, as a context manager."},
    {Py_tp_dealloc, access_dealloc},
    {Py_tp_traverse, access_traverse},
    {Py_tp_clear, access_clear},
    {Py_tp_methods, access_methods},
    {Py_tp_members, access_members},
    {0, NULL},
};
static PyType_Spec access_spec = {"mat._core.Access", sizeof(Access), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                  access_slots};

#endif
