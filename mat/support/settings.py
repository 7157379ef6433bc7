"""Settings, for a block in this context (``with mat.settings(...)``) or permanently
(``mat.configure(...)``).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Token
from typing import TYPE_CHECKING, Any, Never, TypedDict, Unpack, get_args

from ..errors import DTypeError, SettingError
from .close_names import did_you_mean, no_attribute
from .dtypes import as_dtype
from .fork import in_child
from .open_blocks import Decorating, enter, leave, remove, still_open
from .options import (
    CONTEXT,
    NAMES,
    Changed,
    Options,
    Products,
    Torn,
    current,
    permanent,
    set_permanent,
)
from .plugins import plugin
from .types import DTypeLike, Keywords

_TORN, _PRODUCTS = get_args(Torn), get_args(Products)

THREADS: list[Callable[[], None]] = []  # called when the number of threads changes, or changes back
# called with a new limit of the bytes of free host memory that are kept
HOST_POOL: list[Callable[[int | None], None]] = []
CONTEXTS: list[object] = []  # one item for each block that sets the number of threads
# called with the least number of bytes, of all blocks, above which host copies are files
SPILL: list[Callable[[int | None], None]] = []
_SPILLING: list[object] = []  # one item for each block that sets that number


def _changed(options: Options, changes: Keywords) -> Options:
    """Return `options` with `changes`; raise `SettingError` for an invalid name or value."""
    for name, value in changes.items():
        if name not in NAMES:
            others = did_you_mean(name, NAMES) or f"; there are {', '.join(NAMES)}"
            raise SettingError(f"no setting {name!r}{others}")
        fits, wanted = _WANTED.get(name, _TRUTH)
        if not fits(value):
            raise SettingError(f"{name} is {wanted}, got {value!r}")
    return options.replaced({name: _CONVERTED[name](value) if name in _CONVERTED else value
                             for name, value in changes.items()})


def _is_count(value: object, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


# what a value is to be, as a function and in words; without it, True or False
_TRUTH: tuple[Callable[[Any], bool], str] = (lambda v: isinstance(v, bool)), "True or False"
_WANTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "dtype": (lambda _: True, "a dtype"),  # its conversion raises the error
    "torn": (lambda v: isinstance(v, str) and v in _TORN,
             f"one of {', '.join(map(repr, _TORN))}"),
    "float32_products": (lambda v: isinstance(v, str) and v in _PRODUCTS,
                         f"one of {', '.join(map(repr, _PRODUCTS))}"),
    "threads": (lambda v: v is None or _is_count(v, 1),
                "a number above 0, or None for one on each core"),
    "page_locked_bytes": (_is_count, "a number of bytes"),
    "host_pool_bytes": (lambda v: v is None or _is_count(v),
                        "a number of bytes, or None for a limit by what is in use"),
    "spill_dir": (lambda v: v is None or (isinstance(v, str | os.PathLike) and os.path.isdir(v)),
                  "the path of a directory that exists, or None for the system's"),
    "spill_above": (lambda v: v is None or _is_count(v),
                    "a number of bytes, or None for no files"),
    "progress": (lambda v: v is None or isinstance(v, bool) or callable(v),
                 "a function of bytes done and bytes in all, True for a bar, or None"),
}
_CONVERTED: dict[str, Callable[[Any], object]] = {
    "dtype": as_dtype,
    "spill_dir": lambda v: None if v is None else os.path.abspath(os.fsdecode(v)),
}


class SettingsBlock(Decorating[Options]):
    """The context manager that ``mat.settings(...)`` returns."""

    def __init__(self, changes: Keywords) -> None:
        given = ", ".join(f"{name}={value!r}" for name, value in changes.items())
        self.changes: Keywords = changes
        self.changed: Changed | None = None
        self.token: Token[Changed | None] | None = None
        self.warn_unless_entered(f"mat.settings({given})")

    def already_open(self) -> SettingError:
        return SettingError("this block of settings is already open; call mat.settings again")

    def begin(self) -> Options:
        options = _changed(current(), self.changes)
        if "host_pool_bytes" in self.changes:
            raise SettingError("host_pool_bytes concerns the whole process, not a block: mat."
                               f"configure(host_pool_bytes={self.changes['host_pool_bytes']!r})")
        if "fused" in self.changes:
            raise SettingError("fused concerns the whole process, not a block: with mat.fused(): "
                               "..., or mat.configure(fused=True)")
        self.changed = changed = Changed(options)
        if "threads" in self.changes:
            CONTEXTS.append(self.changed)
            _notify_threads()
        if options.spill_above is not None and "spill_above" in self.changes:
            _SPILLING.append(changed)
            _notify_spilling()
        self.token = CONTEXT.set(CONTEXT.get())  # it tells the contexts apart
        enter(CONTEXT, changed)
        return options

    def end(self, error: BaseException | None) -> None:
        changed = self.changed
        if changed is None:
            return
        remove(CONTEXTS, changed)
        if changed in _SPILLING:
            remove(_SPILLING, changed)
            _notify_spilling()
        if CONTEXT.get() is changed and self._at_home():
            # copies of this context, which tasks have that began inside, keep the settings
            CONTEXT.set(still_open(changed.parent))
        else:
            leave(CONTEXT, changed)
        self.changed = None

    def _at_home(self) -> bool:
        """Return True in the context in which the block began."""
        innermost, token = CONTEXT.get(), self.token
        if token is None:
            return False
        self.token = None
        try:
            CONTEXT.reset(token)
        except ValueError:
            return False
        CONTEXT.set(innermost)
        return True


if TYPE_CHECKING:
    class Changes(TypedDict, total=False):
        """New values of settings, for type checkers."""

        dtype: DTypeLike
        print_contents: bool
        print_facets: bool
        device_enabled: bool
        torn: Torn
        page_locked: bool
        page_locked_bytes: int
        threads: int | None
        host_pool_bytes: int | None
        spill_dir: str | os.PathLike[str] | None
        spill_above: int | None
        progress: Callable[[int, int], object] | bool | None
        scalars: bool
        float32_products: Products
        fused: bool

    Attributes = Options  # so that checkers know that there are no others
else:
    Attributes = object


class Settings(Attributes):
    """The settings; ``with mat.settings(dtype="float32"):`` changes them for a block.

    The change concerns the current thread or task only. ``mat.settings.dtype`` and the other
    attributes are the current values.

    Parameters
    ----------
    *no_names
        An error, which names the setting that was meant.
    **changes
        New values of the attributes by name.

    Returns
    -------
    context manager
        Its value in the block has the attributes.

    Raises
    ------
    SettingError
        At the begin of the block: for an unknown setting, or a value that it cannot have.

    Attributes
    ----------
    dtype : dtype
        Of new Mats.
    print_contents, print_facets : bool
        True to print the elements of a Mat, and the letters of its facets.
    device_enabled : bool
        Of new Mats: True to have operations on them compute on the device in use.
    torn : {"raise", "warn", "ignore"}
        The effect of an access that reads half-written data.
    page_locked : bool
        True to page-lock host memory, so that copies from and to a GPU need no staging. No effect
        without CUDA.
    page_locked_bytes : int
        The most bytes of page-locked memory that are cached for the next use.
    threads : int or None
        The number of threads for large operations of `mat`'s own kernels; None: one for each core,
        or fewer if ``OMP_NUM_THREADS`` says so in the environment. BLAS has its own threads.
    host_pool_bytes : int or None
        The most bytes of freed host memory that the process keeps for the next use; `trim` gives
        them back. None: no more is held than was in use at once in the last 10 to 20 seconds, or
        64 MiB more than is in use, and at most an eighth of the machine's memory is kept.
        Only `configure` sets it, since all threads share the memory.
    spill_dir : str or None
        The directory of the files that `spill_above` makes; None: the system's for temporary
        files, which may be in memory. Choose one on a disk.
    spill_above : int or None
        Host memory for a Mat of more than so many bytes is an unnamed file in `spill_dir`, of which
        the system keeps in memory what is used; None: none is.
    progress : callable, bool or None
        Called as ``progress(done, total)``, with numbers of bytes, by operations that are carried
        out in tiles: on a device without room for their operands, or as these are in large files.
        True: each of them shows a bar, of tqdm if that is installed.
    scalars : bool
        True: ``x[i]`` with an integer for each axis is a NumPy scalar; False: a Mat without axes,
        as the array API standard requires.
    float32_products : {"ieee", "tf32", "bfloat16"}
        What CUDA devices may compute products of float32 matrices in. With ``"tf32"`` operands are
        rounded to 10 bits after the first one, with ``"bfloat16"`` to 7; sums are of float32. Other
        devices and the host compute in float32.
    fused : bool
        True: every thread is in a block of `fused`. Only `configure` sets it.

    Examples
    --------
    >>> import mat
    >>> with mat.settings(dtype="float32"):
    ...     print(mat.settings.dtype)
    float32
    """

    def __call__(self, *no_names: Never, **changes: Unpack[Changes]) -> SettingsBlock:
        _refuse_positional("mat.settings", no_names)
        return SettingsBlock({**changes})

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            if name not in (names := dir(self)):
                raise no_attribute(self, "mat.settings", name, names)
            return getattr(current(), name)

    def __setattr__(self, name: str, value: object) -> None:
        raise SettingError(f"settings are changed by mat.configure({name}={value!r}), or for a "
                           "block by mat.settings(...)")

    def __dir__(self) -> list[str]:
        return list(NAMES)

    def __repr__(self) -> str:
        return repr(current())


Settings.__call__.__qualname__ = "mat.settings"  # in messages about its arguments
settings: Settings = Settings()


def configure(*no_names: Never, **changes: Unpack[Changes]) -> None:
    """Change settings permanently, in every thread.

    The settings of a ``with mat.settings(...)`` block take precedence inside it.

    Parameters
    ----------
    *no_names
        An error, which names the setting that was meant.
    **changes
        New values of `settings` by name.

    Raises
    ------
    SettingError
        For an unknown setting, or a value that it cannot have.

    Examples
    --------
    >>> import mat
    >>> mat.configure(print_facets=True)
    """
    _refuse_positional("mat.configure", no_names)
    options = _changed(permanent(), {**changes})
    set_permanent(options)
    if "threads" in changes:
        _notify_threads()
    if "host_pool_bytes" in changes:
        for callback in HOST_POOL:
            callback(options.host_pool_bytes)
    if "spill_above" in changes:
        _notify_spilling()
    if "fused" in changes:
        plugin("ops.expressions.block").fuse_permanently(options.fused)


def _refuse_positional(function: str, values: tuple[object, ...]) -> None:
    """Raise for values without names; for one that is a dtype, say so."""
    if not values:
        return
    given, known = values[0], ""
    try:
        meant = f"dtype='{as_dtype(given)}'"  # type: ignore[arg-type]  # it may be one
    except (TypeError, ValueError):
        meant = f"NAME={given!r}"
        known = "; print(mat.settings) shows all of them"
    raise DTypeError(f"{function} takes settings by name: {function}({meant}), got "
                     f"{given!r}{known}")


def _notify_threads() -> None:
    for callback in THREADS:
        callback()


def _notify_spilling() -> None:
    blocks = [c.options for c in tuple(_SPILLING) if isinstance(c, Changed)]
    least = min((options.spill_above for options in (permanent(), *blocks)
                 if options.spill_above is not None), default=None)
    for callback in SPILL:
        callback(least)


@in_child
def _forget_other_threads() -> None:
    """End the blocks of threads that a forked child does not have."""
    here = threading.get_ident()
    _SPILLING[:] = [c for c in _SPILLING if isinstance(c, Changed) and c.thread == here]
    CONTEXTS[:] = [c for c in CONTEXTS if isinstance(c, Changed) and c.thread == here]
