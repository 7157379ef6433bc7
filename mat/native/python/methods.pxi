# Methods that get their arguments as the caller has packed them: a part of mat/_core.pyx.

from types import MethodType


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
