"""NumPy's names in `mat`, made on demand: the table of their meaning, and its lookup.

The table holds the names of NumPy 2.0 to 2.5; one that the installed NumPy lacks does not exist.
Names that `mat` declares itself, such as ``mat.exp``, are found before it is asked. A test compares
it with the names of the installed NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from ...devices.device import CPU, Device, DeviceLike, device_named, in_use
from ...errors import DTypeError
from ...support.close_names import no_attribute
from ...support.dtypes import ELEMENT_TYPES, FLOAT8, HALVES
from ...support.options import default_float
from ...support.plugins import plugin
from ...support.types import DType, Function, Operand
from ...support.unbound import unbound

# The kinds of names
FUNCTION: Final = "function"  # NumPy's function, computed by us where we have it, else on the host
UFUNC: Final = "ufunc"  # the same, with the methods and arguments of a ufunc
SAME: Final = "same"  # NumPy's own object
WRAPPED: Final = "wrapped"  # a class or an object of ours in `objects`
ABSENT: Final = "absent"  # exists, and raises an error that names the way out

_ROOT = {
    FUNCTION: """
        all allclose amax amin angle any append apply_along_axis apply_over_axes arange argmax
        argmin argpartition argsort argwhere around array array2string array_equal array_equiv
        array_repr array_split array_str asanyarray asarray asarray_chkfinite ascontiguousarray
        asfortranarray astype atleast_1d atleast_2d atleast_3d average bartlett bincount blackman
        block broadcast_arrays broadcast_to can_cast choose clip column_stack common_type compress
        concat concatenate convolve copy copyto corrcoef correlate count_nonzero cov cross cumprod
        cumsum cumulative_prod cumulative_sum delete diag diag_indices diag_indices_from diagflat
        diagonal diff digitize dot dsplit dstack ediff1d einsum einsum_path empty empty_like
        expand_dims extract eye fill_diagonal fix flatnonzero flip fliplr flipud from_dlpack
        frombuffer fromfile fromiter fromregex fromstring full full_like genfromtxt geomspace
        gradient hamming hanning histogram histogram2d histogram_bin_edges histogramdd hsplit hstack
        i0 identity imag in1d indices inner insert interp intersect1d isclose iscomplex iscomplexobj
        isfortran isin isneginf isposinf isreal isrealobj ix_ kaiser kron lexsort linspace load
        loadtxt logspace mask_indices matrix_transpose max may_share_memory mean median meshgrid min
        min_scalar_type moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean
        nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim nonzero ones
        ones_like outer packbits pad partition percentile permute_dims piecewise place poly polyadd
        polyder polydiv polyfit polyint polymul polysub polyval prod ptp put put_along_axis putmask
        quantile ravel ravel_multi_index real real_if_close repeat require reshape resize
        result_type roll rollaxis roots rot90 round row_stack save savetxt savez savez_compressed
        searchsorted select setdiff1d setxor1d shape shares_memory sinc size sort sort_complex split
        squeeze stack std sum swapaxes take take_along_axis tensordot tile trace transpose trapezoid
        trapz tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
        triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values
        unpackbits unravel_index unstack unwrap vander var vdot vsplit vstack where zeros
        zeros_like""",
    UFUNC: """
        abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
        atan atan2 atanh bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not
        bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate copysign cos cosh
        deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax
        fmin fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan isnat
        lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
        logical_not logical_or logical_xor matmul matvec maximum minimum mod modf multiply negative
        nextafter not_equal positive pow power rad2deg radians reciprocal remainder right_shift rint
        sign signbit sin sinh spacing sqrt square subtract tan tanh true_divide trunc vecdot
        vecmat""",
    SAME: """
        False_ ScalarType True_ base_repr binary_repr bool bool_ broadcast_shapes byte bytes_
        cdouble char character clongdouble complex128 complex256 complex64 complexfloating csingle
        ctypeslib datetime64 double dtype dtypes e errstate euler_gamma exceptions finfo flatiter
        flexible float128 float16 float32 float64 floating format_float_positional
        format_float_scientific generic get_include get_printoptions getbufsize geterr geterrcall
        half iinfo index_exp inexact inf info int16 int32 int64 int8 int_ intc integer intp isdtype
        isscalar issubdtype iterable little_endian long longdouble longlong ma mintypecode nan
        ndindex newaxis number object_ pi polynomial printoptions promote_types rec s_ sctypeDict
        set_printoptions setbufsize seterr seterrcall short show_runtime signedinteger single str_
        strings timedelta64 typecodes typename typing ubyte uint uint16 uint32 uint64
        uint8 uintc uintp ulong ulonglong unsignedinteger ushort void""",
    WRAPPED: """
        broadcast c_ emath fft fromfunction lib linalg mgrid ndarray ndenumerate nditer ogrid poly1d
        r_ random testing ufunc vectorize __array_namespace_info__""",
    ABSENT: """
        asmatrix bmat busday_count busday_offset busdaycalendar datetime_as_string datetime_data
        frompyfunc is_busday matrix memmap nested_iters recarray record test""",
}
_LINALG = {
    FUNCTION: """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
        matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd
        svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm""",
    SAME: "LinAlgError",
}
_FFT = {
    FUNCTION: """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn
        rfft rfft2 rfftfreq rfftn""",
}
_EMATH = {FUNCTION: "arccos arcsin arctanh log log10 log2 logn power sqrt"}
_STRIDE_TRICKS = {FUNCTION: "broadcast_arrays broadcast_shapes broadcast_to sliding_window_view",
                  WRAPPED: "as_strided"}
_LIB = {SAME: "NumpyVersion add_docstring array_utils format introspect mixins npyio scimath",
        WRAPPED: "stride_tricks"}
# `mat.random` has these itself: methods of its `Generator` and `RandomState`, and bit generators
_RANDOM = {
    SAME: "BitGenerator MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence",
    WRAPPED: """
        Generator RandomState beta binomial bytes chisquare choice default_rng dirichlet exponential
        f gamma geometric get_bit_generator get_state gumbel hypergeometric laplace logistic
        lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
        noncentral_f normal pareto permutation poisson power rand randint randn random
        random_integers random_sample ranf rayleigh sample seed set_bit_generator set_state shuffle
        standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular
        uniform vonmises wald weibull zipf""",
}
_MODULES = {"": _ROOT, "linalg": _LINALG, "fft": _FFT, "emath": _EMATH, "random": _RANDOM,
            "lib": _LIB, "lib.stride_tricks": _STRIDE_TRICKS}
MODULES: Final = tuple(_MODULES)


@cache
def kinds(module: str) -> dict[str, str]:
    """Return the kind of each name of a module: ``""`` is NumPy's root, ``"linalg"`` ..."""
    return {name: kind for kind, names in _MODULES[module].items() for name in names.split()}


_DATES = "a Mat has no dates; compute with numpy's arrays of them, or with a Mat of numbers"
_MATRIX = "a Mat with two axes is a matrix, and @ its product: mat.array(data)"
_RECORDS = "a Mat has one number for each element; have a Mat for each field"
# why there is no such thing, and what there is
WAYS_OUT = {
    "asmatrix": _MATRIX, "matrix": _MATRIX, "bmat": "mat.block(arrays) joins blocks",
    "busday_count": _DATES, "busday_offset": _DATES, "busdaycalendar": _DATES,
    "datetime_as_string": _DATES, "datetime_data": _DATES, "is_busday": _DATES,
    "frompyfunc": "it would give objects; mat.vectorize(function) gives numbers",
    "memmap": "mat.open_memmap(path) gives a Mat whose host memory is a file",
    "nested_iters": "iterate with mat.ndindex(x.shape), or over arrays: with x.facet('array') as a:"
                    " numpy.nested_iters(a, axes)",
    "recarray": _RECORDS, "record": _RECORDS,
    "test": "it tests NumPy; the tests of mat are run by python -m pytest tests",
}


def lookup(module: str, name: str) -> Operand:
    """Return the object called `name` in a module of `mat`; raise `AttributeError` if there is
    none.

    `module` is ``""`` for `mat` itself, or ``"linalg"``, ``"fft"`` ...
    """
    kind = kinds(module).get(name)
    if kind is None:
        raise AttributeError(name)
    if kind == ABSENT:
        return _refusal(name)
    if kind == WRAPPED:
        return _wrapped(module, name)
    found = numpy_object(module, name)
    if kind == SAME:
        return found
    if kind == UFUNC:
        return plugin("numpy_ufuncs").make_ufunc(name, found)
    qualified = f"{module}.{name}".lstrip(".")
    return plugin("numpy_functions").make_function(name, found, qualified)


def numpy_object(module: str, name: str) -> Operand:
    """Return NumPy's object; raise `AttributeError` if the installed version has none."""
    found = numpy_module(module)
    return getattr(found if hasattr(found, name) else np, name)


def numpy_module(module: str) -> Operand:
    """Return NumPy's module for a module of the table."""
    found: object = np
    for part in filter(None, module.split(".")):
        found = getattr(found, part)
    return found


def exists(module: str, name: str) -> bool:
    """Return whether `lookup` finds the name with the installed NumPy."""
    known = kinds(module)[name] in (WRAPPED, ABSENT)
    return known or hasattr(numpy_module(module), name) or hasattr(np, name)


def public_names(module: str) -> list[str]:
    """Return the names of the module's table that the installed NumPy has."""
    return sorted(n for n in kinds(module) if exists(module, n))


def usable_names(module: str) -> list[str]:
    """Return the same names without those that only raise an error."""
    return [n for n in public_names(module) if kinds(module)[n] != ABSENT]


def _wrapped(module: str, name: str) -> Operand:
    if module == "random":
        return getattr(plugin("random"), name)
    if name in ("fft", "lib", "linalg", "random", "stride_tricks", "emath", "testing"):
        return plugin(name)
    if name == "__array_namespace_info__":
        return __array_namespace_info__
    return getattr(plugin("numpy_objects"), name)


def _refusal(name: str) -> Operand:
    """Return the function that raises the error for an impossible name."""
    def refuse(*args: object, **kwargs: object) -> None:
        raise DTypeError(f"mat has no {name}: {WAYS_OUT[name]}")

    doc = f"Raise `DTypeError`: {WAYS_OUT[name]}."
    numpys = getattr(np, name)
    if isinstance(numpys, type):
        return type(name, (), {"__doc__": doc, "__module__": "mat", "__new__": refuse})
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = "mat", doc
    return refuse if hasattr(numpys, "__get__") else unbound(refuse)


def module_functions(module: str, store: dict[str, object]) -> tuple[Function,
                                                                     Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are those of the table.

    `store` is the module's dictionary, where names are kept once they are made.
    """
    owner = str(store["__name__"])

    def get(name: str) -> Operand:
        try:
            found = store[name] = lookup(module, name)
        except AttributeError:
            raise no_attribute(sys.modules[owner], f"module 'mat.{module}'", name,
                               usable_names(module)) from None
        return found

    return get, lambda: usable_names(module)


# Support of the Python array API standard in `mat`


_DTYPES = {t.name: np.dtype(t.name) for t in ELEMENT_TYPES
           if t.char not in HALVES + FLOAT8}
_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
          "complex floating", "numeric")


class __array_namespace_info__:  # noqa: N801  # NumPy's name
    """Capabilities, devices and dtypes of `mat`.

    Examples
    --------
    >>> import mat
    >>> mat.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, bool | int]:
        """Return the supported optional parts of the standard.

        Returns
        -------
        dict
            By the standard's names.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device in use.

        Returns
        -------
        Device
            The default of ``device=``.
        """
        return in_use()

    def devices(self) -> list[Device]:
        """Return the devices that ``device=`` accepts in this block.

        Returns
        -------
        list of Device
            The device in use, and the processor.
        """
        return [CPU] if in_use() is CPU else [in_use(), CPU]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, DType]:
        """Return the dtypes of Python's numbers.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.

        Returns
        -------
        dict of str to dtype
            By kind; that of real numbers follows ``mat.settings(dtype=...)``.
        """
        _check(device)
        return {"real floating": default_float(), "complex floating": np.dtype(np.complex128),
                "integral": np.dtype(np.int64), "indexing": np.dtype(np.int64)}

    def dtypes(self, *, device: DeviceLike = None,
               kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes by name.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.
        kind : str or tuple of str, optional
            Only those of a kind, or of several.

        Returns
        -------
        dict of str to dtype
            The standard's dtypes.
        """
        _check(device)
        if kind is None:
            return dict(_DTYPES)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise DTypeError(f"no kind of dtypes {unknown[0]!r}; there are {', '.join(_KINDS)}")
        return {name: d for name, d in _DTYPES.items() if np.isdtype(d, kinds)}


def _check(device: DeviceLike) -> None:
    if device is not None:
        device_named(device)
