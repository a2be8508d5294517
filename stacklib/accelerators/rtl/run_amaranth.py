"""The array in Amaranth's own simulator, and as the text that Yosys reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amaranth.back import rtlil as to_rtlil
from amaranth.sim import Simulator

from .array_amaranth import Array
from .feed import Cycle, Grid, Matrix, feed, shape


def by_amaranth(
    products: Iterable[tuple[Matrix, Matrix]],
    rows: int,
    cols: int,
    bits: int = 8,
    accumulator: int = 32,
) -> list[list[Cycle]]:
    """Products of ``rows`` x ``cols``, one by one on the same array, by cycle."""
    array, told = Array(rows, cols, bits, accumulator), []

    def grid(ctx: Any, which: str) -> Grid:
        return tuple(
            tuple(ctx.get(getattr(place, which)) for place in row)
            for row in array.places
        )

    async def drive(ctx: Any) -> None:
        for a, b in products:
            size = shape(a, b, bits)
            if size[::2] != (rows, cols):
                raise ValueError(f"{size}: not a product of {rows} x {cols}")
            ctx.set(array.clear, 1)
            await ctx.tick()
            ctx.set(array.clear, 0)
            cycles = []
            for t, edges in enumerate(feed(a, b, bits)):
                for name, value in edges.items():
                    ctx.set(getattr(array, name), value)
                operands = grid(ctx, "a_in"), grid(ctx, "b_in")
                await ctx.tick()
                cycles.append(Cycle(t, *operands, grid(ctx, "acc")))
            told.append(cycles)

    simulator = Simulator(array)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    return told


def rtlil(component: Any) -> str:
    """What Yosys reads, with the module ``top``."""
    return to_rtlil.convert(component, name="top", emit_src=False)
