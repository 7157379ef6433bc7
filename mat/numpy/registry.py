"""The registry of NumPy functions that operations of `mat` implement.

An implementation has NumPy's signature. Where it holds is said when it is registered: of a Mat, of
anything, or on a device only. It raises `LeftToNumPy` where NumPy means something else, or where
the operations of `mat` do not know the arguments; then NumPy computes on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import numpy as np

from ..support.plugins import after_import, imported
from ..support.types import Function, Operand

F = TypeVar("F", bound=Function)

Result: TypeAlias = Any  # of an implementation: Mats or a number
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

IMPLEMENTATIONS: dict[object, Function] = {}  # by NumPy's function
# where these hold: 0 of anything, 1 where the first operand is a Mat, and -n where a device
# computes with the first n operands
HOLDS: dict[object, int] = {}
ON_HOST: set[object] = set()  # functions of which an implementation computes on the host only
# by a ufunc and the name of its method: what computes it while a device is in use
COMPOSED: dict[tuple[np.ufunc, str], Function] = {}
NO_VALUE: Final[Operand] = np._NoValue  # NumPy's default where None is a value


def flag(value: object) -> bool:
    """Return whether an argument such as `keepdims` is true; it is not where it was not given."""
    return value is not NO_VALUE and bool(value)


def numpy_function(name: str) -> Function | None:
    """Return NumPy's function of the dotted `name`, or None in versions that have none."""
    found: object = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def named(function: F, name: str) -> F:
    """Return a function under this name, by which messages about its arguments call it."""
    if not isinstance(function, FunctionType):
        return function
    found = FunctionType(function.__code__, function.__globals__, name, function.__defaults__,
                         function.__closure__)
    found.__qualname__ = name
    return cast("F", update_wrapper(found, function, ("__doc__", "__kwdefaults__", "__module__")))


def implements(*names: str, mats: int = 1, on_device: int = 0,
               of_many: bool = False) -> Callable[[F], F]:
    """Return a decorator that registers an implementation of NumPy's functions of these names.

    `mats`: the first operand has to be a Mat, or with 0 can be anything. `on_device`: a device has
    to compute with so many operands, from the first one on, which are converted to Mats.
    `of_many`: NumPy is faster for few elements, and computes them on the host.
    """
    def register(function: F) -> F:
        for name in names:
            found = numpy_function(name)
            if found is not None:
                IMPLEMENTATIONS[found] = named(function, found.__name__)
                HOLDS[found] = -on_device or mats
                if of_many:
                    OF_MANY.add(found)
        return function
    return register


def composes(*names: str, method: str = "__call__") -> Callable[[F], F]:
    """Return a decorator that registers the composition of a ufunc, or of a method, on devices."""
    def register(function: F) -> F:
        for name in names:
            found = numpy_function(name)
            if isinstance(found, np.ufunc):
                COMPOSED[found, method] = function
        return function
    return register


# The modules of `composites`, each imported when one of the functions that they implement is first
# called; those with a star are computed by operations on devices only: elsewhere nothing has to be
# imported for them


_TABLE = {
    "arranging":
        "block diag diagflat* fft.fftshift fft.ifftshift fill_diagonal* meshgrid pad repeat "
        "resize* roll tile tril triu",
    "calculus":
        "convolve* correlate* ediff1d* gradient interp* polyadd* polyder* polyint* polymul* "
        "polysub* polyval* trapezoid vander*",
    "creation":
        "asanyarray asarray ascontiguousarray astype broadcast_arrays copy empty_like frombuffer "
        "full_like geomspace imag linspace logspace ones_like permute_dims ravel real reshape tri "
        "zeros_like",
    "elementwise":
        "allclose* angle array_equal array_equiv* around clip fix* isclose iscomplex isneginf "
        "isposinf isreal may_share_memory packbits* piecewise real_if_close round shares_memory "
        "sinc unpackbits* unwrap",
    "fourier":
        "fft.fft fft.fft2 fft.fftfreq fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft "
        "fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq fft.rfftn",
    "joining": "append column_stack concat delete dstack hstack insert stack trim_zeros vstack",
    "linear_algebra":
        "linalg.cholesky linalg.cond* linalg.det* linalg.eig* linalg.eigh* linalg.eigvals* "
        "linalg.eigvalsh* linalg.inv linalg.lstsq* linalg.matrix_norm* linalg.matrix_rank* "
        "linalg.norm linalg.pinv* linalg.qr* linalg.slogdet* linalg.solve linalg.svd* "
        "linalg.svdvals* linalg.vector_norm*",
    "products":
        "cross* dot einsum inner kron linalg.cross* linalg.matmul linalg.matrix_power* "
        "linalg.multi_dot linalg.outer linalg.tensordot outer tensordot vdot",
    "quantiles": "median* nanmedian* nanpercentile* nanquantile* percentile* quantile*",
    "reductions":
        "all amax amin any argmax argmin average corrcoef count_nonzero cov cumprod cumsum "
        "cumulative_prod cumulative_sum diff linalg.trace max mean min nanargmax nanargmin "
        "nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar prod ptp std sum "
        "trace var",
    "selection":
        "apply_over_axes argwhere choose compress* copyto diag_indices_from* extract* "
        "flatnonzero nan_to_num nonzero place put put_along_axis* putmask ravel_multi_index "
        "select take take_along_axis* tril_indices_from* triu_indices_from* unravel_index* where",
    "sorting":
        "argpartition* argsort bincount digitize histogram* histogram2d* histogram_bin_edges* "
        "histogramdd intersect1d* isin* lexsort partition* searchsorted* setdiff1d* setxor1d* sort "
        "sort_complex* union1d* unique unique_all* unique_counts unique_inverse unique_values",
    "ufuncs": "linalg.vecdot*",
}
MODULES = {module: names.replace("*", "") for module, names in _TABLE.items()}
# the modules that compose ufuncs on devices, until they are imported, and these ufuncs
_COMPOSING = {
    "elementwise": "bitwise_count",
    "ufuncs":
        "degrees fabs float_power frexp ldexp logaddexp2 matvec modf positive radians spacing "
        "vecdot vecmat"}
COMPOSED_NAMES: frozenset[str] = frozenset(" ".join(_COMPOSING.values()).split())
# functions whose implementations alone know what docstrings say: which keywords they have beyond
# those of some version of NumPy, or that the host computes
OF_OWN_KIND: frozenset[str] = frozenset((
    "argsort", "astype", "clip", "fftfreq", "frombuffer", "reshape", "rfftfreq", "sort",
    "unique"))
# the modules that may not be imported yet, by functions; absent ones are of other versions of NumPy
WAITING: dict[object, str] = {
    function: module for module, names in MODULES.items() for name in names.split()
    if not name.startswith("fft.") and (function := numpy_function(name)) is not None}
ON_DEVICES: frozenset[object] = frozenset(
    function for names in _TABLE.values() for name in names.split() if name.endswith("*")
    if (function := numpy_function(name[:-1])) is not None)
# those that NumPy computes faster for few elements
OF_MANY: set[object] = set(ON_DEVICES)


# NumPy imports it when it is used
after_import("numpy.fft", lambda fft: WAITING.update(
    (getattr(fft, name.removeprefix("fft.")), module) for module, names in MODULES.items()
    for name in names.split() if name.startswith("fft.")))


def is_implemented(function: object) -> bool:
    """Return whether there is an implementation of NumPy's function."""
    return function in IMPLEMENTATIONS or function in WAITING


def load(function: object) -> None:
    """Register the implementation of NumPy's function, if there is one."""
    module = WAITING.get(function)
    if module is not None:
        _import(module)


def load_all() -> None:
    """Register all implementations."""
    for module in MODULES:
        _import(module)


def load_composed() -> None:
    """Register the compositions of ufuncs on devices."""
    for module in tuple(_COMPOSING):
        _import(module)
    _COMPOSING.clear()


def _import(module: str) -> None:
    imported(f"{__package__}.composites.{module}")  # which waits for a thread that does so
    for function in [f for f, m in list(WAITING.items()) if m == module]:
        WAITING.pop(function, None)
