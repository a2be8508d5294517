"""The swizzle for some patterns, found by trying; and what trying proves.

Every ``Swizzle`` whose bits lie below a limit is tried on every request. Where none
is enough, the search says how many it tried and how near the best came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from stacklib.quantity.bounds import whole

from .banks import BANKS, WORD, bank_conflicts
from .swizzle import Swizzle
from .tiles import Pattern

MOST_BITS = BANKS.bit_length() - 1


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found."""

    best: Swizzle
    ways: int  # its worst conflict: 1 is none
    tried: int  # swizzles tried
    requests: int  # requests each had to serve

    @property
    def found(self) -> bool:
        """Whether there is one without any conflict."""
        return self.ways == 1


def candidates(keep: int, top: int) -> Iterator[Swizzle]:
    """Swizzles of bytes that keep some together, few bits first."""
    whole(keep=keep)
    low = int(keep).bit_length() - 1
    for bits, base, shift in product(range(MOST_BITS + 1), range(low, top), range(top)):
        fits = shift >= bits and base + shift + bits <= top
        # Without bits there is one permutation, not one for each place.
        if fits and (bits or (base, shift) == (low, 0)):
            yield Swizzle(bits, base, shift)


def search_swizzle(
    patterns: Iterable[Pattern], *, keep: int = WORD, top: int = 12
) -> Search:
    """The mildest swizzle for all patterns at once.

    ``keep``: bytes that stay together, a power of two: the widest access at least;
    ``top``: bits of an address that may take part.
    """
    wanted = list(patterns)
    if not any(pattern.requests for pattern in wanted):
        raise ValueError("no request to serve")
    widest = max(pattern.width for pattern in wanted)
    whole(keep=keep, top=top)
    if keep & (keep - 1) or keep < widest:
        raise ValueError(f"keep = {keep}: a power of two from {widest} on is needed")
    best, ways, tried = Swizzle(0, 0, 0), BANKS + 1, 0
    for swizzle in candidates(keep, top):
        tried += 1
        reached = _up_to(wanted, swizzle, ways)
        if reached < ways:
            best, ways = swizzle, reached
    return Search(best, ways, tried, sum(len(p.requests) for p in wanted))


def _up_to(patterns: Sequence[Pattern], swizzle: Swizzle, limit: int) -> int:
    """The worst conflict, or ``limit`` as soon as it is reached."""
    found = 1
    for pattern in patterns:
        for request in pattern.requests:
            found = max(found, bank_conflicts(map(swizzle, request), pattern.width))
            if found >= limit:
                return limit
    return found


def find_swizzle(
    patterns: Iterable[Pattern], *, keep: int = WORD, top: int = 12
) -> Swizzle | None:
    """The swizzle with fewest bits that frees all patterns, or None.

    Parameters
    ----------
    patterns, keep, top
        As for `search_swizzle`.

    Examples
    --------
    >>> from stacklib.memory.warp.tiles import Tile
    >>> tile = Tile(32, 32, 4)
    >>> find_swizzle([tile.along(), tile.down()])
    Swizzle(bits=5, base=2, shift=5)
    """
    search = search_swizzle(patterns, keep=keep, top=top)
    return search.best if search.found else None
