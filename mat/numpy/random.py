"""`Generator` and `RandomState`, NumPy's classes, over a stream of `mat`.

Uniform and normal numbers are drawn by the kernels of `mat`, on the device in use. For all other
distributions, NumPy computes on the host with a bit generator of its own for each call, whose key
is the seed of the stream and the number of the next block; the call uses up that block. So every
number depends on the seed and the calls before only, on every device.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from ..errors import DTypeError, SettingError, ShapeError
from ..layout.shapes import as_shape
from ..matrix.delegate import delegate
from ..matrix.generator import Rng
from ..matrix.mat import Mat
from ..matrix.nested import without_mats
from ..ops.engine.by_numpy import refuse_other_elements
from ..ops.engine.functions import check_is_mat
from ..ops.engine.operands import as_mat
from ..support.options import current
from ..support.types import DType, DTypeLike, Function, Keywords, Operand, ShapeLike
from .namespace.functions import docstring

F = TypeVar("F", bound=Function)
_WHOLE = 2**64
_HALF = 2**32
_FLOAT64 = np.dtype(np.float64)
_BY_NUMPY = "NumPy computes it on the host, with numbers of this stream."
_BY_KERNELS = ("Kernels of `mat` draw on the device in use, without a dtype in that of "
               "``mat.settings.dtype``.")
_FLOAT_OR_MAT = "A Python float where ``numpy.{name}`` returns one, else a Mat."


def drawn(function: F) -> F:
    """Give a function that draws by kernels the docstring of NumPy's of its name."""
    code, name = function.__code__, function.__qualname__.removeprefix("Draws.")
    last = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)
    parameters = (p for p in code.co_varnames[:last] if p != "self")
    function.__doc__ = docstring(f"random.{function.__name__}", f"random.{name}", parameters,
                                 _BY_KERNELS, _FLOAT_OR_MAT)
    return function


def stream_of(seed: object) -> Rng:
    """Return the stream of a generator, or a new one with the key that `seed` gives."""
    if isinstance(seed, Rng):
        return seed
    if isinstance(seed, Draws):
        return seed.stream
    if seed is None:
        return Rng()
    if isinstance(seed, np.random.Generator):
        seed = seed.bit_generator
    if isinstance(seed, np.random.BitGenerator):
        return Rng(int(seed.random_raw()))
    sequence = seed
    if not isinstance(seed, np.random.SeedSequence):
        try:
            number = operator.index(seed)  # type: ignore[arg-type]
        except TypeError:
            number = -1
        if 0 <= number < _WHOLE:
            return Rng(number)
        sequence = np.random.SeedSequence(without_mats(seed))
    return Rng(int(sequence.generate_state(1, np.uint64)[0]))  # type: ignore[attr-defined]


class Draws:
    """A source of random numbers that draws from a stream of `mat`."""

    __slots__ = ()
    numpy_class: ClassVar[type]  # whose methods NumPy computes with
    stream: Rng

    def __init__(self, stream: Rng) -> None:
        object.__setattr__(self, "stream", stream)  # a slot of the classes that inherit from this

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Rng]]:
        return type(self), (self.stream,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.stream!r})"

    # By NumPy

    def _by_numpy(self, name: str, args: tuple[Operand, ...], kwargs: Keywords, *,
                 written: tuple[Mat, ...] = ()) -> Operand:
        """Draw by NumPy's method `name`, using up one block of the stream."""
        words = self.stream.take(1)
        try:
            found = delegate(getattr(self._source(words), name), args, kwargs, written=written,
                             name=name)
            refuse_other_elements(f"random.{name}", found, args)
        except BaseException:
            self.stream.give_back(words, 1)
            raise
        return found

    def _shuffled(self, x: Operand, *args: Operand, **kwargs: Operand) -> None:
        """Shuffle `x` in place: a Mat, an array or a list."""
        if isinstance(x, Mat):
            self._by_numpy("shuffle", (x, *args), kwargs, written=(x,))
        else:  # whose own memory NumPy writes
            self._source(self.stream.take(1)).shuffle(x, *args, **kwargs)

    def _source(self, words: tuple[float, ...]) -> Any:
        """Return a generator of NumPy's, whose key is a block of the stream."""
        key, first = (int(low) + _HALF * int(high) for low, high in (words[:2], words[2:]))
        return self.numpy_class(np.random.Philox(key=key + _WHOLE * first))

    # By the kernels of `mat`

    def _drawn(self, name: str, size: ShapeLike | None, dtype: DTypeLike = None,
               out: Mat | None = None) -> Operand:
        """Return a Mat or `out` with "uniform" or "normal" numbers; without `size` one number."""
        kind = _real_dtype(dtype)
        x = (Mat(() if size is None else as_shape(size), kind, fill=None) if out is None
             else _checked(out, size, kind if dtype is not None else None))
        draw = x.uniform_ if name == "uniform" else x.normal_
        found = draw(rng=self.stream)
        return found.item() if size is None and out is None else found

    @drawn
    def uniform(self, low: Operand = 0.0, high: Operand = 1.0,
                size: ShapeLike | None = None) -> Operand:
        return self._moved("uniform", low, high, size)

    @drawn
    def normal(self, loc: Operand = 0.0, scale: Operand = 1.0,
               size: ShapeLike | None = None) -> Operand:
        return self._moved("normal", loc, scale, size)

    def _moved(self, name: str, first: Operand, second: Operand, size: ShapeLike | None) -> Operand:
        """Return numbers of the standard distribution, scaled and moved."""
        offset, other = _parameter(first), _parameter(second)
        # raises NumPy's error for parameters that the distribution does not have
        getattr(_validator(self.numpy_class), name)(without_mats(offset), without_mats(other))
        factor = other - offset if name == "uniform" else other
        if isinstance(offset, float) and isinstance(factor, float):
            return self._drawn(name, size) * factor + offset
        shape = np.broadcast_shapes(np.shape(offset), np.shape(factor))
        if size is not None and np.broadcast_shapes(shape, as_shape(size)) != as_shape(size):
            raise ShapeError(f"{name}: parameters of shape {shape} do not broadcast to {size}")
        return self._drawn(name, shape if size is None else size) * factor + offset


@cache
def _validator(kind: type) -> Any:
    return kind(np.random.Philox(key=0))


def _parameter(value: Operand) -> Operand:
    """Return a parameter of a distribution: a Python float, or a Mat."""
    if isinstance(value, float | int) or np.ndim(value) == 0:
        return float(value)
    found = as_mat(value, "a parameter")
    return found if found.dtype == _FLOAT64 else found.astype(_FLOAT64)


def _real_dtype(dtype: DTypeLike) -> DType:
    """Return the dtype to draw: by default that of the settings, if it is real."""
    if dtype is None:
        default: DType = current().dtype
        return default if default.char in "fd" else _FLOAT64
    kind = np.dtype(dtype)
    if kind.char not in "fd":
        raise DTypeError(f"random numbers are drawn in float32 or float64, got {kind}; convert "
                         "them with astype")
    return kind


def _checked(out: Mat, size: ShapeLike | None, dtype: DType | None) -> Mat:
    """Return `out`, if it can take the draws."""
    if check_is_mat(out).dtype.char not in "fd" or (dtype is not None and out.dtype != dtype):
        raise DTypeError(f"out has {out.dtype}, the numbers are of {dtype or 'float64'}")
    if size is not None and as_shape(size) != out.shape:
        raise ShapeError(f"out has shape {out.shape}, size is {size}")
    return out


def delegating(name: str, owner: type) -> Function:
    """Return the method `name` that NumPy computes with its class `owner`."""
    def method(self: Draws, *args: Operand, **kwargs: Operand) -> Operand:
        return self._by_numpy(name, args, kwargs)

    method.__name__, method.__qualname__ = name, f"{owner.__name__}.{name}"
    parameters = ["*args", "**kwargs"]
    try:
        signature = inspect.signature(getattr(owner, name))
        method.__dict__["__signature__"] = signature
        parameters = [p for p in signature.parameters if p != "self"]
    except ValueError:  # before NumPy 2.4
        pass
    method.__doc__ = docstring(f"random.{name}", f"random.{owner.__name__}.{name}", parameters,
                               _BY_NUMPY)
    return method


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

    @drawn
    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = None,
               out: Mat | None = None) -> Operand:
        return self._drawn("uniform", size, dtype, out)

    @drawn
    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None,
                        out: Mat | None = None) -> Operand:
        return self._drawn("normal", size, dtype, out)

    def shuffle(self, x: Operand, axis: int = 0) -> None:
        """Shuffle the parts of `x` along an axis, in place.

        Parameters
        ----------
        x : Mat, array or list
            Is overwritten.
        axis : int
            The axis.

        Examples
        --------
        >>> import mat
        >>> x = mat.arange(5)
        >>> mat.random.default_rng(1).shuffle(x)
        >>> sorted(x.tolist())
        [0, 1, 2, 3, 4]
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

        Examples
        --------
        >>> import mat
        >>> first, second = mat.random.default_rng(1).spawn(2)
        >>> first.normal() == second.normal()
        False
        """
        if n_children < 0:
            raise SettingError(f"n_children must not be below 0, got {n_children}")
        seeds: Mat = self._by_numpy("integers", (2**64 - 1, ), {"size": n_children,
                                                               "dtype": "uint64"})
        return [Generator(int(seed)) for seed in seeds.tolist()]


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


STATE_NAME = "Philox4x32"


_NumpysOlder: Any = np.random.RandomState  # which SciPy and scikit-learn ask for


class RandomState(Draws, _NumpysOlder):  # type: ignore[misc]  # it is of no type for checkers
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

        Examples
        --------
        >>> import mat
        >>> state = mat.random.RandomState(1)
        >>> x = state.rand(2)
        >>> state.seed(1)
        >>> state.rand(2).equals(x)
        True
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

        Examples
        --------
        >>> import mat
        >>> state = mat.random.RandomState(1)
        >>> before = state.get_state()
        >>> x = state.rand(2)
        >>> state.set_state(before)
        >>> state.rand(2).equals(x)
        True
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

        Examples
        --------
        >>> import mat
        >>> state = mat.random.RandomState(1)
        >>> before, x = state.get_state(), state.rand(2)
        >>> state.set_state(before)
        >>> state.rand(2).equals(x)
        True
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

    @drawn
    def rand(self, *shape: int) -> Operand:
        return self._drawn("uniform", shape or None)

    @drawn
    def randn(self, *shape: int) -> Operand:
        return self._drawn("normal", shape or None)

    @drawn
    def random_sample(self, size: ShapeLike | None = None) -> Operand:
        return self._drawn("uniform", size)

    random = random_sample

    @drawn
    def standard_normal(self, size: ShapeLike | None = None) -> Operand:
        return self._drawn("normal", size)

    def shuffle(self, x: Operand) -> None:
        """Shuffle the parts of `x` along its first axis, in place.

        Parameters
        ----------
        x : Mat, array or list
            Is overwritten.

        Examples
        --------
        >>> import mat
        >>> x = mat.arange(5)
        >>> mat.random.shuffle(x)
        >>> sorted(x.tolist())
        [0, 1, 2, 3, 4]
        """
        self._shuffled(x)


for _class in (Generator, RandomState):  # NumPy computes what they lack of its methods
    for _name in vars(_class.numpy_class):
        if not _name.startswith("_") and _name not in {**vars(Draws), **vars(_class)}:
            setattr(_class, _name, delegating(_name, _class.numpy_class))
