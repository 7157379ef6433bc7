"""`Rng`: a generator of random numbers, whose state is a key and a counter.

How numbers are made of them is in ``ops/``; ``docs/random.md`` defines key, counter and position.
"""

from __future__ import annotations

import operator
import os
import threading
from typing import Any, SupportsIndex, TypeAlias

from ..core.recorder import RECORDERS, refuse_if_recorded
from ..errors import DTypeError, SettingError
from ..support.fork import in_child

_HALF = 2**32
_WHOLE = 2**64
# low and high half of the key and of the counter, which floats represent exactly
Words: TypeAlias = tuple[float, float, float, float]

_lock = threading.Lock()  # of the states of all generators: it is held for a moment only


class Rng:
    """A generator of random numbers, Philox4x32-10.

    Its state is a key, the `seed`, and a `counter` of the blocks of four words used so far. Each
    call that draws numbers uses the next blocks, one thread at a time, so no two calls share any.
    Equal seeds and counters give equal numbers, on any device, with any number of threads.

    Parameters
    ----------
    seed : int, optional
        The key, from 0 to 2**64 - 1; by default, one from the operating system.
    counter : int
        The number of blocks that are skipped, in the same range.

    Raises
    ------
    SettingError
        If seed or counter are out of range.

    Notes
    -----
    Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).

    Examples
    --------
    >>> import mat
    >>> rng = mat.Rng(42)
    >>> mat.zeros(3).uniform_(rng=rng).to_numpy()
    array([0.61295988, 0.07323174, 0.98771865])
    >>> rng
    Rng(42, counter=2)
    >>> mat.zeros(3).uniform_(rng=rng.copy()).equals(mat.zeros(3).uniform_(rng=rng))
    True
    """

    __slots__ = ("_counter", "_key")

    def __init__(self, seed: int | None = None, *, counter: int = 0) -> None:
        self._key = _entropy() if seed is None else _natural(seed, "seed")
        self._counter = _natural(counter, "counter")

    @property
    def seed(self) -> int:
        """The key."""
        return self._key

    @property
    def counter(self) -> int:
        """The number of blocks of four words that have been used, modulo 2**64."""
        return self._counter

    @property
    def state(self) -> dict[str, object]:
        """The state; it can be set, as that of NumPy's bit generators."""
        return {"bit_generator": "Philox4x32", "seed": self._key, "counter": self._counter}

    @state.setter
    def state(self, value: dict[str, object]) -> None:
        if not isinstance(value, dict) or value.keys() != self.state.keys():
            raise SettingError(f"a state is a dict of {', '.join(self.state)}, as rng.state gives, "
                               f"got {value!r}")
        given: Any = value
        key, counter = (_natural(given[name], name) for name in ("seed", "counter"))
        with _lock:
            self._key, self._counter = key, counter

    def copy(self) -> Rng:
        """Return another generator that will give the same numbers as this one.

        Returns
        -------
        Rng
            A generator with the same seed and counter.

        Examples
        --------
        >>> import mat
        >>> mat.Rng(42, counter=3).copy()
        Rng(42, counter=3)
        """
        with _lock:
            return Rng(self._key, counter=self._counter)

    def take(self, blocks: int) -> Words:
        """Use the next `blocks` blocks, and return the key and the counter of the first.

        Parameters
        ----------
        blocks : int
            How many blocks of four numbers of 32 bits.

        Returns
        -------
        tuple of float
            The low and the high half of the key, and those of the counter.

        Examples
        --------
        >>> import mat
        >>> rng = mat.Rng(42)
        >>> rng.take(2), rng
        ((42.0, 0.0, 0.0, 0.0), Rng(42, counter=2))
        """
        if RECORDERS:
            refuse_if_recorded("random numbers are drawn",
                               "each call of the graph would repeat them: draw them before")
        with _lock:
            key, first = self._key, self._counter
            self._counter = (first + blocks) % _WHOLE
        return float(key % _HALF), float(key // _HALF), float(first % _HALF), float(first // _HALF)

    def give_back(self, words: Words, blocks: int) -> None:
        """Undo the `take` that gave `words`, unless another call has used blocks since.

        Parameters
        ----------
        words : tuple of float
            What `take` returned.
        blocks : int
            What it was called with.

        Examples
        --------
        >>> import mat
        >>> rng = mat.Rng(42, counter=3)
        >>> words = rng.take(2)
        >>> rng.give_back(words, 2)
        >>> rng
        Rng(42, counter=3)
        """
        key, first = (int(low) + _HALF * int(high) for low, high in (words[:2], words[2:]))
        with _lock:
            if (self._key, self._counter) == (key, (first + blocks) % _WHOLE):
                self._counter = first

    def restart(self, seed: int | None = None) -> None:
        """Set the key to `seed`, or to one from the operating system, and the counter to 0.

        Parameters
        ----------
        seed : int, optional
            The seed.

        Examples
        --------
        >>> import mat
        >>> rng = mat.Rng(1, counter=5)
        >>> rng.restart(42)
        >>> rng
        Rng(42, counter=0)
        """
        key = _entropy() if seed is None else _natural(seed, "seed")
        with _lock:
            self._key, self._counter = key, 0

    def __copy__(self) -> Rng:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Rng:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self._key, self._counter)

    def __repr__(self) -> str:
        return f"Rng({self._key}, counter={self._counter})"


@in_child
def _after_fork() -> None:
    """Make a new lock in a forked child: another thread may have held it."""
    global _lock
    _lock = threading.Lock()


def _restored(key: int, counter: int) -> Rng:
    return Rng(key, counter=counter)


def _entropy() -> int:
    return int.from_bytes(os.urandom(8), "little")


def _natural(value: SupportsIndex, name: str) -> int:
    """Return `value` as an integer of 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise DTypeError(f"{name} must be an integer, got {value!r} ({kind})") from None
    if isinstance(value, bool):
        raise DTypeError(f"{name} must be an integer, got {value!r}")
    if not 0 <= number < _WHOLE:
        raise SettingError(f"{name} must be from 0 to 2**64 - 1, got {value!r}; value % 2**64 is "
                           "one")
    return number


_default = Rng()


def seed(n: int | None = None) -> None:
    """Restart the default generator, used where no ``rng=`` is given.

    Parameters
    ----------
    n : int, optional
        The seed, from 0 to 2**64 - 1; by default, one from the operating system.

    Examples
    --------
    >>> import mat
    >>> mat.seed(1)
    >>> a = mat.zeros(3).normal_()
    >>> mat.seed(1)
    >>> a.equals(mat.zeros(3).normal_())
    True
    """
    _default.restart(n)


def generator(rng: object) -> Rng:
    """Return `rng`, or the default generator for None."""
    if rng is None:
        return _default
    if not isinstance(rng, Rng):
        raise DTypeError(f"rng must be a mat.Rng, got {rng!r}; mat.Rng(seed) makes one")
    return rng
