"""Standard cells at 130 nm: what each does, and what it measures.

Widths are the published ones of SkyWater's library of high density, in which every cell
is as high as a row. Cells of the smallest drive only; what makes them larger, buffers
and a tree of clocks, comes with placement.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from operator import add

from stacklib.quantity import Quantity, quoted, resolve
from stacklib.quantity.bounds import whole

CELLS = (
    *("inv_1", "nand2_1", "nor2_1", "and2_1", "or2_1", "xor2_1", "xnor2_1"),
    *("a21oi_1", "o21ai_1", "mux2_1", "dfxtp_1"),
)
# What a netlist or a synthesis counts, by the cell that does the same.
KINDS = "NOT NAND NOR AND OR XOR XNOR AOI3 OAI3 MUX DFF".split()
GATES = dict(zip(KINDS, CELLS, strict=True))


@cache
def area(cell: str) -> Quantity:
    """What a cell takes of a row."""
    width = quoted(f"sky130.{cell_named(cell)}")
    return (width * quoted("sky130.row")).to("µm^2").named(f"area of a {cell}")


def cell_named(name: str) -> str:
    """A cell by its name in the library, or the gate that a netlist counts."""
    known = {cell: cell for cell in CELLS} | GATES
    short = name.removeprefix("sky130_fd_sc_hd__").removesuffix("_P_")
    return known[resolve(short.strip("$_"), known, "cell")]


def total(cells: Mapping[str, int]) -> Quantity:
    """The area of so many cells of each kind."""
    if not isinstance(cells, Mapping) or not cells:
        raise ValueError("no cells; counts by kind, such as {'nand2_1': 3}, are needed")
    whole(0, **cells)
    each = (area(cell_named(name)) * int(count) for name, count in cells.items())
    return reduce(add, each).named("area of the cells")
