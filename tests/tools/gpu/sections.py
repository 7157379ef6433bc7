"""The sections of the benchmarks, those first that are worth most."""

from __future__ import annotations

from collections.abc import Callable

from . import computing, moves
from .item import Section
from .setting import Setting

SECTIONS: dict[str, Callable[[Setting], Section]] = {
    "Element-wise and reductions": computing.bounded, "Products": computing.products,
    "Calls": computing.calls, "Permutes": moves.permutes, "Transfers": moves.transfers,
    "Training": computing.training, "Copies ahead": moves.ahead, "Compiling": computing.compiling,
}
