"""Messages for misuse of an access: without ``with``, or writing through a read-only request."""

from __future__ import annotations

from ..errors import MatError
from ..support.unused import warn_unused
from .access_record import AccessRecord
from .direction import INPUT, Direction
from .registry import Facet


def warn_unused_access(facet: Facet, direction: Direction) -> None:
    """Warn that ``x.facet(...)`` was not used by ``with``."""
    warn_unused(f"x.facet({facet.name!r}, {direction.value!r})")


def warn_unused_group(facet: Facet, direction: Direction, count: int) -> None:
    """Warn that ``with_facets`` of so many Mats was not used by ``with``."""
    others = ", ..." if count > 1 else ""
    warn_unused(f"mat.with_facets((x, {facet.name!r}, {direction.value!r}){others})")


def note_read_only(error: BaseException | None, record: AccessRecord) -> None:
    """Add to an error about writing a read-only array how it could be for writing."""
    if (record.direction is INPUT and isinstance(error, (ValueError, TypeError))
            and not isinstance(error, MatError) and "read-only" in str(error)):
        error.add_note(f"{record.describe()}: to write it, request 'io', or 'output' to overwrite "
                       "all of it")
