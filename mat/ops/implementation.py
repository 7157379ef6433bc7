"""Bodies: the code that does an operation's work through one facet, and which operands it can
take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.cube import Facet, facet_named
from ..layout.strided import Layout
from ..matrix.mat import Mat

PREFERENCE = ("foreign", "array")  # the order in which facets of the host are tried
DEVICES = frozenset(("cuda",))  # names of facets that are known before there is a device


class Implementation(NamedTuple):
    """The code that does an operation's work through one facet, and which operands it can take."""

    place: str  # the facet's name; of a device's, whichever of its kind is in use
    function: Callable[..., Any]
    fits: Callable[[Layout], object] | None  # None: any strides
    dtypes: frozenset[str] | None  # None: all
    pack: bool  # rather pack operands than try another body
    bare: bool  # wants no engine: a ufunc, or a function of the engine itself
    silent: bool = False  # NumPy never warns of it
    # called once for operands of the same forms, with the Mats; gives the body
    prepares: bool = False
    # what else operands must be, asked with all of them; None: nothing
    when: Callable[..., object] | None = None

    def takes(self, layout: Layout) -> bool:
        """Whether an operand of this layout can go in as it is."""
        return self.fits is None or layout.contiguous or bool(self.fits(layout))

    @property
    def facet(self) -> Facet:
        """What operands are looked at through."""
        return facet_named(self.place)


def known(place: str) -> str:
    """`place`, if it is the name of a facet; those of devices may be named before there is any."""
    return place if place in DEVICES else facet_named(place).name


def rank(implementation: Implementation) -> int:
    """What bodies are sorted by."""
    return PREFERENCE.index(implementation.place) if implementation.place in PREFERENCE else len(PREFERENCE)


def fitting(implementations: Sequence[Implementation],
            operands: Sequence[Any]) -> tuple[Implementation, bool] | None:
    """The first of `implementations` that takes the operands, and whether some must be packed for
    it; None if none does.
    """
    mats = [x for x in operands if isinstance(x, Mat)]
    for implementation in implementations:
        if ((implementation.dtypes is None
             or all(m.storage.dtype.char in implementation.dtypes for m in mats))
                and (implementation.when is None or implementation.when(*operands))):
            if all(implementation.takes(m.layout) for m in mats):
                return implementation, False
            if implementation.pack:
                return implementation, True
    return None
