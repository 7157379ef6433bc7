"""Names that are close to one that does not exist, for the messages of errors."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping

_NONE: Mapping[str, str] = {}


def close_names(name: object, names: Iterable[str], most: int = 3) -> list[str]:
    """Return those of `names` that are spelt like `name`, the closest first."""
    if not isinstance(name, str):
        return []
    folded = {known.casefold(): known for known in names if _may_be_close(name, known)}
    # only an error takes the time to import it
    matches = importlib.import_module("difflib").get_close_matches(name.casefold(), folded, most)
    return [folded[n] for n in matches]


def did_you_mean(name: object, names: Iterable[str], others: Mapping[str, str] = _NONE) -> str:
    """Return " (did you mean 'this'?)", or "" if no name is close.

    Parameters
    ----------
    name : object
        What was given.
    names : iterable of str
        The names that there are.
    others : mapping
        Names that other libraries use, and which of `names` they mean.
    """
    found = [others[name]] if isinstance(name, str) and name in others else []
    found = found or close_names(name, names, 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _may_be_close(name: str, known: str) -> bool:
    """Return whether a comparison is worth its time: `hasattr` asks for many names in vain."""
    return (abs(len(name) - len(known)) <= 3
            and (name[:1].casefold() == known[:1].casefold() or name[-2:] == known[-2:]))


def no_attribute(owner: object, words: str, name: str, names: Iterable[str]) -> AttributeError:
    """Return the error to raise for an attribute that does not exist.

    Parameters
    ----------
    owner : object
        The object that lacks it.
    words : str
        What it is called, such as "module 'mat'".
    name : str
        The attribute.
    names : iterable of str
        The attributes that there are; not asked for a private one, which only tools look for.
    """
    found = [] if name.startswith("_") else close_names(name, names)
    close = f"; close names: {', '.join(found)}" if found else ""
    return AttributeError(f"{words} has no attribute {name!r}{close}", name=name, obj=owner)
