"""The sections of the benchmarks, those first that are worth most."""

from __future__ import annotations

from collections.abc import Callable

from . import computing, library, moves
from .item import Section
from .setting import Setting

SECTIONS: dict[str, Callable[[Setting], Section]] = {
    "Sizes": computing.sizes, "Calls": computing.calls, "Training": computing.training,
    "Library": library.library, "Expressions": library.expressions,
    "Transfers": moves.transfers, "Larger than the pool": moves.larger,
    "Products": computing.products, "Element-wise and reductions": computing.bounded,
    "Permutes": moves.permutes, "Copies ahead": moves.ahead, "Beside CUB": library.beside_cub,
    "Beside managed memory": moves.beside_managed,
}
