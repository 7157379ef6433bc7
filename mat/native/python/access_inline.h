/* Parts of core.c: a look as a context manager. What is not the only look, or not fresh, is left to the methods enter(frame) and
   leave(failed) of the Python class. */
#ifndef MAT_LOOK_INLINE_H
#define MAT_LOOK_INLINE_H

typedef struct {
    PyObject_HEAD
    PyObject *view, *facet, *direction, *hold; /* hold is None, or absent, unless a look is open */
} Look;

static int look_traverse(PyObject *object, visitproc visit, void *arg) {
    Look *self = (Look *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->view);
    Py_VISIT(self->facet);
    Py_VISIT(self->direction);
    Py_VISIT(self->hold);
    return 0;
}

static int look_clear(PyObject *object) {
    Look *self = (Look *)object;
    Py_CLEAR(self->view);
    Py_CLEAR(self->facet);
    Py_CLEAR(self->direction);
    Py_CLEAR(self->hold);
    return 0;
}

static void look_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    look_clear(object);
    release_object(object);
}

/* The hold with which a look can begin at once, borrowed; NULL if Python must see to it. */
static PyObject *ready_hold(Look *self) {
    if (mat_type == NULL || self->view == NULL || (PyObject *)Py_TYPE(self->view) != mat_type || PyList_Size(observers)) return NULL;
    if (self->hold != NULL && self->hold != Py_None) return NULL;
    PyObject *storage = *slot(self->view, at_storage), *presented = *slot(self->view, at_presented);
    if (storage == NULL || presented == NULL || PyList_Size(*slot(storage, at_looks)) != 0) return NULL;
    PyObject *lock = *slot(storage, at_lock);
    if (Py_TYPE(lock) != lock_type || ((Lock *)lock)->count) return NULL;
    PyObject *key = PyObject_GetAttr(self->facet, self->direction == input ? reading_name : writing_name);
    if (key == NULL) return NULL;
    PyObject *hold = PyDict_GetItemWithError(presented, key);
    Py_DECREF(key);
    if (hold == NULL || *slot(hold, at_thread) != zero) return NULL;
    return PyLong_AsLong(*slot(storage, at_fresh)) & PyLong_AsLong(*slot(hold, at_mask)) ? hold : NULL;
}

/* Where the block stands: a code object and an instruction in it, as holders.py has it. */
static PyObject *place_of(PyObject *frame) {
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *outer = NULL;
    if (code == enter_context) { /* ExitStack.enter_context: its caller counts */
        outer = PyObject_GetAttr(frame, back_name);
        if (outer != NULL && outer != Py_None) {
            Py_DECREF(code);
            frame = outer;
            code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        }
    }
    PyObject *last = PyObject_GetAttr(frame, lasti_name), *place = last == NULL ? NULL : PyTuple_Pack(2, code, last);
    Py_XDECREF(last);
    Py_XDECREF(outer);
    Py_DECREF(code);
    return place;
}

static PyObject *look_enter(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Look *self = (Look *)object;
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *hold = frame == NULL ? NULL : ready_hold(self);
    if (hold == NULL) {
        if (PyErr_Occurred()) return NULL;
        return PyObject_CallMethodObjArgs(object, enter_name, frame == NULL ? Py_None : frame, NULL);
    }
    PyObject *place = place_of(frame), *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (place == NULL || thread == NULL || mark_begun(self->view, hold, self->direction, self->direction != input, thread) < 0) {
        Py_XDECREF(place);
        Py_XDECREF(thread);
        return NULL;
    }
    put(hold, at_where, place);
    Py_DECREF(place);
    Py_DECREF(thread);
    put(object, offsetof(Look, hold), hold);
    PyObject *lend = *slot(hold, at_lend);
    if (lend == Py_None) {
        PyObject *value = *slot(hold, at_value);
        Py_INCREF(value);
        return value;
    }
    PyObject *value = PyObject_CallNoArgs(lend);
    if (value == NULL) { /* the block never begins */
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        put(object, offsetof(Look, hold), Py_None);
        PyObject *undone = PyObject_CallMethodObjArgs(*slot(self->view, at_storage), undo_name, hold, NULL);
        Py_XDECREF(undone);
        PyErr_Restore(kind, error, trace);
    }
    return value;
}

static PyObject *look_exit(PyObject *object, PyObject *const *given, Py_ssize_t count) {
    Look *self = (Look *)object;
    int failed = count > 0 && given[0] != Py_None;
    PyObject *hold = self->hold;
    if (hold == NULL || hold == Py_None) Py_RETURN_NONE;
    if (failed || mat_type == NULL || (PyObject *)Py_TYPE(self->view) != mat_type)
        return PyObject_CallMethodObjArgs(object, leave_name, failed ? Py_True : Py_False, NULL);
    Py_INCREF(hold);
    put(object, offsetof(Look, hold), Py_None);
    int wrong = mark_ended(*slot(self->view, at_storage), hold, self->direction != input);
    Py_DECREF(hold);
    if (wrong) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef look_methods[] = {
    {"__enter__", look_enter, METH_NOARGS, "Begin the look; what the facet presents."},
    {"__exit__", (PyCFunction)(void (*)(void))look_exit, METH_FASTCALL, "End the look."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef look_members[] = {
    {"view", T_OBJECT_EX, offsetof(Look, view), 0, "what is looked at"},
    {"facet", T_OBJECT_EX, offsetof(Look, facet), 0, "through what"},
    {"direction", T_OBJECT_EX, offsetof(Look, direction), 0, "and how"},
    {"hold", T_OBJECT_EX, offsetof(Look, hold), 0, "the open look, or None"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot look_slots[] = {
    {Py_tp_doc, "A look to be taken, as a context manager."}, {Py_tp_dealloc, look_dealloc}, {Py_tp_traverse, look_traverse},
    {Py_tp_clear, look_clear}, {Py_tp_methods, look_methods}, {Py_tp_members, look_members}, {0, NULL},
};
static PyType_Spec look_spec = {"mat._core.Look", sizeof(Look), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, look_slots};

#endif
