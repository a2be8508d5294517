"""Swizzles proved: every tile of a family, every request, and the rank that says why.

A swizzle is a XOR of bits, so it is linear over the field of two elements: the place
of ``a ^ b`` is the place of ``a`` XOR that of ``b``. Where the lanes of a request
differ in whole bits, its conflict is a matter of rank ("Linear Layouts", Zhou et al.,
arXiv 2505.23819): as many different words as their bits span, over as many banks as
those bits span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .banks import BANKS, WORD, bank_access
from .lanes import WARP, check_width
from .swizzle import Place, Swizzle, matching_swizzle

ROWS = 64  # of the tiles a proof looks at
# Bytes a lane takes, and bytes of a row: every tile of the family.
FAMILY = tuple(
    (width, 1 << log) for width in (4, 8, 16) for log in range(5, 11)
)  # rows of 32 to 1,024 bytes


@dataclass(frozen=True, slots=True)
class Proof:
    """What every request of one tile came to."""

    width: int  # bytes a lane takes
    pitch: int  # bytes of a row
    swizzle: Swizzle  # the permutation of bytes
    requests: int  # requests served: each column of words of ``width`` from each row on
    worst: int  # the worst conflict among them; 1 proves the tile
    plain: int  # the worst conflict without the swizzle


def requests(width: int, pitch: int, rows: int = ROWS) -> Iterator[range]:
    """Every column request from every row on, and every aligned run of bytes."""
    for first in range(rows - WARP + 1):
        for start in range(first * pitch, (first + 1) * pitch, width):
            yield range(start, start + WARP * pitch, pitch)
    for start in range(0, rows * pitch, WARP * width):
        yield range(start, start + WARP * width, width)


def prove(width: int, pitch: int, swizzle: Swizzle | None = None) -> Proof:
    """Serve every request of a tile, with a swizzle and without.

    ``width``: bytes a lane takes: 4, 8 or 16; ``pitch``: bytes of a row, a power of
    two.
    """
    chosen = matching_swizzle(pitch, width) if swizzle is None else swizzle
    served = list(requests(width, pitch))
    return Proof(
        width,
        pitch,
        chosen,
        len(served),
        max(bank_access(map(chosen, lanes), width).degree for lanes in served),
        max(bank_access(lanes, width).degree for lanes in served),
    )


def rank(vectors: Iterable[int]) -> int:
    """Rank over the field of two elements of vectors written as bits."""
    basis: list[int] = []
    for vector in vectors:
        left = vector
        for known in basis:
            left = min(left, left ^ known)
        if left:
            basis.append(left)
    return len(basis)


def rank_ways(steps: Sequence[int], place: Place, width: int = WORD) -> int:
    """The conflict of a request whose lanes differ in whole bits: the closed form.

    ``steps``: byte offset that each bit of the lane's number adds, lowest bit first;
    ``width``: bytes each lane takes.
    """
    if len(steps) > WARP.bit_length() - 1:
        raise ValueError(f"{len(steps)} bits of lanes: a warp has 5")
    each = max(1, check_width(width) // WORD)  # words of a lane
    together = len(steps) if each == 1 else 6 - each.bit_length()
    inside = [WORD << i for i in range(each.bit_length() - 1)]
    words = [place(step) // WORD for step in (*steps[:together], *inside)]
    return 1 << (rank(words) - rank(word % BANKS for word in words))
