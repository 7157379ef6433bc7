"""Types of `mat.random`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

import builtins
from collections.abc import Sequence
from typing import SupportsIndex


from .support.types import ArrayLike
from .support.types import DTypeLike
from .matrix.mat import Mat
from .matrix.generator import Rng
from .support.types import ShapeLike
from numpy.random import BitGenerator as BitGenerator
from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import Philox as Philox
from numpy.random import SFC64 as SFC64
from numpy.random import SeedSequence as SeedSequence

__all__ = [
    "BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "RandomState", "SFC64",
    "SeedSequence", "beta", "binomial", "bytes", "chisquare", "choice", "default_rng", "dirichlet",
    "exponential", "f", "gamma", "geometric", "get_bit_generator", "get_state", "gumbel",
    "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal",
    "pareto", "permutation", "poisson", "power", "rand", "randint", "randn", "random",
    "random_integers", "random_sample", "ranf", "rayleigh", "sample", "seed", "set_bit_generator",
    "set_state", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma",
    "standard_normal", "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull",
    "zipf",
]

class Generator:
    """A generator of random Mats with the methods of `numpy.random.Generator`."""

    def __init__(self, bit_generator: object) -> None: ...
    def beta(self, a: ArrayLike, b: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def binomial(self, n: object, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    @property
    def bit_generator(self) -> Rng: ...
    def bytes(self, length: object) -> builtins.bytes: ...
    def chisquare(self, df: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def choice(self, a: ArrayLike, size: ShapeLike | None = None, replace: object = True, p: ArrayLike | None = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = 0, shuffle: object = True) -> Mat: ...
    def dirichlet(self, alpha: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def exponential(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def gamma(self, shape: ShapeLike, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def geometric(self, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def gumbel(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def hypergeometric(self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def integers(self, low: ArrayLike, high: ArrayLike | None = None, size: ShapeLike | None = None, dtype: DTypeLike = ..., endpoint: object = False) -> Mat: ...
    def laplace(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def logistic(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def lognormal(self, mean: object = 0.0, sigma: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def logseries(self, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def multinomial(self, n: object, pvals: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def multivariate_hypergeometric(self, colors: object, nsample: ArrayLike, size: ShapeLike | None = None, method: object = 'marginals') -> Mat: ...
    def multivariate_normal(self, mean: object, cov: ArrayLike, size: ShapeLike | None = None, check_valid: object = 'warn', tol: object = 1e-08, *, method: object = 'svd') -> Mat: ...
    def negative_binomial(self, n: object, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def noncentral_chisquare(self, df: ArrayLike, nonc: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def noncentral_f(self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def normal(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def pareto(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def permutation(self, x: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = 0) -> Mat: ...
    def permuted(self, x: ArrayLike, *, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Mat | None = None) -> Mat: ...
    def poisson(self, lam: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def power(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = None, out: Mat | None = None) -> Mat: ...
    def rayleigh(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def shuffle(self, x: ArrayLike, axis: int = 0) -> None: ...
    def spawn(self, n_children: int) -> list[Generator]: ...
    def standard_cauchy(self, size: ShapeLike | None = None) -> Mat: ...
    def standard_exponential(self, size: ShapeLike | None = None, dtype: DTypeLike = ..., method: object = 'zig', out: Mat | None = None) -> Mat: ...
    def standard_gamma(self, shape: ShapeLike, size: ShapeLike | None = None, dtype: DTypeLike = ..., out: Mat | None = None) -> Mat: ...
    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None, out: Mat | None = None) -> Mat: ...
    def standard_t(self, df: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def triangular(self, left: ArrayLike, mode: object, right: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def uniform(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def vonmises(self, mu: ArrayLike, kappa: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def wald(self, mean: object, scale: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def weibull(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def zipf(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...

class RandomState:
    """A generator of random Mats with the methods of `numpy.random.RandomState`."""

    def __init__(self, seed: object = None) -> None: ...
    def beta(self, a: ArrayLike, b: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def binomial(self, n: object, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def bytes(self, length: object) -> builtins.bytes: ...
    def chisquare(self, df: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def choice(self, a: ArrayLike, size: ShapeLike | None = None, replace: object = True, p: ArrayLike | None = None) -> Mat: ...
    def dirichlet(self, alpha: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def exponential(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def gamma(self, shape: ShapeLike, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def geometric(self, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def get_state(self, legacy: bool = True) -> object: ...
    def gumbel(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def hypergeometric(self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def laplace(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def logistic(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def lognormal(self, mean: object = 0.0, sigma: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def logseries(self, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def multinomial(self, n: object, pvals: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def multivariate_normal(self, mean: object, cov: ArrayLike, size: ShapeLike | None = None, check_valid: object = 'warn', tol: object = 1e-08) -> Mat: ...
    def negative_binomial(self, n: object, p: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def noncentral_chisquare(self, df: ArrayLike, nonc: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def noncentral_f(self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def normal(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def pareto(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def permutation(self, x: ArrayLike) -> Mat: ...
    def poisson(self, lam: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def power(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def rand(self, *shape: int) -> Mat: ...
    def randint(self, low: ArrayLike, high: ArrayLike | None = None, size: ShapeLike | None = None, dtype: DTypeLike = ...) -> Mat: ...
    def randn(self, *shape: int) -> Mat: ...
    def random(self, size: ShapeLike | None = None) -> Mat: ...
    def random_integers(self, low: ArrayLike, high: ArrayLike | None = None, size: ShapeLike | None = None) -> Mat: ...
    def random_sample(self, size: ShapeLike | None = None) -> Mat: ...
    def rayleigh(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def seed(self, seed: object = None) -> None: ...
    def set_state(self, state: tuple[str, int, int] | dict[str, object]) -> None: ...
    def shuffle(self, x: ArrayLike) -> None: ...
    def standard_cauchy(self, size: ShapeLike | None = None) -> Mat: ...
    def standard_exponential(self, size: ShapeLike | None = None) -> Mat: ...
    def standard_gamma(self, shape: ShapeLike, size: ShapeLike | None = None) -> Mat: ...
    def standard_normal(self, size: ShapeLike | None = None) -> Mat: ...
    def standard_t(self, df: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def tomaxint(self, size: ShapeLike | None = None) -> Mat: ...
    def triangular(self, left: ArrayLike, mode: object, right: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def uniform(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat: ...
    def vonmises(self, mu: ArrayLike, kappa: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def wald(self, mean: object, scale: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def weibull(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...
    def zipf(self, a: ArrayLike, size: ShapeLike | None = None) -> Mat: ...

def beta(a: ArrayLike, b: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.beta`` returns, drawn from this stream."""

def binomial(n: object, p: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.binomial`` returns, drawn from this stream."""

def bytes(length: object) -> builtins.bytes:
    """Return what ``numpy.random.RandomState.bytes`` returns, drawn from this stream."""

def chisquare(df: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.chisquare`` returns, drawn from this stream."""

def choice(
    a: ArrayLike,
    size: ShapeLike | None = None,
    replace: object = True,
    p: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.choice`` returns, drawn from this stream."""

def default_rng(seed: object = None) -> Generator:
    """Return a new `Generator`."""

def dirichlet(alpha: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.dirichlet`` returns, drawn from this stream."""

def exponential(scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.exponential`` returns, drawn from this stream."""

def f(dfnum: ArrayLike, dfden: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.f`` returns, drawn from this stream."""

def gamma(shape: ShapeLike, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.gamma`` returns, drawn from this stream."""

def geometric(p: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.geometric`` returns, drawn from this stream."""

def get_bit_generator() -> Rng:
    """Return the stream that the functions of this module draw from."""

def get_state(legacy: bool = True) -> object:
    """Return the state, for `set_state`."""

def gumbel(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.gumbel`` returns, drawn from this stream."""

def hypergeometric(
    ngood: ArrayLike,
    nbad: ArrayLike,
    nsample: ArrayLike,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.hypergeometric`` returns, drawn from this stream."""

def laplace(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.laplace`` returns, drawn from this stream."""

def logistic(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.logistic`` returns, drawn from this stream."""

def lognormal(mean: object = 0.0, sigma: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.lognormal`` returns, drawn from this stream."""

def logseries(p: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.logseries`` returns, drawn from this stream."""

def multinomial(n: object, pvals: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.multinomial`` returns, drawn from this stream."""

def multivariate_normal(
    mean: object,
    cov: ArrayLike,
    size: ShapeLike | None = None,
    check_valid: object = 'warn',
    tol: object = 1e-08,
) -> Mat:
    """Return what ``numpy.random.RandomState.multivariate_normal`` returns, drawn from this stream."""

def negative_binomial(
    n: object,
    p: ArrayLike,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.negative_binomial`` returns, drawn from this stream."""

def noncentral_chisquare(
    df: ArrayLike,
    nonc: ArrayLike,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.noncentral_chisquare`` returns, drawn from this stream."""

def noncentral_f(
    dfnum: ArrayLike,
    dfden: ArrayLike,
    nonc: ArrayLike,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.noncentral_f`` returns, drawn from this stream."""

def normal(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return normal numbers."""

def pareto(a: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.pareto`` returns, drawn from this stream."""

def permutation(x: ArrayLike) -> Mat:
    """Return what ``numpy.random.RandomState.permutation`` returns, drawn from this stream."""

def poisson(lam: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.poisson`` returns, drawn from this stream."""

def power(a: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.power`` returns, drawn from this stream."""

def rand(*shape: int) -> Mat:
    """Return numbers that are uniform on ``[0, 1)``."""

def randint(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: ShapeLike | None = None,
    dtype: DTypeLike = ...,
) -> Mat:
    """Return what ``numpy.random.RandomState.randint`` returns, drawn from this stream."""

def randn(*shape: int) -> Mat:
    """Return normal numbers with mean 0 and standard deviation 1."""

def random(size: ShapeLike | None = None) -> Mat:
    """Return numbers that are uniform on ``[0, 1)``."""

def random_integers(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.random_integers`` returns, drawn from this stream."""

def random_sample(size: ShapeLike | None = None) -> Mat:
    """Return numbers that are uniform on ``[0, 1)``."""

def ranf(size: ShapeLike | None = None) -> Mat:
    """Return numbers that are uniform on ``[0, 1)``, as `random_sample` does."""

def rayleigh(scale: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.rayleigh`` returns, drawn from this stream."""

def sample(size: ShapeLike | None = None) -> Mat:
    """Return numbers that are uniform on ``[0, 1)``, as `random_sample` does."""

def seed(seed: object = None) -> None:
    """Restart the stream that the functions of this module draw from."""

def set_bit_generator(bitgen: object) -> None:
    """Restart the stream that the functions of this module draw from."""

def set_state(state: tuple[str, int, int] | dict[str, object]) -> None:
    """Set the state."""

def shuffle(x: ArrayLike) -> None:
    """Shuffle the parts of `x` along its first axis, in place."""

def standard_cauchy(size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.standard_cauchy`` returns, drawn from this stream."""

def standard_exponential(
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.standard_exponential`` returns, drawn from this stream."""

def standard_gamma(shape: ShapeLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.standard_gamma`` returns, drawn from this stream."""

def standard_normal(size: ShapeLike | None = None) -> Mat:
    """Return normal numbers with mean 0 and standard deviation 1."""

def standard_t(df: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.standard_t`` returns, drawn from this stream."""

def triangular(
    left: ArrayLike,
    mode: object,
    right: ArrayLike,
    size: ShapeLike | None = None,
) -> Mat:
    """Return what ``numpy.random.RandomState.triangular`` returns, drawn from this stream."""

def uniform(low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: ShapeLike | None = None) -> Mat:
    """Return numbers that are uniform on ``[low, high)``."""

def vonmises(mu: ArrayLike, kappa: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.vonmises`` returns, drawn from this stream."""

def wald(mean: object, scale: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.wald`` returns, drawn from this stream."""

def weibull(a: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.weibull`` returns, drawn from this stream."""

def zipf(a: ArrayLike, size: ShapeLike | None = None) -> Mat:
    """Return what ``numpy.random.RandomState.zipf`` returns, drawn from this stream."""

