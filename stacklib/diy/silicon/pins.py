"""A product through five pins: what goes in at each cycle, where each bit comes out.

    clear    once
    shift    one bit of the operands a cycle, the highest of the last one first
    step     once all operands of a cycle of the array stand in the register
    next     a bit of the sums a cycle, the lowest of the first one first

``script`` is that as numbers for eight input pins; the same list drives gates,
Amaranth's simulator and a test bench in another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stacklib.accelerators.rtl.feed import Matrix, feed, shape
from stacklib.accelerators.rtl.gates import bits_of, number, run
from stacklib.accelerators.rtl.netlist import Netlist
from stacklib.quantity.bounds import whole

PINS = ("data", "shift", "step", "next", "clear")
PORTS = (
    *(("ui_in", "input", 8), ("uo_out", "output", 8), ("uio_in", "input", 8)),
    *(("uio_out", "output", 8), ("uio_oe", "output", 8), ("ena", "input", 1)),
    *(("clk", "input", 1), ("rst_n", "input", 1)),
)


class Script(NamedTuple):
    """Eight input pins, cycle by cycle, and what is read of the first output pin."""

    ui_in: tuple[int, ...]
    rows: int
    cols: int
    accumulator: int

    def sums(self, uo_out: list[int]) -> list[list[int]]:
        """The product, from what the output pins showed in every cycle."""
        width = self.accumulator
        bits = [value & 1 for value in uo_out[-self.rows * self.cols * width :]]
        values = [number(bits[n : n + width]) for n in range(0, len(bits), width)]
        return [values[r * self.cols : (r + 1) * self.cols] for r in range(self.rows)]


def script(a: Matrix, b: Matrix, bits: int = 8, accumulator: int = 20) -> Script:
    """The product of two matrices, as large as the array, as pins see it."""
    whole(2 * bits, accumulator=accumulator)
    rows, _, cols = shape(a, b, bits)
    pin = {name: 1 << n for n, name in enumerate(PINS)}
    lines = [pin["clear"]]
    for edges in feed(a, b, bits):
        stood = [bit for value in edges.values() for bit in bits_of(value, bits)]
        lines += [pin["shift"] | bit * pin["data"] for bit in reversed(stood)]
        lines.append(pin["step"])
    lines += [pin["next"]] * (rows * cols * accumulator)
    return Script(tuple(lines), rows, cols, accumulator)


def cycles(
    rows: int, depth: int, cols: int, bits: int = 8, accumulator: int = 20
) -> int:
    """Cycles of a product through the pins, in closed form."""
    whole(rows=rows, depth=depth, cols=cols, bits=bits, accumulator=accumulator)
    steps = rows + cols + depth - 2
    return 1 + steps * ((rows + cols) * bits + 1) + rows * cols * accumulator


def by_gates(tile: Netlist, ui_in: Sequence[int]) -> list[int]:
    """What ``uo_out`` shows in every cycle, from a netlist of the tile."""
    low = {name: [0] * width for name, width in tile.inputs.items()}
    feeds = [low, *(low | {"ui_in": bits_of(v, 8), "rst_n": [1]} for v in ui_in)]
    told = [[now[bit] for bit in tile.outputs["uo_out"]] for now in run(tile, feeds)]
    return [sum(bit << n for n, bit in enumerate(bits)) for bits in told[1:]]
