"""Calls of NumPy's ufuncs, of each by the number of its operands, except those of matrices."""

import numpy as np

from .numpy_calls import ANY, PAIR, then

ONE = [*ANY, lambda f, o: f(o.a, where=o.m, out=o.out((3, 4), "c16")),
       lambda f, o: f(o.a, dtype="f4", casting="unsafe"),
       lambda f, o: f(o.a, out=o.out((3, 4))), lambda f, o: f(o.a, out=o.array((3, 4), "c16"))]
TWO = [lambda f, o: f(o.a, o.b), lambda f, o: f(o.a, o.row), lambda f, o: f(o.column, o.row),
       lambda f, o: f(o.a, 2),
       lambda f, o: f(2, o.a), lambda f, o: f(o.a, 1.5), lambda f, o: f(np.float64(2), o.a),
       lambda f, o: f(o.a, np.int8(1)),
       lambda f, o: f(o.a, np.ones(4, "f4")), lambda f, o: f(np.ones((3, 4)), o.a),
       lambda f, o: f(o.a, [1, 2, 3, 4]),
       lambda f, o: f(o.point, o.v), lambda f, o: f(o.none, o.i),
       lambda f, o: f(o.a, o.b, out=o.out((3, 4))),
       lambda f, o: f(o.a, o.b, out=o.out((2, 3, 4), "f8")),
       lambda f, o: f(o.a, 1, o.out((3, 4), "c16")),
       lambda f, o: f(o.a, o.b, where=o.m, out=o.out((3, 4), "f8")),
       lambda f, o: f(o.a, o.b, dtype="f8"),
       lambda f, o: f(o.a, o.b, out=o.array((3, 4))),
       lambda f, o: f(np.ones(4), 2.0, out=o.out(4, "f8")),
       lambda f, o: f(2.0, 3.0, out=o.out(2, "f8")), lambda f, o: f(o.a, o.v),
       lambda f, o: f(o.a, o.m),
       lambda f, o: f(o.a, o.i2),
       lambda f, o: f(o.a, None), lambda f, o: f(o.a, "text"), lambda f, o: f.outer(o.v, o.row),
       lambda f, o: f.outer(o.a, [1, 2]),
       *then(lambda f, o, x: f.at(x, (o.i, 0), 2)), *then(lambda f, o, x: f.at(x, 99, 2)),
       lambda f, o: f(o.a, o.b, signature="dd->d", casting="unsafe"),
       lambda f, o: f.accumulate(o.a, 1)]
REDUCING = [
    lambda f, o: f.reduceat(o.v, o.i, dtype="f8"),
    lambda f, o: f.reduce(o.a), lambda f, o: f.reduce(o.c, axis=(0, 2), keepdims=True),
    lambda f, o: f.reduce(o.a, None),
    lambda f, o: f.reduce(o.a, 0, None, o.out(4)), lambda f, o: f.reduce(o.a, 1, "f8"),
    lambda f, o: f.reduce(o.none),
    lambda f, o: f.reduce(o.a, initial=1), lambda f, o: f.reduce(o.a, where=o.m, initial=1),
    lambda f, o: f.reduce(o.point),
    lambda f, o: f.reduce(o.v, out=o.out(())), lambda f, o: f.reduce(o.a, out=o.array(4)),
    lambda f, o: f.reduce(o.a, 1, "f8", None, True)]
# whose reductions depend, in NumPy, on the strides of the operand
IN_ORDER = {"arctan2", "ldexp", "power", "float_power"}
MATRICES = {
    "matmul": [lambda f, o: f(o.a, o.tall), lambda f, o: f(o.v, o.w), lambda f, o: f(o.c, o.tall),
               lambda f, o: f(o.a, o.row),
               lambda f, o: f(o.a, np.ones((4, 2))), lambda f, o: f(o.a, o.tall, out=o.out((3, 3))),
               lambda f, o: f(o.a, 2),
               lambda f, o: f(o.sq, o.sq2, axes=[(0, 1), (0, 1), (0, 1)]), lambda f, o: f(o.a, o.b),
               lambda f, o: f(o.sq, o.i2)],
    "vecdot": PAIR, "matvec": [lambda f, o: f(o.a, o.row)],
    "vecmat": [lambda f, o: f(o.row, o.tall)],
    "clip": [lambda f, o: f(o.a, 0, 1)],
}


def calls_of(ufunc):
    """Return the calls of a ufunc; ufuncs of strings only refuse numbers."""
    if not any(t[0] in "?bBhHiIlLqQefdgFDGO" for t in ufunc.types):
        return [lambda f, o: f(*[o.v] * f.nin)]
    if ufunc.__name__ in MATRICES:
        return MATRICES[ufunc.__name__]
    known = {1: ONE, 2: TWO if ufunc.__name__ in IN_ORDER else TWO + REDUCING}
    return known.get(ufunc.nin) or [lambda f, o: f(*[o.v] * f.nin)]
