"""What Python asks of an object, asked of Mats and of arrays with the same elements: the same
answers, but for those listed.

Answers are compared with their types: rows are Mats where NumPy has arrays, elements are NumPy's
scalars for both, Python numbers stay Python numbers. Refusals must be of the same kind of error.
"""

import copy
import math
import operator
from collections.abc import Container, Hashable, Iterable, Iterator, Sized

import numpy as np
import pytest

import mat
from mat.support.dtypes import EXTENSIONS

from ..support.layouts import place

NAN = float("nan")

ARITHMETIC = {  # which gives NumPy's scalars for arrays without axes, but always Mats
    "neg": operator.neg, "abs": abs, "divmod": lambda x: divmod(x, 2),
    "divmod of": lambda x: divmod(5, x),
    "floordiv": lambda x: x // 2, "mod": lambda x: x % 2, "invert": operator.invert,
    "and": lambda x: x & x,
    "shift": lambda x: x << 1,
}
CALLS = {
    "float": float, "int": int, "complex": complex, "bool": bool, "index": operator.index,
    "not": operator.not_,
    "round": round, "round to one": lambda x: round(x, 1), "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc,
    "hash": hash, "format": lambda x: f"{x:.2f}", "format nothing": lambda x: f"{x}",
    "str format": "{:>9}".format,
    "percent": lambda x: operator.mod("%d", x),
    "percent s": lambda x: operator.mod("%s", (x,)) != "",
    "range": lambda x: list(range(x)), "as an index": lambda x: [10, 11, 12, 13, 14][x],
    "as a bound": lambda x: "abcdef"[x:],
    "times a list": lambda x: operator.mul([7], operator.index(x)),
    "len": len, "list": list, "tuple": tuple, "reversed": lambda x: list(reversed(x)),
    "iter": lambda x: next(iter(x), "end"),
    "iterator": lambda x: isinstance(iter(x), Iterator),
    "unpack": lambda x: operator.itemgetter(0, 1)([*x]),
    "enumerate": lambda x: list(enumerate(x)), "zip": lambda x: list(zip(x, x, strict=True)),
    "star": lambda x: [*x, *x],
    "sorted": sorted, "builtin max": max, "builtin sum": sum, "builtin any": any,
    "builtin all": all,
    "in": lambda x: 1 in x, "not in": lambda x: 100 not in x, "huge in": lambda x: 10**30 in x,
    "nan in": lambda x: NAN in x,
    "None in": lambda x: None in x, "text in": lambda x: "a" in x, "complex in": lambda x: 1j in x,
    "self in": lambda x: x in x,
    "list in": lambda x: [0, 1, 2] in x, "row in": lambda x: x[-1] in x,
    "column in": lambda x: [[1], [2]] in x,
    "wrong length in": lambda x: [0, 1, 2, 3, 4] in x, "object in": lambda x: object() in x,
    "tolist": lambda x: x.tolist(), "item": lambda x: x.item(), "item 0": lambda x: x.item(0),
    "item 2": lambda x: x.item(2),
    "item -1": lambda x: x.item(-1), "item 1, 2": lambda x: x.item(1, 2),
    "item (1, 2)": lambda x: x.item((1, 2)),
    "item -1, -1": lambda x: x.item(-1, -1), "item 1, 3": lambda x: x.item(1, 3),
    "item 'a'": lambda x: x.item("a"),
    "copy": copy.copy, "deepcopy": copy.deepcopy,
    "deepcopy in a list": lambda x: copy.deepcopy([x, 1])[0],
    **{f"is {kind.__name__}": lambda x,
       kind=kind: isinstance(x, kind) for kind in (Container, Hashable, Iterable, Sized)},
    **ARITHMETIC,
}


def has_axes(a):
    return a.ndim > 0


def is_rounded(a):
    return a.dtype.kind not in "bc"  # of float8_e5m2 it is "f", of other extensions "V"


def is_a_real(a):
    return not a.ndim and a.dtype.kind in "iuf" and a.dtype.char not in EXTENSIONS


DIFFERENCES = {  # from NumPy: where, what a Mat does instead, and why
    ("float", "int", "complex", "floor", "ceil", "percent"): (
        lambda a: a.ndim and a.size == 1, lambda call, a: call(a.item()),
        "any Mat of one element is a number; NumPy requires it to be without axes since 2.4"),
    ("hash",): (lambda a: not a.ndim, lambda call, a: None if a != a else call(a.item()),
                "without axes, a Mat has the hash of the number; each object that is NaN its own"),
    ("is Hashable",): (lambda a: True, lambda call, a: True, "likewise"),
    ("format",): (has_axes, lambda call, a: None, "formats each element; NumPy refuses"),
    ("str format",): (has_axes, lambda call, a: None, "likewise"),
    ("format nothing",): (has_axes, lambda call, a: None, "without a format, what print shows: the "
                                                          "Mat with its facets"),
    ("trunc",): (lambda a: a.size == 1, lambda call, a: call(a.item()),
                 "a Mat of one element is a number"),
    ("round",): (is_rounded, lambda call, a: call(a[()]) if is_a_real(a) else None,
                 "a Mat without axes rounds as NumPy's scalars do, others round each element"),
    ("round to one",): (
        is_rounded, lambda call, a: np.asarray(call(a[()])) if is_a_real(a) else None,
        "likewise, and gives a Mat"),
    ("text in",): (lambda a: a.dtype.char in EXTENSIONS, lambda call, a: False,
                   "as for other dtypes; ml_dtypes raises TypeError"),
}
BY_NAME = {name: difference for names, difference in DIFFERENCES.items() for name in names}


def outcome(call, x):
    """What `call` gives, or the kind of error."""
    try:
        with np.errstate(all="ignore"):
            return call(x)
    except (TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        return next(kind for kind in (TypeError, IndexError, OverflowError, ValueError)
                    if isinstance(error, kind))


def check_same(got, expected, arithmetic=False):
    """That the answers are the same, type for type."""
    if isinstance(expected, np.ndarray) or (arithmetic and isinstance(expected, np.generic)):
        assert type(got) is mat.Mat
        assert got.dtype == expected.dtype
        # of the NaN of ml_dtypes, NumPy does not know that it is one
        wide = "float64" if got.dtype.char in EXTENSIONS else got.dtype
        np.testing.assert_array_equal(got.to_numpy().astype(wide),
                                      np.asarray(expected).astype(wide), strict=True)
        return
    assert type(got) is type(expected)
    if isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            check_same(g, e, arithmetic)
    else:
        assert got == expected or (got != got and expected != expected)


SHAPES = [(), (1,), (1, 1), (3,), (2, 3), (0,), (2, 0), (2, 2, 2)]
VALUES = [1, 0, 2, 1, 0, 2, 1, 1]


def arrays(name):
    for shape in SHAPES:
        yield np.resize(VALUES, shape).astype(mat.zeros(1, dtype=name).dtype)
    if name in ("float64", "complex64"):
        yield np.array(NAN, name)
        yield np.array([NAN, math.inf, -0.0], name)


@pytest.mark.parametrize("dtype", mat.supported_dtypes)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.sample(12)
def test_answers_are_numpys(name, dtype):
    call = CALLS[name]
    for a in arrays(dtype):
        for layout in ("packed", "transposed", "strided"):
            x = place(a, layout)
            expected = outcome(call, a)
            differs = BY_NAME.get(name)
            if differs is not None and differs[0](a):
                expected = outcome(lambda b, instead=differs[1]: instead(call, b), a)
                if expected is None:
                    call(x)  # tested elsewhere, but no error
                    continue
            check_same(outcome(call, x), expected, name in ARITHMETIC)


def test_the_differences_are_some():
    for name, (where, instead, reason) in BY_NAME.items():
        a = next(a for dtype in ("float64", "bfloat16") for a in arrays(dtype) if where(a))
        assert reason
        mine, numpys = outcome(lambda b, i=instead, n=name: i(CALLS[n], b),
                               a), outcome(CALLS[name], a)
        assert mine is None or mine is not numpys


def test_rows_are_views():
    x = mat.zeros(3, 2)
    for k, row in enumerate(x):
        row.fill_(k)
    next(reversed(x)).fill_(7)
    assert x.tolist() == [[0, 0], [1, 1], [7, 7]]


def test_copies_share_nothing():
    x = mat.zeros(3)
    for y in (copy.copy(x), copy.deepcopy(x), *copy.deepcopy((x, x[1:]))):
        y.fill_(1)
    assert x.tolist() == [0, 0, 0]
