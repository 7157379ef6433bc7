"""Implementations: the code for an operation through one facet, and the operands it supports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...core.registry import Facet, facet_named
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support.types import Function, Operand

PREFERENCE = ("foreign", "array")  # the order in which facets of the host are tried
# kinds of operands in a plan: accessed, the same Mat as another one, a number
ACCESSED, REPEATED, NUMBER = 0, 1, 2
DEVICES = frozenset(("cuda",))  # names of facets that are known before there is a device


class Implementation(NamedTuple):
    """The code for an operation through one facet, and the operands it supports."""

    facet_name: str  # of a device's facet, whichever of its kind is in use
    function: Function
    fits: Callable[[Layout], object] | None  # None: any strides
    dtypes: frozenset[str] | None  # None: all
    pack: bool  # rather pack operands than try another implementation
    bare: bool  # requires no engine: a ufunc, or a function of the engine itself
    silent: bool = False  # NumPy never warns of it
    # called once for operands of the same forms, with the Mats; returns the implementation
    prepares: bool = False
    # whether it takes these operands, beyond `fits` and `dtypes`; None: any
    when: Callable[..., object] | None = None
    needs: str = ""  # the library of the device that it calls, if devices may lack that

    def fits_layout(self, layout: Layout) -> bool:
        """Return whether an operand of this layout need not be packed."""
        return self.fits is None or layout.contiguous or bool(self.fits(layout))

    @property
    def facet(self) -> Facet:
        """The facet for access to operands."""
        return facet_named(self.facet_name)


def known(facet: str | Facet) -> str:
    """Return the name of a facet given by name or itself, of a device's before there is one."""
    return facet if isinstance(facet, str) and facet in DEVICES else facet_named(facet).name


def rank(implementation: Implementation) -> int:
    """Return the position of an implementation in the order of trial."""
    name = implementation.facet_name
    return PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE)


def fitting(implementations: Sequence[Implementation],
            operands: Sequence[Operand]) -> tuple[Implementation, bool] | None:
    """Return the first implementation that fits, and whether operands are packed; or None."""
    mats = [x for x in operands if isinstance(x, Mat)]
    for implementation in implementations:
        if ((implementation.dtypes is None
             or all(m.element_type.char in implementation.dtypes for m in mats))
                and (implementation.when is None or implementation.when(*operands))):
            if all(implementation.fits_layout(m.layout) for m in mats):
                return implementation, False
            if implementation.pack:
                return implementation, True
    return None
