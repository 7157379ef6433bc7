"""Passes and expressions in words, for traces and for `mat.show`."""

from __future__ import annotations

from typing import Any

from ...core.source_line import file_and_line
from ...matrix.mat import Mat
from ...support.formatting import counted

MOST = 12  # operations that are listed by name
PASS = "fused: "  # what descriptions of passes begin with


def described(one: Any) -> str:
    """Return what a pass computes: ``fused: 9 operations of lines 12-14, 3 operands, 1 result``."""
    operands = len({id(x) for x in one.operands if isinstance(x, Mat)})
    operations, results = len(one.order) + len(one.folds), max(len(one.targets), len(one.folds))
    return (f"{PASS}{counted(operations, 'operation')} of {lines_of(one.order)}, "
            f"{counted(operands, 'operand')}, {counted(max(1, results), 'result')}")


def of_rows(nodes: list[Any], operands: int) -> str:
    """Return what a kernel of rows computes, as `described` does."""
    return (f"{PASS}{counted(len(nodes), 'operation')} of {lines_of(nodes)}, over rows, "
            f"{counted(operands, 'operand')}")


def of_parts(nodes: list[Any], operands: int, results: int) -> str:
    """Return what reductions in tiles compute, as `described` does."""
    return (f"{PASS}{counted(len(nodes), 'operation')} of {lines_of(nodes)}, in parts, "
            f"{counted(operands, 'operand')}, {counted(results, 'result')}")


def listed(nodes: list[Any]) -> str:
    """Return the operations of an expression: ``3 operations of line 2: multiply, add, sqrt``."""
    names = [node.operation.__name__ for node in nodes]
    more = [f"and {len(names) - MOST} more"] if len(names) > MOST else []
    return (f"{counted(len(names), 'operation')} of {lines_of(nodes)}: "
            f"{', '.join(names[:MOST] + more)}")


def lines_of(nodes: list[Any]) -> str:
    """Return the lines of the statements, from the first to the last in each file."""
    found: dict[str, list[int]] = {}
    for node in nodes:
        if node.line is not None:
            file, line = file_and_line(node.line)
            found.setdefault(file, []).append(line)
    texts = []
    for file, lines in found.items():
        first, last = min(lines), max(lines)
        text = f"line {first}" if first == last else f"lines {first}-{last}"
        texts.append(text if len(found) == 1 else f"{text} of {file}")
    return " and ".join(texts)
