"""What a proximity query says about a pair. Plain integers inside kernels, an enum for users."""

from __future__ import annotations

from enum import IntEnum

SEPARATED, TOUCHING, OVERLAPPING, BEYOND_MARGIN, UNCERTAIN = range(5)


class Status(IntEnum):
    """Outcome of a query.

    TOUCHING: the certified interval holds zero and is narrower than the tolerance. BEYOND_MARGIN: certainly further
    apart than the margin; the search stopped there. UNCERTAIN: the interval is wider than the tolerance.
    """

    SEPARATED = SEPARATED
    TOUCHING = TOUCHING
    OVERLAPPING = OVERLAPPING
    BEYOND_MARGIN = BEYOND_MARGIN
    UNCERTAIN = UNCERTAIN

    def __str__(self) -> str:
        return self.name
