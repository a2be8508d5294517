"""Layouts at work: cut into tiles, swizzled, and read by lanes.

A tile in shared memory is a layout, its swizzle a function after it, a request a
layout from lanes to coordinates before it. ``lane_addresses`` of all three is what
the counters count. (CUTLASS documentation, "CuTe Layout Algebra"; swizzled layouts
are CuTe's ``ComposedLayout``.)
"""

from __future__ import annotations

from dataclasses import dataclass

from .lanes import WARP, check_width
from .layout import Layout, coalesced, divided
from .swizzle import Place, Swizzle


@dataclass(frozen=True, slots=True)
class Swizzled:
    """A layout whose offsets are permuted."""

    swizzle: Swizzle  # of elements, as the layout counts them
    layout: Layout  # from coordinates to offsets

    @property
    def size(self) -> int:
        """Coordinates there are."""
        return self.layout.size

    @property
    def offsets(self) -> list[int]:
        """Permuted offsets of all coordinates in order."""
        return [self.swizzle(offset) for offset in self.layout.offsets]

    def __call__(self, *coordinate: int) -> int:
        """Permuted offset of a coordinate, or of its number; see `Layout`."""
        return self.swizzle(self.layout(*coordinate))


def tiled(layout: Layout, *shape: int) -> Layout:
    """A layout cut mode by mode: first what is within a tile, then which tile."""
    modes = layout.modes
    if not 1 <= len(shape) <= len(modes):
        raise ValueError(f"a tile of {len(shape)} modes for a layout of {len(modes)}")
    for size, mode in zip(shape, modes, strict=False):
        if mode.size % size:
            raise ValueError(f"tiles of {size} do not divide a mode of {mode.size}")
    cut = [
        divided(mode, Layout(size)) for mode, size in zip(modes, shape, strict=False)
    ]
    inner = [split.modes[0] for split in cut]
    outer = [split.modes[1] for split in cut] + list(modes[len(shape) :])
    return Layout(
        (tuple(m.shape for m in inner), tuple(m.shape for m in outer)),
        (tuple(m.stride for m in inner), tuple(m.stride for m in outer)),
    )


def vector_width(layout: Layout) -> int:
    """How many coordinates in a row lie side by side: what one access can take."""
    size, stride = coalesced(layout).pairs[0]
    return size if stride == 1 else 1


def addresses(
    lanes: Layout | Swizzled, *, width: int, base: int = 0, place: Place | None = None
) -> list[int]:
    """Byte addresses of a request that a layout describes.

    ``lanes``: from the lane to an offset in elements; at most 32; ``width``: bytes of
    an element.
    """
    check_width(width)
    if lanes.size > WARP:
        raise ValueError(f"{lanes.size} lanes: a warp has at most {WARP}")
    found = [base + width * offset for offset in lanes.offsets]
    return found if place is None else [place(address) for address in found]
