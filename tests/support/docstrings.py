"""Find what the docstring of a public name lacks, by the rules of numpydoc: first a sentence, then
sections.
"""

import inspect
import re
import typing
from enum import Enum

WIDEST = 100
SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes",
            "References", "Examples")
# A first line that begins so is no sentence with a verb
NOUN_CLAUSES = ("What", "Whether", "How", "Who", "Whose", "Where", "When", "Which", "The same",
                "Likewise", "As", "That", "For")


def sections(doc):
    """The sections of a docstring, each as the list of its lines, by their titles."""
    lines = inspect.cleandoc(doc).splitlines()
    found, current = {}, []
    for k, line in enumerate(lines):
        if _is_title(lines, k):
            current = found[line] = []
        elif not re.fullmatch(r"-{3,}", line):
            current.append(line)
    return found


def _is_title(lines, k):
    return lines[k] in SECTIONS and lines[k + 1:k + 2] == ["-" * len(lines[k])]


def described(lines):
    """The names that a section of parameters describes; stars are left out."""
    heads = [line.split(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def faults_of_summary(doc):
    """What is wrong with the first line."""
    if not (doc or "").strip():
        return ["there is no docstring"]
    first, *others = inspect.cleandoc(doc).splitlines()
    found = []
    if not first.endswith("."):
        found.append("the first line does not end in a full stop")
    if len(first) > WIDEST:
        found.append(f"the first line has {len(first)} columns")
    if not first[0].isupper():
        found.append("the first line does not begin with a capital letter")
    if re.match(rf"({'|'.join(NOUN_CLAUSES)})\b", first):
        found.append(f"the first line begins with {first.split()[0]!r}")
    if others and others[0].strip():
        found.append("no empty line follows the first")
    return found


def parameters_of(thing):
    """The names of the parameters that its docstring is to describe."""
    if isinstance(thing, type):
        own = vars(thing).get("__init__")
        if issubclass(thing, Enum | BaseException) or own is None:
            return []
        thing = own
    elif not callable(thing):
        return []
    names = list(inspect.signature(thing).parameters)
    return names[1:] if names[:1] == ["self"] else names


def fields_of(thing):
    """The fields of a named tuple."""
    return list(getattr(thing, "_fields", ())) if isinstance(thing, type) else []


def returns_nothing(annotation):
    """The annotation of a function, or of the generator of a context manager, says None."""
    if typing.get_origin(annotation) is not None:
        annotation = typing.get_args(annotation)[0]
    return annotation in (None, type(None), "None", "Iterator[None]")


def faults(thing, doc, *, returned=None, example=False, other=None):
    """What a docstring lacks; `returned` is the annotation of what is returned, `example` whether
    the rules ask for a doctest, `other` a function whose parameters may be described instead.
    """
    found = faults_of_summary(doc)
    if not doc:
        return found
    parts = sections(doc)
    wanted, fields = parameters_of(thing), fields_of(thing)
    if fields:
        named = described(parts.get("Attributes", parts.get("Parameters", [])))
        if sorted(named) != sorted(fields):
            found.append(f"Attributes are {named}, the fields are {fields}")
    else:
        named = described(parts.get("Parameters", []))
        accepted = [wanted, parameters_of(other)] if other and "is self" in doc else [wanted]
        if sorted(named) not in map(sorted, accepted):
            found.append(f"Parameters are {named}, the signature has {wanted}")
    gives = inspect.isroutine(thing) or (callable(thing) and not isinstance(thing, type))
    if gives and not returns_nothing(returned) and not parts.keys() & {"Returns", "Yields"}:
        found.append("there is no section Returns")
    if ">>> " in doc and ">>> " not in "\n".join(parts.get("Examples", [])):
        found.append("the doctest is not in a section Examples")
    if example and ">>> " not in doc:
        found.append("there is no example")
    return found
