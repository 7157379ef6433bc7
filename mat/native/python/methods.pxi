# Functions and methods that get their arguments as the caller has them: a part of mat/_core.pyx.

from types import MethodType

cdef extern from *:
    """
    static void mat_set_vectorcall(PyTypeObject *type, Py_ssize_t offset) {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    /* Calls get the instance before the arguments, without a bound method. */
    static void mat_bind_without_object(PyTypeObject *type) {
        type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
    }
    """
    void mat_set_vectorcall(PyTypeObject *, Py_ssize_t)
    void mat_bind_without_object(PyTypeObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    object PyVectorcall_Call(object, tuple, dict)


cdef class Callee:
    """A base of callable objects: one or two arguments by position are first given to
    `call_plainly`, neither a tuple nor a dictionary is made for them.
    """

    def __cinit__(self):
        self.vectorcall = <void *>call_by_vector

    cdef object call_plainly(self, object x, object y, Py_ssize_t count):
        """Call the function with x, or with `count` 2 also y; return None, with nothing done, for
        arguments that it does not take so.
        """
        return None

    cdef object call_fully(self, tuple args, dict kwargs):
        """Call the function with any arguments; the dictionary may be changed."""
        raise NotImplementedError


cdef object call_by_vector(object callee, PyObject **args, size_t flags, PyObject *names):
    cdef Py_ssize_t count = PyVectorcall_NARGS(flags)
    if names == NULL and (count == 1 or count == 2):
        found = (<Callee>callee).call_plainly(<object>args[0], <object>args[count - 1], count)
        if found is not None:
            return found
    return (<Callee>callee).call_fully(positional(args, count), keywords(args, count, names))


cdef tuple positional(PyObject **args, Py_ssize_t count):
    """Return the arguments by position of a call."""
    cdef Py_ssize_t k
    cdef tuple found = PyTuple_New(count)
    for k in range(count):
        Py_INCREF(<object>args[k])
        PyTuple_SET_ITEM(found, k, <object>args[k])
    return found


cdef dict keywords(PyObject **args, Py_ssize_t count, PyObject *names):
    """Return the arguments by name of a call, which come after `count` others."""
    cdef Py_ssize_t k
    if names == NULL:
        return {}
    return {name: <object>args[count + k] for k, name in enumerate(<tuple>names)}


cdef Callee a_callee = Callee()


def give_vectorcall(type kind):
    """Let `call_by_vector` call objects of a class derived from `Callee`; those that are methods as
    attributes of a class get the instance before the arguments. One derived from `Relay` stays one.
    """
    if issubclass(kind, Relay):
        mat_set_vectorcall(<PyTypeObject *>kind,
                           <char *>&a_relay.vectorcall - <char *><PyObject *>a_relay)
        return
    if not issubclass(kind, Callee):
        raise TypeError(kind)
    mat_set_vectorcall(<PyTypeObject *>kind,
                       <char *>&a_callee.vectorcall - <char *><PyObject *>a_callee)
    if hasattr(kind, "__get__"):
        mat_bind_without_object(<PyTypeObject *>kind)


cdef class PackedMethod:
    """A method that NumPy calls with a tuple and a dictionary of arguments: its function gets
    these, self in the tuple, where it would have both made anew; the dictionary may be None.
    """

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        return self.function(args, kwargs)


cdef object call_packed(object method, object args, PyObject *kwargs):
    return (<PackedMethod>method).function(args, None if kwargs == NULL else <object>kwargs)


(<PyTypeObject *>PackedMethod).tp_call = <ternaryfunc><void *>call_packed


cdef class Relay:
    """A function that passes its arguments on as they come, to `function`.

    For an object of the class `kind` that this returns, unless it is one of the arguments,
    `returned` gives the result; after an error of the classes `errors`, but not of those in
    `passing`, `failed` does, which gets the tuple and the dictionary of the arguments. Calls with
    nothing but numbers by position go to `of_numbers` instead, if there is one.
    """

    def __cinit__(self, function, kind=None, returned=None, tuple passing=(), tuple errors=(),
                  failed=None):
        self.vectorcall = <void *>relay_by_vector
        self.function, self.kind, self.returned = function, kind, returned
        self.passing, self.errors, self.failed = passing, errors, failed
        self.of_numbers = None

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return repr(self.function)


cdef class RelayMethod(Relay):
    """A `Relay` that is a method where it is an attribute of a class."""

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)


cdef bint is_given(PyObject *found, PyObject **args, size_t flags, PyObject *names):
    """Return whether an object is one of the arguments, as what is given as ``out=``."""
    cdef Py_ssize_t k, count = PyVectorcall_NARGS(flags)
    if names:
        count += len(<tuple>names)
    for k in range(count):
        if args[k] == found:
            return True
    return False


cdef bint are_numbers(PyObject **args, Py_ssize_t count):
    """Return whether arguments are numbers of Python or NumPy."""
    cdef Py_ssize_t k
    for k in range(count):
        value = <object>args[k]
        if not (PyFloat_Check(value) or PyLong_Check(value) or PyComplex_Check(value)
                or is_number_of_numpy(value)):
            return False
    return count > 0


cdef object relay_by_vector(object called, PyObject **args, size_t flags, PyObject *names):
    cdef Py_ssize_t count
    cdef Relay relay = <Relay>called
    if (relay.of_numbers is not None and names == NULL
            and are_numbers(args, PyVectorcall_NARGS(flags))):
        return PyObject_Vectorcall(relay.of_numbers, args, flags, NULL)
    try:
        found = PyObject_Vectorcall(relay.function, args, flags, names)
    except relay.passing:
        raise
    except relay.errors:
        found = None
    else:
        if type(found) is not relay.kind or is_given(<PyObject *>found, args, flags, names):
            return found
        return relay.returned(found)
    count = PyVectorcall_NARGS(flags)
    return relay.failed(positional(args, count), keywords(args, count, names))


cdef Relay a_relay = Relay(None)
mat_set_vectorcall(<PyTypeObject *>Relay,
                   <char *>&a_relay.vectorcall - <char *><PyObject *>a_relay)
mat_set_vectorcall(<PyTypeObject *>RelayMethod,
                   <char *>&a_relay.vectorcall - <char *><PyObject *>a_relay)
mat_bind_without_object(<PyTypeObject *>RelayMethod)
