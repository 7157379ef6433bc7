"""The modules of `composites` by the NumPy functions that they implement, each imported when one of
these is first called.
"""

from __future__ import annotations

from types import ModuleType

from ..support.plugins import after_import, imported
from .registry import IMPLEMENTATIONS, numpy_function

MODULES = {  # with the functions that they implement
    "arranging":
        "block diag diagflat fft.fftshift fft.ifftshift fill_diagonal meshgrid pad repeat resize "
        "roll tile tril triu",
    "calculus":
        "convolve correlate ediff1d gradient interp polyadd polyder polyint polymul polysub "
        "polyval trapezoid vander",
    "comparison":
        "allclose array_equal array_equiv isclose may_share_memory packbits shares_memory "
        "unpackbits",
    "creation":
        "asanyarray asarray ascontiguousarray astype broadcast_arrays copy empty_like full_like "
        "geomspace imag linspace logspace ones_like permute_dims ravel real reshape tri zeros_like",
    "einsum": "einsum",
    "elementwise":
        "angle around clip fix iscomplex isneginf isposinf isreal piecewise real_if_close round "
        "sinc unwrap",
    "fourier":
        "fft.fft fft.fft2 fft.fftfreq fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft "
        "fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq fft.rfftn",
    "joining": "append column_stack concat delete dstack hstack insert stack trim_zeros vstack",
    "linear_algebra":
        "linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals "
        "linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_norm linalg.matrix_rank linalg.norm "
        "linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals "
        "linalg.vector_norm",
    "plain_views":
        "array_split broadcast_to diagonal dsplit expand_dims flip fliplr flipud hsplit "
        "lib.stride_tricks.sliding_window_view moveaxis rollaxis rot90 split squeeze swapaxes "
        "vsplit",
    "products":
        "cross dot inner kron linalg.cross linalg.matmul linalg.matrix_power linalg.multi_dot "
        "linalg.outer linalg.tensordot outer tensordot vdot",
    "quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "reductions":
        "all amax amin any argmax argmin count_nonzero cumprod cumsum cumulative_prod "
        "cumulative_sum diff linalg.trace max mean min nanargmax nanargmin nancumprod nancumsum "
        "nanmax nanmean nanmin nanprod nanstd nansum nanvar prod sum trace",
    "selection":
        "apply_over_axes argwhere choose compress copyto diag_indices_from extract flatnonzero "
        "nan_to_num nonzero place put put_along_axis putmask ravel_multi_index select take "
        "take_along_axis tril_indices_from triu_indices_from unravel_index where",
    "sorting":
        "argpartition argsort bincount digitize histogram histogram2d histogram_bin_edges "
        "histogramdd intersect1d isin lexsort partition searchsorted setdiff1d setxor1d sort "
        "sort_complex union1d unique unique_all unique_counts unique_inverse unique_values",
    "ufuncs": "linalg.vecdot",
    "variances": "average corrcoef cov ptp std var",
}
# the modules that compose ufuncs on devices, until they are imported
_COMPOSING = ["comparison", "ufuncs"]
# the modules that may not be imported yet, by functions; absent ones are of other versions of NumPy
WAITING: dict[object, str] = {
    function: module for module, names in MODULES.items() for name in names.split()
    if not name.startswith("fft.") and (function := numpy_function(name)) is not None}


def _add_transforms(fft: ModuleType) -> None:
    """Add the functions of ``numpy.fft``, which NumPy imports when it is used."""
    WAITING.update((getattr(fft, name.removeprefix("fft.")), module)
                   for module, names in MODULES.items() for name in names.split()
                   if name.startswith("fft."))


after_import("numpy.fft", _add_transforms)


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
    """Register what composes ufuncs on devices."""
    for module in tuple(_COMPOSING):
        _import(module)
    _COMPOSING.clear()


def _import(module: str) -> None:
    imported(f"{__package__}.composites.{module}")  # which waits for a thread that does so
    for function in [f for f, m in list(WAITING.items()) if m == module]:
        WAITING.pop(function, None)
