"""NumPy's random numbers, `numpy.random`, as Mats from the streams of `mat`.

`default_rng` makes a generator; the functions draw from the stream that `mat.seed` restarts.

>>> import mat
>>> mat.random.default_rng(1).normal(100, 5, 2)
<Mat 2 F [97.93051093 98.76333205]>
"""

from typing import Any

from numpy.random import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
    SeedSequence,
)

from .matrix.generator import Rng, generator
from .numpy.random.stream import Generator, RandomState, default_rng
from .support.close_names import name_what_is_close as _name_what_is_close
from .support.types import Operand, ShapeLike

__all__ = [
    "MT19937", "PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "Generator", "Philox",
    "RandomState", "SeedSequence", "beta", "binomial", "bytes", "chisquare", "choice",
    "default_rng", "dirichlet", "exponential", "f", "gamma", "geometric", "get_bit_generator",
    "get_state", "gumbel", "hypergeometric", "laplace", "logistic", "lognormal", "logseries",
    "multinomial", "multivariate_normal", "negative_binomial", "noncentral_chisquare",
    "noncentral_f", "normal", "pareto", "permutation", "poisson", "power", "rand", "randint",
    "randn", "random", "random_integers", "random_sample", "ranf", "rayleigh", "sample", "seed",
    "set_bit_generator", "set_state", "shuffle", "standard_cauchy", "standard_exponential",
    "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises",
    "wald", "weibull", "zipf",
]

_state: Any = RandomState(generator(None))  # its methods are NumPy's, some of them made in a loop
beta = _state.beta
binomial = _state.binomial
bytes = _state.bytes
chisquare = _state.chisquare
choice = _state.choice
dirichlet = _state.dirichlet
exponential = _state.exponential
f = _state.f
gamma = _state.gamma
geometric = _state.geometric
get_state = _state.get_state
gumbel = _state.gumbel
hypergeometric = _state.hypergeometric
laplace = _state.laplace
logistic = _state.logistic
lognormal = _state.lognormal
logseries = _state.logseries
multinomial = _state.multinomial
multivariate_normal = _state.multivariate_normal
negative_binomial = _state.negative_binomial
noncentral_chisquare = _state.noncentral_chisquare
noncentral_f = _state.noncentral_f
normal = _state.normal
pareto = _state.pareto
permutation = _state.permutation
poisson = _state.poisson
power = _state.power
rand = _state.rand
randint = _state.randint
randn = _state.randn
random = _state.random
random_integers = _state.random_integers
random_sample = _state.random_sample
rayleigh = _state.rayleigh
set_state = _state.set_state
shuffle = _state.shuffle
standard_cauchy = _state.standard_cauchy
standard_exponential = _state.standard_exponential
standard_gamma = _state.standard_gamma
standard_normal = _state.standard_normal
standard_t = _state.standard_t
triangular = _state.triangular
uniform = _state.uniform
vonmises = _state.vonmises
wald = _state.wald
weibull = _state.weibull
zipf = _state.zipf


def seed(seed: object = None) -> None:
    """Restart the stream that the functions of this module draw from.

    Parameters
    ----------
    seed : int, sequence of int, BitGenerator or mat.Rng, optional
        As for `default_rng`.

    Examples
    --------
    >>> import mat
    >>> mat.random.seed(1)
    >>> x = mat.random.rand(3)
    >>> mat.random.seed(1)
    >>> mat.random.rand(3).equals(x)
    True
    """
    _state.seed(seed)


def ranf(size: ShapeLike | None = None) -> Operand:
    """Return numbers that are uniform on ``[0, 1)``, as `random_sample` does.

    Parameters
    ----------
    size : int or tuple of int, optional
        The shape; by default, one Python float is drawn.

    Returns
    -------
    Mat or float
        The numbers, from kernels of `mat` on the device in use.

    Examples
    --------
    >>> import mat
    >>> mat.random.ranf((2, 3)).shape
    (2, 3)
    """
    return _state.random_sample(size)


def sample(size: ShapeLike | None = None) -> Operand:
    """Return numbers that are uniform on ``[0, 1)``, as `random_sample` does.

    Parameters
    ----------
    size : int or tuple of int, optional
        The shape; by default, one Python float is drawn.

    Returns
    -------
    Mat or float
        The numbers, from kernels of `mat` on the device in use.

    Examples
    --------
    >>> import mat
    >>> mat.random.sample((2, 3)).shape
    (2, 3)
    """
    return _state.random_sample(size)


def get_bit_generator() -> Rng:
    """Return the stream that the functions of this module draw from.

    Returns
    -------
    mat.Rng
        The stream that `mat.seed` restarts.
    """
    return generator(None)


def set_bit_generator(bitgen: object) -> None:
    """Restart the stream that the functions of this module draw from.

    Parameters
    ----------
    bitgen : BitGenerator, mat.Rng or int
        As for `seed`.
    """
    seed(bitgen)


def __dir__() -> list[str]:
    return __all__


_name_what_is_close(__name__)
