"""Swizzles: permutations of addresses that spread columns over banks for free.

``Swizzle(bits, base, shift)`` is CuTe's ``Swizzle<B, M, S>``: ``bits`` bits that stand
``shift`` above ``base`` are XORed into the ``bits`` bits at ``base``. Nothing grows,
and the swizzle undoes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from .banks import bank_conflicts

__all__ = ["Swizzle", "find_swizzle", "padded", "tile_requests", "worst"]

LARGEST = 5  # bits: thirty-two banks

Index = tuple[int, int]
Place = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Swizzle:
    """A permutation of offsets.

    Parameters
    ----------
    bits : int
        How many bits are mixed, B; 0 leaves every offset where it is.
    base : int
        Lowest bit that changes, M; what is below stays together.
    shift : int
        Distance to the bits that are mixed in, S; negative ones stand below.

    Raises
    ------
    ValueError
        When the two groups of bits overlap (``abs(shift) < bits``), or a number is
        below zero where it cannot be.

    Examples
    --------
    >>> [Swizzle(2, 0, 2)(i) for i in range(8)]
    [0, 1, 2, 3, 5, 4, 7, 6]
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        for name in ("bits", "base", "shift"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} = {value!r}: a whole number is needed")
        if self.bits < 0 or self.base < 0:
            raise ValueError(f"{self}: bits and base are 0 or more")
        if abs(self.shift) < self.bits:
            raise ValueError(
                f"{self}: a shift of at least {self.bits} keeps the bits apart"
            )

    def __call__(self, offset: int) -> int:
        """Where ``offset`` goes; calling it again leads back.

        Raises
        ------
        ValueError
            For an offset below zero.
        """
        if offset < 0:
            raise ValueError(f"offset {offset} is below zero")
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        mixed = offset & mask
        moved = mixed >> self.shift if self.shift >= 0 else mixed << -self.shift
        return offset ^ moved

    @property
    def period(self) -> int:
        """Offsets after which the pattern repeats."""
        return 1 << (self.base + self.bits + abs(self.shift))


def padded(columns: int, padding: int) -> Place:
    """Offsets of a matrix whose rows are longer by some elements.

    Parameters
    ----------
    columns : int
        Elements of a row.
    padding : int
        Elements added to each.
    """

    def place(offset: int) -> int:
        row, column = divmod(offset, columns)
        return row * (columns + padding) + column

    return place


def tile_requests(
    rows: int, columns: int, width: int, vector: int = 1
) -> Iterator[list[int]]:
    """Every warp-wide request for a row or a column of a tile, as element offsets.

    Parameters
    ----------
    rows, columns : int
        Of the tile, row-major.
    width : int
        Bytes of an element.
    vector : int
        Elements that one lane takes at once, neighbours in a row.

    Raises
    ------
    ValueError
        When a row does not divide into vectors.
    """
    if columns % vector:
        raise ValueError(f"{columns} columns do not divide into vectors of {vector}")
    if width * vector > 16:
        raise ValueError(f"{vector} elements of {width} bytes: a lane takes 16 at most")
    across = [
        [row * columns + column for column in range(0, columns, vector)]
        for row in range(rows)
    ]
    down = [list(column) for column in zip(*across, strict=True)]
    for run in (*across, *down):
        for start in range(0, len(run), 32):
            yield run[start : start + 32]


def worst(
    requests: Iterable[Sequence[int]], place: Place, *, width: int, vector: int = 1
) -> int:
    """The worst bank conflict among some requests under a placement.

    Parameters
    ----------
    requests : iterable of sequence of int
        Element offsets, one a lane.
    place : callable
        A `Swizzle`, `padded`, or any function of an offset.
    width, vector : int
        Bytes of an element; elements a lane takes.
    """
    return max(
        bank_conflicts([width * place(offset) for offset in request], width * vector)
        for request in requests
    )


def find_swizzle(
    requests: Iterable[Sequence[int]], *, width: int, vector: int = 1, most: int = 12
) -> Swizzle | None:
    """The swizzle with fewest bits under which no request has a conflict.

    Parameters
    ----------
    requests : iterable of sequence of int
        Element offsets, one a lane.
    width, vector : int
        Bytes of an element; elements a lane takes, which stay together.
    most : int
        Highest bit that may be mixed in.

    Returns
    -------
    Swizzle or None
        None where no swizzle is enough: some patterns need padding, or have more
        words than banks.
    """
    asked = [list(request) for request in requests]
    base = max(0, vector - 1).bit_length()
    for bits, low, shift in product(range(LARGEST + 1), range(base, most), range(most)):
        if shift < bits or low + shift + bits > most:
            continue
        swizzle = Swizzle(bits, low, shift)
        if worst(asked, swizzle, width=width, vector=vector) == 1:
            return swizzle
    return None
