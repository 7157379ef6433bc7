"""Docstrings of public names follow numpydoc: a sentence of one line, then sections that name the
parameters, what is returned, and examples.

Run as a module (``python -m tests.package.test_docstrings``), this file prints what is missing.
"""

import inspect
import sys
import types

import pytest

import mat
import mat.array_api
from mat import Mat
from mat.matrix.methods import Methods
from mat.ops.operation import Op

from ..matrix.test_methods import DECLARED
from ..support.docstrings import described, faults, faults_of_summary, sections
from .test_surface import BLAS, FILES, FUSED, METHODS, RANDOM, SCALING, SHAPING, WINDOWS

pytestmark = pytest.mark.host

WITH_EXAMPLE = {*SHAPING, *BLAS, *FUSED, *SCALING, *WINDOWS, *RANDOM, *FILES, "zeros", "ones",
                "full", "empty", "eye", "arange", "array", "from_numpy", "allclose", "with_facets",
                "barrier", "scratch", "ones_view", "show"}
PLAIN_VALUES = {"supported_dtypes", "__version__"}
MADE_BY_MAT = {"extend.Op"}  # classes that users get instances of and do not call
# public names whose docstrings do not comply yet
OPEN = """
    Mat zeros ones full empty eye arange array from_numpy from_dlpack allclose settings
    configure concat stack map_concat map_displacements map_into transpose asum nrm2 dot vdot
    iamax scal axpy copy swap gemv ger gemm syrk trsm gemm_batched matmul multi_dot inv slogdet
    solve cholesky square sqrt log exp sin cos tan sinh cosh tanh abs negative sign log1p expm1
    floor ceil rint erf reciprocal logistic pow add subtract multiply divide minimum maximum
    equal not_equal less less_equal greater greater_equal geem geerv add_sign sum mean prod max
    min argmax argmin scale_rows scale_columns convolve derive_convolve max_pool derive_max_pool
    Rng seed multivariate_normal use_device use_cuda set_device cuda_available prefetch
    with_facets FacetState Direction barrier scratch ones_view kernel show show_config
    memory_report trace debug extend save load save_all load_all ConflictError Mat.abs Mat.abs_
    Mat.accept_torn Mat.add_ Mat.add_sign_ Mat.adjust_ Mat.all Mat.allowed Mat.any Mat.argmax
    Mat.argmin Mat.argsort Mat.assign_ Mat.astype Mat.axpy_ Mat.bernoulli_ Mat.broadcast_to
    Mat.ceil Mat.ceil_ Mat.cholesky Mat.clip Mat.conj Mat.contiguous Mat.convolve_ Mat.copy
    Mat.copy_ Mat.cos Mat.cos_ Mat.cosh Mat.cosh_ Mat.cumprod Mat.cumsum Mat.derive_max_pool_
    Mat.device Mat.diagonal Mat.displace Mat.displace_ Mat.divide_ Mat.drop Mat.equal_
    Mat.equals Mat.erf Mat.erf_ Mat.exp Mat.exp_ Mat.expand_dims Mat.expm1 Mat.expm1_ Mat.facet
    Mat.fill_ Mat.fill_value Mat.flatten Mat.floor Mat.floor_ Mat.geem_ Mat.geerv_ Mat.gemm_
    Mat.gemm_batched_ Mat.gemv_ Mat.ger_ Mat.greater_ Mat.greater_equal_ Mat.inv
    Mat.is_contiguous Mat.item Mat.keep Mat.label Mat.less_ Mat.less_equal_ Mat.load_ Mat.log
    Mat.log1p Mat.log1p_ Mat.log_ Mat.logistic Mat.logistic_ Mat.mT Mat.max Mat.max_pool_
    Mat.maximum_ Mat.mean Mat.min Mat.minimum_ Mat.multiply_ Mat.negative Mat.negative_
    Mat.nonzero Mat.normal_ Mat.not_equal_ Mat.orthogonal_ Mat.over Mat.permute Mat.pow_
    Mat.prod Mat.ravel Mat.ravel_index Mat.read_ Mat.reciprocal Mat.reciprocal_ Mat.repeat
    Mat.replace_ Mat.reshape Mat.reshape_ Mat.rint Mat.rint_ Mat.round Mat.row_ Mat.scal_
    Mat.scale_columns_ Mat.scale_rows_ Mat.searchsorted Mat.sign Mat.sign_ Mat.sin Mat.sin_
    Mat.sinh Mat.sinh_ Mat.slogdet Mat.sqrt Mat.sqrt_ Mat.square Mat.square_ Mat.squeeze Mat.std
    Mat.subtract_ Mat.sum Mat.sum_ Mat.swap_ Mat.swapaxes Mat.syrk_ Mat.take Mat.tan Mat.tan_
    Mat.tanh Mat.tanh_ Mat.to_device Mat.to_numpy Mat.tolist Mat.trace Mat.transpose Mat.trsm_
    Mat.uniform_ Mat.var Mat.view Mat.view_ Mat.window Mat.write extend.Accumulated extend.Facet
    extend.InOut extend.Input extend.InputOrNumber extend.Memory extend.Op extend.Output
    extend.Scalar extend.observe extend.op extend.register_facet extend.register_memory
    debug.AllocationCounter debug.CopyCounter debug.CopyGuard debug.LibraryCall
    debug.allow_conflicts debug.check_directions debug.count_allocations debug.count_copies
    debug.expect_copies debug.guard debug.list_calls errors.ConflictError
    array_api.__array_namespace_info__ array_api.arange array_api.asarray array_api.empty
    array_api.empty_like array_api.eye array_api.full array_api.full_like array_api.linspace
    array_api.meshgrid array_api.ones array_api.ones_like array_api.tril array_api.triu
    array_api.zeros array_api.zeros_like array_api.astype array_api.can_cast
    array_api.complex128 array_api.finfo array_api.iinfo array_api.isdtype array_api.result_type
    array_api.from_dlpack array_api.abs array_api.acos array_api.acosh array_api.add
    array_api.asin array_api.asinh array_api.atan array_api.atan2 array_api.atanh
    array_api.bitwise_and array_api.bitwise_invert array_api.bitwise_left_shift
    array_api.bitwise_or array_api.bitwise_right_shift array_api.bitwise_xor array_api.ceil
    array_api.clip array_api.conj array_api.copysign array_api.cos array_api.cosh
    array_api.divide array_api.equal array_api.exp array_api.expm1 array_api.floor
    array_api.floor_divide array_api.greater array_api.greater_equal array_api.hypot
    array_api.imag array_api.isfinite array_api.isinf array_api.isnan array_api.less
    array_api.less_equal array_api.log array_api.log1p array_api.log2 array_api.log10
    array_api.logaddexp array_api.logical_and array_api.logical_not array_api.logical_or
    array_api.logical_xor array_api.maximum array_api.minimum array_api.multiply
    array_api.negative array_api.nextafter array_api.not_equal array_api.positive array_api.pow
    array_api.real array_api.reciprocal array_api.remainder array_api.round array_api.sign
    array_api.signbit array_api.sin array_api.sinh array_api.sqrt array_api.square
    array_api.subtract array_api.tan array_api.tanh array_api.trunc array_api.broadcast_arrays
    array_api.broadcast_shapes array_api.broadcast_to array_api.concat array_api.expand_dims
    array_api.flip array_api.matrix_transpose array_api.moveaxis array_api.permute_dims
    array_api.repeat array_api.reshape array_api.roll array_api.squeeze array_api.stack
    array_api.tile array_api.unstack array_api.matmul array_api.tensordot array_api.vecdot
    array_api.argsort array_api.isin array_api.nonzero array_api.searchsorted array_api.sort
    array_api.take array_api.take_along_axis array_api.unique_all array_api.unique_counts
    array_api.unique_inverse array_api.unique_values array_api.where array_api.all array_api.any
    array_api.argmax array_api.argmin array_api.count_nonzero array_api.cumulative_prod
    array_api.cumulative_sum array_api.diff array_api.max array_api.mean array_api.min
    array_api.prod array_api.std array_api.sum array_api.var array_api.fft.fft
    array_api.fft.fftfreq array_api.fft.fftn array_api.fft.fftshift array_api.fft.hfft
    array_api.fft.ifft array_api.fft.ifftn array_api.fft.ifftshift array_api.fft.ihfft
    array_api.fft.irfft array_api.fft.irfftn array_api.fft.rfft array_api.fft.rfftfreq
    array_api.fft.rfftn array_api.linalg.cholesky array_api.linalg.cross array_api.linalg.det
    array_api.linalg.diagonal array_api.linalg.eig array_api.linalg.eigh
    array_api.linalg.eigvals array_api.linalg.eigvalsh array_api.linalg.inv
    array_api.linalg.matmul array_api.linalg.matrix_norm array_api.linalg.matrix_power
    array_api.linalg.matrix_rank array_api.linalg.matrix_transpose array_api.linalg.outer
    array_api.linalg.pinv array_api.linalg.qr array_api.linalg.slogdet array_api.linalg.solve
    array_api.linalg.svd array_api.linalg.svdvals array_api.linalg.tensordot
    array_api.linalg.trace array_api.linalg.vecdot array_api.linalg.vector_norm
"""
NOT_YET = set(OPEN.split())


def public_names():
    """Every public name outside of `mat.array_api`, such as ``zeros``, ``Mat.axpy_`` or
    ``debug.guard``.
    """
    spaces = {"extend": mat.extend, "debug": mat.debug}
    errors = [n for n, v in vars(mat.errors).items() if isinstance(v, type)]
    return [*(n for n in mat.__all__ if n not in PLAIN_VALUES),
            *(f"Mat.{n}" for n in METHODS),
            *(f"{space}.{n}" for space, module in spaces.items() for n in module.__all__),
            *(f"errors.{n}" for n in errors)]


def array_api_names():
    """Every public name of `mat.array_api` and its two namespaces that is a function or a class."""
    spaces = {"array_api": mat.array_api, "array_api.fft": mat.array_api.fft,
              "array_api.linalg": mat.array_api.linalg}
    return [f"{space}.{n}" for space, module in spaces.items() for n in module.__all__
            if inspect.isroutine(getattr(module, n)) or isinstance(getattr(module, n), type | Op)]


def named(name):
    """The object of that name; of `Mat` as it is on the class."""
    if name.startswith("Mat."):
        return inspect.getattr_static(Mat, name[4:])
    found = mat
    for part in name.split("."):
        found = getattr(found, part)
    return found


def returned_by(name, thing):
    """The annotation of what it returns; an operation's says None, but the operation returns."""
    if name.startswith("Mat.") and name[4:] in DECLARED:
        declared = DECLARED[name[4:]][1].returns
        return getattr(declared, "value", declared)
    if isinstance(thing, Op) or not callable(thing):
        return "Mat"
    signature = inspect.signature(thing) if not isinstance(thing, type) else None
    return signature and signature.return_annotation


def missing(name):
    """What the docstring of a public name lacks."""
    thing = named(name)
    if isinstance(thing, types.ModuleType | property) or name in MADE_BY_MAT:
        return faults_of_summary(thing.__doc__)
    doc, other = thing.__doc__, None
    if name.startswith("Mat."):  # such a method may describe the function's operands, self included
        doc = inspect.getdoc(getattr(Mat, name[4:]))
        other = getattr(mat, name[4:].rstrip("_"), None)
    return faults(thing, doc, returned=returned_by(name, thing), example=name in WITH_EXAMPLE,
                  other=other)


@pytest.mark.parametrize("name", [n for n in public_names() if n not in NOT_YET])
def test_public_names_follow_numpydoc(name):
    assert missing(name) == []


@pytest.mark.parametrize("name", [n for n in array_api_names() if n not in NOT_YET])
def test_names_of_the_array_api_follow_numpydoc(name):
    assert missing(name) == []


def test_names_that_do_not_comply_yet_are_public():
    unknown = NOT_YET - {*public_names(), *array_api_names()}
    assert unknown == set()


def test_groups_of_methods_are_described():
    assert [faults_of_summary(base.__doc__) for base in Methods.__mro__[:-1]
            if faults_of_summary(base.__doc__)] == []


# The tests of the tests

GOOD = """Return the sum of two numbers.

    Parameters
    ----------
    x, y : number
        Summands, of any kind:
        also complex.
    *more : number
        Further summands.

    Returns
    -------
    number
        The sum.

    Examples
    --------
    >>> add(1, 2)
    3
    """


def add(x, y, *more) -> int: ...


def test_a_good_docstring_has_no_faults():
    assert faults(add, GOOD, returned="int", example=True) == []
    assert described(sections(GOOD)["Parameters"]) == ["x", "y", "more"]


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("numbers.", "numbers", "full stop"), ("Return the sum of", "What sums", "begins with 'What'"),
    ("Return", "return", "capital"), ("two numbers.", "two" + " " * 100 + "numbers.", "columns"),
    ("x, y : number", "x : number", "the signature has"),
    ("*more : number", "*more, z : number", "the signature has"),
    ("Returns\n    -------", "Returns\n    ----", "no section Returns"),
    ("Examples\n    --------", "", "not in a section Examples"),
    (">>> add(1, 2)", "", "no example"),
    ("numbers.\n\n", "numbers.\n    And more.\n\n", "no empty line"),
])
def test_faults_are_found(old, new, fault):
    assert old in GOOD
    found = faults(add, GOOD.replace(old, new), returned="int", example=True)
    assert any(fault in text for text in found), found


if __name__ == "__main__":
    for public in [*public_names(), *array_api_names()]:
        if found := missing(public):
            sys.stdout.write(f"{public}: {'; '.join(found)}\n")
