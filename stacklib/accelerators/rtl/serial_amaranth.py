"""A shell with five pins around an array that has more pins than a package.

Operands are shifted in bit by bit, then the array takes one step; a sum is read bit by
bit at the place that a counter names.
"""

from __future__ import annotations

from amaranth.hdl import Cat, EnableInserter, Module, Signal
from amaranth.lib.wiring import Component, In, Out

from .array_amaranth import Array


class SerialArray(Component):
    """``data`` enters while ``shift`` is 1; ``step`` lets the array take a cycle.

    ``show`` is the bit of the sums that the counter names; ``next`` moves it on, and
    ``clear`` empties the sums and sets it back.
    """

    def __init__(
        self, rows: int, cols: int, bits: int = 8, accumulator: int = 32
    ) -> None:
        self.array = Array(rows, cols, bits, accumulator)
        pins = {name: In(1) for name in ("data", "shift", "step", "next", "clear")}
        super().__init__({**pins, "show": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """One shift register, one counter, one wide choice."""
        m = Module()
        array = self.array
        m.submodules.array = EnableInserter(self.step | self.clear)(array)
        edges = [getattr(array, f"a{r}") for r in range(array.rows)]
        edges += [getattr(array, f"b{c}") for c in range(array.cols)]
        line = Signal(sum(len(edge) for edge in edges))
        with m.If(self.shift):
            m.d.sync += line.eq(Cat(self.data, line[:-1]))
        m.d.comb += [Cat(*edges).eq(line), array.clear.eq(self.clear)]
        sums = Cat(place.acc for row in array.places for place in row)
        at = Signal(range(len(sums)))
        with m.If(self.clear):
            m.d.sync += at.eq(0)
        with m.Elif(self.next):
            m.d.sync += at.eq(at + 1)
        m.d.comb += self.show.eq(sums.bit_select(at, 1))
        return m
