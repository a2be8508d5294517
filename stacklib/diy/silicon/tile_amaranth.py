"""The array behind five pins, in the ports that a tile of a shared chip has.

    ui_in    0 data, 1 shift, 2 step, 3 next, 4 clear
    uo_out   0 show, all others low

The eight pins that go both ways are left as inputs: their outputs and the lines that
would turn them round are low. Reset comes in low.
"""

from __future__ import annotations

from amaranth.back import rtlil as to_rtlil
from amaranth.hdl import ClockDomain, Module
from amaranth.lib.wiring import Component, In, Out

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
        m.d.comb += [
            getattr(inside, pin).eq(self.ui_in[n]) for n, pin in enumerate(PINS)
        ]
        m.d.comb += [self.uo_out.eq(inside.show), self.uio_out.eq(0)]
        m.d.comb += self.uio_oe.eq(0)
        return m


def rtlil(tile: Tile, name: str = "top") -> str:
    """What Yosys reads."""
    return to_rtlil.convert(tile, name=name, emit_src=False)


def by_amaranth(tile: Tile, ui_in: list[int]) -> list[int]:
    """What ``uo_out`` shows in every cycle, in Amaranth's simulator."""
    from amaranth.sim import Simulator

    told: list[int] = []

    async def drive(ctx: object) -> None:
        set_, get = ctx.set, ctx.get  # type: ignore[attr-defined]
        set_(tile.rst_n, 0)
        for value in [0, *ui_in]:
            set_(tile.ui_in, value)
            await ctx.delay(5e-7)  # type: ignore[attr-defined]
            told.append(get(tile.uo_out))
            set_(tile.clk, 1)
            await ctx.delay(5e-7)  # type: ignore[attr-defined]
            set_(tile.clk, 0)
            set_(tile.rst_n, 1)

    simulator = Simulator(tile)
    simulator.add_testbench(drive)
    simulator.run()
    return told[1:]
