"""The array behind five pins, in the ports that a tile of a shared chip has.

    ui_in    0 data, 1 shift, 2 step, 3 next, 4 clear
    uo_out   0 show, all others low

The eight pins that go both ways are left as inputs: their outputs and the lines that
would turn them round are low. Reset comes in low.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.lib.wiring import Component, In, Out
from amaranth.sim import Simulator

from stacklib.accelerators.rtl.serial_amaranth import SerialArray

from .pins import PINS, PORTS


class Tile(Component):
    """``SerialArray`` as a project of its own."""

    def __init__(
        self, rows: int = 1, cols: int = 1, bits: int = 8, accumulator: int = 20
    ) -> None:
        self.inside = SerialArray(rows, cols, bits, accumulator)
        ways = {"input": In, "output": Out}
        super().__init__({name: ways[way](width) for name, way, width in PORTS})

    def elaborate(self, platform: object) -> Module:
        """Clock and reset from pins, five pins in, one out, the rest low."""
        m = Module()
        m.domains.sync = sync = ClockDomain(local=True)
        m.submodules.inside = inside = self.inside
        m.d.comb += [sync.clk.eq(self.clk), sync.rst.eq(~self.rst_n)]
        m.d.comb += [getattr(inside, p).eq(self.ui_in[n]) for n, p in enumerate(PINS)]
        m.d.comb += [self.uo_out.eq(inside.show), self.uio_out.eq(0), self.uio_oe.eq(0)]
        return m


def by_amaranth(tile: Tile, ui_in: Sequence[int]) -> list[int]:
    """What ``uo_out`` shows in every cycle, in Amaranth's simulator."""
    told: list[int] = []

    async def drive(ctx: Any) -> None:
        for n, value in enumerate([0, *ui_in]):
            ctx.set(tile.rst_n, n > 0)
            ctx.set(tile.ui_in, value)
            await ctx.delay(5e-7)
            told.append(ctx.get(tile.uo_out))
            ctx.set(tile.clk, 1)
            await ctx.delay(5e-7)
            ctx.set(tile.clk, 0)

    simulator = Simulator(tile)
    simulator.add_testbench(drive)
    simulator.run()
    return told[1:]
