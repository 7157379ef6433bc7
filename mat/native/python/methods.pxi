# Functions and methods that get their arguments as the caller has them: a part of mat/_core.pyx.

from types import MethodType

cdef extern from *:
    """
    static void mat_set_vectorcall(PyTypeObject *type, Py_ssize_t offset) {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    """
    void mat_set_vectorcall(PyTypeObject *, Py_ssize_t)
    Py_ssize_t PyVectorcall_NARGS(size_t)


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
    cdef Py_ssize_t k, count = PyVectorcall_NARGS(flags)
    cdef dict kwargs
    if names == NULL and (count == 1 or count == 2):
        found = (<Callee>callee).call_plainly(<object>args[0], <object>args[count - 1], count)
        if found is not None:
            return found
    kwargs = {}
    if names != NULL:
        kwargs = {name: <object>args[count + k] for k, name in enumerate(<tuple>names)}
    return (<Callee>callee).call_fully(tuple([<object>args[k] for k in range(count)]), kwargs)


cdef Callee a_callee = Callee()


def give_vectorcall(type kind):
    """Let `call_by_vector` call objects of a class derived from `Callee`."""
    if not issubclass(kind, Callee):
        raise TypeError(kind)
    mat_set_vectorcall(<PyTypeObject *>kind,
                       <char *>&a_callee.vectorcall - <char *><PyObject *>a_callee)


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
