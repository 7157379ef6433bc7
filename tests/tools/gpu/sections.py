"""The sections of the benchmarks, those first that are worth most."""

from __future__ import annotations

from collections.abc import Callable

from . import computing, library, moves
from .item import Section
from .setting import Setting

SECTIONS: dict[str, Callable[[Setting], Section]] = {
    "Expressions": library.expressions, "Library": library.library, "Calls": computing.calls,
    "Training": computing.training, "Element-wise and reductions": computing.bounded,
    "Products": computing.products, "Permutes": moves.permutes, "Transfers": moves.transfers,
    "Copies ahead": moves.ahead, "Compiling": computing.compiling,
}
