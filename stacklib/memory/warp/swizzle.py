"""Swizzles: permutations of addresses that spread columns over banks for free.

``Swizzle(bits, base, shift)`` is CuTe's ``Swizzle<B, M, S>``: ``bits`` bits that stand
``shift`` above ``base`` are XORed into the ``bits`` bits at ``base``. Nothing grows,
and the swizzle undoes itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stacklib.quantity.bounds import is_whole, whole

Place = Callable[[int], int]  # where an offset goes


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
        whole(0, bits=self.bits, base=self.base)
        if not is_whole(self.shift):  # below zero too
            raise ValueError(f"shift = {self.shift!r}: a whole number is needed")
        if abs(self.shift) < self.bits:
            raise ValueError(
                f"{self}: a shift of at least {self.bits} keeps the bits apart"
            )

    def __call__(self, offset: int) -> int:
        """Where ``offset`` goes; calling it again leads back."""
        whole(0, offset=offset)
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        mixed = offset & mask
        moved = mixed >> self.shift if self.shift >= 0 else mixed << -self.shift
        return offset ^ moved

    @property
    def period(self) -> int:
        """Offsets after which the pattern repeats."""
        return 1 << (self.base + self.bits + abs(self.shift))

    def on_bytes(self, width: int) -> Swizzle:
        """The same permutation of elements, as one of their bytes.

        Parameters
        ----------
        width : int
            Bytes of an element, a power of two.

        Raises
        ------
        ValueError
            For another width.
        """
        return Swizzle(self.bits, self.base + _log2(width, "width"), self.shift)


def _log2(value: int, name: str) -> int:
    """The exponent of a power of two."""
    whole(**{name: value})
    if value & (value - 1):
        raise ValueError(f"{name} = {value}: a power of two is needed")
    return value.bit_length() - 1


def padded(row: int, padding: int) -> Place:
    """Offsets of a matrix whose rows are made longer.

    ``row``: length of a row, in elements or in bytes.
    """
    whole(row=row)
    whole(0, padding=padding)
    return lambda offset: offset + offset // row * padding


def matching_swizzle(pitch: int, width: int) -> Swizzle:
    """The swizzle of bytes under which rows and columns of a tile are both free.

    Bits that number the row are mixed into bits that number the place in 128 bytes,
    as many as there are places. For 16 bytes a lane and rows of 32, 64 and 128 bytes
    these are the modes of the hardware.
    """
    if width not in (4, 8, 16):
        raise ValueError(f"width = {width!r}: 4, 8 or 16 bytes stay together")
    base, row = _log2(width, "width"), _log2(pitch, "pitch")
    if row < base:
        raise ValueError(f"pitch = {pitch}: shorter than the {width} bytes of a lane")
    all_banks = 7  # 128 bytes
    return Swizzle(min(row, all_banks) - base, base, max(row, all_banks) - base)


@dataclass(frozen=True, slots=True)
class Mode:
    """A layout that the tensor cores of a Blackwell read."""

    name: str
    code: int  # bits 61 to 63 of the descriptor of shared memory
    swizzle: Swizzle  # the permutation of bytes


# PTX ISA, tcgen05 shared memory descriptor; the permutations are those of CUTLASS,
# cute/arch/mma_sm100_desc.hpp.
MODES = (
    Mode("none", 0, Swizzle(0, 4, 3)),
    Mode("32B", 6, Swizzle(1, 4, 3)),
    Mode("64B", 4, Swizzle(2, 4, 3)),
    Mode("128B", 2, Swizzle(3, 4, 3)),
    Mode("128B, 32B atoms", 1, Swizzle(2, 5, 2)),
)
