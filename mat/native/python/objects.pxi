# Objects of a class: those that live, and how they are made: a part of mat/_core.pyx.

cdef extern from *:
    """
    /* Python does so by itself but for operators that have a reflected form, of which Cython makes
       methods, too; it is undone where an attribute of that name is set on the class */
    static void mat_inherit_operators(PyObject *type, PyObject *from) {
        PyNumberMethods *own = ((PyTypeObject *)type)->tp_as_number;
        const PyNumberMethods *base = ((PyTypeObject *)from)->tp_as_number;
        own->nb_add = base->nb_add;
        own->nb_subtract = base->nb_subtract;
        own->nb_multiply = base->nb_multiply;
        own->nb_true_divide = base->nb_true_divide;
        own->nb_floor_divide = base->nb_floor_divide;
        own->nb_remainder = base->nb_remainder;
        own->nb_divmod = base->nb_divmod;
        own->nb_matrix_multiply = base->nb_matrix_multiply;
        own->nb_and = base->nb_and;
        own->nb_or = base->nb_or;
        own->nb_xor = base->nb_xor;
        own->nb_lshift = base->nb_lshift;
        own->nb_rshift = base->nb_rshift;
    }

    /* Objects of the class have no references in which a cycle could be found, as NumPy's arrays:
       the garbage collector need not know them. Classes derived from it are tracked, as all are.
       Python would look for the compiled base that ends each object. */
    static destructor mat_end_fields; /* of that base */

    static void mat_end_object(PyObject *object) {
        PyTypeObject *type = Py_TYPE(object);
        mat_end_fields(object);
        Py_DECREF(type);
    }

    /* The memory of some of them is used again. */
    enum { MAT_MOST_KEPT = 64 };
    static void *mat_kept[MAT_MOST_KEPT];
    static int mat_kept_count;

    static void mat_keep(void *object) {
        if (mat_kept_count < MAT_MOST_KEPT)
            mat_kept[mat_kept_count++] = object;
        else
            PyObject_Free(object);
    }

    /* A new object with the fields of another one that is still to be set up: those that are
       objects are None. */
    static PyObject *mat_made_like(PyObject *begun, Py_ssize_t fields_of_none) {
        PyTypeObject *type = Py_TYPE(begun);
        const size_t size = (size_t)type->tp_basicsize;
        PyObject *made = mat_kept_count ? (PyObject *)mat_kept[--mat_kept_count]
                                        : (PyObject *)PyObject_Malloc(size);
        if (made == NULL)
            return PyErr_NoMemory();
        memcpy(made, begun, size);
        for (Py_ssize_t k = 0; k < fields_of_none; k++)
            Py_INCREF(Py_None);
        return PyObject_Init(made, type);
    }

    static Py_ssize_t mat_fields_of_none(PyObject *begun) {
        PyObject **field = (PyObject **)((char *)begun + sizeof(PyObject));
        PyObject **end = (PyObject **)((char *)begun + Py_TYPE(begun)->tp_basicsize);
        Py_ssize_t found = 0;
        while (field < end)
            found += *field++ == Py_None;
        return found;
    }

    static void mat_untrack(PyObject *type) {
        PyTypeObject *kind = (PyTypeObject *)type, *base = kind;
        while (base->tp_dealloc == kind->tp_dealloc)
            base = base->tp_base;
        mat_end_fields = base->tp_dealloc;
        kind->tp_dealloc = mat_end_object;
        kind->tp_flags &= ~Py_TPFLAGS_HAVE_GC;
        kind->tp_traverse = NULL;
        kind->tp_clear = NULL;
        kind->tp_free = mat_keep;
        PyType_Modified(kind);
    }
    """
    void mat_inherit_operators(object kind, object operators)
    void mat_untrack(object kind)
    object mat_made_like(object begun, Py_ssize_t fields_of_none)
    Py_ssize_t mat_fields_of_none(object begun)


cdef class LiveObjects:
    """A list of objects that does not keep them: each is removed from it when it is freed."""

    def __dealloc__(self):
        free(self.slots)

    cdef Py_ssize_t add(self, object one) except -1:
        """Add an object; return its place, which is above 0."""
        cdef Py_ssize_t place = self.free_slot
        cdef Py_ssize_t room
        cdef void *slots
        if place:
            self.free_slot = <Py_ssize_t>(<uintptr_t>self.slots[place] >> 1)
        else:
            place = self.used if self.used else 1
            if place >= self.room:
                room = 2 * self.room if self.room else 64
                slots = realloc(self.slots, room * sizeof(void *))
                if slots == NULL:
                    raise MemoryError
                self.slots, self.room = <void **>slots, room
            self.used = place + 1
        self.slots[place] = <void *>one
        return place

    cdef void remove(self, Py_ssize_t place) noexcept:
        """Remove the object at that place; 0 is none."""
        if place:
            self.slots[place] = <void *>((<uintptr_t>self.free_slot << 1) | 1)
            self.free_slot = place

    cdef object at(self, Py_ssize_t place):
        """Return the object that is at that place now; None if none is, or it is being freed."""
        cdef PyObject *one
        if place <= 0 or place >= self.used:
            return None
        one = <PyObject *>self.slots[place]
        return None if <uintptr_t>one & 1 or Py_REFCNT(one) <= 0 else <object>one

    cpdef list all(self):
        """Return the objects, but for those that are being freed."""
        cdef list found = []
        cdef Py_ssize_t k = 1
        cdef PyObject *one
        while k < self.used:  # to append may collect garbage, which changes the slots
            one = <PyObject *>self.slots[k]
            if not <uintptr_t>one & 1 and Py_REFCNT(one) > 0:
                found.append(<object>one)
            k += 1
        return found


cdef class Maker:
    """Makes objects of a class without calling its `__init__`."""

    def set_type(self, type kind, type operators):
        """Make objects of that class from now on; call operators that it has from its base
        `operators` as that does, not by looking up ``__add__`` and its like.
        """
        self.kind = kind
        mat_inherit_operators(kind, operators)
        give_buffer(kind)
        mat_untrack(kind)
        self.making = True  # no other code runs: objects of just this class are not tracked
        try:
            self.begun = (<PyTypeObject *>kind).tp_new(kind, <PyObject *>NOTHING, NULL)
        finally:
            self.making = False
        self.fields_of_none = mat_fields_of_none(self.begun)

    cdef object make(self):
        """Return a new object, whose attributes are still to be set."""
        return mat_made_like(self.begun, self.fields_of_none)

    cdef object make_like(self, object other):
        """Return a new object of the class of `other`, which is that of the maker or derived.

        A `__new__` of the derived class is not called: its parameters are not known.
        """
        if type(other) is self.kind:
            return self.make()
        return (<PyTypeObject *>self.kind).tp_new(<type>type(other), <PyObject *>NOTHING, NULL)


cdef tuple NOTHING = ()
