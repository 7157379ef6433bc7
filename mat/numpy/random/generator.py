"""`Generator`: NumPy's class of that name, drawing Mats from the streams of `mat`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...errors import SettingError
from ...matrix.generator import Rng
from ...matrix.mat import Mat
from ...support.types import DTypeLike, Operand, ShapeLike
from .stream import Draws, delegating, stream_of

# methods that NumPy computes with
_BY_NUMPY = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel "
    "hypergeometric integers laplace logistic lognormal logseries multinomial "
    "multivariate_hypergeometric multivariate_normal negative_binomial noncentral_chisquare "
    "noncentral_f pareto permutation permuted poisson power rayleigh standard_cauchy "
    "standard_exponential standard_gamma standard_t triangular vonmises wald weibull zipf")


_NumpysOwn: Any = np.random.Generator  # which SciPy and scikit-learn ask for


class Generator(Draws, _NumpysOwn):  # type: ignore[misc]  # it is of no type for checkers
    """A generator of random Mats with the methods of `numpy.random.Generator`.

    The numbers come from a stream of `mat`, Philox4x32-10: others than NumPy's, and the same on
    every device.

    Parameters
    ----------
    bit_generator : mat.Rng, numpy.random.BitGenerator or seed
        The stream to draw from; of NumPy's bit generators, the next word becomes the seed.

    Examples
    --------
    >>> import mat
    >>> rng = mat.random.default_rng(1)
    >>> rng.random(2)
    <Mat 2 F [0.89025917 0.58572595]>
    """

    __slots__ = ("stream",)
    numpy_class: ClassVar[type] = np.random.Generator

    def __init__(self, bit_generator: object) -> None:
        np.random.Generator.__init__(self, np.random.Philox(0))  # draws nothing
        super().__init__(stream_of(bit_generator))

    @property
    def bit_generator(self) -> Rng:
        """The stream, a `mat.Rng`, whose ``seed`` and ``counter`` are its state."""
        return self.stream

    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = None,
               out: Mat | None = None) -> Operand:
        """Return numbers that are uniform on ``[0, 1)``.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; by default, one Python float is drawn.
        dtype : dtype, optional
            ``float32`` or ``float64``; by default ``mat.settings.dtype``.
        out : Mat, optional
            Is overwritten.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._uniformly(size, dtype, out)

    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None,
                        out: Mat | None = None) -> Operand:
        """Return normal numbers with mean 0 and standard deviation 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; by default, one Python float is drawn.
        dtype : dtype, optional
            ``float32`` or ``float64``; by default ``mat.settings.dtype``.
        out : Mat, optional
            Is overwritten.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._normally(size, dtype, out)

    def shuffle(self, x: Operand, axis: int = 0) -> None:
        """Shuffle the parts of `x` along an axis, in place.

        Parameters
        ----------
        x : Mat, array or list
            Is overwritten.
        axis : int
            The axis.
        """
        self._shuffled(x, axis)

    def spawn(self, n_children: int) -> list[Generator]:
        """Return new generators, independent of this one and of each other.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Generator
            Their seeds come from the next block of the stream.
        """
        if n_children < 0:
            raise SettingError(f"n_children must not be below 0, got {n_children}")
        seeds: Mat = self._by_numpy("integers", (2**64 - 1, ), {"size": n_children,
                                                               "dtype": "uint64"})
        return [Generator(int(seed)) for seed in seeds.tolist()]


for _name in _BY_NUMPY.split():
    if hasattr(np.random.Generator, _name):
        setattr(Generator, _name, delegating(_name, np.random.Generator))


def default_rng(seed: object = None) -> Generator:
    """Return a new `Generator`.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator, Generator or mat.Rng, optional
        An integer below ``2**64`` is the key of the stream, as in ``mat.Rng(seed)``; of others, a
        key is made. A `Generator` is returned as it is. By default, the key comes from the system.

    Returns
    -------
    Generator
        The generator.

    Examples
    --------
    >>> import mat
    >>> mat.random.default_rng(3).integers(10, size=4).shape
    (4,)
    """
    return seed if isinstance(seed, Generator) else Generator(seed)
