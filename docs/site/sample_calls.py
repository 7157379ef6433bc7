"""Calls of functions, for what the reference says of element types: the arguments of each.

In them `m` is a matrix of the type `d`, `v` a vector of three elements, `s` the matrix as an image
of one channel, and `b` a matrix of bools. A name stands for all functions that are called so;
functions that are not here get a matrix for each parameter that has to be given.
"""

from __future__ import annotations


def table(rows: dict[str, str]) -> dict[str, str]:
    """Return a text for each of several names, by rows of a text and its names."""
    return {name: text for text, names in rows.items() for name in names.split()}


CALLS = table({
    # Creation: the type is an argument, or that of an array
    "2, dtype=d": "zeros ones empty eye identity arange tri",
    "0, 1, 3, dtype=d": "linspace logspace",
    "1, 2, 3, dtype=d": "geomspace",
    "(2, 2), 1, dtype=d": "full",
    "(2, 2), dtype=d": "indices",
    "m.to_numpy()": "from_numpy",
    "3": "bartlett blackman hamming hanning diag_indices tril_indices triu_indices fftfreq "
         "rfftfreq",
    "3, 1": "kaiser",
    "3, np.triu": "mask_indices",
    "bytes(16), d": "frombuffer",
    "[1, 0], d": "fromiter",
    # Shapes
    "m, (4,)": "reshape resize mat.Mat.reshape_ mat.Mat.view mat.Mat.view_",
    "m, 1, 0": "swapaxes moveaxis rollaxis",
    "m, 1": "fill_diagonal expand_dims array_split split hsplit vsplit roll take repeat "
            "matrix_power mat.Mat.row_ mat.ldexp",
    "m, 0": "delete argpartition mat.Mat.item mat.Mat.displace mat.Mat.displace_ partition",
    "m[:, :, None], 1": "dsplit",
    "m, (2, 2)": "broadcast_to tile sliding_window_view mat.Mat.adjust_",
    "m, (1, 0)": "mat.Mat.permute",
    "m, m.copy()": "atleast_1d atleast_2d atleast_3d broadcast_arrays meshgrid common_type "
                   "result_type",
    "[m, m.copy()]": "concat concatenate stack hstack vstack dstack column_stack row_stack block "
                     "multi_dot",
    "v, v.copy()": "convolve correlate polymul polyadd polysub polyval ix_ cross outer "
                   "searchsorted append",
    "v, 0, 1": "insert",
    "v, mat.array([2, 0, 1]), 0": "take_along_axis",
    "v, mat.array([2, 0, 1]), v.copy(), 0": "put_along_axis",
    "m, 1, constant_values=0": "pad",
    "m, 0, 1": "clip",
    "np.sum, 0, m": "apply_along_axis",
    "np.sum, m, [0]": "apply_over_axes",
    "lambda x, y: y.assign_(x), [m], m.copy()": "map_concat",
    "lambda x: None, m, (2,)": "map_displacements",
    "m.copy(), lambda x: x, m": "map_into",
    # Elements by position and by masks
    "m, [0], 1": "put mat.Mat.put",
    "b, m": "extract",
    "m, b, [1]": "place putmask",
    "[b], [m]": "select",
    "b, m, m.copy()": "where",
    "m, [b], [1]": "piecewise",
    "[True, False], m, 0": "mat.compress",
    "m, [True, False], 0": "mat.Mat.compress",
    "[[0, 1], [1, 0]], [m, m]": "mat.choose",
    "v, [v, v, v]": "mat.Mat.choose",
    "(mat.array([0, 1]), mat.array([1, 0])), (2, 2)": "ravel_multi_index",
    "mat.array([0, 1]), (2, 2)": "unravel_index",
    # Statistics, polynomials, products
    "v": "bincount roots vander cumulative_sum cumulative_prod polyder polyint poly "
         "trim_zeros",
    "v, [1, 2]": "digitize",
    "v, v.copy(), 2": "histogram2d",
    "v, 2": "histogram histogram_bin_edges",
    "v, 0.5": "quantile nanquantile",
    "v, 50": "percentile nanpercentile",
    "v, v.copy(), v.copy()": "interp",
    "[0, 1, 2], v, 1": "polyfit",
    "v[1:], v[1:].copy()": "polydiv",
    "'ij,jk', m, m.copy()": "einsum einsum_path",
    "m[:, :, None], ind=1": "tensorinv",
    "m, v[1:]": "tensorsolve",
    # BLAS
    "2, m": "scal",
    "2, m, m.copy()": "axpy",
    "1, m, m[0].copy(), 1, m[1].copy()": "gemv",
    "1, m[0].copy(), m[1].copy(), m": "ger",
    "1, m, m.copy(), 1, m.copy()": "gemm geem",
    "1, m, 1, m.copy()": "syrk add_sign",
    "1, m, m.copy()": "trsm",
    "1, m[None].copy(), m[None].copy(), 1, m[None].copy()": "gemm_batched",
    "1, m, m[0].copy(), 1, m.copy()": "geerv",
    "m[0].copy(), m": "scale_rows scale_columns",
    "v[1:], m": "mat.multivariate_normal",
    # Methods that write
    "m, 2": "scal_ fill fill_ normal_ uniform_ orthogonal_",
    "m, 0.5": "bernoulli_",
    "m, 2, m.copy()": "axpy_ trsm_",
    "m, 2, m.copy(), m.copy(), 1": "gemm_ geem_",
    "m[None].copy(), 2, m[None].copy(), m[None].copy(), 1": "gemm_batched_",
    "m[0].copy(), 1, m, m[1].copy(), 1": "gemv_",
    "m, 1, m[0].copy(), m[1].copy()": "ger_",
    "m, 1, m.copy(), 1": "syrk_ add_sign_",
    "m, 1, m.copy(), m[0].copy(), 1": "geerv_",
    "m, m[0].copy()": "scale_rows_ scale_columns_",
    "m[0].copy(), m.copy(), 0": "mat.Mat.sum_",
    # Convolution, pooling, numbers with scales
    "s, s.copy()": "mat.nn.conv",
    "s, s.copy(), s.copy(), None, s[:, :, :1, :1].copy()": "derive_conv",
    "m, m.copy(), m.copy()": "mat.nn.convolve convolve_",
    "m, m.copy(), m.copy(), m.copy(), m.copy()": "derive_convolve",
    "m, m.copy(), pool_shape=1": "max_pool max_pool_",
    "m, m.copy(), m.copy(), m.copy(), pool_shape=1": "derive_max_pool derive_max_pool_",
    "s, 1": "pool",
    "s, s.copy(), s.copy(), s.copy(), 1": "derive_pool",
    "m, 'int8'": "mat.quantize",
    "m, mat.ones(1, 1, dtype='float32')": "mat.dequantize",
    "m, mat.ones(1, 1, dtype='float32'), m.copy(), mat.ones(1, 1, dtype='float32')":
        "scaled_matmul",
    # Files
    "m, io.BytesIO()": "dump mat.Mat.write",
    "io.BytesIO(), m": "save savez savez_compressed savetxt",
    "m, io.BytesIO(bytes(64))": "mat.Mat.read_",
    "m, d": "astype",
    # Random numbers
    "size=3": "mat.random.exponential mat.random.gumbel mat.random.laplace mat.random.logistic "
              "mat.random.lognormal mat.random.normal mat.random.poisson mat.random.random "
              "mat.random.random_sample mat.random.ranf mat.random.rayleigh mat.random.sample "
              "mat.random.standard_cauchy mat.random.standard_exponential "
              "mat.random.standard_normal mat.random.uniform",
    "1, size=3": "mat.random.chisquare mat.random.gamma mat.random.pareto mat.random.power "
                 "mat.random.standard_gamma mat.random.standard_t mat.random.weibull",
    "1, 2, size=3": "mat.random.beta mat.random.f mat.random.noncentral_chisquare "
                    "mat.random.vonmises mat.random.wald",
    "1, 2, 3, size=3": "mat.random.hypergeometric mat.random.noncentral_f mat.random.triangular",
    "5, 0.5, size=3": "mat.random.binomial mat.random.negative_binomial",
    "0.5, size=3": "mat.random.geometric mat.random.logseries",
    "2, size=3": "mat.random.zipf",
    "5, [0.5, 0.5], size=3": "mat.random.multinomial",
    "[1, 1], size=3": "mat.random.dirichlet",
    "[0, 1], [[1, 0], [0, 1]]": "mat.random.multivariate_normal",
    "0, 1, size=3, dtype=d": "mat.random.randint",
    "1, 5, size=3": "mat.random.random_integers",
    "3 ": "mat.random.rand mat.random.randn",
    "v ": "mat.random.choice mat.random.permutation mat.random.shuffle",
})

NO_ELEMENTS = "Has no operands with elements."
EVERY = "Takes all dtypes: elements are not looked at."
BY_PARAMETER = "Any, by the parameter `dtype`."
SAID = table({
    NO_ELEMENTS: """settings configure seed use_device use_cuda set_device cuda_available
        show_config trim allow_conflicts check_directions count_allocations count_copies
        expect_copies guard list_calls nvtx_ranges mat.debug.trace observe op register_facet
        register_memory by_elements broadcast_shapes graph fused mat.random.bytes
        mat.random.default_rng mat.random.get_bit_generator mat.random.set_bit_generator
        mat.random.get_state mat.random.set_state""",
    EVERY: """prefetch batches with_facets barrier show memory_report plan can_cast mat.Mat.facet
        mat.Mat.drop mat.Mat.keep mat.Mat.flush mat.Mat.ravel_index mat.Mat.to_device
        mat.Mat.tofile mat.Mat.resize save_all""",
    BY_PARAMETER: "scratch ones_view open_memmap",
    "Those that NumPy's function reads, by the parameter `dtype`.":
        "fromfile fromregex fromstring loadtxt genfromtxt",
    "Takes all dtypes, and operands of different ones.": "kernel",
    "The result has the dtype of the file.": "load load_all",
    "The file must have the dtype of the Mat.": "mat.Mat.load_",
    "Takes arrays of NumPy, of all dtypes but objects.": "watch",
    "Refuses all dtypes: elements of a Mat have no fields.": "mat.Mat.getfield mat.Mat.setfield",
    "Takes NumPy's times, which are no elements of Mats.": "isnat",
    "Takes all dtypes. Complex numbers become real if all imaginary parts are near 0.":
        "real_if_close",
})
MORE = table({  # what depends on values
    "Of real numbers, the result is complex where an eigenvalue is.":
        "mat.linalg.eig mat.linalg.eigvals",
    "The result is real where all roots are.": "mat.roots",
})
