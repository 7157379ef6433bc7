"""`RandomState`: NumPy's older class of that name, drawing Mats from the streams of `mat`.

The functions of `mat.random` are methods of one of them, on the stream that `mat.seed` restarts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...errors import SettingError
from ...matrix.generator import Rng
from ...support.types import Operand, ShapeLike
from .stream import Draws, delegating, shape_of, stream_of

# methods that NumPy computes with
_BY_NUMPY = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel "
    "hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal "
    "negative_binomial noncentral_chisquare noncentral_f pareto permutation poisson power randint "
    "random_integers rayleigh standard_cauchy standard_exponential standard_gamma standard_t "
    "tomaxint triangular vonmises wald weibull zipf")
STATE_NAME = "Philox4x32"


_NumpysOwn: Any = np.random.RandomState  # which SciPy and scikit-learn ask for


class RandomState(Draws, _NumpysOwn):  # type: ignore[misc]  # it is of no type for checkers
    """A generator of random Mats with the methods of `numpy.random.RandomState`.

    Parameters
    ----------
    seed : int, sequence of int, BitGenerator or mat.Rng, optional
        As for `default_rng`.

    Examples
    --------
    >>> import mat
    >>> mat.random.RandomState(1).rand(2)
    <Mat 2 F [0.89025917 0.58572595]>
    """

    __slots__ = ("stream",)
    numpy_class: ClassVar[type] = np.random.RandomState

    def __init__(self, seed: object = None) -> None:
        np.random.RandomState.__init__(self, np.random.Philox(0))  # draws nothing
        super().__init__(stream_of(seed))

    # The state

    def seed(self, seed: object = None) -> None:
        """Restart the stream.

        Parameters
        ----------
        seed : int, sequence of int, BitGenerator or mat.Rng, optional
            As for `default_rng`.
        """
        self._restart(stream_of(seed))

    def get_state(self, legacy: bool = True) -> tuple[str, int, int] | dict[str, object]:
        """Return the state, for `set_state`.

        Parameters
        ----------
        legacy : bool
            Whether it is a tuple; else it is a dict.

        Returns
        -------
        tuple or dict
            A name, the seed and the number of blocks that have been used.
        """
        stream = self.stream.copy()
        state = {"bit_generator": STATE_NAME, "seed": stream.seed, "counter": stream.counter}
        return (STATE_NAME, stream.seed, stream.counter) if legacy else state

    def set_state(self, state: tuple[str, int, int] | dict[str, object]) -> None:
        """Set the state.

        Parameters
        ----------
        state : tuple or dict
            What `get_state` returned.

        Raises
        ------
        SettingError
            For the state of another kind of generator.
        """
        parts: tuple[Any, ...] = tuple(state.values() if isinstance(state, dict) else state)
        if len(parts) != 3 or parts[0] != STATE_NAME:
            raise SettingError(f"a state is ('{STATE_NAME}', seed, counter), as get_state gives, "
                               f"got {parts[:1]}...")
        self._restart(Rng(int(parts[1]), counter=int(parts[2])))

    def _restart(self, wanted: Rng) -> None:
        self.stream.restart(wanted.seed)
        self.stream.take(wanted.counter)

    # Uniform and normal numbers

    def rand(self, *shape: int) -> Operand:
        """Return numbers that are uniform on ``[0, 1)``.

        Parameters
        ----------
        *shape : int
            The lengths of the axes; without them, one Python float is drawn.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._uniformly(shape_of(shape))

    def randn(self, *shape: int) -> Operand:
        """Return normal numbers with mean 0 and standard deviation 1.

        Parameters
        ----------
        *shape : int
            The lengths of the axes; without them, one Python float is drawn.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._normally(shape_of(shape))

    def random_sample(self, size: ShapeLike | None = None) -> Operand:
        """Return numbers that are uniform on ``[0, 1)``.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; by default, one Python float is drawn.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._uniformly(size)

    random = random_sample

    def standard_normal(self, size: ShapeLike | None = None) -> Operand:
        """Return normal numbers with mean 0 and standard deviation 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; by default, one Python float is drawn.

        Returns
        -------
        Mat or float
            The numbers, from kernels of `mat` on the device in use.
        """
        return self._normally(size)

    def shuffle(self, x: Operand) -> None:
        """Shuffle the parts of `x` along its first axis, in place.

        Parameters
        ----------
        x : Mat, array or list
            Is overwritten.
        """
        self._shuffled(x)


for _name in _BY_NUMPY.split():
    if hasattr(np.random.RandomState, _name):
        setattr(RandomState, _name, delegating(_name, np.random.RandomState))
