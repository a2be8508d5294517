"""From cells to a tile of a shared chip: does the design fit, and in how many?

- cells: their area by published widths, and what placement makes of it, as on a
  published array of two by two
- tiles: their area, less the margins at its edges, in whole rows

The smallest number of tiles is taken of which placement need fill no more than a share
that was reached. Left out: wires. A design that fits by area can fail to route.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stacklib.quantity import Quantity, quoted, resolve
from stacklib.roofline.work.fit import Infeasible

from .cells import total

# Columns x rows of tiles that can be had, smallest first.
TILES = ("1x1", "1x2", "2x2", "3x2", "4x2", "6x2", "8x2")


class Tapeout(NamedTuple):
    """A design on tiles."""

    cells: Quantity  # area that synthesis counts
    placed: Quantity  # with the buffers that placement adds
    tiles: str  # columns x rows that hold it, such as 1x2
    core: Quantity  # their area for cells
    one: Quantity  # that of one tile

    @property
    def used(self) -> Quantity:
        """Share of the tiles that cells take."""
        return (self.placed / self.core).to("%").named("share of the core in use")


def die(tiles: str) -> tuple[Quantity, Quantity]:
    """Width and height of so many tiles, with the gap between two of them."""
    columns, rows = map(int, resolve(tiles, TILES, "number of tiles").split("x"))
    width = quoted("tinytapeout.width") + quoted("tinytapeout.step_x") * (columns - 1)
    height = quoted("tinytapeout.height") + quoted("tinytapeout.step_y") * (rows - 1)
    return width.named(f"width of {tiles}"), height.named(f"height of {tiles}")


def core(tiles: str) -> Quantity:
    """Where cells may stand: less a margin at each side, in rows and sites."""
    width, height = die(tiles)
    inner = width - 2 * quoted("tinytapeout.sites") * quoted("sky130.site")
    tall = height - 2 * quoted("tinytapeout.rows") * quoted("sky130.row")
    return (inner * tall).to("µm^2").named(f"core of {tiles}")


def growth() -> Quantity:
    """Area after placement over that of synthesis, on a published array of 2 x 2."""
    placed = quoted("tinytpu.placed") * quoted("tinytpu.core")
    return (placed / quoted("tinytpu.area")).named("growth by placement")


def tapeout(cells: Mapping[str, Any], process: str = "sky130") -> Tapeout:
    """A design's cells on tiles of a shared chip.

    Parameters
    ----------
    cells : mapping
        How many of each: cells by their names in the library, such as ``nand2_1``, or
        gates as a netlist counts them, such as ``AND`` and ``DFF``.
    process : str
        ``sky130``, the only one whose cells are known.

    Returns
    -------
    Tapeout
        Area in µm², the tiles that it takes, and the share of them in use.

    Raises
    ------
    Infeasible
        Where the largest number of tiles that can be had is too small; with the sum.
    UnknownName
        For a cell or a process that is not known.
    ValueError
        For a count that is no whole number.

    Notes
    -----
    Widths of cells: SkyWater PDK, sky130_fd_sc_hd. Tiles: Tiny Tapeout,
    ``tile_sizes.yaml``. Placement: its seventh chip, a project of 2 x 2 places.

    Examples
    --------
    >>> made = tapeout({"nand2_1": 1200, "dfxtp_1": 60})
    >>> made.tiles, made.used.text()
    ('1x1', '35.8 %')
    """
    resolve(process, ("sky130",), "process")
    area = total(cells)
    placed = (area * growth()).named("area of the cells, placed")
    limit = quoted("tinytapeout.fill")
    for tiles in TILES:
        there = core(tiles)
        if placed <= there * limit:
            return Tapeout(area, placed, tiles, there, core("1x1"))
    most = f"{limit.text()} of {tiles} tiles are {(there * limit).text('µm^2')}"
    raise Infeasible(f"{placed.text('µm^2')} of cells: {most}")
