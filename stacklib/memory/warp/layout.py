"""Layouts: shape and stride as a function from coordinates to offsets, and its algebra.

A layout ``shape : stride`` sends the coordinate (i, j, ...) to i d0 + j d1 + ...; the
integer i counts through the coordinates with the first running fastest. Shapes nest,
so a mode may itself be a layout: rows of tiles of rows. The operations are CuTe's:
coalesce, compose, complement, divide, product (CUTLASS documentation, "CuTe Layout
Algebra"). What cannot be written as a shape and a stride is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from stacklib.quantity.bounds import is_whole

Nested: TypeAlias = "int | tuple[Nested, ...]"


def flat(tree: Nested) -> Iterator[int]:
    """The integers of a nested tuple, left to right."""
    if isinstance(tree, tuple):
        for branch in tree:
            yield from flat(branch)
    else:
        yield tree


def compact(shape: Nested, step: int = 1) -> tuple[Nested, int]:
    """Strides that leave no gap, first mode fastest; and the size after them."""
    if not isinstance(shape, tuple):
        return step, step * shape
    strides = []
    for mode in shape:
        stride, step = compact(mode, step)
        strides.append(stride)
    return tuple(strides), step


def alike(a: Nested, b: Nested) -> bool:
    """Whether two nested tuples have the same brackets."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


@dataclass(frozen=True, slots=True)
class Layout:
    """A function from coordinates to offsets.

    Parameters
    ----------
    shape : int or nested tuple of int
        Sizes of the modes.
    stride : int or nested tuple of int, optional
        Offsets from one to the next in each mode; without, the first mode is
        contiguous and the others follow (column-major).

    Raises
    ------
    ValueError
        When the brackets of shape and stride differ, a size is below one, or a
        stride below zero.

    Examples
    --------
    >>> tile = Layout((2, 4), (4, 1))
    >>> [tile(i) for i in range(8)]
    [0, 4, 1, 5, 2, 6, 3, 7]
    """

    shape: Nested
    stride: Nested = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for size in flat(self.shape):
            if not is_whole(size) or size < 1:
                raise ValueError(f"shape {self.shape}: {size!r} is no size from 1")
        if self.stride is None:
            object.__setattr__(self, "stride", compact(self.shape)[0])
        if not alike(self.shape, self.stride):
            raise ValueError(f"{self.shape} and {self.stride} have other brackets")
        for stride in flat(self.stride):
            if not is_whole(stride) or stride < 0:
                raise ValueError(f"stride {self.stride}: {stride!r} is below zero")

    def __str__(self) -> str:
        return f"{self.shape}:{self.stride}".replace(" ", "")

    @property
    def modes(self) -> tuple[Layout, ...]:
        """The layouts side by side in it; itself where it is one integer mode."""
        if isinstance(self.shape, tuple) and isinstance(self.stride, tuple):
            return tuple(map(Layout, self.shape, self.stride))
        return (self,)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Size and stride of every integer mode."""
        return list(zip(flat(self.shape), flat(self.stride), strict=True))

    @property
    def size(self) -> int:
        """Coordinates there are."""
        return prod(flat(self.shape))

    @property
    def cosize(self) -> int:
        """One more than the largest offset."""
        return 1 + sum((size - 1) * stride for size, stride in self.pairs)

    def __call__(self, *coordinate: int) -> int:
        """Offset of a coordinate, or of its number."""
        # A single number counts through all modes, several each through its own.
        if len(coordinate) == 1:
            return _counted(self, coordinate[0])
        modes = self.modes
        if len(coordinate) != len(modes):
            raise ValueError(f"{len(coordinate)} coordinates for {len(modes)} modes")
        return sum(map(_counted, modes, coordinate))

    @property
    def offsets(self) -> list[int]:
        """Offsets of all coordinates in order."""
        return [_counted(self, number) for number in range(self.size)]


def _counted(layout: Layout, number: int) -> int:
    """Offset of the number-th coordinate, the first mode running fastest."""
    if not 0 <= number < layout.size:
        raise ValueError(f"{number} is outside 0 to {layout.size - 1} of {layout}")
    offset = 0
    for size, stride in layout.pairs:
        number, at = divmod(number, size)
        offset += at * stride
    return offset


def row_major(*shape: int) -> Layout:
    """The layout whose last mode is contiguous, as C and NumPy store arrays."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return Layout(tuple(shape), tuple(reversed(strides)))


def from_pairs(pairs: list[tuple[int, int]]) -> Layout:
    """A flat layout; of one mode where there is one, of size 1 where there is none."""
    if not pairs:
        return Layout(1, 0)
    if len(pairs) == 1:
        return Layout(*pairs[0])
    return Layout(tuple(s for s, _ in pairs), tuple(d for _, d in pairs))


def coalesced(layout: Layout) -> Layout:
    """The same function with as few modes as can be."""
    kept: list[tuple[int, int]] = []
    for size, stride in layout.pairs:
        if size == 1:
            continue
        if kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * size, kept[-1][1])
        else:
            kept.append((size, stride))
    return from_pairs(kept)


def composed(outer: Layout, inner: Layout) -> Layout:
    """The layout that sends i to ``outer(inner(i))``, with the modes of ``inner``."""
    made = _by_mode(outer, inner)
    for number, offset in enumerate(inner.offsets):
        if _counted(made, number) != _endless(outer, offset):
            raise ValueError(f"{outer} after {inner} has no shape and stride")
    return made


def _by_mode(outer: Layout, inner: Layout) -> Layout:
    """Each mode of ``inner`` composed alone."""
    if isinstance(inner.shape, tuple):
        parts = [_by_mode(outer, mode) for mode in inner.modes]
        return Layout(tuple(p.shape for p in parts), tuple(p.stride for p in parts))
    ((size, step),) = inner.pairs
    return from_pairs(_strided(outer, size, step)) if step else Layout(size, 0)


def _endless(layout: Layout, number: int) -> int:
    """Offset of a coordinate where the last mode goes on without end."""
    *pairs, (_, last) = layout.pairs
    offset = 0
    for size, stride in pairs:
        number, at = divmod(number, size)
        offset += at * stride
    return offset + number * last


def _strided(outer: Layout, size: int, step: int) -> list[tuple[int, int]]:
    """The first ``size`` of every ``step``-th coordinate of a layout, as pairs."""
    pairs = coalesced(outer).pairs
    found: list[tuple[int, int]] = []
    left = size
    for number, (length, stride) in enumerate(pairs):
        last = number == len(pairs) - 1
        if left == 1:
            break
        if not last and length % step and step % length:
            raise ValueError(f"steps of {step} do not divide a mode of {length}")
        # What a mode has left once every step-th of it is taken; the last goes on.
        taken = left if last else min(left, max(1, length // step))
        if left % taken:
            raise ValueError(f"{left} do not divide into {taken} of a mode of {length}")
        if taken > 1:
            found.append((taken, step * stride))
        left //= taken
        step = max(1, step // length)
    return found


def complement(layout: Layout, size: int) -> Layout:
    """The offsets a layout skips, up to ``size``: what repeats it to fill them."""
    found: list[tuple[int, int]] = []
    reached = 1
    # A mode of stride 0 meets the same offset again and again, and skips none.
    pairs = sorted((d, s) for s, d in layout.pairs if s > 1 and d)
    for stride, length in pairs:
        if stride % reached:
            raise ValueError(f"{layout}: a stride of {stride} after {reached} offsets")
        found.append((stride // reached, reached))
        reached = stride * length
    found.append((-(-size // reached), reached))
    return coalesced(from_pairs([pair for pair in found if pair[0] > 1]))


def divided(layout: Layout, tile: Layout) -> Layout:
    """A layout in two modes: within a tile, and from tile to tile."""
    # Where the tile's size does not divide, the last tile runs past the end, as CuTe's
    # does.
    rest = complement(tile, layout.size)
    return composed(
        layout, Layout((tile.shape, rest.shape), (tile.stride, rest.stride))
    )


def multiplied(block: Layout, grid: Layout) -> Layout:
    """A layout in two modes: within a block, and from block to block of a grid."""
    rest = composed(complement(block, block.size * grid.cosize), grid)
    return Layout((block.shape, rest.shape), (block.stride, rest.stride))
